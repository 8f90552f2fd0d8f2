/** What a test gives to a check: what is malformed or misspelt must not pass for done. */
import type { ChartStep } from '../machines/inspection/chart-step.ts';
import { givenSteps } from '../machines/inspection/given-steps.ts';
import { isRecord, parseOrThrow } from '../machines/validate.ts';
import { INVALID_CHECK, invalidCheck } from './invalid-check.ts';

/** @returns the steps as they were given @throws RuntimeError CHART_CHECK_INVALID */
export function checkedSteps(steps: readonly ChartStep[]): readonly ChartStep[] {
  parseOrThrow(givenSteps, steps, { what: 'the list of steps', ...INVALID_CHECK });
  return steps;
}

const OTHER_PARTS = ['expected', 'restart', 'stop'];

/** @throws RuntimeError CHART_CHECK_INVALID */
export function refuseBadAdapter(adapter: unknown): void {
  if (!isRecord(adapter)) throw invalidCheck('there is no adapter');
  const { events, repeats = [] } = adapter;
  if (!isRecord(events)) throw invalidCheck('the adapter has no events');
  const parts = [
    ...['start', 'read'].map((name) => [name, adapter[name]] as const),
    ...[...OTHER_PARTS.map((name) => [name, adapter[name]] as const), ...Object.entries(events)].filter(
      ([, part]) => part !== undefined,
    ),
  ];
  const bad = parts.flatMap(([name, part]) => (typeof part === 'function' ? [] : [name]));
  if (bad.length > 0) throw invalidCheck(`the adapter has no function for ${bad.join(', ')}`);
  if (!Array.isArray(repeats)) throw invalidCheck('the adapter has no list of types for repeats');
}

/** @throws RuntimeError CHART_CHECK_INVALID */
export function refuseBadReplay(seed: number | undefined, path: string | undefined): void {
  if (seed !== undefined && !Number.isSafeInteger(seed))
    throw invalidCheck(`expected a whole number for seed, received ${String(seed)}`);
  if (path !== undefined && seed === undefined)
    throw invalidCheck('a path is one within the runs of a seed; there is none');
}
