/** Which config a command works with: the module that gives agents, tools and backends in code. */
import { statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../../adapters/system/error-codes.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { WakechartConfig } from '../../node/runtime-options.ts';
import { absolutePath } from '../home.ts';
import { watchLoading } from '../user-module.ts';
import { storeNamed } from './chosen-store.ts';
import type { ChosenStore } from './chosen-store.ts';

/** Says that none is to be loaded, whatever lies in the folder. */
const NO_CONFIG = 'none';

/** In the working directory; the first that is there. */
const NAMES = ['ts', 'mts', 'mjs', 'js'].map((ending) => `wakechart.config.${ending}`);

/** How long it may take to load, in milliseconds. */
const LOAD_TIMEOUT_MS = 30_000;

export interface ConfigChoice {
  /** From `--config`. */
  readonly given: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface ChosenConfig {
  /** Absolute. */
  readonly file: string;
  readonly content: WakechartConfig;
  /** Whether it was named in this very command. */
  readonly isGiven: boolean;
}

/**
 * Runs the module. Undefined: there is none. @throws RuntimeError CONFIG_NOT_FOUND, CONFIG_EXPOSED, CONFIG_FAILED,
 * CONFIG_INVALID
 */
export async function chosenConfig({ given, environment }: ConfigChoice): Promise<ChosenConfig | undefined> {
  const named = given ?? (environment['WAKECHART_CONFIG'] || undefined);
  if (named === NO_CONFIG) return undefined;
  const file = named === undefined ? configHere() : absolutePath(named);
  if (file === undefined) return undefined;
  // Loaded only where there is one: a command without it must not pay for it.
  const { loadConfig } = await import('../../node/config-module.ts');
  const watch = watchLoading({
    file,
    timeoutMs: LOAD_TIMEOUT_MS,
    code: 'CONFIG_FAILED',
    hint: 'Export the config from a module that does nothing else.',
  });
  try {
    return { file, content: await Promise.race([loadConfig(file), watch.tooLate]), isGiven: given !== undefined };
  } finally {
    watch.stop();
  }
}

/** The store that it names, as a command works on it. */
export function storeOfConfig({ file, content: { store } }: ChosenConfig): ChosenStore | undefined {
  if (store === undefined || store === 'files') return undefined;
  const named = storeNamed(store.postgres, `store.postgres of ${file}`);
  if (named === undefined) return undefined;
  const { schema = named.schema, poolSize = named.poolSize } = store;
  return { ...named, schema, poolSize, options: store, isGiven: false };
}

function configHere(): string | undefined {
  const folder = absolutePath('.');
  for (const name of NAMES) {
    const file = join(folder, name);
    const found = statOf(file);
    if (found?.isFile() !== true) continue;
    refuseOthers(file, found);
    return file;
  }
  return undefined;
}

function statOf(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch (error) {
    if (hasCode(error, 'ENOTDIR')) return undefined;
    throw new RuntimeError('CONFIG_NOT_FOUND', `could not see whether there is a config: ${messageOf(error)}`, {
      category: 'storage',
      hint: `Say which one with --config FILE, or that there is none with --config ${NO_CONFIG}.`,
      cause: error,
    });
  }
}

/** Its code runs with our rights, and it was not named: in a folder that many may write it may be a trap. */
function refuseOthers(file: string, { uid, mode }: { readonly uid: number; readonly mode: number }): void {
  const us = process.getuid?.();
  const isOurs = us === undefined || uid === us || uid === 0;
  if (isOurs && (mode & 0o002) === 0) return;
  throw new RuntimeError(
    'CONFIG_EXPOSED',
    `the config ${file} is not run: ${isOurs ? 'every user may change it' : 'it belongs to another user'}`,
    {
      category: 'permission',
      hint: `If you trust it: --config ${file}. To do without it: --config ${NO_CONFIG}`,
    },
  );
}
