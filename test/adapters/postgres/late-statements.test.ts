/**
 * Statements that reach their end on the server when whoever sent them has given up: nothing that they took may be held
 * for nobody.
 */
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { PostgresEventStore } from '../../../src/adapters/postgres/postgres-event-store.ts';
import { IDENTITY, SESSION_ID, creation } from '../../../src/testing/session-fixtures.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { ask } from '../../support/postgres-databases.ts';
import type { FreshDatabase } from '../../support/postgres-databases.ts';
import { migratedDatabase } from '../../support/postgres-server.ts';

const NEW = { epoch: 0, isOpen: false };
const waiting =
  "SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

let database: FreshDatabase;
let store: PostgresEventStore;
let other: Client;

beforeEach(async () => {
  database = await migratedDatabase();
  store = await PostgresEventStore.open({
    url: database.url,
    clock: createSystemClock(),
    callLimitMs: 200,
    patienceMs: 300,
    leaseMs: 1_500,
  });
  await store.create(IDENTITY, creation());
  other = new Client({ connectionString: database.url });
  await other.connect();
});
afterEach(async () => {
  await other.end();
  await store.close();
  await database.drop();
});

/**
 * Somebody keeps the row of the session to himself, as a step of the schema does, for longer than `work` has patience.
 */
async function whileHeld<Value>(work: () => Promise<Value>): Promise<Value> {
  await other.query('BEGIN');
  await other.query('SELECT FROM wakechart.session FOR UPDATE');
  const value = await work();
  await other.query('COMMIT');
  while (((await ask<{ waiting: number }>(database.url, waiting))[0]?.waiting ?? 0) > 0)
    await new Promise((resolve) => setTimeout(resolve, 5));
  return value;
}

describe('a statement whose sender has given up', () => {
  it('leaves no right to wake that nobody knows of', async () => {
    expect(await whileHeld(() => codeOf(store.acquireWakeRight(SESSION_ID, NEW)))).toBe('STORAGE_FAILED');
    const right = await store.acquireWakeRight(SESSION_ID, NEW);
    expect(right.lost.aborted).toBe(false);
    await right.release();
  });

  it('leaves none to others either, once the worker has shown that it lives', async () => {
    expect(await whileHeld(() => codeOf(store.acquireWakeRight(SESSION_ID, NEW)))).toBe('STORAGE_FAILED');
    await using elsewhere = await openOther();
    await elsewhere.store.wakeRightFreed(SESSION_ID, new AbortController().signal);
    await (await elsewhere.store.acquireWakeRight(SESSION_ID, NEW)).release();
    expect(store.workerId).toBeDefined();
  });

  it('keeps no right that it has released', async () => {
    const right = await store.acquireWakeRight(SESSION_ID, NEW);
    await whileHeld(() => right.release());
    const next = await store.acquireWakeRight(SESSION_ID, { epoch: 1, isOpen: true });
    expect(next.epoch).toBe(2);
    await next.release();
  });
});

async function openOther(): Promise<{ readonly store: PostgresEventStore } & AsyncDisposable> {
  const opened = await PostgresEventStore.open({ url: database.url, clock: createSystemClock() });
  return { store: opened, [Symbol.asyncDispose]: () => opened.close() };
}
