/**
 * A server that crashes right after it has answered: what others go by is on its disk. Its log is written only where a
 * commit waits for it.
 */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { migratePostgres } from '../../../src/adapters/postgres/migrate.ts';
import { PostgresEventStore } from '../../../src/adapters/postgres/postgres-event-store.ts';
import { AGENT_ID, creation, foldAll, idOf } from '../../../src/testing/session-fixtures.ts';
import { ask } from '../../support/postgres-databases.ts';
import { ownServer } from '../../support/postgres-server.ts';
import type { PostgresServer } from '../../support/postgres-server.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { LAZY_LOG, crash } from './crashing-server.ts';

const SOURCES = fileURLToPath(new URL('../../../src/adapters/postgres/', import.meta.url));

const clock = createSystemClock();
const NEW = { epoch: 0, isOpen: false };

let server: PostgresServer;
let url: string;
let stores: readonly [PostgresEventStore, PostgresEventStore];

beforeAll(async () => {
  server = await ownServer({ settings: LAZY_LOG });
  ({ url } = await server.freshDatabase());
  await migratePostgres({ url, clock });
  stores = [await PostgresEventStore.open({ url, clock }), await PostgresEventStore.open({ url, clock })];
});
afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await server.remove();
});

async function newSession(n: number): Promise<string> {
  const [here, there] = stores;
  const sessionId = idOf(n);
  await here.create({ sessionId, agentId: AGENT_ID }, creation());
  // Both are known as workers before anything is given.
  for (const store of [here, there]) await store.activations.due({ nowMs: 0, limit: 1, claims: 1 });
  return sessionId;
}

describe('a server that crashes', () => {
  it('gives no epoch twice: the one that it has given before is on its disk', async () => {
    const [here, there] = stores;
    const sessionId = await newSession(1);
    const held = await there.acquireWakeRight(sessionId, NEW);
    await crash(server);
    expect(await codeOf(here.acquireWakeRight(sessionId, NEW))).toBe('WAKE_CONFLICT');
    await ask(url, "UPDATE wakechart.worker SET alive_until = clock_timestamp() - interval '1 second' WHERE id = $1", [
      there.workerId,
    ]);
    const taken = await here.acquireWakeRight(sessionId, NEW);
    expect([held.epoch, taken.epoch]).toEqual([1, 2]);
    await taken.release();
  });

  it('gives none twice either where its commits wait for nothing, and refuses who wants to be told what is on the disk', async () => {
    const sessionId = await newSession(2);
    await ask(server.adminUrl(), 'ALTER ROLE wakechart SET synchronous_commit = off');
    expect(await codeOf(PostgresEventStore.open({ url, clock }))).toBe('STORE_NOT_SYNCED');
    const careless = await PostgresEventStore.open({ url, clock, durability: 'os' });
    const held = await careless.acquireWakeRight(sessionId, NEW);
    await crash(server);
    await ask(server.adminUrl(), 'ALTER ROLE wakechart RESET synchronous_commit');
    expect(await ask(url, 'SELECT lease_given AS epoch FROM wakechart.session WHERE id = $1', [sessionId])).toEqual([
      { epoch: held.epoch },
    ]);
    await careless.close();
  });

  it('loses what is said to be losable and nothing else: a view, which is folded anew', async () => {
    const [here] = stores;
    const sessionId = await newSession(3);
    const state = { ...foldAll(await here.read(sessionId)), sessionId };
    await here.saveView(state);
    await crash(server);
    expect(await here.checkpoint(sessionId)).toBeUndefined();
  });
});

describe('what may be lost', () => {
  it('is said with the statement, by one function of the sources, and by no function of the schema on its own', async () => {
    const places = await readdir(SOURCES, { recursive: true });
    const sources = places.filter((place) => place.endsWith('.ts') && !place.startsWith('migrations'));
    const texts = await Promise.all(
      sources.map(async (place) => [place, await readFile(join(SOURCES, place), 'utf8')] as const),
    );
    expect(
      texts.filter(([, text]) => text.includes("set_config('synchronous_commit'")).map(([place]) => place),
    ).toEqual(['postgres-database.ts']);
    const functions = await ask<{ name: string }>(
      url,
      "SELECT proname AS name FROM pg_proc WHERE pronamespace = 'wakechart'::regnamespace AND prosrc LIKE '%synchronous_commit%' ORDER BY 1",
    );
    // The first and the third turn it on, the others do as they are told by programs of step 1.
    expect(functions.map(({ name }) => name)).toEqual([
      'acquire_lease_1',
      'append_1',
      'append_one_1',
      'create_session_1',
    ]);
  });
});
