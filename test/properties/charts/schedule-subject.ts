/**
 * The life of a schedule: the real one, with real cron expressions on a simulated clock, records that take their time,
 * and fires that end when they are told to.
 */
import { expect } from 'vitest';
import type { CronPlan } from '../../../src/actors/schedule/cron-plan.ts';
import { createMemoryScheduleStore } from '../../../src/actors/schedule/memory-schedule-store.ts';
import type { ScheduleStore } from '../../../src/actors/schedule/schedule-store.ts';
import { scheduleLifecycle } from '../../../src/machines/schedule/schedule-machine.ts';
import type { ScheduleHistory } from '../../../src/machines/schedule/slot-ledger.ts';
import type { BackgroundTaskRequestInput } from '../../../src/machines/task/task-request.ts';
import type { BackgroundTaskState } from '../../../src/machines/task/task-state.ts';
import { ManualChildren, MINUTE, createStage, cron } from '../../actors/schedule/schedule-stage.ts';
import type { LiveSchedule, Stage } from '../../actors/schedule/schedule-stage.ts';
import type { ChartModel } from '../../support/chart-model.ts';
import type { ModelSubject, RealSubject } from '../../support/chart-model-subject.ts';
import { watchChart } from '../../support/chart-model-watch.ts';
import { settled } from '../../support/manual-runner.ts';

const EVERY_MINUTE = '* * * * *';

interface Facts {
  /** Whether the records have been read. */
  isOpen: boolean;
  /** A fire runs. */
  isRunning: boolean;
  /** The plan has times for ever, or this many. */
  left: 'endless' | number;
  /** What the records say, which others may have written. */
  isPausedInRecords: boolean;
  /** The plan cannot be read any more. */
  isBroken: boolean;
}

/** Nothing that runs ends because somebody asks it to. */
class SlowChildren extends ManualChildren {
  override async spawn(request: BackgroundTaskRequestInput): Promise<BackgroundTaskState> {
    const spawned = await super.spawn(request);
    for (const child of this.all) child.onCancel = () => child.result.then(() => undefined);
    return spawned;
  }
}

class Real implements RealSubject {
  readonly #watch = watchChart(scheduleLifecycle);
  readonly #children = new SlowChildren();
  readonly #stage: Stage;
  #isBroken = false;
  #answer: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined;
  #live: LiveSchedule | undefined;
  #ended: 'completed' | 'failed' | undefined;

  constructor() {
    const store = createMemoryScheduleStore();
    let isFirst = true;
    const slow: ScheduleStore = {
      ...store,
      append: (id, records) => store.append(id, records),
      records: (id) => store.records(id),
      load: async (id): Promise<ScheduleHistory> => {
        if (isFirst) {
          isFirst = false;
          await new Promise<void>((resolve, reject) => (this.#answer = { resolve, reject }));
        }
        return store.load(id);
      },
    };
    // The plan of another release, which stops making sense of an expression.
    const breakable: CronPlan = {
      read: (plan) => {
        const times = cron.read(plan);
        const next = (afterMs: number): number | undefined => {
          if (this.#isBroken) throw new Error('the time zone is not known any more');
          return times.next(afterMs);
        };
        return { plan: times.plan, previous: (beforeMs) => times.previous(beforeMs), next };
      },
    };
    this.#stage = createStage({ store: slow, cron: breakable });
  }

  async open(): Promise<this> {
    this.#live = await this.#stage.start({ cronExpression: EVERY_MINUTE, timezone: 'UTC' }, this.#children);
    this.#live.handle.result.then(
      () => (this.#ended = 'completed'),
      () => (this.#ended = 'failed'),
    );
    return this;
  }

  state(): never {
    return this.#watch.lives[0]?.value as never;
  }

  taken(): readonly string[] {
    return this.#watch.lives[0]?.taken ?? [];
  }

  can(event: string): boolean | undefined {
    return this.#watch.lives[0]?.can(event);
  }

  get ended(): string | undefined {
    return this.#ended;
  }

  get isFiring(): boolean {
    return this.#children.running > 0;
  }

  get handle(): LiveSchedule['handle'] {
    if (this.#live === undefined) throw new Error('it is not open');
    return this.#live.handle;
  }

  async read(): Promise<void> {
    this.#answer?.resolve();
    await this.#settle();
  }

  async failToRead(): Promise<void> {
    this.#answer?.reject(new Error('the disk is gone'));
    await this.#settle();
  }

  break(): void {
    this.#isBroken = true;
  }

  async minute(): Promise<void> {
    await this.#stage.clock.advance(MINUTE);
    await this.#settle();
  }

  async endFire(): Promise<void> {
    for (const child of this.#children.all) child.end();
    await this.#settle();
  }

  /** @returns the code of the refusal */
  async ask(work: () => unknown): Promise<string | undefined> {
    const code = await Promise.resolve(work()).then(
      () => undefined,
      (error: unknown) => String((error as { readonly code?: unknown }).code),
    );
    await this.#settle();
    return code;
  }

  async stop(): Promise<void> {
    void this.handle.cancel();
    await this.#settle();
  }

  /** A plan with one time, a minute from now. */
  get lastTime(): string {
    const at = new Date(this.#stage.clock.now() + MINUTE);
    return `0 ${at.getUTCMinutes()} ${at.getUTCHours()} ${at.getUTCDate()} ${at.getUTCMonth() + 1} * ${at.getUTCFullYear()}`;
  }

  async #settle(): Promise<void> {
    for (let turn = 0; turn < 4; turn += 1) await settled();
  }

  async close(): Promise<void> {
    const over = this.handle.cancel();
    await this.read();
    await this.endFire();
    await over;
    this.#watch.end();
    expect(this.#stage.clock.pendingTimers).toBe(0);
    expect(this.isFiring).toBe(false);
  }
}

type Model = ChartModel<Facts>;

const isLive = (model: Model): boolean => model.is('active') || model.is('paused') || model.is('draining');

/** What it does whenever it checks. */
function check(model: Model, dueNow = 0): void {
  const { facts } = model;
  if (!isLive(model)) return;
  model.tell(facts.isPausedInRecords ? 'PAUSE' : 'RESUME');
  if (dueNow > 0) {
    if (model.is('active')) facts.isRunning = true;
    model.tell('DUE');
    model.tell('SETTLED');
    if (facts.left !== 'endless') facts.left -= dueNow;
  }
  if (facts.isBroken) model.tell('FAIL');
  rest(model);
}

function rest(model: Model): void {
  if (!isLive(model)) return;
  if (model.facts.left === 0) model.tell('EXHAUST');
  if (model.is('draining') && !model.facts.isRunning) model.tell('DRAINED');
}

function pause(model: Model): void {
  if (model.is('paused')) return;
  check(model);
  if (!isLive(model)) return;
  model.tell('PAUSE');
  model.facts.isPausedInRecords = true;
  rest(model);
}

function resume(model: Model): void {
  if (!model.is('paused')) return;
  check(model);
  if (!isLive(model)) return;
  model.tell('RESUME');
  model.facts.isPausedInRecords = false;
  check(model);
}

function replan(model: Model, left: Facts['left']): void {
  const isSame = model.facts.left === left && left === 'endless';
  if (!isLive(model)) return;
  model.facts.left = left;
  if (!isSame) model.tell('REPLAN');
  rest(model);
}

const isUp = ({ facts }: Model): boolean => facts.isOpen;
const isSound = ({ facts }: Model): boolean => facts.isOpen && !facts.isBroken;
const ENDED = 'SCHEDULE_ENDED';

export const scheduleSubject: ModelSubject<Facts, Real> = {
  chart: scheduleLifecycle,
  facts: () => ({ isOpen: false, isRunning: false, left: 'endless', isPausedInRecords: false, isBroken: false }),
  open: () => new Real().open(),
  agree: (real, model) => {
    expect(real.isFiring).toBe(model.facts.isRunning);
    const isGone = !model.facts.isRunning;
    if (model.isOver && isGone) expect(real.ended).toBe(model.is('failed') ? 'failed' : 'completed');
    if (!model.isOver) expect(real.ended).toBeUndefined();
  },
  commands: {
    'its records are read': {
      isPossible: ({ facts }) => !facts.isOpen,
      tells: (model) => {
        model.facts.isOpen = true;
        if (model.is('stopping')) return model.tell('STOPPED');
        model.tell('OPENED');
        check(model);
      },
      act: (real) => real.read(),
    },
    'its records cannot be read': {
      isPossible: ({ facts }) => !facts.isOpen,
      tells: (model) => {
        model.facts.isOpen = true;
        model.tell('FAIL');
      },
      act: (real) => real.failToRead(),
    },
    'a minute passes': {
      tells: (model) => {
        const { left } = model.facts;
        if (left === 0 || !(model.is('active') || model.is('paused'))) return;
        check(model, 1);
      },
      act: (real) => real.minute(),
    },
    'a fire ends': {
      isPossible: ({ facts }) => facts.isRunning,
      tells: (model) => {
        model.facts.isRunning = false;
        if (model.is('stopping')) return model.tell('STOPPED');
        check(model);
      },
      act: (real) => real.endFire(),
    },
    pause: {
      isPossible: isUp,
      tells: pause,
      act: async (real, before) => {
        const code = await real.ask(() => real.handle.pause?.());
        if (!isLive(before)) expect(code).toBe(ENDED);
      },
    },
    resume: {
      isPossible: isUp,
      tells: resume,
      act: async (real, before) => {
        const code = await real.ask(() => real.handle.resume?.());
        if (!isLive(before)) expect(code).toBe(ENDED);
      },
    },
    'is given a plan without end': {
      isPossible: isSound,
      tells: (model) => replan(model, 'endless'),
      act: async (real, before) =>
        expect(await real.ask(() => real.handle.edit?.({ cronExpression: EVERY_MINUTE }))).toBe(
          isLive(before) ? undefined : ENDED,
        ),
    },
    'is given a plan with one time': {
      isPossible: isSound,
      tells: (model) => replan(model, 1),
      act: async (real, before) =>
        expect(await real.ask(() => real.handle.edit?.({ cronExpression: real.lastTime }))).toBe(
          isLive(before) ? undefined : ENDED,
        ),
    },
    'its plan makes no sense any more': {
      isPossible: isUp,
      tells: ({ facts }) => {
        facts.isBroken = true;
      },
      act: (real) => real.break(),
    },
    stop: {
      tells: (model) => {
        model.tell('STOP');
        if (model.facts.isOpen && !model.facts.isRunning) model.tell('STOPPED');
      },
      act: (real) => real.stop(),
    },
  },
};
