/**
 * A rolling deploy of the step that put the right to wake into the appends: programs of the version before call the
 * functions that they know.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import type { EventStore, WakeRight } from '../../../src/actors/session/event-store.ts';
import { MIGRATIONS } from '../../../src/adapters/postgres/migrations/index.ts';
import { migratePostgres } from '../../../src/adapters/postgres/migrate.ts';
import { PostgresEventStore } from '../../../src/adapters/postgres/postgres-event-store.ts';
import { IDENTITY, SESSION_ID, creation, foldAll, messageOf } from '../../../src/testing/session-fixtures.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { ask } from '../../support/postgres-databases.ts';
import type { FreshDatabase } from '../../support/postgres-databases.ts';
import { freshDatabase } from '../../support/postgres-server.ts';

const BEFORE = MIGRATIONS.slice(0, 4);
const clock = createSystemClock();

let database: FreshDatabase;
let store: PostgresEventStore;
/** A worker of the version before. */
let older: string;

beforeEach(async () => {
  database = await freshDatabase();
  const { url } = database;
  await migratePostgres({ url, clock, steps: BEFORE });
  older = randomUUID();
  await ask(
    url,
    "INSERT INTO wakechart.worker (id, owner, alive_until) VALUES ($1, 'older', clock_timestamp() + interval '1 hour')",
    [older],
  );
  const [created] = creation();
  const row = [created.id, created.type, created.v, created.at, JSON.stringify(created.data)];
  await ask(
    url,
    "SELECT wakechart.create_session_1(false, $6, 'writer', 'default', ARRAY[NULL]::text[], ARRAY[1], ARRAY[$1::uuid], ARRAY[$2], ARRAY[$3::integer], ARRAY[NULL]::integer[], ARRAY[$4], ARRAY[$5])",
    [...row, SESSION_ID],
  );
});
afterEach(async () => {
  await store.close();
  await database.drop();
});

async function migrated(): Promise<void> {
  const { url } = database;
  await migratePostgres({ url, clock });
  store = await PostgresEventStore.open({ url, clock });
}

const acquireAsBefore = async (token: string): Promise<string | undefined> =>
  (
    await ask<{ readonly verdict: string }>(
      database.url,
      'SELECT verdict FROM wakechart.acquire_lease_1($1, $2, $3, 0, false)',
      [SESSION_ID, older, token],
    )
  )[0]?.verdict;

const releaseAsBefore = (token: string): Promise<unknown> =>
  ask(database.url, 'SELECT wakechart.release_leases_1($1, ARRAY[$2::uuid], ARRAY[$3::uuid])', [
    older,
    SESSION_ID,
    token,
  ]);

async function withFirst(from: EventStore): Promise<WakeRight> {
  return from.acquireWakeRight(SESSION_ID, { epoch: 0, isOpen: false, withFirst: { at: creation()[0].at } });
}

const begin = (right: WakeRight): Promise<string | undefined> =>
  codeOf(store.append(SESSION_ID, [{ ...messageOf(2), epoch: right.epoch }], { expectedHead: 1, begins: right }));

describe('a schema that has moved on', () => {
  it('leaves the right to whoever got it before', async () => {
    const token = randomUUID();
    expect(await acquireAsBefore(token)).toBe('given');
    await migrated();
    expect(await begin(await withFirst(store))).toBe('WAKE_CONFLICT');
    await releaseAsBefore(token);
    // The epoch that was given counts, though nobody has written under it.
    expect(await begin(await withFirst(store))).toBe('HEAD_MOVED');
    const right = await store.acquireWakeRight(SESSION_ID, { epoch: 0, isOpen: false });
    expect([right.epoch, right.tip]).toEqual([2, { head: 1, at: creation()[0].at }]);
    await right.release();
  });

  it('lets programs of the version before respect a right that came with a record, until the record that ends it', async () => {
    await migrated();
    const right = await withFirst(store);
    expect(right.comesWith).toBe('record');
    // It is nobody's before the record.
    expect(await ask(database.url, 'SELECT lease_worker FROM wakechart.session')).toEqual([{ lease_worker: null }]);
    expect(await begin(right)).toBe('it succeeded');
    expect(await acquireAsBefore(randomUUID())).toBe('conflict');
    const view = { ...foldAll(await store.read(SESSION_ID)), ...IDENTITY, head: 3 };
    const ended = await store.append(SESSION_ID, [{ ...messageOf(3), epoch: right.epoch }], {
      expectedHead: 2,
      ends: { view, right },
    });
    expect(ended.hasEnded).toBe(true);
    expect((await store.checkpoint(SESSION_ID))?.head).toBe(3);
    expect(await acquireAsBefore(randomUUID())).toBe('given');
  });
});
