/** Sessions that are made under a key of their caller. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileEventStore } from '../../../src/adapters/files/file-event-store.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { AGENT, openSetup } from '../../support/session-setup.ts';
import type { SessionSetup } from '../../support/session-setup.ts';

const HOUR_MS = 3_600_000;

let setup: SessionSetup;
beforeEach(async () => {
  setup = await openSetup({ store: ({ home, clock }) => new FileEventStore({ home, clock }) });
  await setup.session([{ text: 'Done.' }]);
});
afterEach(() => setup.close());

const made = async (idempotencyKey: string, owner?: string): Promise<string> =>
  (await setup.runtime.sessions.create({ agentId: AGENT, owner }, { idempotencyKey })).sessionId;

describe('a session that is made under a key', () => {
  it('is made once, also by two at once', async () => {
    const ids = await Promise.all([made('k'), made('k'), made('k')]);
    expect(new Set([...ids, await made('k')])).toEqual(new Set([ids[0]]));
    expect(await setup.runtime.sessions.list()).toHaveLength(2);
    expect(await made('other')).not.toBe(ids[0]);
  });

  it('is known for most of a day, and sorts by when it was made', async () => {
    await setup.clock.advance(HOUR_MS / 2);
    const before = await setup.runtime.sessions.create({ agentId: AGENT });
    await setup.clock.advance(HOUR_MS);
    const id = await made('k');
    await setup.clock.advance(22 * HOUR_MS);
    expect(await made('k')).toBe(id);
    const after = await setup.runtime.sessions.create({ agentId: AGENT });
    const newest = await setup.runtime.sessions.list({ newest: 3 });
    expect(newest.map(({ sessionId }) => sessionId)).toEqual([before.sessionId, id, after.sessionId]);
    await setup.clock.advance(2 * HOUR_MS);
    expect(await made('k')).not.toBe(id);
  });

  it('is another one for each owner', async () => {
    expect(await made('k', 'ada')).not.toBe(await made('k', 'bob'));
  });

  it('can be made again once it was deleted', async () => {
    const id = await made('k');
    await setup.runtime.sessions.delete(id);
    const again = await made('k');
    await setup.runtime.sessions.send(again, { type: 'user.message', text: 'Hi' });
    expect((await setup.runtime.sessions.get(again)).messages).toBe(1);
  });

  it('is no child, which is made by what its parent does', async () => {
    const { sessionId } = await setup.runtime.sessions.create({ agentId: AGENT });
    const child = setup.runtime.sessions.create(
      { agentId: AGENT, parentSessionId: sessionId },
      { idempotencyKey: 'k' },
    );
    expect(await codeOf(child)).toBe('SESSION_REQUEST_INVALID');
  });
});
