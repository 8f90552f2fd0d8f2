/**
 * What keeps a session that nobody watches from burning money, and what makes one more pass when something changed
 * meanwhile.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { MAX_FAILURES_IN_A_ROW, MAX_IDLE_WAKES_IN_A_ROW } from '../../../src/machines/session/limits.ts';
import type { SessionEvent, SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import type { WakeOutcome } from '../../../src/machines/wake/wake-outcome.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { UNBOUND, jobEnded, newEvent, running, wakeEnded, wakeStarted } from '../../support/session-events.ts';
import { HookedStore } from '../../support/hooked-store.ts';
import { openSetup, until } from '../../support/session-setup.ts';
import type { SessionSetup } from '../../support/session-setup.ts';

let setup: SessionSetup;
let id: string;
afterEach(() => setup.close());
const open = async (
  steps: readonly object[],
  options: { readonly message?: string; readonly agent?: object; readonly script?: object } = {},
): Promise<void> => {
  setup = await openSetup();
  id = await setup.session(steps, options);
};

const dataOf = async (type: SessionEvent['type']): Promise<unknown[]> =>
  (await setup.log(id)).filter((event) => event.type === type).map(({ data }) => data);
const hints = async (): Promise<string[]> =>
  (await setup.store.activations.due({ nowMs: setup.clock.now() + 1e12, limit: 10 })).due.flatMap(({ activations }) =>
    activations.map(({ kind, dueAtMs }) => `${kind} +${dueAtMs - setup.clock.now()}`),
  );
const wakeByItself = (): Promise<WakeOutcome> => setup.runtime.wake(id, { isAutonomous: true });
const failing = { error: { kind: 'overloaded', message: 'busy' } };
const tick = { directive: { outcome: 'sleep', summary: 'tick', queuedWakes: [{ reason: 'tick', delaySeconds: 1 }] } };

describe('a session whose wakes fail', () => {
  it('waits longer after each of them, and is parked after the last', async () => {
    await open([failing], { message: 'Go', script: { onEnd: 'repeat-last' } });
    for (const seconds of [5, 20, 80, 320]) {
      expect(await wakeByItself()).toMatchObject({ outcome: 'failed' });
      expect(await hints()).toEqual([`ingress +${seconds * 1000}`]);
      await setup.clock.advance(seconds * 1000 - 1);
      expect(await wakeByItself()).toMatchObject({ outcome: 'nothing_to_do' });
      await setup.clock.advance(1);
    }
    expect(await wakeByItself()).toMatchObject({ outcome: 'failed' });
    expect(await dataOf('session.parked')).toMatchObject([{ code: 'failures' }]);
    expect([await hints(), (await setup.runtime.sessions.get(id)).failuresInARow]).toEqual([[], MAX_FAILURES_IN_A_ROW]);
    await setup.clock.advance(86_400_000);
    expect(await wakeByItself()).toMatchObject({ outcome: 'nothing_to_do' });
  });

  it('waits as long as the provider asks', async () => {
    await open([{ error: { kind: 'rate_limit', message: 'slow down', retryAfterMs: 90_000 } }], { message: 'Go' });
    await wakeByItself();
    expect(await hints()).toEqual(['ingress +90000']);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['a message', () => setup.runtime.sessions.send(id, { type: 'user.message', text: 'And now?' })],
    ['somebody who wakes it', async () => undefined],
  ])('and was parked goes on after %s', async (_what, act) => {
    await open([failing, failing, failing, failing, failing, { text: 'Well again.' }], { message: 'Go' });
    for (let n = 0; n < MAX_FAILURES_IN_A_ROW; n += 1) await setup.runtime.wake(id);
    expect(await setup.runtime.sessions.get(id)).toMatchObject({ parked: { code: 'failures' } });
    await act();
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Well again.' });
    const state = await setup.runtime.sessions.get(id);
    expect([state.parked, state.failuresInARow, state.pending]).toEqual([undefined, 0, []]);
  });

  it('by killing their processes is parked before one more, and says so', async () => {
    await open([{ text: 'Alive.' }], { message: 'Go' });
    for (let epoch = 1; epoch <= MAX_FAILURES_IN_A_ROW; epoch += 1) {
      const before = epoch === 1 ? [] : [newEvent(epoch * 10, wakeEnded(`wake_${epoch - 1}`, 'lost'), epoch)];
      await setup.store.append(id, [
        ...before,
        newEvent(epoch * 10 + 1, wakeStarted(epoch), epoch),
        newEvent(epoch * 10 + 2, running, epoch),
      ] as never);
    }
    expect(await wakeByItself()).toMatchObject({ outcome: 'parked', status: 'idle', modelSteps: 0 });
    expect(await hints()).toEqual([]);
    expect(await wakeByItself()).toMatchObject({ outcome: 'nothing_to_do' });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Alive.' });
  });
});

describe('a message that comes in the very moment', () => {
  const died = async (): Promise<HookedStore> => {
    const store = new HookedStore();
    setup = await openSetup({ store: () => store });
    id = await setup.session([{ text: 'Alive.' }], { message: 'Go' });
    for (let epoch = 1; epoch <= MAX_FAILURES_IN_A_ROW; epoch += 1) {
      const before = epoch === 1 ? [] : [newEvent(epoch * 10, wakeEnded(`wake_${epoch - 1}`, 'lost'), epoch)];
      await store.append(id, [
        ...before,
        newEvent(epoch * 10 + 1, wakeStarted(epoch), epoch),
        newEvent(epoch * 10 + 2, running, epoch),
      ] as never);
    }
    return store;
  };

  it('a session is parked keeps it from being parked', async () => {
    const store = await died();
    store.before('session.parked', () =>
      setup.runtime.sessions.send(id, { type: 'user.message', text: 'Still there?' }),
    );
    expect(await wakeByItself()).toMatchObject({ outcome: 'sleep', summary: 'Alive.' });
    expect((await setup.runtime.sessions.get(id)).parked).toBeUndefined();
  });

  it.each(['queue', 'steer'] as const)('a session is unblocked makes it due (%s)', async (delivery) => {
    const store = new HookedStore();
    setup = await openSetup({ store: () => store });
    id = await setup.session([{ toolCalls: [{ name: 'ask_human', input: { question: 'Which?' } }] }], {
      message: 'Go',
    });
    await setup.runtime.wake(id);
    store.before('user.message', () => setup.runtime.sessions.interrupt(id));
    await setup.runtime.sessions.send(id, { type: 'user.message', text: 'Then this' }, { delivery });
    expect(await hints()).toEqual(['ingress +0']);
  });
});

describe('what was given up', () => {
  it.each(['format', 'refusal', 'context_overflow'])(
    'as %s rests at once, and goes on with a message',
    async (kind) => {
      await open([{ error: { kind, message: 'No, never.' } }, { text: 'As you like.' }], { message: 'Go' });
      expect(await wakeByItself()).toMatchObject({ outcome: 'failed' });
      expect(await dataOf('session.parked')).toMatchObject([
        { code: 'given_up', reason: expect.stringMatching(/No, never\. Mend what it names/) as string },
      ]);
      expect(await hints()).toEqual([]);
      const { length } = await setup.log(id);
      await setup.clock.advance(86_400_000);
      expect(await wakeByItself()).toMatchObject({ outcome: 'nothing_to_do' });
      expect(await setup.log(id)).toHaveLength(length);
      await setup.runtime.sessions.send(id, { type: 'user.message', text: 'Then another way.' });
      expect(await wakeByItself()).toMatchObject({ outcome: 'sleep', summary: 'As you like.' });
    },
  );

  it('at the budget of the session rests with its message unread, until something comes or a caller wakes it', async () => {
    await open([{ text: 'One.', usage: { inputTokens: 49_990, outputTokens: 10 } }, { text: 'Two.' }], {
      message: 'Go',
      agent: { budget: { maxTokensPerSession: 50_000 } },
    });
    await setup.runtime.wake(id);
    await setup.runtime.sessions.send(id, { type: 'user.message', text: 'More' });
    expect(await wakeByItself()).toMatchObject({ outcome: 'budget_reached' });
    expect(await dataOf('session.parked')).toMatchObject([
      { code: 'budget', reason: expect.stringContaining('maxTokensPerSession (50000) leaves no model step') as string },
    ]);
    expect([await hints(), (await setup.runtime.sessions.get(id)).pending.length]).toEqual([[], 1]);
    await setup.clock.advance(86_400_000);
    expect(await wakeByItself()).toMatchObject({ outcome: 'nothing_to_do' });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'budget_reached' });
    await setup.runtime.sessions.send(id, { type: 'user.message', text: 'Please' });
    expect(await hints()).toHaveLength(2);
  });

  it('goes on when a job ends that had been promised what the budget left', async () => {
    await open([{ text: 'Well.' }], { agent: { budget: { maxTokensPerSession: 50_000 } } });
    const whole: SessionEventDraft = {
      type: 'subagent.started',
      data: { jobId: 'j', childSessionId: 'c', agentId: 'helper', allowance: { tokens: 50_000 }, restriction: UNBOUND },
    };
    await setup.store.append(id, [newEvent(800, whole)]);
    await setup.runtime.sessions.send(id, { type: 'user.message', text: 'And this?' });
    expect(await wakeByItself()).toMatchObject({ outcome: 'budget_reached' });
    expect([await dataOf('session.parked'), await hints()]).toEqual([
      [expect.objectContaining({ code: 'budget' })],
      [],
    ]);
    await setup.store.append(id, [newEvent(801, jobEnded('j', 'c'))]);
    expect(await wakeByItself()).toMatchObject({ outcome: 'sleep', summary: 'Well.' });
  });

  it('is not what a wake left for the next one, which has a budget of its own', async () => {
    await open([{ toolCalls: [{ name: 'none' }] }, { text: 'Read.' }], {
      message: 'Go',
      agent: { budget: { maxModelStepsPerWake: 1 } },
    });
    const sending = setup.runtime.sessions.send(id, { type: 'user.message', text: 'And this' });
    expect(await wakeByItself()).toMatchObject({ outcome: 'budget_reached' });
    await sending;
    expect(await dataOf('session.parked')).toEqual([]);
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep' });
  });
});

describe('a session that wakes itself', () => {
  it('for nothing is parked after so many times, and goes on with its plans when somebody wakes it', async () => {
    await open([tick], { message: 'Go', script: { onEnd: 'repeat-last' } });
    await setup.runtime.wake(id);
    for (let n = 0; n < MAX_IDLE_WAKES_IN_A_ROW; n += 1) {
      await setup.clock.advance(1_000);
      expect(await wakeByItself()).toMatchObject({ outcome: 'sleep' });
    }
    expect(await dataOf('session.parked')).toMatchObject([{ code: 'idle_wakes' }]);
    expect(await hints()).toEqual([]);
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'nothing_to_do' });
    expect((await setup.runtime.sessions.get(id)).parked).toBeUndefined();
    expect(await hints()).toEqual(['wake +1000']);
    await setup.clock.advance(1_000);
    expect(await wakeByItself()).toMatchObject({ outcome: 'sleep' });
  });

  it('is parked at the budget of its agent, though it works', async () => {
    await open([{ ...tick, toolCalls: [{ name: 'none' }] }], {
      message: 'Go',
      script: { onEnd: 'repeat-last' },
      agent: { budget: { maxAutonomousWakes: 2 } },
    });
    await setup.runtime.wake(id);
    for (let n = 0; n < 2; n += 1) {
      await setup.clock.advance(1_000);
      await wakeByItself();
    }
    expect(await dataOf('session.parked')).toMatchObject([
      { code: 'autonomous_wakes', reason: expect.stringContaining('the budget allows 2') as string },
    ]);
  });

  it('is not parked for a wake that somebody asked for, nor when it has no more plans', async () => {
    await open([tick, { text: 'No more.' }], { message: 'Go', agent: { budget: { maxAutonomousWakes: 0 } } });
    await setup.runtime.wake(id);
    expect(await dataOf('session.parked')).toEqual([]);
    await setup.clock.advance(1_000);
    await wakeByItself();
    expect(await dataOf('session.parked')).toEqual([]);
  });
});

describe('a wake ends at its limit', () => {
  it.each<[string, object, readonly object[]]>([
    [
      'of tokens',
      { maxTokensPerWake: 10_000 },
      [{ toolCalls: [{ name: 'none' }], usage: { inputTokens: 6_000, outputTokens: 4_000 } }, { text: 'After.' }],
    ],
    ['of steps', { maxModelStepsPerWake: 1 }, [{ toolCalls: [{ name: 'none' }] }, { text: 'After.' }]],
  ])('%s, wakes by itself no more, and goes on when somebody says so', async (_what, budget, steps) => {
    await open(steps, { message: 'Go', agent: { budget } });
    const [name] = Object.keys(budget);
    expect(await setup.runtime.wake(id)).toMatchObject({
      outcome: 'budget_reached',
      modelSteps: 1,
      summary: expect.stringContaining(name ?? '') as string,
    });
    expect(await hints()).toEqual([]);
    expect(await wakeByItself()).toMatchObject({ outcome: 'nothing_to_do' });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'After.' });
  });

  it('of seconds', async () => {
    await open([{ toolCalls: [{ name: 'none' }], delayMs: 2_000 }, { text: 'never' }], {
      message: 'Go',
      agent: { budget: { maxSecondsPerWake: 2 } },
    });
    const waking = setup.runtime.wake(id);
    await until(() => setup.clock.pendingTimers > 0);
    await setup.clock.advance(2_000);
    expect(await waking).toMatchObject({ outcome: 'budget_reached', modelSteps: 1 });
  });
});

describe('a directive counts for the step that gave it', () => {
  it('so that going on ends with a step that says nothing of it', async () => {
    await open(
      [
        { text: 'More.', directive: { outcome: 'continue', summary: 'Going on.' } },
        { text: 'That was it.' },
        { text: 'never' },
      ],
      { message: 'Go' },
    );
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', modelSteps: 2 });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'nothing_to_do' });
  });

  it('so that results of a later step are heard by the model', async () => {
    await open(
      [
        { text: 'One.', delayMs: 10, directive: { outcome: 'sleep', summary: 'one' } },
        { toolCalls: [{ name: 'none' }] },
        { text: 'Heard.', expect: { lastToolResultOutcome: 'failed' } },
      ],
      { message: 'Go' },
    );
    const waking = setup.runtime.wake(id);
    await until(() => setup.clock.pendingTimers > 0);
    await setup.runtime.sessions.send(id, { type: 'user.message', text: 'And?' });
    await setup.clock.advance(10);
    expect(await waking).toMatchObject({ outcome: 'sleep', modelSteps: 3 });
    expect(await dataOf('agent.message')).toMatchObject([{}, { text: 'Heard.' }]);
  });

  it('so that going on is tried again when the step after it failed', async () => {
    await open(
      [
        {
          text: 'More.',
          directive: {
            outcome: 'continue',
            summary: 'Going on.',
            queuedWakes: [{ reason: 'later', delaySeconds: 3_600 }],
          },
        },
        failing,
        { text: 'There.' },
      ],
      { message: 'Go' },
    );
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'failed' });
    expect((await hints()).toSorted()).toEqual(['retry +5000', 'wake +3600000']);
    await setup.clock.advance(5_000);
    expect(await wakeByItself()).toMatchObject({ outcome: 'sleep', summary: 'There.' });
    expect((await setup.runtime.sessions.get(id)).queuedWakes).toHaveLength(1);
  });
});

describe('a trigger', () => {
  it('while a wake runs is followed by exactly one more, shared by all who ask', async () => {
    await open([{ text: 'One.', delayMs: 10 }, { text: 'Two.' }, { text: 'Three.' }], { message: 'Go' });
    const first = setup.runtime.trigger(id);
    await until(() => setup.clock.pendingTimers > 0);
    const rest = [setup.runtime.trigger(id), setup.runtime.trigger(id), setup.runtime.trigger(id)];
    await setup.clock.advance(10);
    expect(await first).toMatchObject({ outcome: 'sleep', summary: 'One.' });
    const outcomes = await Promise.all(rest);
    expect(new Set(outcomes).size).toBe(1);
    expect(outcomes[0]).toMatchObject({ outcome: 'nothing_to_do' });
    expect(await dataOf('wake.started')).toHaveLength(1);
  });

  it('waits for a wake that it did not begin, with all who ask meanwhile', async () => {
    await open([{ text: 'One.', delayMs: 10 }, { text: 'Two.' }], { message: 'Go' });
    const waking = setup.runtime.wake(id);
    await until(() => setup.clock.pendingTimers > 0);
    const triggered = [setup.runtime.trigger(id), setup.runtime.trigger(id)];
    await until(async () => (await codeOf(setup.runtime.wake(id))) === 'WAKE_CONFLICT');
    triggered.push(setup.runtime.trigger(id));
    await setup.clock.advance(10);
    expect(await waking).toMatchObject({ summary: 'One.' });
    expect(await Promise.all(triggered)).toMatchObject([
      { outcome: 'nothing_to_do' },
      { outcome: 'nothing_to_do' },
      { outcome: 'nothing_to_do' },
    ]);
  });

  it('reads a message that came after the wake before had decided to end', async () => {
    await open([{ text: 'One.' }, { text: 'Two.' }], { message: 'Go' });
    const first = setup.runtime.trigger(id);
    await setup.runtime.sessions.send(id, { type: 'user.message', text: 'More' });
    await Promise.all([first, setup.runtime.trigger(id)]);
    expect((await setup.runtime.sessions.get(id)).pending).toEqual([]);
  });

  it('goes on after one that failed, and fails itself with what is wrong', async () => {
    await open([{ text: 'One.' }], { message: 'Go' });
    expect(await codeOf(setup.runtime.trigger('nothing'))).toBe('SESSION_REQUEST_INVALID');
    await setup.runtime.sessions.terminate(id);
    expect(await Promise.all([codeOf(setup.runtime.trigger(id)), codeOf(setup.runtime.trigger(id))])).toEqual([
      'SESSION_TERMINATED',
      'SESSION_TERMINATED',
    ]);
  });

  it('stops waiting when its caller or the runtime does', async () => {
    await open([{ text: 'One.', delayMs: 10 }], { message: 'Go' });
    const right = await setup.store.acquireWakeRight(id, { epoch: 0, isOpen: false });
    await setup.store.append(id, [newEvent(801, wakeStarted(1), 1), newEvent(802, running, 1)]);
    const controller = new AbortController();
    const triggered = codeOf(setup.runtime.trigger(id, { signal: controller.signal }));
    controller.abort('gone');
    // Whether it was told before or after it had checked the log, it ends, and no wake has begun.
    await triggered;
    const other = codeOf(setup.runtime.trigger(id));
    await setup.runtime.shutdown('closing time');
    await other;
    expect((await setup.store.activations.due({ nowMs: setup.clock.now(), limit: 10 })).due).toHaveLength(1);
    await right.release();
  });
});

describe('a worker', () => {
  it('lets the fuses of a session blow: it wakes nobody for ever who plans wakes and does nothing', async () => {
    const again = {
      directive: { outcome: 'sleep', summary: 'again', queuedWakes: [{ reason: 'again', delaySeconds: 0 }] },
    };
    await open([again], { message: 'Go', script: { onEnd: 'repeat-last' } });
    const summary = await setup.runtime.startWorker({ untilIdle: true }).ended;
    expect(summary.endedBecause).toBe('idle');
    expect(await dataOf('session.parked')).toMatchObject([{ code: 'idle_wakes' }]);
    expect(
      (await dataOf('wake.started')).map((data) => (data as { readonly trigger: string }).trigger).slice(1),
    ).toEqual(Array.from({ length: 20 }, () => 'wake'));
    // A hint that is out of date does not make it go on.
    expect(await setup.runtime.wake(id, { isAutonomous: true })).toMatchObject({ outcome: 'nothing_to_do' });
    expect((await setup.runtime.sessions.get(id)).parked).toBeDefined();
  });
});
