/** Sessions that are made under a key of their caller. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileEventStore } from '../../../src/adapters/files/file-event-store.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { AGENT, openHouse } from '../../support/session-house.ts';
import type { SessionHouse } from '../../support/session-house.ts';

const HOUR_MS = 3_600_000;

let house: SessionHouse;
beforeEach(async () => {
  house = await openHouse({ store: ({ home, clock }) => new FileEventStore({ home, clock }) });
  await house.session([{ text: 'Done.' }]);
});
afterEach(() => house.close());

const made = async (idempotencyKey: string, owner?: string): Promise<string> =>
  (await house.runtime.sessions.create({ agentId: AGENT, owner }, { idempotencyKey })).sessionId;

describe('a session that is made under a key', () => {
  it('is made once, also by two at once', async () => {
    const ids = await Promise.all([made('k'), made('k'), made('k')]);
    expect(new Set([...ids, await made('k')])).toEqual(new Set([ids[0]]));
    expect(await house.runtime.sessions.list()).toHaveLength(2);
    expect(await made('other')).not.toBe(ids[0]);
  });

  it('is known for most of a day, and sorts by when it was made', async () => {
    await house.clock.advance(HOUR_MS / 2);
    const before = await house.runtime.sessions.create({ agentId: AGENT });
    await house.clock.advance(HOUR_MS);
    const id = await made('k');
    await house.clock.advance(22 * HOUR_MS);
    expect(await made('k')).toBe(id);
    const after = await house.runtime.sessions.create({ agentId: AGENT });
    const newest = await house.runtime.sessions.list({ newest: 3 });
    expect(newest.map(({ sessionId }) => sessionId)).toEqual([before.sessionId, id, after.sessionId]);
    await house.clock.advance(2 * HOUR_MS);
    expect(await made('k')).not.toBe(id);
  });

  it('is another one for each owner', async () => {
    expect(await made('k', 'ada')).not.toBe(await made('k', 'bob'));
  });

  it('can be made again once it was deleted', async () => {
    const id = await made('k');
    await house.runtime.sessions.delete(id);
    const again = await made('k');
    await house.runtime.sessions.send(again, { type: 'user.message', text: 'Hi' });
    expect((await house.runtime.sessions.get(again)).messages).toBe(1);
  });

  it('is no child, which is made by what its parent does', async () => {
    const { sessionId } = await house.runtime.sessions.create({ agentId: AGENT });
    const child = house.runtime.sessions.create(
      { agentId: AGENT, parentSessionId: sessionId },
      { idempotencyKey: 'k' },
    );
    expect(await codeOf(child)).toBe('SESSION_REQUEST_INVALID');
  });
});
