/** Sessions in a database of a test's own, beside a home for everything else. */
import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { RuntimeError } from '../../src/machines/errors.ts';
import { createSystemClock } from '../../src/actors/clock/system-clock.ts';
import { PostgresEventStore } from '../../src/adapters/postgres/postgres-event-store.ts';
import type { FreshDatabase } from './postgres-databases.ts';
import { DatabaseCopies, askCopy } from './postgres-copies.ts';
import { migratedDatabase } from './postgres-server.ts';
import { copyOfHome } from './store-under-test.ts';
import type { Setup, Place, StoreUnderTest } from './store-under-test.ts';
import { temporaryHome } from './temporary-home.ts';

const ASK_AGAIN_MS = 20;

/** By the URL of the database that they are of. They go with it. */
const copies = new Map<string, DatabaseCopies>();

export const postgresStore: StoreUnderTest = {
  name: 'postgres',
  // Long enough for a machine that is busy: tests that kill say so themselves (`forgetTheDead`).
  lease: { leaseMs: 10_000 },
  shortLeaseMs: 600,
  async setup() {
    const database = await migratedDatabase();
    const drop = async (): Promise<void> => {
      await copies.get(database.url)?.remove();
      copies.delete(database.url);
      await database.drop();
    };
    return setupOf((await temporaryHome()).path, { ...database, drop });
  },
  async copyOf(place) {
    const url = urlOf(place);
    const known = copies.get(url) ?? new DatabaseCopies(url);
    copies.set(url, known);
    return setupOf(await copyOfHome(place.home), await known.take());
  },
  open: (place) => PostgresEventStore.open({ url: urlOf(place), clock: createSystemClock() }),
  async forgetTheDead(place, pid) {
    const statement =
      "UPDATE wakechart.worker SET alive_until = least(alive_until, clock_timestamp()) WHERE $1::text IS NULL OR owner LIKE '%:' || $1";
    await askCopy(urlOf(place), statement, [pid === undefined ? null : `${pid}`]);
  },
  /** He counts as alive until his lease is over. */
  async takeOver(runtime, sessionId) {
    for (;;) {
      try {
        return await runtime.wake(sessionId);
      } catch (error) {
        if (!RuntimeError.is(error) || error.code !== 'WAKE_CONFLICT') throw error;
      }
      await pause(ASK_AGAIN_MS);
    }
  },
};

/** A home with its sessions in `database`, which goes with it. */
export function setupOf(home: string, database: FreshDatabase): Setup {
  return {
    place: { home, store: { postgres: database.url } },
    async remove() {
      await database.drop();
      await rm(home, { recursive: true, force: true });
    },
  };
}

export function urlOf({ store }: Place): string {
  if (store === undefined) throw new Error('expected a place with a database');
  return store.postgres;
}
