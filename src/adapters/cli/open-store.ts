/** Opens the store that a command works on: the one in the home, or a database. */
import { hostname } from 'node:os';
import type { Clock } from '../../actors/clock/clock.ts';
import { createSystemClock } from '../../actors/clock/system-clock.ts';
import type { EventStore } from '../../actors/session/event-store.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { NodeRuntimeOptions } from '../../node.ts';
import { FileEventStore } from '../files/file-event-store.ts';
import type { PostgresDatabase } from '../postgres/postgres-database.ts';
import type { ChosenStore } from './chosen-store.ts';
import type { CommandContext } from './context.ts';

/** How long a command waits for a server that is away, in milliseconds: somebody sits before it. */
const PATIENCE_MS = 5_000;

export type StorePlace = Pick<CommandContext, 'home'> & { readonly store?: Pick<ChosenStore, 'url' | 'schema' | 'word'> | undefined };

export interface OpenedStore {
  /** Whoever opened it closes it. */
  readonly store: EventStore;
  /** What time it is for its sessions. */
  readonly clock: Clock;
  /** What else is shared with it; undefined for the store in a home. */
  readonly database: PostgresDatabase | undefined;
}

/** @throws RuntimeError POSTGRES_DRIVER_MISSING, STORE_SCHEMA_OLD, STORE_SCHEMA_NEW, STORE_SERVER_OLD, STORAGE_FAILED */
export async function openStore({ home, store: chosen }: StorePlace): Promise<OpenedStore> {
  const clock = createSystemClock();
  if (chosen === undefined) return { store: new FileEventStore({ home, clock }), clock, database: undefined };
  // Loaded when it is needed: most homes never need it.
  const { PostgresEventStore } = await import('../postgres/postgres-event-store.ts');
  const store = await inOurWords(chosen, () => PostgresEventStore.open({ url: chosen.url, schema: chosen.schema, clock, patienceMs: PATIENCE_MS, owner: `${hostname()}:${process.pid}` }));
  return { store, clock: store.clock, database: store.database };
}

/** Opens a store, lets `work` use it, and closes it. */
export async function withStore<Result>(place: StorePlace, work: (opened: OpenedStore) => Promise<Result>): Promise<Result> {
  const opened = await openStore(place);
  try {
    return await work(opened);
  } finally {
    await opened.store.close();
  }
}

/** The same choice for a runtime over the home. */
export function runtimeStore({ store }: Pick<CommandContext, 'store'>): Pick<NodeRuntimeOptions, 'store'> {
  return store === undefined ? {} : { store: { postgres: store.url, ...(store.schema === undefined ? {} : { schema: store.schema }) } };
}

/** What is wrong with a schema is put right by a command of ours. */
export async function inOurWords<Result>(chosen: Pick<ChosenStore, 'word'>, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!RuntimeError.is(error) || error.code !== 'STORE_SCHEMA_OLD') throw error;
    const { code, message, category, details } = error;
    throw new RuntimeError(code, message, { category, details, hint: `As the owner of the schema, run: wakechart store migrate --store ${chosen.word}\nPrograms of the version before go on meanwhile.`, cause: error });
  }
}
