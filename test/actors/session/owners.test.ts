/** Whose sessions are: said once by the program that lets people in, and theirs in whatever is made of them. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { AGENT, openSetup } from '../../support/session-setup.ts';
import type { SessionSetup } from '../../support/session-setup.ts';

let setup: SessionSetup;
beforeEach(async () => {
  setup = await openSetup();
  await setup.session([{ text: 'Done.' }]);
});
afterEach(() => setup.close());

const idsOf = async (filter: object): Promise<readonly string[]> =>
  (await setup.runtime.sessions.list(filter)).map(({ sessionId }) => sessionId);

describe('the owner of a session', () => {
  it('is who it was made for, and its sessions are listed by it', async () => {
    const { sessions } = setup.runtime;
    const { sessionId, owner } = await sessions.create({ agentId: AGENT, owner: 'ada' });
    await sessions.create({ agentId: AGENT, owner: 'bob' });
    expect(owner).toBe('ada');
    expect(await idsOf({ owner: 'ada' })).toEqual([sessionId]);
    expect(await idsOf({ owner: 'eve' })).toEqual([]);
    expect(await idsOf({})).toHaveLength(3);
  });

  it('owns whatever works for it, and its forks', async () => {
    const { sessions } = setup.runtime;
    const { sessionId } = await sessions.create({ agentId: AGENT, owner: 'ada' });
    const child = await sessions.create({ agentId: AGENT, owner: 'eve', parentSessionId: sessionId });
    const grandchild = await sessions.create({ agentId: AGENT, parentSessionId: child.sessionId });
    const fork = await sessions.fork(sessionId);
    expect([child.owner, grandchild.owner, fork.owner]).toEqual(['ada', 'ada', 'ada']);
  });

  it('is not who a log from elsewhere says, unless the log is trusted', async () => {
    const { sessions } = setup.runtime;
    const { sessionId } = await sessions.create({ agentId: AGENT, owner: 'ada' });
    const lines: string[] = [];
    for await (const line of sessions.export(sessionId)) lines.push(line);
    await sessions.delete(sessionId);
    const other = await openSetup();
    await other.session([{ text: 'Done.' }]);
    try {
      expect((await other.runtime.sessions.import(lines)).owner).toBeUndefined();
      await other.runtime.sessions.delete(sessionId);
    } finally {
      await other.close();
    }
    const third = await openSetup();
    await third.session([{ text: 'Done.' }]);
    try {
      expect((await third.runtime.sessions.import(lines, { isTrusted: true })).owner).toBe('ada');
    } finally {
      await third.close();
    }
  });

  it.each(['', 'a\nb', 'x'.repeat(201)])('is refused where it is %j', async (owner) => {
    expect(await codeOf(setup.runtime.sessions.create({ agentId: AGENT, owner }))).toBe('SESSION_REQUEST_INVALID');
  });
});

describe('a list of sessions', () => {
  it('goes on before the oldest of the page that came first', async () => {
    const { sessions } = setup.runtime;
    await sessions.create({ agentId: AGENT });
    await sessions.create({ agentId: AGENT });
    const all = await idsOf({});
    expect(await idsOf({ newest: 2 })).toEqual(all.slice(1));
    expect(await idsOf({ newest: 2, before: all[1] })).toEqual(all.slice(0, 1));
    expect(await idsOf({ before: all[0] })).toEqual([]);
  });
});
