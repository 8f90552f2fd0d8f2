/** Opens the store that a command works on: the one in the home, or a database. */
import { hostname } from 'node:os';
import { createSystemClock } from '../../actors/clock/system-clock.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { NodeRuntimeOptions } from '../../node/runtime-options.ts';
import { openNodeStore } from '../../node/stores.ts';
import type { NodeStore, NodeStoreOptions } from '../../node/node-store.ts';
import { HomeLayout } from '../../adapters/files/layout.ts';
import { storeWords } from './chosen-store.ts';
import type { ChosenStore } from './chosen-store.ts';
import type { CommandContext } from '../context.ts';
import { shellQuoted } from '../terminal/text.ts';

/** How long a command waits for a server that is away, in milliseconds: a person waits for it. */
const PATIENCE_MS = 5_000;

export type StorePlace = Pick<CommandContext, 'home'> & {
  readonly store?: Pick<ChosenStore, 'url' | 'schema' | 'poolSize' | 'word' | 'file'> | undefined;
};

/**
 * The caller closes `store`. @throws RuntimeError POSTGRES_DRIVER_MISSING, STORE_SCHEMA_OLD, STORE_SCHEMA_NEW,
 * STORE_SERVER_OLD, STORAGE_FAILED
 */
export async function openStore({ home, store: chosen }: StorePlace): Promise<NodeStore> {
  const options =
    chosen === undefined ? undefined : { postgres: chosen.url, patienceMs: PATIENCE_MS, ...settingsOf(chosen) };
  const owner = `${hostname()}:${process.pid}`;
  return inOurWords(chosen, () =>
    openNodeStore({
      layout: new HomeLayout(home),
      clock: createSystemClock(),
      durability: 'disk',
      leaseMs: undefined,
      readsOnly: false,
      owner,
      options,
    }),
  );
}

/** Opens a store, lets `work` use it, and closes it. */
export async function withStore<Result>(
  place: StorePlace,
  work: (opened: NodeStore) => Promise<Result>,
): Promise<Result> {
  const opened = await openStore(place);
  try {
    return await work(opened);
  } finally {
    await opened.store.close();
  }
}

/** The same choice for a runtime over the home, with what is given in code. */
export function runtimeStore({
  store,
  config,
}: Pick<CommandContext, 'store' | 'config'>): Pick<NodeRuntimeOptions, 'store' | 'config'> {
  return {
    store: store === undefined ? 'files' : (store.options ?? { postgres: store.url, ...settingsOf(store) }),
    ...(config === undefined ? {} : { config: config.file }),
  };
}

function settingsOf({
  schema,
  poolSize,
}: Pick<ChosenStore, 'schema' | 'poolSize'>): Pick<NodeStoreOptions, 'schema' | 'poolSize'> {
  return { ...(schema === undefined ? {} : { schema }), ...(poolSize === undefined ? {} : { poolSize }) };
}

/** What is wrong with a schema is put right by a command of ours. */
async function inOurWords<Result>(chosen: StorePlace['store'], work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!RuntimeError.is(error) || error.code !== 'STORE_SCHEMA_OLD' || chosen === undefined) throw error;
    const { code, message, category, details } = error;
    throw new RuntimeError(code, message, {
      category,
      details,
      hint: `As the owner of the schema, run: wakechart store migrate ${shellQuoted(storeWords(chosen))}\nPrograms of the version before go on meanwhile.`,
      cause: error,
    });
  }
}
