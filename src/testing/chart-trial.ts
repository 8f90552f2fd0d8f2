/** Leads a chart and the real thing that lives by it along the same steps, and compares the two after each. */
import { deepStrictEqual } from 'node:assert/strict';
import type { AnyEventObject, AnyMachineSnapshot } from 'xstate';
import { RuntimeError, messageOf } from '../machines/errors.ts';
import { letOthersRun } from '../actors/clock/waiting.ts';
import type { ChartStep } from '../machines/inspection/chart-step.ts';
import type { ChartPlace, ChartWalk, WalkedStep } from '../machines/inspection/chart-walk.ts';
import type { ChartAdapter } from './chart-adapter.ts';
import type { CountedCover } from './chart-cover.ts';
import { Surroundings } from './chart-surroundings.ts';

/** An adapter of whatever machine. */
export type AnyAdapter<Real> = Omit<ChartAdapter<Real>, 'events' | 'expected' | 'repeats'> & {
  readonly events: Readonly<Record<string, (real: Real, event: AnyEventObject, delivery: string) => unknown>>;
  readonly expected?: (snapshot: AnyMachineSnapshot) => unknown;
  readonly repeats?: readonly string[];
};

export interface Trial<Real> {
  readonly walk: ChartWalk;
  readonly adapter: AnyAdapter<Real>;
  readonly cover: CountedCover;
  /** Turns of the event loop that the real thing has after a step, until it stands as its chart does. */
  readonly patience: number;
}

/** A step that was done, and where both stood after it. */
export interface DoneStep {
  /** Absent: the start. */
  readonly step?: ChartStep;
  readonly expected: unknown;
  readonly received: unknown;
}

/** The real thing and its chart stand differently, after the last of the steps. */
export class Disagreement extends Error {
  override readonly name = 'Disagreement';
  readonly done: readonly DoneStep[];

  constructor(about: string, done: readonly DoneStep[], cause?: unknown) {
    super(about, cause === undefined ? undefined : { cause });
    this.done = done;
  }
}

/** What does not fit a plan any more, since steps before it were left out, is passed over. @throws Disagreement */
export async function follow<Real>(trial: Trial<Real>, plan: readonly ChartStep[]): Promise<void> {
  const follower = new Follower(trial);
  try {
    await follower.start();
    for (const step of plan) await follower.go(step);
  } finally {
    await follower.stop();
  }
}

class Follower<Real> {
  readonly #trial: Trial<Real>;
  readonly #around = new Surroundings();
  readonly #done: DoneStep[] = [];
  #place: ChartPlace;
  #real: { readonly it: Real } | undefined;
  /** How what the last event set going has ended; undefined while it goes on. */
  #acted: { readonly thrown?: unknown } | undefined = {};
  #deliveries = 0;
  readonly #delivered = new Map<string, string>();

  constructor(trial: Trial<Real>) {
    this.#trial = trial;
    this.#place = trial.walk.start().place;
  }

  async start(): Promise<void> {
    const { walk, adapter, cover } = this.#trial;
    const real = await this.#try(undefined, () => adapter.start(this.#around.world()));
    this.#real = { it: real };
    await this.#compare(undefined, []);
    cover.take(this, walk.start().taken);
  }

  async stop(): Promise<void> {
    this.#around.crash();
    if (this.#real !== undefined) await this.#trial.adapter.stop?.(this.#real.it);
  }

  async go(step: ChartStep): Promise<void> {
    const walked = this.#trial.walk.take(this.#place, step);
    if (walked === undefined || 'thrown' in walked) return;
    const real = await this.#act(step, walked);
    if (real === undefined) return;
    this.#place = real.place;
    await this.#compare(step, real.taken);
    const isRefused = this.#acted !== undefined && 'thrown' in this.#acted;
    if (isRefused && step.kind === 'event' && real.taken.length > 0)
      throw this.#broken(
        step,
        `the event, which the chart takes: ${messageOf(this.#acted?.thrown)}`,
        this.#acted?.thrown,
      );
    this.#trial.cover.take(this, real.taken);
  }

  /** @returns what the chart does for it; undefined where the real thing cannot do it, and need not */
  async #act(step: ChartStep, walked: WalkedStep): Promise<WalkedStep | undefined> {
    const { walk } = this.#trial;
    this.#acted = {};
    if (step.kind === 'event' || step.kind === 'again') return this.#send(step) ? walked : undefined;
    if (step.kind === 'wait') {
      await this.#around.clock.advance(step.ms);
      return walked;
    }
    if (step.kind === 'restart') return (await this.#restart(step)) ? walked : undefined;
    if (step.kind === 'late') {
      await this.#around.answerLate(step.call, 'output' in step ? step.output : walk.outputsOf(step.call)[0]);
      return walked;
    }
    const [planned] = step.kind === 'done' ? [step.output] : walk.outputsOf(step.call);
    if (step.kind !== 'done') {
      await this.#try(step, () => this.#around.fail(step.call, planned, step.kind === 'lost'));
      return walked;
    }
    const output = await this.#try(step, () => this.#around.answer(step.call, planned));
    return walk.take(this.#place, { ...step, output });
  }

  #send(step: ChartStep & { readonly kind: 'event' | 'again'; readonly event: AnyEventObject }): boolean {
    const { events } = this.#trial.adapter;
    const act = events[step.event.type];
    const text = JSON.stringify(step.event);
    const known = this.#delivered.get(text);
    if (act === undefined || (step.kind === 'again' && known === undefined)) return false;
    const delivery = step.kind === 'again' && known !== undefined ? known : `delivery-${(this.#deliveries += 1)}`;
    this.#delivered.set(text, delivery);
    this.#acted = undefined;
    void this.#await(() => act(this.#it, step.event, delivery));
    return true;
  }

  /** It may wait for a call or for time, which come only when the plan says so. */
  async #await(act: () => unknown): Promise<void> {
    try {
      await act();
      this.#acted = {};
    } catch (thrown) {
      this.#acted = { thrown };
    }
  }

  async #restart(step: ChartStep): Promise<boolean> {
    const { restart } = this.#trial.adapter;
    if (restart === undefined) return false;
    this.#around.crash();
    this.#real = { it: await this.#try(step, () => restart(this.#it, this.#around.world())) };
    return true;
  }

  get #it(): Real {
    if (this.#real === undefined) throw new Error('the real thing was not started');
    return this.#real.it;
  }

  async #compare(step: ChartStep | undefined, taken: readonly string[]): Promise<void> {
    const { adapter, walk, patience } = this.#trial;
    const shared = walk.sharedNameAt(this.#place);
    if (shared !== undefined) throw invalidCheck(`two invoked actors named "${shared}" run at once; give each an id`);
    const snapshot = this.#place.snapshot as unknown as AnyMachineSnapshot;
    const expected: unknown = adapter.expected === undefined ? snapshot.value : adapter.expected(snapshot);
    let received: unknown;
    let problem: string | undefined;
    for (let turn = 0; turn <= patience; turn += 1) {
      await this.#around.clock.advance(0);
      received = await this.#try(step, () => adapter.read(this.#it));
      problem = isEqual(received, expected)
        ? callProblem(this.#around.calls, walk.callsAt(this.#place), walk.sparedAt(this.#place))
        : 'the state';
      if (problem === undefined && (this.#acted !== undefined || this.#around.isWaitedFor)) break;
      await letOthersRun();
    }
    this.#done.push({ ...(step === undefined ? {} : { step }), expected, received });
    if (problem === undefined) return;
    const refused = this.#acted !== undefined && 'thrown' in this.#acted ? this.#acted.thrown : undefined;
    const because = refused === undefined ? '' : `; the real thing has thrown: ${messageOf(refused)}`;
    const way = taken.length === 0 ? 'nothing' : taken.join(', ');
    throw new Disagreement(`${problem} (the chart took ${way}${because})`, this.#done, refused);
  }

  async #try<Result>(step: ChartStep | undefined, work: () => Result | Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (thrown) {
      throw this.#broken(step, `what the adapter does throws: ${messageOf(thrown)}`, thrown);
    }
  }

  #broken(step: ChartStep | undefined, about: string, cause: unknown): Disagreement {
    const { value } = this.#place.snapshot;
    const last = this.#done.at(-1);
    const isTold = last !== undefined && last.step === step;
    return new Disagreement(
      about,
      isTold
        ? this.#done
        : [...this.#done, { ...(step === undefined ? {} : { step }), expected: value, received: '?' }],
      cause,
    );
  }
}

export function invalidCheck(because: string): RuntimeError {
  return new RuntimeError('CHART_CHECK_INVALID', `the check cannot be done: ${because}`, {
    category: 'validation',
    hint: 'Give an adapter with start, read and a function for each event, and calls that can be told apart.',
  });
}

function isEqual(one: unknown, other: unknown): boolean {
  try {
    deepStrictEqual(one, other);
    return true;
  } catch {
    return false;
  }
}

/** @param spared calls that may be under way, though the chart waits for none of them */
function callProblem(
  made: readonly string[],
  wanted: readonly string[],
  spared: readonly string[],
): string | undefined {
  const spare = [...made];
  for (const name of wanted) {
    const index = spare.indexOf(name);
    if (index === -1) return `the call ${name}, which the chart waits for and the real thing does not make`;
    spare.splice(index, 1);
  }
  const allowed = [...spared];
  for (const name of spare) {
    const index = allowed.indexOf(name);
    if (index === -1) return `the call ${name}, which the real thing makes and the chart does not invoke here`;
    allowed.splice(index, 1);
  }
  return undefined;
}
