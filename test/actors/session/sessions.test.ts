import { afterEach, describe, expect, it } from 'vitest';
import { firstValueFrom, take, toArray } from 'rxjs';
import type { AppendResult } from '../../../src/actors/session/event-store.ts';
import { FileEventStore } from '../../../src/adapters/files/file-event-store.ts';
import { MemoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { MAX_MESSAGE_CHARACTERS } from '../../../src/machines/session/limits.ts';
import type { SessionEvent } from '../../../src/machines/session/session-event.ts';
import type { Sessions } from '../../../src/actors/session/sessions.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { AGENT, openSetup, until } from '../../support/session-setup.ts';
import type { SessionSetup, SessionSetupOptions } from '../../support/session-setup.ts';
import { settled } from '../../support/manual-runner.ts';
import { unhandledDuring } from '../../support/unhandled.ts';

let setup: SessionSetup;
let sessions: Sessions;
/** A session without a message in it. */
let id: string;
const open = async (options?: SessionSetupOptions): Promise<void> => {
  setup = await openSetup(options);
  ({ sessions } = setup.runtime);
  id = await setup.session([{ text: 'x' }]);
};
afterEach(() => setup.close());

const say = (text: string, idempotencyKey?: string): ReturnType<Sessions['send']> =>
  sessions.send(id, { type: 'user.message', text }, idempotencyKey === undefined ? {} : { idempotencyKey });
const onFiles: SessionSetupOptions = { store: ({ home, clock }) => new FileEventStore({ home, clock }) };

describe('a new session', () => {
  it('belongs to its agent and rests', async () => {
    await open();
    const state = await sessions.create({ agentId: AGENT, title: 'A title' });
    expect(state).toMatchObject({
      agentId: AGENT,
      title: 'A title',
      status: 'idle',
      stopReason: 'idle',
      head: 1,
      createdAt: '2026-01-01T00:00:00.000Z',
    });
    expect(await sessions.get(state.sessionId)).toEqual(state);
    expect(await sessions.status(state.sessionId)).toEqual(state);
  });

  it.each<[string, unknown, string]>([
    ['of an agent that is not there', { agentId: 'nobody' }, 'AGENT_NOT_FOUND'],
    ['of no agent', {}, 'SESSION_REQUEST_INVALID'],
    ['of an agent with a path for a name', { agentId: '../x' }, 'SESSION_REQUEST_INVALID'],
    ['with a key nobody knows', { agentId: AGENT, agent: 'x' }, 'SESSION_REQUEST_INVALID'],
    ['of nothing', null, 'SESSION_REQUEST_INVALID'],
  ])('%s is refused, and nothing is made', async (_what, request, code) => {
    await open();
    expect(await codeOf(sessions.create(request as never))).toBe(code);
    expect(await sessions.list()).toHaveLength(1);
  });
});

describe('a message', () => {
  it('is acknowledged with where it is stored', async () => {
    await open(onFiles);
    expect(await say('hi')).toEqual({
      eventId: expect.any(String) as string,
      seq: 2,
      readBy: 'next_wake',
      acceptedAs: 'queue',
      durability: 'disk',
    });
    expect((await setup.log(id))[1]).toMatchObject({ type: 'user.message', data: { text: 'hi' } });
  });

  it('sent again under its key is the same message', async () => {
    await open();
    const receipts = await Promise.all([say('hi', 'k'), say('hi', 'k'), say('changed', 'k')]);
    expect(new Set(receipts.map((receipt) => JSON.stringify(receipt))).size).toBe(1);
    expect((await sessions.get(id)).pending).toHaveLength(1);
  });

  it('sent again under its key is acknowledged also after the session has ended', async () => {
    await open();
    const receipt = await say('hi', 'k');
    await sessions.terminate(id);
    expect(await say('hi', 'k')).toEqual(receipt);
    expect(await codeOf(say('more'))).toBe('SESSION_TERMINATED');
  });

  it('is refused when the session ends in the moment it is stored', async () => {
    let onAppend: (() => Promise<unknown>) | undefined;
    class MeddledStore extends MemoryEventStore {
      override async append(...parameters: Parameters<MemoryEventStore['append']>): Promise<AppendResult> {
        const meddle = onAppend;
        onAppend = undefined;
        await meddle?.();
        return super.append(...parameters);
      }
    }
    await open({ store: () => new MeddledStore() });
    onAppend = () => sessions.terminate(id);
    expect(await codeOf(say('too late'))).toBe('SESSION_TERMINATED');
  });

  it.each<[string, unknown, unknown, RegExp]>([
    ['that is empty', { type: 'user.message', text: '' }, {}, /text: expected a text that is not empty/],
    ['that is too long', { type: 'user.message', text: 'x'.repeat(MAX_MESSAGE_CHARACTERS + 1) }, {}, /text: .*256000/],
    ['without text', { type: 'user.message' }, {}, /text: expected string, received undefined/],
    ['of a type that only the runtime writes', { type: 'wake.started', wakeId: 'x' }, {}, /message is not valid: type/],
    ['with a key nobody knows', { type: 'user.message', text: 'x', urgent: true }, {}, /Unrecognized key: "urgent"/],
    ['that is text', 'hello', {}, /expected object, received string/],
    [
      'with an empty idempotency key',
      { type: 'user.message', text: 'x' },
      { idempotencyKey: '' },
      /send options is not valid: idempotencyKey/,
    ],
    ['with unknown options', { type: 'user.message', text: 'x' }, { key: 'x' }, /Unrecognized key: "key"/],
  ])('%s is refused with words that help, and leaves no trace', async (_what, message, options, pattern) => {
    await open();
    const error: unknown = await sessions
      .send(id, message as never, options as never)
      .catch((thrown: unknown) => thrown);
    expect(RuntimeError.is(error) && error.message).toMatch(pattern);
    expect(RuntimeError.is(error) && error.category).toBe('validation');
    expect((await sessions.get(id)).head).toBe(1);
  });

  it.each<[unknown, string]>([
    ['01234567-89ab-7cde-bfff-ffffffffffff', 'SESSION_NOT_FOUND'],
    ['', 'SESSION_REQUEST_INVALID'],
    [7, 'SESSION_REQUEST_INVALID'],
  ])('to the session %j is refused', async (sessionId, code) => {
    await open();
    for (const use of [
      () => sessions.send(sessionId as string, { type: 'user.message', text: 'x' }),
      () => sessions.get(sessionId as string),
      () => sessions.terminate(sessionId as string),
    ]) {
      expect(await codeOf(use())).toBe(code);
    }
  });
});

describe('an answer', () => {
  const ask = async (): Promise<string> => {
    await setup.write([
      { directive: { outcome: 'sleep', summary: 's', customToolRequest: { name: 'approve', input: {} } } },
      { text: 'ok' },
    ]);
    await say('go');
    await setup.runtime.wake(id);
    return (await sessions.get(id)).pendingActions[0]?.requestId ?? '';
  };
  const answer = (requestId: string, toolName = 'approve'): ReturnType<Sessions['send']> =>
    sessions.send(id, { type: 'user.custom_tool_result', requestId, toolName, output: null });

  it('counts once, though many answer at once', async () => {
    await open(onFiles);
    const requestId = await ask();
    const codes = await Promise.all(Array.from({ length: 6 }, () => codeOf(answer(requestId))));
    expect(codes.filter((code) => code === 'it succeeded')).toHaveLength(1);
    expect(codes.filter((code) => code === 'REQUEST_NOT_PENDING')).toHaveLength(5);
    expect((await setup.types(id)).filter((type) => type === 'user.custom_tool_result')).toHaveLength(1);
  });

  it('is refused when nobody asked, or asked for another tool', async () => {
    await open();
    const requestId = await ask();
    expect(await codeOf(answer('something'))).toBe('REQUEST_NOT_PENDING');
    expect(await codeOf(answer(requestId, 'deny'))).toBe('REQUEST_TOOL_MISMATCH');
  });
});

describe('the sessions', () => {
  it('are listed oldest first, by agent and by status', async () => {
    await open(onFiles);
    const second = await sessions.create({ agentId: AGENT });
    await sessions.terminate(second.sessionId, { reason: 'not needed' });
    expect((await sessions.list()).map(({ sessionId }) => sessionId)).toEqual([id, second.sessionId]);
    expect(await sessions.list({ status: 'terminated' })).toMatchObject([
      { sessionId: second.sessionId, summary: 'not needed' },
    ]);
    expect(await sessions.list({ agentId: 'nobody' })).toEqual([]);
    expect((await sessions.list({ newest: 1 })).map(({ sessionId }) => sessionId)).toEqual([second.sessionId]);
    expect(await codeOf(sessions.list({ newest: 0 }))).toBe('SESSION_REQUEST_INVALID');
    expect(await codeOf(sessions.list({ status: 'asleep' as never }))).toBe('SESSION_REQUEST_INVALID');
  });

  it('are listed as they are, though their views are old', async () => {
    await open(onFiles);
    await say('hi');
    expect(await sessions.list()).toMatchObject([{ sessionId: id, messages: 1 }]);
  });

  it('hand out states that nobody can change', async () => {
    await open();
    await say('hi');
    const state = await sessions.get(id);
    expect(Object.isFrozen(state) && Object.isFrozen(state.pending) && Object.isFrozen(state.pending[0])).toBe(true);
    await say('again');
    expect([state.pending.length, (await sessions.get(id)).pending.length]).toEqual([1, 2]);
  });

  it('end once', async () => {
    await open();
    const ended = await sessions.terminate(id, { reason: 'done' });
    expect(ended).toMatchObject({
      status: 'terminated',
      stopReason: 'terminated',
      summary: 'done',
      terminatedAtSeq: 2,
    });
    expect(await sessions.terminate(id, { reason: 'again' })).toEqual(ended);
    expect(await codeOf(sessions.terminate(id, { reason: '' }))).toBe('SESSION_REQUEST_INVALID');
  });
});

describe.each<[string, SessionSetupOptions]>([
  ['in memory', {}],
  ['in files', onFiles],
])('following a session %s', (_where, options) => {
  it('gives what is stored and then what comes, each once and in order', async () => {
    await open(options);
    await say('m2');
    const seen: SessionEvent[] = [];
    const writing = (async () => {
      for (let n = 3; n <= 200; n += 1) await say(`m${n}`);
    })();
    for await (const event of sessions.events(id, { follow: true })) {
      seen.push(event);
      if (event.seq === 200) break;
    }
    await writing;
    expect(seen.map(({ seq }) => seq)).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
  });

  it('from a receipt begins with that message', async () => {
    await open(options);
    await say('one');
    const { seq } = await say('two');
    const { value } = await sessions.events(id, { from: seq, follow: true }).next();
    expect(value).toMatchObject({ seq, data: { text: 'two' } });
  });

  it('waits for what is not there yet', async () => {
    await open(options);
    const events = sessions.events(id, { from: 3, follow: true });
    const next = events.next();
    await say('two');
    await say('three');
    expect((await next).value).toMatchObject({ seq: 3 });
    await events.return();
  });

  it('ends when it is returned, aborted, or the runtime shuts down, also while it waits', async () => {
    await open(options);
    const controller = new AbortController();
    const returned = sessions.events(id, { from: 2, follow: true });
    const aborted = sessions.events(id, { from: 2, follow: true, signal: controller.signal });
    const shutDown = sessions.events(id, { from: 2, follow: true });
    const waiting = [returned.next(), aborted.next(), shutDown.next()];
    await settled();
    await returned.return();
    controller.abort();
    await setup.runtime.shutdown();
    expect(await Promise.all(waiting)).toEqual([1, 2, 3].map(() => ({ done: true, value: undefined })));
    expect(await returned.next()).toEqual({ done: true, value: undefined });
  });

  it('gives two who ask one after the other two different events', async () => {
    await open(options);
    await say('two');
    const events = sessions.events(id);
    const results = await Promise.all([events.next(), events.next(), events.next()]);
    expect(results.map(({ value }) => value?.seq)).toEqual([1, 2, undefined]);
  });

  it('stops at its limit', async () => {
    await open(options);
    await say('two');
    const seen: number[] = [];
    for await (const { seq } of sessions.events(id, { limit: 1, follow: true })) seen.push(seq);
    expect(seen).toEqual([1]);
  });

  it('fails for a session that is not there', async () => {
    await open(options);
    expect(await codeOf(sessions.events('01234567-89ab-7cde-bfff-ffffffffffff', { follow: true }).next())).toBe(
      'SESSION_NOT_FOUND',
    );
  });
});

describe('the stream of a session', () => {
  it('gives what is stored and what comes', async () => {
    await open();
    const three = firstValueFrom(sessions.events$(id).pipe(take(3), toArray()));
    await say('two');
    await say('three');
    expect((await three).map(({ seq }) => seq)).toEqual([1, 2, 3]);
  });

  it('completes at the end of the log when it is not to follow, and with the runtime when it is', async () => {
    await open();
    const completed: string[] = [];
    sessions.events$(id, { follow: false }).subscribe({ complete: () => completed.push('read') });
    sessions.events$(id).subscribe({ complete: () => completed.push('followed') });
    await until(() => completed.length === 1);
    await setup.runtime.shutdown();
    await until(() => completed.length === 2);
    expect(completed).toEqual(['read', 'followed']);
  });

  it('is not hurt by a subscriber that throws', async () => {
    await open();
    let heard = 0;
    const unhandled = await unhandledDuring(async () => {
      sessions.events$(id).subscribe(() => {
        heard += 1;
        throw new Error('subscriber');
      });
      await say('two');
      await until(() => heard === 2);
    });
    expect(unhandled).toEqual([]);
    expect(setup.reported).toHaveLength(2);
  });

  it.each<[unknown, RegExp]>([
    [{ from: -1 }, /from/],
    [{ from: 'start' }, /from/],
    [{ follow: 'yes' }, /follow/],
    [{ limit: 1.5 }, /limit/],
    [{ signal: {} }, /signal/],
    [{ after: 1 }, /Unrecognized key: "after"/],
  ])('cannot be asked for with %j', async (options, pattern) => {
    await open();
    expect(() => sessions.events(id, options as never)).toThrow(pattern);
    expect(() => sessions.events$(id, options as never)).toThrow(pattern);
  });
});
