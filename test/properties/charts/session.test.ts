/**
 * The life of a session, as its log tells it: a real one, with wakes that do what their model says, die, and are taken
 * over, and people who write, answer, interrupt and terminate.
 */
import { afterAll, beforeAll, expect } from 'vitest';
import type { StateValue } from 'xstate';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { chartEventOf } from '../../../src/machines/session/fold-status.ts';
import type { SessionEvent } from '../../../src/machines/session/session-event.ts';
import { foldSession } from '../../../src/machines/session/session-fold.ts';
import { nextConfiguration, sessionLifecycle } from '../../../src/machines/session/session-machine.ts';
import { initialSessionState } from '../../../src/machines/session/session-state.ts';
import type { SessionState } from '../../../src/machines/session/session-state.ts';
import { ChartPlan } from '../../support/chart-model.ts';
import type { ChartModel } from '../../support/chart-model.ts';
import type { RealSubject } from '../../support/chart-model-subject.ts';
import { describeModel } from '../../support/chart-model-suite.ts';
import { MortalStore } from '../../support/mortal-store.ts';
import { openTurnSetup } from '../../support/turn-setup.ts';
import type { Said, TurnSetup } from '../../support/turn-setup.ts';

interface Facts {
  unread: number;
  isWaiting: boolean;
  /** An answer is in the log, and no wake has gone on with it. */
  isAnswered: boolean;
  /** A wake is queued, and due. */
  isQueued: boolean;
  /** A wake is open in the log whose process has died. */
  hasDied: boolean;
  /** How often the agent went on in a row, and how many wakes in a row have died. */
  continues: number;
  deaths: number;
}

let setup: TurnSetup;
let said: Said = {};

beforeAll(async () => {
  setup = await openTurnSetup();
  const speak = (): Said => {
    const now = said;
    said = { text: 'Done.' };
    return now;
  };
  await setup.agent('worker', speak, { tools: ['ask_human'] });
});
afterAll(() => setup[Symbol.asyncDispose]());

const plan = new ChartPlan(sessionLifecycle);

class Real implements RealSubject {
  readonly sessionId: string;
  #log: readonly SessionEvent[] = [];

  private constructor(sessionId: string) {
    this.sessionId = sessionId;
  }

  static async open(): Promise<Real> {
    const real = new Real((await setup.runtime.sessions.create({ agentId: 'worker' })).sessionId);
    await real.#read();
    return real;
  }

  async #read(): Promise<void> {
    this.#log = await setup.log(this.sessionId);
  }

  async state(): Promise<StateValue> {
    await this.#read();
    return configurationOf(await setup.state(this.sessionId));
  }

  /** The moves that the log records, folded once more and one by one. */
  taken(): readonly string[] {
    const model = plan.start({});
    let state = initialSessionState({ sessionId: this.sessionId, agentId: 'worker' });
    for (const event of this.#log) {
      const before = state;
      state = foldSession(before, event);
      if (event.type === 'session.status_changed') model.tell(chartEventOf(event.data));
      else if (before.stopReason === 'requires_action' && state.stopReason !== 'requires_action') model.tell('RESOLVE');
      expect(configurationOf(state)).toEqual(model.value);
    }
    return model.taken;
  }

  write = (): Promise<string | undefined> =>
    codeOf(setup.runtime.sessions.send(this.sessionId, { type: 'user.message', text: 'More.' }));
  interrupt = (): Promise<string | undefined> => codeOf(setup.runtime.sessions.interrupt(this.sessionId));
  terminate = (): Promise<string | undefined> => codeOf(setup.runtime.sessions.terminate(this.sessionId));

  async wake(saying: Said): Promise<string | undefined> {
    said = saying;
    // Whatever is queued is due by now.
    await setup.clock.advance(1_000);
    return codeOf(setup.runtime.wake(this.sessionId));
  }

  /** By a process that dies once the log says that the wake has begun. */
  async wakeAndDie(): Promise<void> {
    const lasting = setup.runtime;
    await setup.clock.advance(1_000);
    const mortal = new MortalStore(setup.store, { at: 2, stored: false });
    await codeOf(setup.open({ store: mortal }).wake(this.sessionId));
    await mortal.kill();
    await setup.runtime.shutdown().catch(() => undefined);
    setup.runtime = lasting;
  }

  async answer(): Promise<string | undefined> {
    const [requestId = ''] = await setup.requests(this.sessionId);
    return codeOf(
      setup.runtime.sessions.send(this.sessionId, { type: 'user.answer', requestId, response: 'this one' }),
    );
  }

  async close(): Promise<void> {
    await setup.runtime.sessions.delete(this.sessionId);
  }
}

function configurationOf({ status, stopReason }: SessionState): StateValue {
  return status === 'idle' ? { idle: stopReason === 'requires_action' ? 'requires_action' : 'resting' } : status;
}

async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(
    () => undefined,
    (error: unknown) => (RuntimeError.is(error) ? error.code : String(error)),
  );
}

type Model = ChartModel<Facts>;

const refusal = ({ isOver }: Model): string | undefined => (isOver ? 'SESSION_TERMINATED' : undefined);

function hasWork({ facts }: Model): boolean {
  if (facts.hasDied) return true;
  return !facts.isWaiting && (facts.unread > 0 || facts.isAnswered || facts.isQueued);
}

function wake(model: Model, event: 'REST' | 'REQUIRE_ACTION' | 'RESCHEDULE'): void {
  const { facts } = model;
  if (model.isOver || !hasWork(model)) return;
  model.tell('WAKE');
  model.tell(event);
  Object.assign(facts, {
    unread: 0,
    isAnswered: false,
    hasDied: false,
    deaths: 0,
    isQueued: event === 'RESCHEDULE',
    isWaiting: event === 'REQUIRE_ACTION',
    continues: event === 'RESCHEDULE' ? facts.continues + 1 : 0,
  });
}

describeModel<Facts, Real>(
  'a session',
  {
    chart: sessionLifecycle,
    facts: () => ({
      unread: 0,
      isWaiting: false,
      isAnswered: false,
      isQueued: false,
      hasDied: false,
      continues: 0,
      deaths: 0,
    }),
    open: () => Real.open(),
    agree: async (real, model) => {
      const state = await setup.state(real.sessionId);
      const { pending, pendingActions, openWake } = state;
      const messages = pending.filter(({ type }) => type === 'user.message').length;
      expect({ messages, requests: pendingActions.length, isOpen: openWake !== undefined }).toEqual({
        messages: model.facts.unread,
        requests: model.facts.isWaiting ? 1 : 0,
        isOpen: model.facts.hasDied,
      });
      // What the rules would let in is what the chart would take.
      for (const event of plan.sent)
        expect([event, nextConfiguration(state, event as never) !== undefined]).toEqual([event, model.can(event)]);
    },
    commands: {
      'a message comes': {
        isPossible: ({ facts }) => facts.unread < 2,
        tells: ({ facts, isOver }) => {
          if (!isOver) facts.unread += 1;
        },
        act: async (real, before) => expect(await real.write()).toBe(refusal(before)),
      },
      'wakes and says something': {
        tells: (model) => wake(model, 'REST'),
        act: async (real, before) => expect(await real.wake({ text: 'Said.' })).toBe(refusal(before)),
      },
      'wakes and asks somebody': {
        tells: (model) => wake(model, 'REQUIRE_ACTION'),
        act: async (real, before) =>
          expect(await real.wake({ calls: [{ name: 'ask_human', input: { question: 'Which?' } }] })).toBe(
            refusal(before),
          ),
      },
      'wakes and wants to go on': {
        isPossible: ({ facts }) => facts.continues < 2,
        tells: (model) => wake(model, 'RESCHEDULE'),
        act: async (real, before) =>
          expect(
            await real.wake({
              payloads: [
                { type: 'directive', directive: { outcome: 'continue', summary: 'More to do.', followUpSeconds: 1 } },
              ],
            }),
          ).toBe(refusal(before)),
      },
      'wakes and dies': {
        isPossible: (model) => !model.isOver && model.facts.deaths < 1,
        tells: (model) => {
          if (!hasWork(model)) return;
          model.tell('WAKE');
          model.facts.hasDied = true;
          model.facts.deaths += 1;
        },
        act: (real) => real.wakeAndDie(),
      },
      'is answered': {
        isPossible: ({ facts }) => facts.isWaiting,
        tells: (model) => {
          model.facts.isWaiting = false;
          model.facts.isAnswered = true;
          model.tell('RESOLVE');
        },
        act: (real) => real.answer(),
      },
      'is interrupted': {
        isPossible: ({ facts }) => !facts.hasDied,
        tells: (model) => {
          const { facts } = model;
          if (model.is('rescheduling')) model.tell('REST');
          model.tell('RESOLVE');
          Object.assign(facts, { isWaiting: false, isAnswered: false, isQueued: false });
        },
        act: async (real, before) => expect(await real.interrupt()).toBe(refusal(before)),
      },
      'is terminated': {
        tells: (model) => {
          model.tell('TERMINATE');
          // Nobody closes what a dead wake left open: nothing follows from it any more.
          model.facts.isWaiting = false;
        },
        act: (real) => real.terminate(),
      },
    },
  },
  { runs: 8, maxCommands: 25 },
);
