/** Parents and children: each knows of the other once, whoever dies in between. */
import { afterEach, describe, expect, it } from 'vitest';
import type { AppendOptions, AppendResult, NewSessionEvents } from '../../../src/actors/session/event-store.ts';
import { MemoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { MAX_CHILD_SESSIONS, MAX_SESSION_DEPTH } from '../../../src/machines/session/limits.ts';
import type { SessionEvent } from '../../../src/machines/session/session-event.ts';
import type { SessionState } from '../../../src/machines/session/session-state.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { AGENT, openSetup } from '../../support/session-setup.ts';
import type { SessionSetup } from '../../support/session-setup.ts';

/** A store that fails every append from the n-th on, until it is mended: a process dies between two of them. */
class MortalStore extends MemoryEventStore {
  appendsLeft = Infinity;
  override async append(sessionId: string, events: NewSessionEvents, options?: AppendOptions): Promise<AppendResult> {
    if (this.appendsLeft <= 0) throw new Error('killed');
    this.appendsLeft -= 1;
    return super.append(sessionId, events, options);
  }
}

let setup: SessionSetup;
let store: MortalStore;
let parentId: string;
afterEach(() => setup.close());
const open = async (steps: readonly object[] = [{ text: 'Heard.' }]): Promise<void> => {
  store = new MortalStore();
  setup = await openSetup({ store: () => store });
  parentId = await setup.session(steps, { script: { onEnd: 'repeat-last' } });
};
const child = (parentSessionId = parentId): Promise<SessionState> =>
  setup.runtime.sessions.create({ agentId: AGENT, title: 'Helper', parentSessionId });
const dataOf = async (sessionId: string, type: SessionEvent['type']): Promise<unknown[]> =>
  (await setup.log(sessionId)).filter((event) => event.type === type).map(({ data }) => data);
const send = (sessionId: string, text = 'Go'): Promise<unknown> =>
  setup.runtime.sessions.send(sessionId, { type: 'user.message', text });
const due = async (): Promise<string[]> =>
  (await store.activations.due({ nowMs: setup.clock.now(), limit: 10 })).due.map(({ sessionId }) => sessionId);

describe('a child session', () => {
  it('is known to its parent, and tells it each time it comes to rest, which makes the parent due', async () => {
    await open();
    const { sessionId, parent } = await child();
    expect(parent).toEqual({ sessionId: parentId, depth: 1 });
    expect((await setup.runtime.sessions.get(parentId)).children).toMatchObject([
      { sessionId, agentId: AGENT, label: 'Helper' },
    ]);
    expect(await due()).toEqual([]);
    for (const turn of [1, 2]) {
      await send(sessionId);
      await setup.runtime.wake(sessionId);
      expect(await due()).toEqual([parentId]);
      expect(await dataOf(parentId, 'session.child_idle')).toHaveLength(turn);
      expect(await dataOf(sessionId, 'session.parent_told')).toHaveLength(turn);
      expect(await setup.runtime.wake(parentId, { isAutonomous: true })).toMatchObject({
        outcome: 'sleep',
        modelSteps: 1,
      });
      expect(await due()).toEqual([]);
    }
    expect((await setup.runtime.sessions.get(parentId)).children).toMatchObject([
      { rest: { reason: 'idle', summary: 'Heard.' } },
    ]);
  });

  it('tells it that it waits for somebody, and that it has ended', async () => {
    await open([{ toolCalls: [{ name: 'ask_human', input: { question: 'Which?' } }] }]);
    const { sessionId } = await child();
    await send(sessionId);
    await setup.runtime.wake(sessionId);
    await setup.runtime.sessions.terminate(sessionId, { reason: 'not needed' });
    expect(await dataOf(parentId, 'session.child_idle')).toMatchObject([
      { reason: 'requires_action' },
      { reason: 'terminated', summary: 'not needed' },
    ]);
    expect(await due()).toEqual([parentId]);
  });

  it('is announced and told of once each, whichever append its process died before', async () => {
    for (let appends = 0; appends < 12; appends += 1) {
      await open([{ text: 'Done.' }]);
      store.appendsLeft = appends;
      const made = await child().catch(() => undefined);
      // A child that was made before its process died is there, and its parent hears of it when it rests.
      const sessionId =
        made?.sessionId ??
        (await setup.runtime.sessions.list()).find((session) => session.sessionId !== parentId)?.sessionId ??
        '';
      await send(sessionId).catch(() => undefined);
      await codeOf(setup.runtime.wake(sessionId));
      store.appendsLeft = Infinity;
      if ((await setup.runtime.sessions.get(sessionId)).messages === 0) await send(sessionId);
      // What is owed is due; as often as somebody checks, it is paid once.
      for (let checks = 0; checks < 3; checks += 1) {
        setup.clock.advanceNow(10_000);
        for (const dueId of (await due()).filter((candidate) => candidate === sessionId))
          await setup.runtime.wake(dueId, { isAutonomous: true });
      }
      expect({ appends, told: await dataOf(parentId, 'session.child_idle') }).toMatchObject({
        appends,
        told: [{ childSessionId: sessionId, reason: 'idle' }],
      });
      expect({ appends, created: await dataOf(parentId, 'session.child_created') }).toMatchObject({
        appends,
        created: [{ childSessionId: sessionId }],
      });
      expect(await dataOf(sessionId, 'session.parent_told')).toHaveLength(1);
      expect({ appends, due: await due() }).toEqual({ appends, due: [parentId] });
      if (appends < 11) await setup.close();
    }
  });

  it('needs not tell a parent that has ended or is gone', async () => {
    await open();
    const one = await child();
    const other = await child();
    await setup.runtime.sessions.terminate(parentId);
    await send(one.sessionId);
    await setup.runtime.wake(one.sessionId);
    expect(await dataOf(parentId, 'session.child_idle')).toEqual([]);
    await setup.runtime.sessions.delete(parentId);
    await send(other.sessionId);
    await setup.runtime.wake(other.sessionId);
    expect(await due()).toEqual([]);
    expect((await setup.runtime.sessions.get(other.sessionId)).owedToParent).toBeUndefined();
  });

  it('of a terminated parent, of one that is not there, or too deep is refused, and nothing is made', async () => {
    await open();
    let deepest = parentId;
    for (let depth = 1; depth <= MAX_SESSION_DEPTH; depth += 1) deepest = (await child(deepest)).sessionId;
    expect(await codeOf(child(deepest))).toBe('SESSION_TOO_DEEP');
    expect(await codeOf(child('01234567-89ab-7cde-bfff-ffffffffffff'))).toBe('SESSION_NOT_FOUND');
    await setup.runtime.sessions.terminate(parentId);
    expect(await codeOf(child())).toBe('SESSION_TERMINATED');
    expect(await setup.runtime.sessions.list()).toHaveLength(1 + MAX_SESSION_DEPTH);
  });

  it('beyond the limit is refused, and nothing is left of it, though many are made at once', async () => {
    await open();
    const codes = await Promise.all(Array.from({ length: MAX_CHILD_SESSIONS + 3 }, () => codeOf(child())));
    expect(codes.filter((code) => code === 'CHILD_LIMIT')).toHaveLength(3);
    expect(codes.filter((code) => code === 'it succeeded')).toHaveLength(MAX_CHILD_SESSIONS);
    expect(await setup.runtime.sessions.list()).toHaveLength(1 + MAX_CHILD_SESSIONS);
    expect((await setup.runtime.sessions.get(parentId)).children).toHaveLength(MAX_CHILD_SESSIONS);
  });
});
