/** Finds out whether a real thing does what its chart says, whatever comes in whatever order. */
import type { AnyStateMachine } from 'xstate';
import { messageOf, RuntimeError } from '../machines/errors.ts';
import { shortestPaths } from '../machines/inspection/chart-paths.ts';
import type { ChartPaths } from '../machines/inspection/chart-paths.ts';
import type { ChartStep } from '../machines/inspection/chart-step.ts';
import { stepText } from '../machines/inspection/chart-step.ts';
import { ChartWalk } from '../machines/inspection/chart-walk.ts';
import type { Chart } from '../machines/inspection/chart.ts';
import { chartOf } from '../machines/inspection/describe-chart.ts';
import { matchesEvent } from '../machines/inspection/event-match.ts';
import type { ExplorationLimits } from '../machines/inspection/exploration-limits.ts';
import { givenSteps } from '../machines/inspection/given-steps.ts';
import { isRecord, parseOrThrow } from '../machines/validate.ts';
import type { ChartAdapter } from './chart-adapter.ts';
import { CountedCover } from './chart-cover.ts';
import type { ChartCover } from './chart-cover.ts';
import { plansOf } from './chart-plans.ts';
import type { Plan } from './chart-plans.ts';
import { Disagreement, follow, followExactly } from './chart-trial.ts';
import type { AnyAdapter, DoneStep, Trial } from './chart-trial.ts';
import { INVALID_CHECK, invalidCheck } from './invalid-check.ts';
import { loadFastCheck } from './load-fast-check.ts';

/** A machine, or one with samples of what events and answers carry. */
type ChartWith<Machine extends AnyStateMachine> = Machine | (Chart & { readonly machine: Machine });

/**
 * A shortest way to every state and every transition that the samples lead to: what is sent, what invoked actors
 * answer, how long to wait. At most 2,000 snapshots are tried, 64 of one configuration; `unreached` says what was not
 * reached and why. The same chart gives the same paths. Nothing of the chart is started; guards and `assign` are asked.
 * @throws RuntimeError CHART_EXPECTED, CHART_NOT_STARTED, EXPLORATION_LIMITS_INVALID
 */
export function chartPaths(chart: AnyStateMachine | Chart, limits?: ExplorationLimits): ChartPaths {
  return shortestPaths(new ChartWalk(chartOf(chart)), { limits });
}

interface CheckOptions {
  /** Random runs, beside one for each of the shortest paths. Default 100. */
  readonly runs?: number | undefined;
  /** Random steps of a run. Default 30. */
  readonly maxSteps?: number | undefined;
  /** Of random runs that failed: does the same again. */
  readonly seed?: number | undefined;
  /** With `seed`: begins at the run that failed. */
  readonly path?: string | undefined;
  /** Only these, once; each has to be possible. Needs no fast-check. */
  readonly steps?: readonly ChartStep[] | undefined;
  /** Turns of the event loop that a step may take where the real thing works with files or sockets. Default 200. */
  readonly patience?: number | undefined;
}

/**
 * Leads the chart and the real thing along the same steps, and compares the two after each: first along the shortest
 * paths to all transitions, then along random plans, with the faults that the adapter allows. What fails is made short.
 * @returns what the runs took of the chart, their number and their seed
 * @throws RuntimeError CHART_DISAGREES with the story, what was expected, what came, and how to see it again;
 *   CHART_CHECK_INVALID, CHART_EXPECTED, CHART_NOT_STARTED, FAST_CHECK_MISSING
 */
export async function checkChart<Real, Machine extends AnyStateMachine>(
  chart: ChartWith<Machine>,
  adapter: ChartAdapter<Real, Machine>,
  options: CheckOptions = {},
): Promise<{ readonly cover: ChartCover; readonly runs: number; readonly seed: number | undefined }> {
  const known = chartOf(chart);
  refuseBadAdapter(adapter);
  refuseBadReplay(options.seed, options.path);
  const trial: Trial<Real> = {
    walk: new ChartWalk(known),
    // Events are sent as the machine types them; nothing below depends on which they are.
    adapter: adapter as unknown as AnyAdapter<Real>,
    cover: new CountedCover(known),
    patience: wholeOr(options.patience, 200, 'patience'),
  };
  refuseUnknownEvents(trial, known);
  const { cover } = trial;
  if (options.steps === undefined) return { cover, ...(await randomRuns(trial, options)) };
  try {
    await followExactly(trial, checkedSteps(options.steps));
  } catch (found) {
    throw found instanceof Disagreement ? disagreementError({ chart: known.machine.id }, found) : found;
  }
  return { cover, runs: 1, seed: undefined };
}

async function randomRuns<Real>(
  trial: Trial<Real>,
  { runs, maxSteps, seed, path }: CheckOptions,
): Promise<{ readonly runs: number; readonly seed: number }> {
  const fastCheck = await loadFastCheck();
  const { walk, adapter } = trial;
  const events = new Set(Object.keys(adapter.events));
  const { cover } = shortestPaths(walk, { events });
  const ways = cover.map(({ steps }) => steps);
  const plans = plansOf(fastCheck, {
    walk,
    events,
    repeats: new Set(adapter.repeats),
    canRestart: adapter.restart !== undefined,
    ways,
    maxSteps: wholeOr(maxSteps, 30, 'maxSteps'),
  });
  const property = fastCheck.asyncProperty(plans, (plan) => follow(trial, plan));
  const parameters = {
    numRuns: wholeOr(runs, 100, 'runs') + ways.length,
    examples: ways.map((way): [Plan] => [way]),
    ...(seed === undefined ? {} : { seed }),
  };
  const details = await (path === undefined
    ? fastCheck.check(property, parameters)
    : replayed(path, () => fastCheck.check(property, { ...parameters, path })));
  if (!details.failed) return { runs: details.numRuns, seed: details.seed };
  const { errorInstance: found, counterexamplePath } = details;
  throw found instanceof Disagreement
    ? disagreementError({ chart: walk.description.id, seed: details.seed, path: counterexamplePath }, found)
    : found;
}

/** fast-check finds out by itself whether a path leads anywhere. */
async function replayed<Result>(path: string, check: () => Promise<Result>): Promise<Result> {
  try {
    return await check();
  } catch (cause) {
    throw invalidCheck(`the path "${path}" leads to no run: ${messageOf(cause)}`, cause);
  }
}

function refuseUnknownEvents<Real>({ walk, adapter }: Trial<Real>, { samples = {}, events = {} }: Chart): void {
  const { transitions } = walk.description;
  const taken = transitions.filter(({ kind }) => kind === 'event' || kind === 'wildcard').map(({ event }) => event);
  const known = [...new Set([...taken, ...Object.keys(samples), ...Object.keys(events)])];
  for (const type of [...Object.keys(adapter.events), ...(adapter.repeats ?? [])])
    if (!known.some((event) => matchesEvent(type, event)))
      throw invalidCheck(`the chart "${walk.description.id}" has no event "${type}"; it has ${known.join(', ')}`);
}

function wholeOr(given: number | undefined, fallback: number, name: string): number {
  if (given === undefined || (Number.isSafeInteger(given) && given >= 0)) return given ?? fallback;
  throw invalidCheck(`expected a whole number for ${name}, received ${String(given)}`);
}

// What a test gives to a check: what is malformed or misspelt must not pass for done.

/** @returns the steps as they were given @throws RuntimeError CHART_CHECK_INVALID */
function checkedSteps(steps: readonly ChartStep[]): readonly ChartStep[] {
  parseOrThrow(givenSteps, steps, { what: 'the list of steps', ...INVALID_CHECK });
  return steps;
}

const OTHER_PARTS = ['expected', 'restart', 'stop'];

/** @throws RuntimeError CHART_CHECK_INVALID */
function refuseBadAdapter(adapter: unknown): void {
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
function refuseBadReplay(seed: number | undefined, path: string | undefined): void {
  if (seed !== undefined && !Number.isSafeInteger(seed))
    throw invalidCheck(`expected a whole number for seed, received ${String(seed)}`);
  if (path !== undefined && seed === undefined)
    throw invalidCheck('a path is one within the runs of a seed; there is none');
}

/** Where a random run that failed is found again; absent for steps that were given. */
interface Finding {
  readonly chart: string;
  readonly seed?: number | undefined;
  readonly path?: string | null | undefined;
}

/** Tells what happened before a real thing and its chart disagreed, and how to see it again. */
function disagreementError({ chart, seed, path }: Finding, found: Disagreement): RuntimeError {
  const steps = found.done.flatMap(({ step }) => (step === undefined ? [] : [step]));
  const { expected, received } = found.done.at(-1) ?? { expected: undefined, received: undefined };
  const replay = seed === undefined ? undefined : { seed, path: path ?? '' };
  return new RuntimeError(
    'CHART_DISAGREES',
    [
      `the real thing and the chart "${chart}" disagree about ${found.message}`,
      ...storyLines(found.done),
      `expected: ${textOf(expected)}`,
      `received: ${textOf(received)}`,
      ...(replay === undefined ? [] : [`again:    checkChart(…, …, { seed: ${replay.seed}, path: '${replay.path}' })`]),
      `only it:  checkChart(…, …, { steps: ${stepsText(steps)} })`,
    ].join('\n  '),
    {
      category: 'validation',
      hint: 'Correct the one of the two that is wrong, and keep the steps as a test.',
      details: { about: found.message, steps, expected, received, ...replay },
      cause: found,
    },
  );
}

/** @returns one line for each step, the start first */
function storyLines(done: readonly DoneStep[]): readonly string[] {
  const texts = done.map(({ step }) => (step === undefined ? 'start' : stepText(step)));
  const width = Math.max(0, ...texts.map((text) => text.length));
  return done.map(({ expected, received }, index) => {
    const isLast = index === done.length - 1;
    const stands = isLast ? `chart ${textOf(expected)}, real thing ${textOf(received)}` : textOf(expected);
    return `${String(index).padStart(2)}. ${(texts[index] ?? '').padEnd(width)}  ${stands}`;
  });
}

function stepsText(steps: readonly ChartStep[]): string {
  return textOf(steps);
}

function textOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}
