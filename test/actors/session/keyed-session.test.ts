/** Sessions that are made under a key of their caller. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createIdSource } from '../../../src/actors/session/id-source.ts';
import { FileEventStore } from '../../../src/adapters/files/file-event-store.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { costsOf } from '../../support/counted-calls.ts';
import { AGENT, openSetup } from '../../support/session-setup.ts';
import type { SessionSetup } from '../../support/session-setup.ts';

const HOUR_MS = 3_600_000;

let setup: SessionSetup;
beforeEach(async () => {
  setup = await openSetup({ store: ({ home, clock }) => new FileEventStore({ home, clock }) });
  await setup.session([{ text: 'Done.' }]);
});
afterEach(() => setup.close());

const keyed = async ({ runtime }: SessionSetup, idempotencyKey: string, owner?: string): Promise<string> =>
  (await runtime.sessions.create({ agentId: AGENT, owner }, { idempotencyKey })).sessionId;

const made = (idempotencyKey: string, owner?: string): Promise<string> => keyed(setup, idempotencyKey, owner);

/** Another process over the same files, with a clock of its own. */
async function setupBeside(): Promise<SessionSetup> {
  const other = await openSetup({ store: ({ clock }) => new FileEventStore({ home: setup.home, clock }) });
  await other.session([{ text: 'Done.' }]);
  return other;
}

const untilNextHour = (): number => HOUR_MS - (setup.clock.now() % HOUR_MS);

it('costs as many waits for the disk with forty agents as with one: each hour of a day is asked for once', async () => {
  const costs = async (idempotencyKey?: string): Promise<number> =>
    (await costsOf(() => setup.runtime.sessions.create({ agentId: AGENT }, { idempotencyKey }))).passedOn;
  await costs();
  for (let count = 0; count < 40; count += 1) await mkdir(join(setup.home, `agents/other-${count}`));
  const plain = await costs();
  expect((await costs('k')) - plain).toBeLessThanOrEqual(26);
  expect(await costs('k')).toBeLessThanOrEqual(26 + 10);
});

describe('a session that is made under a key', () => {
  it('is made once, also by two at once', async () => {
    const ids = await Promise.all([made('k'), made('k'), made('k')]);
    expect(new Set([...ids, await made('k')])).toEqual(new Set([ids[0]]));
    expect(await setup.runtime.sessions.list()).toHaveLength(2);
    expect(await made('other')).not.toBe(ids[0]);
  });

  it('is known for a whole day, however late in its hour it was made, and sorts by the hour', async () => {
    await setup.clock.advance(HOUR_MS / 2);
    const before = await setup.runtime.sessions.create({ agentId: AGENT });
    await setup.clock.advance(untilNextHour() + HOUR_MS - 1);
    const id = await made('k');
    await setup.clock.advance(24 * HOUR_MS);
    expect(await made('k')).toBe(id);
    const after = await setup.runtime.sessions.create({ agentId: AGENT });
    const newest = await setup.runtime.sessions.list({ newest: 3 });
    expect(newest.map(({ sessionId }) => sessionId)).toEqual([before.sessionId, id, after.sessionId]);
    await setup.clock.advance(2 * HOUR_MS);
    expect(await made('k')).not.toBe(id);
  });

  it('is the same for a process whose clock is behind', async () => {
    await using other = await setupBeside();
    await other.clock.advance(untilNextHour() - 1);
    await setup.clock.advance(untilNextHour() + 1);
    const id = await made('k');
    expect(await keyed(other, 'k')).toBe(id);
  });

  it('is the same for two at once on either side of an hour', async () => {
    await setup.clock.advance(untilNextHour() - 1);
    const first = made('k');
    const second = setup.clock.advance(2).then(() => made('k'));
    expect(await first).toBe(await second);
  });

  it('is one under a UUIDv7, also for two processes at once on either side of an hour, and sorts by the time in it', async () => {
    await using other = await setupBeside();
    const key = `http:${createIdSource({ clock: setup.clock }).next()}`;
    await setup.clock.advance(untilNextHour() - 1);
    await other.clock.advance(untilNextHour() + 1);
    const ids = await Promise.all([made(key), keyed(other, key)]);
    expect(ids[0]).toBe(ids[1]);
    expect(ids[0].slice(0, 13)).toBe(key.slice(5, 18));
    await setup.clock.advance(20 * HOUR_MS);
    expect(await made(key)).toBe(ids[0]);
    await setup.clock.advance(24 * HOUR_MS);
    expect(await made(key)).not.toBe(ids[0]);
  });

  it('can be made again by a process that knew it, once another one has deleted it', async () => {
    const id = await made('k');
    await using other = await setupBeside();
    await other.runtime.sessions.send(id, { type: 'user.message', text: 'Hi' });
    expect(await keyed(other, 'k')).toBe(id);
    await setup.runtime.sessions.delete(id);
    const again = await keyed(other, 'k');
    expect(await other.runtime.sessions.get(again)).toMatchObject({ head: 1, messages: 0 });
    expect(await made('k')).toBe(again);
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
