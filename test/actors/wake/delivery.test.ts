/**
 * When a message is read: after the turn, by the next step, or after the turn was cut short. And what an interruption
 * leaves.
 */
import { afterEach, describe, expect, it } from 'vitest';
import type { AgentRunParams, AgentRuntime } from '../../../src/actors/run/agent-runtime.ts';
import type { SendReceipt } from '../../../src/actors/session/ingress.ts';
import type { SessionEvent } from '../../../src/machines/session/session-event.ts';
import type { SendOptions } from '../../../src/machines/session/session-requests.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { HookedStore } from '../../support/hooked-store.ts';
import { openSetup, until } from '../../support/session-setup.ts';
import type { SessionSetup, SessionSetupOptions } from '../../support/session-setup.ts';

let setup: SessionSetup;
let store: HookedStore;
let id: string;
const open = async (
  steps: readonly object[],
  message?: string,
  options: SessionSetupOptions & { readonly agent?: object } = {},
): Promise<void> => {
  store = new HookedStore();
  setup = await openSetup({ store: () => store, ...options });
  id = await setup.session(steps, {
    ...(message === undefined ? {} : { message }),
    ...(options.agent === undefined ? {} : { agent: options.agent }),
  });
};
afterEach(() => setup.close());

const shell = { name: 'shell_run', input: { command: 'true' } };
const say = (text: string, options: SendOptions = {}): Promise<SendReceipt> =>
  setup.runtime.sessions.send(id, { type: 'user.message', text }, options);
const dataOf = async (type: SessionEvent['type']): Promise<unknown[]> =>
  (await setup.log(id)).filter((event) => event.type === type).map(({ data }) => data);
const hints = async (): Promise<number> =>
  (await store.activations.due({ nowMs: setup.clock.now() + 1e9, limit: 100 })).due.flatMap(
    ({ activations }) => activations,
  ).length;

/** Wakes the session and waits until the command of its step runs. */
async function wakeToCommand(): Promise<ReturnType<SessionSetup['runtime']['wake']>[]> {
  const waking = setup.runtime.wake(id);
  await until(() => setup.processes.works.length === 1);
  return [waking];
}

describe('a message that arrives while tools run', () => {
  it('to queue is read after the turn, never between the results of one', async () => {
    await open(
      [
        { toolCalls: [shell] },
        { text: 'Results only.', expect: { lastUserMessageIncludes: 'Go' } },
        { text: 'And you.', expect: { lastUserMessageIncludes: 'later' } },
      ],
      'Go',
    );
    const [waking] = await wakeToCommand();
    expect(await say('later')).toMatchObject({ acceptedAs: 'queue' });
    setup.processes.works[0]?.resolve({});
    expect(await waking).toMatchObject({ outcome: 'sleep', modelSteps: 3, summary: 'And you.' });
    expect((await dataOf('message.consumed')).length).toBe(2);
  });

  it('to steer is read by the next step, with the results', async () => {
    await open(
      [
        { toolCalls: [shell] },
        { text: 'Both.', expect: { lastUserMessageIncludes: 'instead', lastToolResultOutcome: 'completed' } },
      ],
      'Go',
    );
    const [waking] = await wakeToCommand();
    expect(await say('instead', { delivery: 'steer' })).toMatchObject({ acceptedAs: 'steer' });
    setup.processes.works[0]?.resolve({});
    expect(await waking).toMatchObject({ outcome: 'sleep', modelSteps: 2, summary: 'Both.' });
  });

  it('to interrupt stops them, ends the wake, and is read by the next one', async () => {
    await open(
      [
        { toolCalls: [shell] },
        { text: 'Now this.', expect: { lastUserMessageIncludes: 'stop that', lastToolResultOutcome: 'cancelled' } },
      ],
      'Go',
    );
    const [waking] = await wakeToCommand();
    expect(await say('stop that', { delivery: 'interrupt' })).toMatchObject({ acceptedAs: 'interrupt' });
    expect(await waking).toMatchObject({
      outcome: 'interrupted',
      status: 'idle',
      summary: 'The turn was interrupted: a message that interrupts.',
    });
    expect(setup.processes.works[0]?.cancelReasons).toEqual(['a message that interrupts']);
    expect((await setup.runtime.sessions.get(id)).pending).toMatchObject([{ delivery: 'interrupt' }]);
    expect(await setup.runtime.wake(id, { isAutonomous: true })).toMatchObject({
      outcome: 'sleep',
      summary: 'Now this.',
    });
    expect(setup.processes.works).toHaveLength(1);
  });

  it('is stored in one record with the interruption and what it cancels', async () => {
    await open(
      [{ directive: { outcome: 'sleep', summary: 's', queuedWakes: [{ reason: 'later', delaySeconds: 60 }] } }],
      'Go',
    );
    await setup.runtime.wake(id);
    const { seq } = await say('stop', { delivery: 'interrupt' });
    expect((await setup.types(id)).slice(seq - 1)).toEqual(['user.message', 'user.interrupt', 'wake.cancelled']);
    expect((await setup.runtime.sessions.get(id)).queuedWakes).toEqual([]);
  });

  it('to be refused when busy is, while a wake runs or messages wait, and leaves no trace', async () => {
    await open([{ toolCalls: [shell] }, { text: 'x' }, { text: 'y' }]);
    const quiet = { delivery: 'reject-if-busy' } as const;
    expect(await say('first', quiet)).toMatchObject({ acceptedAs: 'queue' });
    expect(await codeOf(say('second', quiet))).toBe('SESSION_BUSY');
    const [waking] = await wakeToCommand();
    expect(await codeOf(say('third', quiet))).toBe('SESSION_BUSY');
    setup.processes.works[0]?.resolve({});
    await waking;
    expect(await say('fourth', quiet)).toMatchObject({ acceptedAs: 'queue' });
    expect(await dataOf('user.message')).toMatchObject([{ text: 'first' }, { text: 'fourth' }]);
  });

  it('of two that are to be refused when busy, sent at once, one is', async () => {
    await open([{ text: 'x' }]);
    const codes = await Promise.all([
      codeOf(say('a', { delivery: 'reject-if-busy' })),
      codeOf(say('b', { delivery: 'reject-if-busy' })),
    ]);
    expect(codes.toSorted()).toEqual(['SESSION_BUSY', 'it succeeded']);
  });
});

describe('a receipt', () => {
  it.each<[string, SendOptions]>([
    ['key', { idempotencyKey: 'k' }],
    ['event id', { eventId: '019b76da-a800-7000-8000-000000000001' }],
    ['key, of a message that interrupts,', { idempotencyKey: 'k', delivery: 'interrupt' }],
  ])('is the same for the same %s, whoever else sends the same at the same time', async (_name, options) => {
    await open([{ text: 'x' }]);
    const receipts = await Promise.all([say('one', options), say('one', options), say('one', options)]);
    expect(new Set(receipts.map((receipt) => JSON.stringify(receipt))).size).toBe(1);
    expect(await say('one', options)).toEqual(receipts[0]);
    expect(await dataOf('user.message')).toHaveLength(1);
    if (options.eventId !== undefined) expect(receipts[0]?.eventId).toBe(options.eventId);
  });

  it('says how a message was accepted the first time, also when it is sent again another way', async () => {
    await open([{ text: 'x' }]);
    const first = await say('one', { idempotencyKey: 'k', delivery: 'steer' });
    expect(first).toMatchObject({ acceptedAs: 'steer', seq: 2 });
    expect(await say('one', { idempotencyKey: 'k' })).toEqual(first);
  });

  it.each<[string, object, object]>([
    ['an unknown delivery', { type: 'user.message', text: 'x' }, { delivery: 'pigeon' }],
    ['a delivery of an answer', { type: 'user.answer', requestId: 'r', response: 'x' }, { delivery: 'steer' }],
    ['an event id that is none', { type: 'user.message', text: 'x' }, { eventId: 'mine' }],
  ])('is not given for %s', async (_name, message, options) => {
    await open([]);
    expect(await codeOf(setup.runtime.sessions.send(id, message as never, options as never))).toBe(
      'SESSION_REQUEST_INVALID',
    );
    expect(await store.head(id)).toBe(1);
  });
});

describe('an interruption', () => {
  it('keeps what the model had said by then, and counts what it read as read', async () => {
    let stream: (text: string) => void = () => undefined;
    const slow: AgentRuntime = {
      id: 'slow',
      run: ({ runId, onEvent, abortSignal }: AgentRunParams) =>
        new Promise((resolve) => {
          stream = (text) =>
            onEvent?.({
              stream: 'assistant',
              data: { kind: 'text', text },
              runId,
              seq: 1,
              ts: '2026-01-01T00:00:00.000Z',
            });
          abortSignal?.addEventListener('abort', () =>
            resolve({ payloads: [], meta: { error: { kind: 'aborted', message: 'stopped' } } }),
          );
        }),
      abort: async () => undefined,
      isRunActive: () => true,
    };
    await open([], 'Tell me a story', { runtimes: [slow], agent: { provider: 'slow' } });
    const waking = setup.runtime.wake(id);
    await until(async () => (await setup.types(id)).includes('span.started'));
    stream('Once ');
    stream('upon');
    await setup.runtime.sessions.interrupt(id, { reason: 'enough' });
    expect(await waking).toMatchObject({ outcome: 'interrupted', summary: 'The turn was interrupted: enough.' });
    expect(await dataOf('agent.message')).toMatchObject([{ text: 'Once upon', partial: true }]);
    expect(await setup.runtime.sessions.get(id)).toMatchObject({ pending: [], openSpanId: undefined });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'nothing_to_do' });
    expect(await hints()).toBe(0);
  });

  it('cancels queued wakes and requests; the calls that waited are told, and nothing of it comes back', async () => {
    await open(
      [
        {
          toolCalls: [shell, { name: 'ask_human', input: { question: 'Really?' } }],
          directive: {
            outcome: 'sleep',
            summary: 's',
            queuedWakes: [{ reason: 'later', delaySeconds: 60 }],
            customToolRequest: { name: 'approve', input: {} },
          },
        },
        { text: 'Fresh.', expect: { lastToolResultOutcome: 'cancelled' } },
      ],
      'Go',
      { agent: { permission: 'ask' } },
    );
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'requires_action' });
    expect((await setup.runtime.sessions.get(id)).pendingActions).toHaveLength(3);
    await setup.runtime.sessions.interrupt(id);
    expect(await setup.runtime.sessions.get(id)).toMatchObject({
      pendingActions: [],
      openToolCalls: [],
      queuedWakes: [],
      stopReason: 'idle',
    });
    expect(await dataOf('agent.tool_result')).toMatchObject([{ outcome: 'cancelled' }, { outcome: 'cancelled' }]);
    expect(await dataOf('request.cancelled')).toHaveLength(3);
    await setup.clock.advance(3_600_000);
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'nothing_to_do' });
    expect([setup.processes.works.length, await hints()]).toEqual([0, 0]);
    await say('again');
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Fresh.' });
  });

  it('leaves messages that nobody has read, which make the session due again', async () => {
    await open([{ toolCalls: [shell] }, { text: 'Second.', expect: { lastUserMessageIncludes: 'unread' } }], 'Go');
    const [waking] = await wakeToCommand();
    await say('unread');
    await setup.runtime.sessions.interrupt(id);
    expect(await waking).toMatchObject({ outcome: 'interrupted' });
    expect(await hints()).toBe(1);
    expect(await setup.runtime.wake(id, { isAutonomous: true })).toMatchObject({
      outcome: 'sleep',
      summary: 'Second.',
    });
    expect(await hints()).toBe(0);
  });

  it('of a session that rests after a failure means that the failed turn is not tried again', async () => {
    await open(
      [{ toolCalls: [{ name: 'none' }] }, { error: { kind: 'overloaded', message: 'busy' } }, { text: 'never' }],
      'Go',
    );
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'failed' });
    expect(await hints()).toBe(1);
    await setup.runtime.sessions.interrupt(id);
    expect(await hints()).toBe(0);
    await setup.clock.advance(60_000);
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'nothing_to_do' });
  });

  it('of a terminated session is refused, and of one that rests changes nothing but the log', async () => {
    await open([{ text: 'x' }]);
    await setup.runtime.sessions.interrupt(id);
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'nothing_to_do' });
    await setup.runtime.sessions.terminate(id);
    expect(await codeOf(setup.runtime.sessions.interrupt(id))).toBe('SESSION_TERMINATED');
    expect(await codeOf(setup.runtime.sessions.interrupt(id, { reason: '' }))).toBe('SESSION_REQUEST_INVALID');
  });
});

describe('an interruption that comes in the very moment', () => {
  it('a step begins: the step is not taken, and its message is not counted as read', async () => {
    await open([{ text: 'Answer.', expect: { lastUserMessageIncludes: 'second' } }], 'first');
    store.before('span.started', () => say('second', { delivery: 'interrupt' }));
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'interrupted' });
    // The first message was in the hands of the model when it was stopped; the one that stopped it was not.
    const { pending } = await setup.runtime.sessions.get(id);
    expect(pending.map(({ delivery }) => delivery)).toContain('interrupt');
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Answer.' });
    expect((await setup.runtime.sessions.get(id)).pending).toEqual([]);
  });

  it('the agent is read: the message that interrupts is not read by the wake that it interrupts', async () => {
    await open([{ text: 'Answer.', expect: { lastUserMessageIncludes: 'second' } }], 'first', {
      agent: { tools: ['none'] },
    });
    store.before('tool.skipped', () => say('second', { delivery: 'interrupt' }));
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'interrupted', modelSteps: 0 });
    expect((await setup.runtime.sessions.get(id)).pending).toHaveLength(2);
    expect(await dataOf('span.started')).toEqual([]);
  });

  it('a step has ended with calls: none of them starts', async () => {
    await open([{ toolCalls: [shell] }, { text: 'After.' }], 'Go');
    store.before('agent.tool_use', () => setup.runtime.sessions.interrupt(id));
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'interrupted', modelSteps: 1 });
    expect(setup.processes.works).toEqual([]);
    expect(await dataOf('agent.tool_result')).toMatchObject([{ outcome: 'cancelled' }]);
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'nothing_to_do' });
  });

  it('a step has failed: the failure is not tried again', async () => {
    await open([{ error: { kind: 'overloaded', message: 'busy' } }, { text: 'never' }], 'Go');
    store.before('span.completed', () => setup.runtime.sessions.interrupt(id));
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'interrupted' });
    expect((await setup.runtime.sessions.get(id)).lastWake).not.toHaveProperty('retryAt');
  });

  it('a call asks for permission: the request is taken back with the rest', async () => {
    await open([{ toolCalls: [shell] }], 'Go', { agent: { permission: 'ask' } });
    store.before('permission.requested', () => setup.runtime.sessions.interrupt(id));
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'interrupted' });
    expect(await setup.runtime.sessions.get(id)).toMatchObject({
      pendingActions: [],
      openToolCalls: [],
      stopReason: 'idle',
    });
  });

  it('the wake commits: the wake ends as interrupted, and what its directive wished for is not granted', async () => {
    await open(
      [{ directive: { outcome: 'sleep', summary: 's', queuedWakes: [{ reason: 'later', delaySeconds: 60 }] } }],
      'Go',
    );
    store.before('wake.ended', () => setup.runtime.sessions.interrupt(id));
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'interrupted' });
    expect(await setup.runtime.sessions.get(id)).toMatchObject({ queuedWakes: [], openDirectives: [] });
  });

  it('a wake that broke is recorded: it ends as interrupted and is not tried again', async () => {
    await open([{ text: 'x' }], 'Go', { agent: { provider: 'moon' } });
    store.before('wake.ended', () => setup.runtime.sessions.interrupt(id));
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'interrupted' });
    expect((await setup.runtime.sessions.get(id)).failuresInARow).toBe(0);
  });

  it('the session is terminated too leaves it to the end of the session', async () => {
    await open([{ text: 'x', delayMs: 1_000 }], 'Go');
    const waking = setup.runtime.wake(id);
    await until(() => setup.clock.pendingTimers > 0);
    await Promise.all([setup.runtime.sessions.interrupt(id), setup.runtime.sessions.terminate(id)]).catch(
      () => undefined,
    );
    expect(await waking).toMatchObject({ outcome: 'terminated', status: 'terminated' });
    expect([await hints(), setup.clock.pendingTimers]).toEqual([0, 0]);
  });
});

describe('the end of a session', () => {
  it('is heard by the wake that runs at once, and nothing it left is due', async () => {
    await open([{ toolCalls: [shell] }, { text: 'never' }], 'Go');
    const [waking] = await wakeToCommand();
    await setup.runtime.sessions.terminate(id, { reason: 'obsolete' });
    expect(await waking).toMatchObject({ outcome: 'terminated', status: 'terminated' });
    expect(setup.processes.works[0]?.cancelReasons).toEqual(['the session was terminated']);
    expect(await hints()).toBe(0);
  });

  it('that comes while a wake that broke is recorded leaves the session ended as it was', async () => {
    await open([{ text: 'x' }], 'Go', { agent: { provider: 'moon' } });
    store.before('wake.ended', () => setup.runtime.sessions.terminate(id, { reason: 'obsolete' }));
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'terminated', status: 'terminated' });
    expect(await setup.runtime.sessions.get(id)).toMatchObject({
      status: 'terminated',
      summary: 'obsolete',
      openWake: undefined,
    });
    expect((await setup.types(id)).at(-1)).toBe('wake.ended');
  });
});
