/**
 * The life of a worker: the real one over a store in memory, with wakes that end when they are told to and an index
 * that takes its time.
 */
import { expect } from 'vitest';
import type { StateValue } from 'xstate';
import { workerLifecycle } from '../../../src/machines/session/worker-machine.ts';
import type { WakeOutcome } from '../../../src/machines/wake/wake-outcome.ts';
import type { ChartModel } from '../../support/chart-model.ts';
import type { RealSubject } from '../../support/chart-model-subject.ts';
import { describeModel } from '../../support/chart-model-suite.ts';
import { watchChart } from '../../support/chart-model-watch.ts';
import type { ChartWatch } from '../../support/chart-model-watch.ts';
import { due, openWorkerSetup, outcomeOf, removeDue } from '../../support/worker-setup.ts';
import type { WorkerSetup } from '../../support/worker-setup.ts';

const DRAIN_LIMIT_MS = 5_000;

interface Facts {
  /** Whether it is known that the index can be trusted. */
  isKnown: boolean;
  running: boolean;
  waiting: number;
}

interface Wake {
  readonly sessionId: string;
  readonly end: (outcome: WakeOutcome) => void;
}

class Real implements RealSubject {
  readonly #watch: ChartWatch;
  readonly #setup: WorkerSetup;
  readonly #wakes: Wake[];
  readonly #answerIndex: () => void;
  #sessions = 0;

  private constructor(setup: WorkerSetup, wakes: Wake[], answerIndex: () => void, watch: ChartWatch) {
    this.#watch = watch;
    this.#setup = setup;
    this.#wakes = wakes;
    this.#answerIndex = answerIndex;
  }

  static async open(): Promise<Real> {
    const watch = watchChart(workerLifecycle);
    const wakes: Wake[] = [];
    let answerIndex: () => void = () => undefined;
    const setup = await openWorkerSetup({
      concurrency: 1,
      drainLimitMs: DRAIN_LIMIT_MS,
      prepare: async (store) => {
        store.activations.isSuspect = () => new Promise((resolve) => (answerIndex = () => resolve(false)));
      },
      // A wake that is in no hurry to stop.
      play: (sessionId, { store, clock }) =>
        new Promise((resolve) => {
          const end = (outcome: WakeOutcome): void =>
            void removeDue(store, sessionId, clock.now()).then(() => resolve(outcome));
          wakes.push({ sessionId, end });
        }),
    });
    return new Real(setup, wakes, () => answerIndex(), watch);
  }

  state(): StateValue {
    return this.#watch.lives[0]?.value ?? this.#setup.worker.phase;
  }

  taken(): readonly string[] {
    return this.#watch.lives[0]?.taken ?? [];
  }

  can(event: string): boolean | undefined {
    return this.#watch.lives[0]?.can(event);
  }

  get running(): number {
    return this.#setup.worker.status().running.length;
  }

  get waiting(): number {
    return this.#setup.worker.status().waiting;
  }

  answerIndex(): Promise<void> {
    this.#answerIndex();
    return this.#setup.settle();
  }

  async add(): Promise<void> {
    this.#sessions += 1;
    await this.#setup.add(due(this.#sessions));
  }

  async endWake(): Promise<void> {
    const wake = this.#wakes.shift();
    if (wake !== undefined) wake.end(outcomeOf(wake.sessionId));
    await this.#setup.settle();
  }

  async stop(running: 'drain' | 'abort'): Promise<void> {
    void this.#setup.worker.stop({ running });
    await this.#setup.settle();
  }

  async passTime(): Promise<void> {
    await this.#setup.clock.advance(DRAIN_LIMIT_MS);
    await this.#setup.settle();
  }

  async close(): Promise<void> {
    const over = this.#setup.worker.stop({ running: 'abort' });
    this.#answerIndex();
    await this.endWake();
    await over;
    await this.#setup.close();
    this.#watch.end();
    expect(this.#setup.clock.pendingTimers).toBe(0);
  }
}

type Model = ChartModel<Facts>;

const isTaking = (model: Model): boolean => model.is('starting') || model.is('working');

function stop(model: Model, event: 'DRAIN' | 'FORCE'): void {
  model.tell(event);
  model.facts.waiting = 0;
  endIfDone(model);
}

function endIfDone(model: Model): void {
  if (!isTaking(model) && model.facts.isKnown && !model.facts.running) model.tell('ENDED');
}

function restIfDone(model: Model): void {
  if (model.is('working') && !model.facts.running) model.tell('IDLE');
}

describeModel<Facts, Real>(
  'a worker',
  {
    chart: workerLifecycle,
    facts: () => ({ isKnown: false, running: false, waiting: 0 }),
    open: () => Real.open(),
    agree: (real, { facts }) => expect([real.running, real.waiting]).toEqual([facts.running ? 1 : 0, facts.waiting]),
    commands: {
      'the index is known': {
        isPossible: ({ facts }) => !facts.isKnown,
        tells: (model) => {
          model.facts.isKnown = true;
          if (!isTaking(model)) return endIfDone(model);
          model.tell('READY');
          restIfDone(model);
        },
        act: (real) => real.answerIndex(),
      },
      'a session is due': {
        isPossible: ({ facts }) => facts.waiting < 3,
        tells: (model) => {
          const { facts } = model;
          if (!isTaking(model)) return;
          if (facts.running) facts.waiting += 1;
          else model.tell('WOKE');
          facts.running = true;
        },
        act: (real) => real.add(),
      },
      'a wake ends': {
        isPossible: ({ facts }) => facts.running,
        tells: (model) => {
          const { facts } = model;
          facts.running = isTaking(model) && facts.waiting > 0;
          facts.waiting = Math.max(0, facts.waiting - 1);
          restIfDone(model);
          endIfDone(model);
        },
        act: (real) => real.endWake(),
      },
      drain: {
        tells: (model) => {
          if (isTaking(model)) stop(model, 'DRAIN');
        },
        act: (real) => real.stop('drain'),
      },
      abort: { tells: (model) => stop(model, 'FORCE'), act: (real) => real.stop('abort') },
      'the limit of draining passes': {
        tells: (model) => {
          if (model.is('draining')) stop(model, 'FORCE');
        },
        act: (real) => real.passTime(),
      },
    },
  },
  { runs: 20 },
);
