/**
 * Stores over one database for a whole file, empty whenever one is opened: making a database takes longer than emptying
 * it.
 */
import { afterAll, beforeAll } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { PostgresEventStore } from '../../../src/adapters/postgres/postgres-event-store.ts';
import type { PostgresEventStoreOptions } from '../../../src/adapters/postgres/postgres-options.ts';
import { migratedDatabase } from '../../support/postgres-server.ts';
import type { FreshDatabase } from '../../support/postgres-server.ts';

export interface EmptyStores {
  /** Another store over the same database, as it is. */
  another(options?: Partial<PostgresEventStoreOptions>): Promise<PostgresEventStore>;
  /** Over the database, which is emptied before. */
  open(options?: Partial<PostgresEventStoreOptions>): Promise<PostgresEventStore>;
  database(): FreshDatabase;
}

/** Sessions last: where rows are shut away by tenant, what belongs to a session is seen through it. */
const TABLES = ['fleet_question', 'event', 'blob', 'activation', 'claim', 'worker', 'view', 'session'];

/** To be called at the top of a file. */
export function emptyStores(): EmptyStores {
  let made: FreshDatabase | undefined;
  beforeAll(async () => {
    made = await migratedDatabase();
  });
  afterAll(async () => made?.drop());
  const database = (): FreshDatabase => {
    if (made === undefined) throw new Error('the database is made before the first test');
    return made;
  };
  const another = (options: Partial<PostgresEventStoreOptions> = {}): Promise<PostgresEventStore> =>
    PostgresEventStore.open({ url: database().url, clock: createSystemClock(), ...options });
  const open = async (options: Partial<PostgresEventStoreOptions> = {}): Promise<PostgresEventStore> =>
    emptied(await another(options));
  return { another, open, database };
}

/** The same store, with nothing left in its tables that it may remove. */
export async function emptied(store: PostgresEventStore): Promise<PostgresEventStore> {
  await store.database.run(TABLES.map((table) => `DELETE FROM ${store.database.schema}.${table};`).join(' '));
  return store;
}
