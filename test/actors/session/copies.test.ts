/** Sessions made from the log of another: forks, and what comes out of an export. */
import { afterEach, describe, expect, it } from 'vitest';
import { RuntimeError } from '../../../src/machines/errors.ts';
import type { SessionEvent } from '../../../src/machines/session/session-event.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { newEvent, running, spanStarted, wakeStarted } from '../../support/session-events.ts';
import { AGENT, openSetup } from '../../support/session-setup.ts';
import type { SessionSetup } from '../../support/session-setup.ts';

let setup: SessionSetup;
let id: string;
afterEach(() => setup.close());

/**
 * A session that has done a bit of everything: tools, a request that waits, a queued wake, a message that nobody has
 * read.
 */
async function open(): Promise<void> {
  setup = await openSetup();
  const busy = {
    text: 'Working.',
    toolCalls: [{ name: 'none' }, { name: 'ask_human', input: { question: 'Which?' } }],
  };
  id = await setup.session(
    [
      { directive: { outcome: 'sleep', summary: 's', queuedWakes: [{ reason: 'later', delaySeconds: 60 }] } },
      busy,
      { text: 'Fork speaking.' },
    ],
    { message: 'Go' },
  );
  await setup.runtime.wake(id);
  await setup.runtime.sessions.send(id, { type: 'user.message', text: 'More' });
  await setup.runtime.wake(id);
  await setup.runtime.sessions.send(id, { type: 'user.message', text: 'Unread' });
}

const due = async (sessionId: string): Promise<number> =>
  (await setup.store.activations.due({ nowMs: setup.clock.now() + 1e12, limit: 100 })).due
    .filter((session) => session.sessionId === sessionId)
    .flatMap(({ activations }) => activations).length;
const linesOf = async (sessionId = id): Promise<string[]> => {
  const lines: string[] = [];
  for await (const line of setup.runtime.sessions.export(sessionId)) lines.push(line);
  return lines;
};
const plain = (events: readonly SessionEvent[]): unknown => JSON.parse(JSON.stringify(events));

describe('a fork', () => {
  it('has the past of the first session, and nothing of it runs, is due or waits; what nobody has read stays', async () => {
    await open();
    const first = await setup.runtime.sessions.get(id);
    const fork = await setup.runtime.sessions.fork(id, { title: 'Another way' });
    expect(fork).toMatchObject({
      title: 'Another way',
      forkOf: { sessionId: id, seq: first.head },
      agentId: AGENT,
      status: 'idle',
      stopReason: 'idle',
      queuedWakes: [],
      pendingActions: [],
      openToolCalls: [],
      modelSteps: 2,
    });
    expect(fork.pending).toMatchObject([{ type: 'user.message' }]);
    expect([await due(fork.sessionId), await due(id)]).toEqual([1, 0]);
    expect(await setup.runtime.sessions.get(id)).toEqual(first);
    expect(await setup.runtime.wake(fork.sessionId, { isAutonomous: true })).toMatchObject({
      outcome: 'sleep',
      summary: 'Fork speaking.',
    });
  });

  it('at every event of the past rests, can be woken, and goes on by itself only for messages', async () => {
    await open();
    const { head } = await setup.runtime.sessions.get(id);
    for (let atSeq = 1; atSeq <= head; atSeq += 1) {
      const fork = await setup.runtime.sessions.fork(id, { atSeq });
      expect({ atSeq, ...fork }).toMatchObject({
        atSeq,
        status: 'idle',
        openToolCalls: [],
        pendingActions: [],
        queuedWakes: [],
        unansweredResults: 0,
        openDirectives: [],
      });
      expect([fork.openWake, fork.openSpanId, fork.parked]).toEqual([undefined, undefined, undefined]);
      expect({ atSeq, due: await due(fork.sessionId) }).toEqual({ atSeq, due: fork.pending.length });
      expect(await setup.runtime.wake(fork.sessionId)).toMatchObject({
        status: expect.stringMatching(/idle|rescheduling/) as string,
      });
    }
  });

  it('of a session that was given up goes on, and is nobody’s child', async () => {
    await open();
    const child = await setup.runtime.sessions.create({ agentId: AGENT, parentSessionId: id });
    await setup.runtime.sessions.terminate(child.sessionId);
    const fork = await setup.runtime.sessions.fork(child.sessionId);
    expect([fork.status, fork.parent, fork.owedToParent]).toEqual(['idle', undefined, undefined]);
  });

  it('beyond the end of the past is refused', async () => {
    await open();
    expect(await codeOf(setup.runtime.sessions.fork(id, { atSeq: 10_000 }))).toBe('FORK_OUT_OF_RANGE');
    expect(await codeOf(setup.runtime.sessions.fork(id, { atSeq: 0 }))).toBe('SESSION_REQUEST_INVALID');
    expect(await setup.runtime.sessions.list()).toHaveLength(1);
  });
});

describe('an export', () => {
  it('brings back the same session, with what is due, in a store that has none of it', async () => {
    await open();
    const [lines, before, log] = [await linesOf(), await setup.runtime.sessions.get(id), await setup.log(id)];
    await setup.runtime.sessions.delete(id);
    expect(await codeOf(setup.runtime.sessions.get(id))).toBe('SESSION_NOT_FOUND');
    expect(await setup.runtime.sessions.import(lines)).toEqual({
      ...before,
      importedThroughSeq: before.head,
      restriction: { mode: 'ask', deny: [], ask: [] },
    });
    expect(plain((await setup.log(id)).slice(1))).toEqual(plain(log.slice(1)));
    expect((await linesOf()).slice(0, -1).slice(2)).toEqual(lines.slice(0, -1).slice(2));
    const [action] = before.pendingActions;
    await setup.runtime.sessions.send(id, {
      type: 'user.answer',
      requestId: action?.requestId ?? '',
      response: 'That',
    });
    expect(await setup.runtime.wake(id, { isAutonomous: true })).toMatchObject({ outcome: 'sleep' });
  });

  it('of a session whose process died in the middle of a step is due where it comes to', async () => {
    await open();
    const { sessionId } = await setup.runtime.sessions.create({ agentId: AGENT });
    await setup.store.append(sessionId, [
      newEvent(701, wakeStarted(1), 1),
      newEvent(702, running, 1),
      newEvent(703, spanStarted('s'), 1),
    ]);
    const lines = await linesOf(sessionId);
    await setup.runtime.sessions.delete(sessionId);
    await setup.runtime.sessions.import(lines);
    expect(await due(sessionId)).toBe(1);
  });

  it('is refused when the session is there, or its agent is not', async () => {
    await open();
    const lines = await linesOf();
    expect(await codeOf(setup.runtime.sessions.import(lines))).toBe('SESSION_EXISTS');
    const foreign = lines.map((line) => line.replaceAll(`"${AGENT}"`, '"stranger"'));
    expect(await codeOf(setup.runtime.sessions.import(foreign))).toBe('SESSION_EXPORT_INVALID');
  });

  it('with any byte changed, or cut anywhere, is refused, and nothing is made', async () => {
    await open();
    const whole = (await linesOf()).join('');
    await setup.runtime.sessions.delete(id);
    const attempt = async (text: string): Promise<string> => {
      const error: unknown = await setup.runtime.sessions.import(text.split(/(?<=\n)/)).then(
        () => 'imported',
        (thrown: unknown) => thrown,
      );
      return RuntimeError.is(error) ? error.code : String(error);
    };
    // Every byte would take long: a step that is prime to most lengths of lines meets each kind of place.
    for (let at = 0; at < whole.length - 1; at += 7) {
      const changed = whole[at] === '7' ? '8' : '7';
      expect([at, await attempt(`${whole.slice(0, at)}${changed}${whole.slice(at + 1)}`)]).toEqual([
        at,
        'SESSION_EXPORT_INVALID',
      ]);
      expect([at, await attempt(whole.slice(0, at))]).toEqual([at, 'SESSION_EXPORT_INVALID']);
    }
    expect(await setup.runtime.sessions.list()).toEqual([]);
    expect(await attempt(`${whole}\n`)).toBe('imported');
  });

  it('with a line too many, too few, twice, or in another order is refused', async () => {
    await open();
    const lines = await linesOf();
    await setup.runtime.sessions.delete(id);
    const [header = '', first = '', second = '', ...rest] = lines;
    for (const wrong of [
      [],
      [header],
      [header, second, first, ...rest],
      [header, first, first, second, ...rest],
      [header, second, ...rest],
      ['', ...lines],
      [...lines, first],
      ['not json\n'],
    ]) {
      expect(await codeOf(setup.runtime.sessions.import(wrong))).toBe('SESSION_EXPORT_INVALID');
    }
    expect(await setup.runtime.sessions.list()).toEqual([]);
  });
});

describe('a session that is deleted', () => {
  it('is gone with what was due, and is not deleted while a wake of it runs', async () => {
    await open();
    const right = await setup.store.acquireWakeRight(id, { epoch: 2, isOpen: false });
    expect(await codeOf(setup.runtime.sessions.delete(id))).toBe('SESSION_BUSY');
    await right.release();
    await setup.runtime.sessions.delete(id);
    for (const use of [
      () => setup.runtime.sessions.get(id),
      () => setup.runtime.wake(id),
      () => setup.runtime.sessions.delete(id),
      () => setup.runtime.sessions.send(id, { type: 'user.message', text: 'x' }),
    ]) {
      expect(await codeOf(use())).toBe('SESSION_NOT_FOUND');
    }
    expect(await setup.runtime.sessions.list()).toEqual([]);
  });
});
