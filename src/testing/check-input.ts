/** What a test gives to a check: what is malformed or misspelt must not pass for done. */
import { z } from 'zod';
import type { ChartStep } from '../machines/inspection/chart-step.ts';
import { parseOrThrow } from '../machines/validate.ts';
import { INVALID_CHECK, invalidCheck } from './invalid-check.ts';

const event = z.looseObject({ type: z.string().min(1) });
const call = z.string().min(1);
const output = z.unknown().optional();

const givenSteps = z.array(
  z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('event'), event }),
    z.strictObject({ kind: z.literal('done'), call, output }),
    z.strictObject({ kind: z.literal('error'), call }),
    z.strictObject({ kind: z.literal('wait'), ms: z.number().nonnegative() }),
    z.strictObject({ kind: z.literal('lost'), call }),
    z.strictObject({ kind: z.literal('late'), call, output }),
    z.strictObject({ kind: z.literal('again'), event }),
    z.strictObject({ kind: z.literal('restart') }),
  ]),
);

/** @returns the steps as they were given @throws RuntimeError CHART_CHECK_INVALID */
export function checkedSteps(steps: readonly ChartStep[]): readonly ChartStep[] {
  parseOrThrow(givenSteps, steps, { what: 'the list of steps', ...INVALID_CHECK });
  return steps;
}

const work = z.custom((value) => typeof value === 'function', 'expected a function');
const otherWork = work.optional();

const adapterParts = z.object({
  start: work,
  read: work,
  events: z.record(z.string(), otherWork),
  expected: otherWork,
  restart: otherWork,
  stop: otherWork,
  repeats: z.array(z.string()).optional(),
});

/** @throws RuntimeError CHART_CHECK_INVALID */
export function refuseBadAdapter(adapter: unknown): void {
  parseOrThrow(adapterParts, adapter, { what: 'the adapter', ...INVALID_CHECK });
}

/** @throws RuntimeError CHART_CHECK_INVALID */
export function refuseBadReplay(seed: number | undefined, path: string | undefined): void {
  if (seed !== undefined && !Number.isSafeInteger(seed))
    throw invalidCheck(`expected a whole number for seed, received ${String(seed)}`);
  if (path !== undefined && seed === undefined)
    throw invalidCheck('a path is one within the runs of a seed; there is none');
}
