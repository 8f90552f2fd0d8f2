/** Leads a chart and the real thing that lives by it along the same steps, and compares the two after each. */
import type { AnyEventObject, AnyMachineSnapshot } from 'xstate';
import { messageOf } from '../machines/errors.ts';
import { letOthersRun } from '../actors/clock/waiting.ts';
import { stepText } from '../machines/inspection/chart-step.ts';
import type { ChartStep } from '../machines/inspection/chart-step.ts';
import type { ChartPlace, ChartWalk, WalkedStep } from '../machines/inspection/chart-walk.ts';
import type { ChartAdapter } from './chart-adapter.ts';
import { callProblem, isEqual } from './chart-compare.ts';
import type { CountedCover } from './chart-cover.ts';
import { Surroundings } from './chart-surroundings.ts';
import { invalidCheck } from './invalid-check.ts';

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
  await followed(trial, plan, () => undefined);
}

/** Each of the steps has to be possible. @throws Disagreement @throws RuntimeError CHART_CHECK_INVALID */
export async function followExactly<Real>(trial: Trial<Real>, steps: readonly ChartStep[]): Promise<void> {
  await followed(trial, steps, (because, index) => {
    const step = steps[index];
    throw invalidCheck(
      `step ${index + 1}${step === undefined ? '' : ` (${stepText(step)})`} is not possible: ${because}`,
    );
  });
}

async function followed<Real>(
  trial: Trial<Real>,
  plan: readonly ChartStep[],
  onSkipped: (because: string, index: number) => void,
): Promise<void> {
  const follower = new Follower(trial);
  const hear = (reason: unknown): void => follower.hear(reason);
  // Where there is no Node, none is heard of.
  const host: Pick<NodeJS.Process, 'on' | 'off'> | undefined = globalThis.process;
  host?.on('unhandledRejection', hear);
  try {
    await follower.start();
    for (const [index, step] of plan.entries()) {
      const skipped = await follower.go(step);
      if (skipped !== undefined) onSkipped(skipped, index);
    }
    await follower.stop();
  } catch (first) {
    // What stopping throws after that says less.
    await follower.stop().catch(() => undefined);
    throw first;
  } finally {
    host?.off('unhandledRejection', hear);
  }
}

/** How what an event set going has ended. */
interface Acted {
  isOver: boolean;
  refused?: { readonly thrown: unknown };
}

class Follower<Real> {
  readonly #trial: Trial<Real>;
  readonly #around = new Surroundings();
  readonly #done: DoneStep[] = [];
  #place: ChartPlace;
  #real: { readonly it: Real } | undefined;
  /** What the step set going. What an earlier one did may still go on. */
  #acted: Acted = { isOver: true };
  /** What any event has thrown since the step began. */
  #thrown: Acted['refused'];
  #unhandled: Acted['refused'];
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
    const { step } = this.#done.at(-1) ?? {};
    const real = this.#real;
    this.#real = undefined;
    if (real !== undefined) await this.#try(step, () => this.#trial.adapter.stop?.(real.it));
    await letOthersRun();
    this.#refuseUnhandled(step);
  }

  /** A rejection that nothing takes would end a process of its own. */
  hear(reason: unknown): void {
    this.#unhandled ??= { thrown: reason };
  }

  #refuseUnhandled(step: ChartStep | undefined): void {
    if (this.#unhandled === undefined) return;
    const { thrown } = this.#unhandled;
    throw this.#broken(step, `a rejection that the real thing does not handle: ${messageOf(thrown)}`, thrown);
  }

  /** @returns why it was passed over; undefined where it was done */
  async go(step: ChartStep): Promise<string | undefined> {
    const walked = this.#trial.walk.take(this.#place, step);
    if (walked === undefined) return `the chart is at ${JSON.stringify(this.#place.snapshot.value)}`;
    if ('thrown' in walked) return `the chart throws: ${messageOf(walked.thrown)}`;
    const real = await this.#act(step, walked);
    if (real === undefined) return 'the adapter has nothing for it';
    this.#place = real.place;
    await this.#compare(step, real.taken);
    const { refused } = this.#acted;
    if (refused !== undefined && step.kind === 'event' && real.taken.length > 0)
      throw this.#broken(step, `the event, which the chart takes: ${messageOf(refused.thrown)}`, refused.thrown);
    this.#trial.cover.take(this, real.taken);
    return undefined;
  }

  /** @returns what the chart does for it; undefined where the real thing cannot do it, and need not */
  async #act(step: ChartStep, walked: WalkedStep): Promise<WalkedStep | undefined> {
    const { walk } = this.#trial;
    this.#acted = { isOver: true };
    this.#thrown = undefined;
    if (step.kind === 'event' || step.kind === 'again') return this.#send(step) ? walked : undefined;
    if (step.kind === 'wait') {
      await this.#try(step, () => this.#around.clock.advance(step.ms), TIMER);
      return walked;
    }
    if (step.kind === 'restart') return (await this.#restart(step)) ? walked : undefined;
    if (step.kind === 'late') {
      const late = 'output' in step ? step.output : walk.outputsOf(step.call)[0];
      await this.#try(step, () => this.#around.answerLate(step.call, late));
      return walked;
    }
    const [planned] = step.kind === 'done' ? [step.output] : walk.outputsOf(step.call);
    if (step.kind !== 'done') {
      await this.#try(step, () => this.#around.fail(step.call, planned, step.kind === 'lost'));
      return walked;
    }
    const output = await this.#try(step, () => this.#around.answer(step.call, planned));
    const answered = walk.take(this.#place, { ...step, output });
    if (answered !== undefined && 'thrown' in answered)
      throw this.#broken(step, `the answer, at which the chart throws: ${messageOf(answered.thrown)}`, answered.thrown);
    return answered;
  }

  #send(step: ChartStep & { readonly kind: 'event' | 'again'; readonly event: AnyEventObject }): boolean {
    const { events } = this.#trial.adapter;
    const act = events[step.event.type];
    const text = JSON.stringify(step.event);
    const known = this.#delivered.get(text);
    if (act === undefined || (step.kind === 'again' && known === undefined)) return false;
    const delivery = step.kind === 'again' && known !== undefined ? known : `delivery-${(this.#deliveries += 1)}`;
    this.#delivered.set(text, delivery);
    this.#acted = { isOver: false };
    void this.#await(this.#acted, () => act(this.#it, step.event, delivery));
    return true;
  }

  /** It may wait for a call or for time, which come only when the plan says so. */
  async #await(acted: Acted, act: () => unknown): Promise<void> {
    try {
      await act();
    } catch (thrown) {
      acted.refused = this.#thrown = { thrown };
    }
    acted.isOver = true;
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
    const expected = await this.#try(step, () => (adapter.expected ?? valueOf)(snapshot));
    let received: unknown;
    let problem: string | undefined;
    for (let turn = 0; turn <= patience; turn += 1) {
      await this.#try(step, () => this.#around.clock.advance(0), TIMER);
      received = await this.#try(step, () => adapter.read(this.#it));
      problem = isEqual(received, expected)
        ? callProblem(this.#around.calls, walk.callsAt(this.#place), walk.sparedAt(this.#place))
        : 'the state';
      if (problem === undefined && (this.#acted.isOver || this.#around.isWaitedFor)) break;
      await letOthersRun();
    }
    this.#done.push({ ...(step === undefined ? {} : { step }), expected, received });
    if (problem === undefined) return this.#refuseUnhandled(step);
    const thrown = this.#thrown ?? this.#unhandled;
    const because = thrown === undefined ? '' : `; the real thing has thrown: ${messageOf(thrown.thrown)}`;
    const way = taken.length === 0 ? 'nothing' : taken.join(', ');
    throw new Disagreement(`${problem} (the chart took ${way}${because})`, this.#done, thrown?.thrown);
  }

  async #try<Result>(
    step: ChartStep | undefined,
    work: () => Result | Promise<Result>,
    what = 'what the adapter does',
  ): Promise<Result> {
    try {
      return await work();
    } catch (thrown) {
      throw this.#broken(step, `${what} throws: ${messageOf(thrown)}`, thrown);
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

const TIMER = 'a timer of the real thing';

function valueOf({ value }: AnyMachineSnapshot): unknown {
  return value;
}
