/** Copies into a PostgreSQL and out of it: whatever a log holds, it is the same there. */
import { afterEach, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import type { EventStore } from '../../../src/actors/session/event-store.ts';
import { copyStore } from '../../../src/actors/session/store-copy.ts';
import { MemoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { PostgresEventStore } from '../../../src/adapters/postgres/postgres-event-store.ts';
import {
  AGENT_ID,
  SESSION_ID,
  claimOf,
  creation,
  idOf,
  messageOf,
  messagesOf,
  resultOf,
  toolUseOf,
} from '../../../src/testing/session-fixtures.ts';
import { migratedDatabase } from '../../support/postgres-server.ts';
import type { FreshDatabase } from '../../support/postgres-server.ts';

const IDENTITY = { sessionId: SESSION_ID, agentId: AGENT_ID };

const databases: FreshDatabase[] = [];
const open: EventStore[] = [];
afterEach(async () => {
  for (const store of open.splice(0)) await store.close();
  for (const database of databases.splice(0)) await database.drop();
});

async function postgres(url?: string): Promise<PostgresEventStore> {
  const database = url === undefined ? await migratedDatabase() : undefined;
  if (database !== undefined) databases.push(database);
  const store = await PostgresEventStore.open({ url: url ?? database?.url ?? '', clock: createSystemClock() });
  open.push(store);
  return store;
}

/** Odd characters, a large payload, a type of a later version, several epochs, events that share a record. */
async function fill(store: EventStore): Promise<void> {
  await store.create(IDENTITY, creation(1));
  await store.append(
    SESSION_ID,
    [toolUseOf(2, { a: [1, -0.5, 1e21, 'ü\u2028\n\0\ud83d\ude00', null], __proto: {}, '': '' })],
    { idempotencyKey: 'schedule:nightly/ü "1"' },
  );
  await store.append(SESSION_ID, [...claimOf(3, 1), resultOf(4, 300_000, 1), messageOf(5, 1)]);
  await store.append(SESSION_ID, [{ ...messageOf(6), type: 'from.tomorrow', v: 9, data: { unheard: ['of', 1.0] } }], {
    idempotencyKey: 'k',
  });
  await store.append(SESSION_ID, [...claimOf(7, 3)]);
  await store.append(SESSION_ID, messagesOf(8, 9));
}

it('is the same in a database, in another one, and in memory again', async () => {
  const memory = new MemoryEventStore();
  await fill(memory);
  const first = await postgres();
  const there = await copyStore({ from: memory, to: first });
  expect(there).toMatchObject({ copied: 1, left: [], events: 9 });
  const second = await postgres();
  // Stored in parts, as a long log is.
  const further = await copyStore({ from: first, to: second, firstPartCharacters: 1 });
  const back = new MemoryEventStore();
  const last = await copyStore({ from: second, to: back });
  expect([further.sha256, last.sha256]).toEqual([there.sha256, there.sha256]);
  expect(JSON.stringify(await back.read(SESSION_ID))).toBe(JSON.stringify(await memory.read(SESSION_ID)));
  expect((await second.append(SESSION_ID, messagesOf(90), { idempotencyKey: 'k' })).isDuplicate).toBe(true);
  await expect(second.append(SESSION_ID, [messageOf(91, 2)])).rejects.toMatchObject({ code: 'EPOCH_SUPERSEDED' });
  expect((await second.list()).map(({ view }) => view?.head)).toEqual([9]);
});

it('is made of a wake that died with its process, and of none that runs', async () => {
  const from = await postgres();
  await from.create(IDENTITY, creation(1));
  const elsewhere = await postgres(databases[0]?.url);
  const right = await elsewhere.acquireWakeRight(SESSION_ID, { epoch: 0, isOpen: false });
  await elsewhere.append(SESSION_ID, claimOf(2, right.epoch));
  const to = new MemoryEventStore();
  const busy = await copyStore({ from, to });
  expect(busy.left.map(({ kind }) => kind)).toEqual(['busy']);
  await right.release();
  expect(await copyStore({ from, to })).toMatchObject({ copied: 1, left: [] });
  // Somebody there finds it, and goes on.
  expect((await to.activations.due({ nowMs: Date.now(), limit: 1 })).due).toMatchObject([{ sessionId: SESSION_ID }]);
});

it('says which session a database does not take, and copies all others', async () => {
  const from = new MemoryEventStore();
  await from.create(IDENTITY, creation(1));
  await from.append(SESSION_ID, messagesOf(2), { idempotencyKey: 'a key that is too long '.repeat(100) });
  await from.create({ sessionId: idOf(500), agentId: AGENT_ID }, creation(501));
  const copy = await copyStore({ from, to: await postgres() });
  expect([copy.copied, copy.left.map(({ sessionId, kind }) => [sessionId, kind])]).toEqual([
    1,
    [[SESSION_ID, 'failed']],
  ]);
});
