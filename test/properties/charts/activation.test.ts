/**
 * What a worker does with one session that is due: a real worker over a store in memory, with wakes that come to what
 * they are told to.
 */
import { expect } from 'vitest';
import type { StateValue } from 'xstate';
import { wakeConflict } from '../../../src/actors/session/event-store.ts';
import { MemoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { activationLifecycle } from '../../../src/machines/session/activation-machine.ts';
import { FAILURES_UNTIL_PARKED } from '../../../src/machines/session/worker-rules.ts';
import { wakeElsewhere } from '../../../src/machines/workspace-copy/copy-state.ts';
import type { WakeOutcome } from '../../../src/machines/wake/wake-outcome.ts';
import type { ChartModel } from '../../support/chart-model.ts';
import type { RealSubject } from '../../support/chart-model-subject.ts';
import { describeModel } from '../../support/chart-model-suite.ts';
import { watchChart } from '../../support/chart-model-watch.ts';
import type { ChartWatch, WatchedLife } from '../../support/chart-model-watch.ts';
import { idOf } from '../../support/session-events.ts';
import { due, makeSession, openWorkerSetup, outcomeOf, removeDue } from '../../support/worker-setup.ts';
import type { WorkerSetup } from '../../support/worker-setup.ts';

const SESSION = 1;
/** Another one, which has the worker's only slot. */
const BLOCKER = 2;
/** Longer than anything is set aside, and than a hint without a cause is left for its sender. */
const LONG_MS = 300_000;
/** A worker checks again by itself. */
const REST_MS = 60_000;
/** After so many conflicts in a row the end of somebody else's wake is not waited for. */
const CONFLICTS_WAITED_FOR = 2;

interface Facts {
  hasCome: boolean;
  isSlotTaken: boolean;
  /** Nobody would find it due any more. */
  isTakenBack: boolean;
  /** So late is it that its sender has had all the time there is. */
  isOld: boolean;
  isStopped: boolean;
  mishap: 'early' | 'contended' | 'elsewhere' | 'failed' | undefined;
  attempts: number;
}

interface Wake {
  readonly sessionId: string;
  readonly resolve: (outcome: WakeOutcome) => void;
  readonly reject: (error: Error) => void;
}

class Real implements RealSubject {
  readonly store = new MemoryEventStore();
  readonly #watch: ChartWatch = watchChart(activationLifecycle);
  readonly #wakes: Wake[] = [];
  #freed: (() => void)[] = [];
  #setup: WorkerSetup | undefined;

  async open(): Promise<this> {
    this.store.wakeRightFreed = () => new Promise((resolve) => this.#freed.push(resolve));
    this.#setup = await openWorkerSetup({
      store: this.store,
      concurrency: 1,
      restLimitMs: REST_MS,
      drainLimitMs: 2 ** 30,
      play: (sessionId) => new Promise((resolve, reject) => this.#wakes.push({ sessionId, resolve, reject })),
    });
    return this;
  }

  get setup(): WorkerSetup {
    if (this.#setup === undefined) throw new Error('it is not open');
    return this.#setup;
  }

  /** Of our session: the newest that does not belong to the one in its way. */
  get #life(): WatchedLife | undefined {
    return this.#hasBlocker ? this.#watch.lives[1] : this.#watch.lives.at(-1);
  }

  #hasBlocker = false;

  state(): StateValue {
    return this.#life?.value ?? activationLifecycle.initial.value;
  }

  taken(): readonly string[] {
    return this.#life?.taken ?? [];
  }

  can(event: string): boolean | undefined {
    return this.#life?.can(event);
  }

  /** It is due while another one is being woken. */
  async come(): Promise<void> {
    this.#hasBlocker = true;
    await makeSession(this.store, SESSION);
    await this.setup.add(due(BLOCKER));
    await this.setup.add(due(SESSION));
  }

  /** It is due by the very hint for which it was woken twice. */
  async comeAgain(): Promise<void> {
    await this.setup.add(due(SESSION));
    for (let turn = 0; turn < 2; turn += 1) await this.#settleWake((wake) => wake.resolve(outcomeOf(wake.sessionId)));
  }

  async freeSlot(): Promise<void> {
    await removeDue(this.store, idOf(BLOCKER), this.setup.clock.now() - REST_MS * 1_000);
    await this.store.activations.remove([due(BLOCKER)]);
    await this.#settleWake((wake) => wake.resolve(outcomeOf(wake.sessionId)));
  }

  async sleep(): Promise<void> {
    await this.takeBack();
    await this.#settleWake((wake) => wake.resolve(outcomeOf(wake.sessionId)));
  }

  takeBack = (): Promise<void> => this.store.activations.remove([due(SESSION)]);
  findNothing = (): Promise<void> =>
    this.#settleWake((wake) => wake.resolve(outcomeOf(wake.sessionId, 'nothing_to_do')));
  breakDown = (): Promise<void> => this.#settleWake((wake) => wake.reject(new Error('it broke')));
  meetAnother = (): Promise<void> => this.#settleWake((wake) => wake.reject(wakeConflict(wake.sessionId)));

  lackWhatItNeeds = (): Promise<void> =>
    this.#settleWake((wake) => wake.reject(wakeElsewhere(wake.sessionId, { lacks: { what: 'agent', id: 'none' } })));

  async release(): Promise<void> {
    for (const resolve of this.#freed.splice(0)) resolve();
    await this.setup.settle();
  }

  async pass(durationMs: number): Promise<void> {
    await this.setup.clock.advance(durationMs);
    await this.setup.settle();
  }

  async stop(): Promise<void> {
    void this.setup.worker.stop();
    await this.setup.settle();
  }

  async #settleWake(end: (wake: Wake) => void): Promise<void> {
    const wake = this.#wakes.shift();
    if (wake !== undefined) end(wake);
    await this.setup.settle();
  }

  async close(): Promise<void> {
    const over = this.setup.worker.stop({ running: 'abort' });
    while (this.#wakes.length > 0) await this.#settleWake((wake) => wake.resolve(outcomeOf(wake.sessionId, 'aborted')));
    await this.release();
    await over;
    await this.setup.close();
    this.#watch.end();
    expect(this.setup.clock.pendingTimers).toBe(0);
  }
}

type Model = ChartModel<Facts>;

const isAside = (model: Model): boolean =>
  ['contended', 'early', 'elsewhere', 'backed_off', 'parked'].some((state) => model.is(state));

function again(model: Model): void {
  model.tell('AGAIN');
  model.tell(model.facts.isTakenBack ? 'DROP' : 'BEGIN');
}

/** Whoever checks does not find it any more. */
function drop(model: Model): void {
  if (model.is('waiting') && model.facts.isTakenBack) model.tell('DROP');
}

function mishap(model: Model, kind: NonNullable<Facts['mishap']>): void {
  const { facts } = model;
  if (facts.isStopped) return model.tell('SETTLE');
  // Beyond those that make a difference nobody counts.
  facts.attempts = facts.mishap === kind ? Math.min(FAILURES_UNTIL_PARKED, facts.attempts + 1) : 1;
  facts.mishap = kind;
  if (kind === 'failed') model.tell(facts.attempts >= FAILURES_UNTIL_PARKED ? 'PARK' : 'HOLD');
  else model.tell({ early: 'FORESEE', contended: 'CONTEND', elsewhere: 'LEAVE' }[kind]);
}

const isWaking = (model: Model): boolean => model.is('waking');

describeModel<Facts, Real>(
  'an activation',
  {
    chart: activationLifecycle,
    facts: () => ({
      hasCome: false,
      isSlotTaken: false,
      isTakenBack: false,
      isOld: false,
      isStopped: false,
      mishap: undefined,
      attempts: 0,
    }),
    open: () => new Real().open(),
    agree: (real, model) => {
      const aside = real.setup.worker.status().setAside.map(({ phase }) => phase as string);
      expect(aside).toEqual(isAside(model) ? [model.value] : []);
    },
    commands: {
      'it is due': {
        isPossible: ({ facts }) => !facts.hasCome && !facts.isStopped,
        tells: ({ facts }) => {
          facts.hasCome = true;
          facts.isSlotTaken = true;
        },
        act: (real) => real.come(),
      },
      'it is due still after two wakes': {
        isPossible: ({ facts }) => !facts.hasCome && !facts.isStopped,
        tells: (model) => {
          model.facts.hasCome = true;
          mishap(model, 'failed');
        },
        act: (real) => real.comeAgain(),
      },
      'the slot is free': {
        isPossible: ({ facts }) => facts.isSlotTaken && !facts.isStopped,
        tells: (model) => {
          model.facts.isSlotTaken = false;
          model.tell('BEGIN');
        },
        act: (real) => real.freeSlot(),
      },
      'its wake sleeps': { isPossible: isWaking, tells: (model) => model.tell('SETTLE'), act: (real) => real.sleep() },
      'its wake finds nothing': {
        isPossible: isWaking,
        tells: (model) => {
          if (model.facts.isOld) model.tell('SETTLE');
          else mishap(model, 'early');
        },
        act: (real) => real.findNothing(),
      },
      'its wake breaks': {
        isPossible: isWaking,
        tells: (model) => mishap(model, 'failed'),
        act: (real) => real.breakDown(),
      },
      'somebody else wakes it': {
        isPossible: isWaking,
        tells: (model) => mishap(model, 'contended'),
        act: (real) => real.meetAnother(),
      },
      'it lacks what the session needs': {
        isPossible: isWaking,
        tells: (model) => mishap(model, 'elsewhere'),
        act: (real) => real.lackWhatItNeeds(),
      },
      'somebody else lets go': {
        isPossible: (model) => model.is('contended'),
        tells: (model) => {
          if (model.facts.attempts <= CONFLICTS_WAITED_FOR) again(model);
        },
        act: (real) => real.release(),
      },
      'time passes': {
        tells: (model) => {
          model.facts.isOld = true;
          if (isAside(model)) again(model);
          else drop(model);
        },
        act: (real) => real.pass(LONG_MS),
      },
      'its hint is taken back': {
        isPossible: ({ facts }) => facts.hasCome,
        tells: (model) => {
          model.facts.isTakenBack = true;
        },
        act: (real) => real.takeBack(),
      },
      'the worker checks': {
        isPossible: (model) => model.facts.hasCome && !isAside(model),
        tells: (model) => {
          model.facts.isOld = true;
          drop(model);
        },
        act: (real) => real.pass(REST_MS),
      },
      'the worker stops': {
        tells: (model) => {
          model.facts.isStopped = true;
          if (model.facts.hasCome && !isWaking(model)) model.tell('DROP');
        },
        act: (real) => real.stop(),
      },
    },
  },
  { runs: 25 },
);
