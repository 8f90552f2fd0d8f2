/** Which store a command works on, when it is not the one that is embedded in the home. */
import { isPostgresUrl, wordsProblem } from '../../adapters/postgres/postgres-url.ts';
import { UnusableFile, readOwnText } from '../../adapters/system/own-files.ts';
import type { NodeStoreOptions } from '../../node/node-store.ts';
import { messageOf } from '../../machines/errors.ts';
import { absolutePath } from '../home.ts';
import { usageError } from '../usage.ts';

/** Says that the embedded store is meant, whatever $WAKECHART_STORE says. */
export const FILES = 'files';

export interface StoreChoice {
  /** From `--store`. */
  readonly given: string | undefined;
  /** From `--store-file`. */
  readonly file?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** A database. Its URL may hold a password and is never shown. */
export interface ChosenStore {
  readonly url: string;
  /** Of its tables; undefined for the one that is usual. */
  readonly schema: string | undefined;
  /** Connections at most, besides the one that listens; undefined for as many as is usual. */
  readonly poolSize: number | undefined;
  /** Where it is, for people. */
  readonly shown: string;
  /** The same as a word of a command that can be typed again. */
  readonly word: string;
  /** As a config gives it. */
  readonly options?: NodeStoreOptions | undefined;
  /** Absolute: where the URL was read. */
  readonly file?: string | undefined;
  /** Whether it was named in this very command. */
  readonly isGiven: boolean;
}

const HINT =
  'Write it as postgres://user@host:5432/database, with ?schema=NAME when its tables are in a schema of another name and ?pool_size=N for other than 4 connections, or as files for the store in the home.';

/** What a URL may say that is not for the driver. */
const OUR_WORDS: readonly string[] = ['schema', 'pool_size'];

const FILE_HINT = 'Its first line is the URL. No other user may read it: chmod 600 FILE';

const MAX_FILE_BYTES = 16_384;

/**
 * Undefined: the store in the home. What a command names wins over the variables. @throws a usage error, which never
 * repeats what was given
 */
export async function chosenStore({ given, file, environment }: StoreChoice): Promise<ChosenStore | undefined> {
  const isGiven = given !== undefined || file !== undefined;
  if (given !== undefined && file !== undefined)
    throw usageError('expected --store or --store-file, received both', 'Leave one of them out.');
  const { WAKECHART_STORE: url = '', WAKECHART_STORE_FILE: path = '' } = isGiven ? {} : environment;
  if (url !== '' && path !== '')
    throw usageError(
      'expected $WAKECHART_STORE or $WAKECHART_STORE_FILE, and both are set',
      'Unset one of them: the file keeps a password out of the environment.',
    );
  const place = file ?? path;
  const asText = (): ReturnType<typeof storeNamed> =>
    storeNamed(given ?? (url || FILES), given === undefined ? '$WAKECHART_STORE' : '--store');
  const named =
    place === ''
      ? asText()
      : storeInFile(absolutePath(place), file === undefined ? '$WAKECHART_STORE_FILE' : '--store-file');
  return named === undefined ? undefined : { ...named, isGiven };
}

/** The words that name the same store in another command. */
export function storeWords({ word, file }: Pick<ChosenStore, 'word' | 'file'>): readonly string[] {
  return file === undefined ? ['--store', word] : ['--store-file', file];
}

/**
 * Neither a command line nor an environment holds what stands in a file. @throws a usage error, which never repeats
 * what stands there
 */
function storeInFile(file: string, from: string): Omit<ChosenStore, 'isGiven'> | undefined {
  const text = textOf(file, (error) => {
    const hint = error instanceof UnusableFile ? error.hint : undefined;
    return usageError(
      `expected ${from} to name a file that is yours alone: ${file} ${messageOf(error)}`,
      hint ?? FILE_HINT,
    );
  });
  if (text === undefined) throw usageError(`expected ${from} to name a file: ${file} is not there`, FILE_HINT);
  const [line = ''] = text.split(/\r?\n/, 1);
  const named = storeNamed(line.trim(), `the first line of ${file}`);
  return named === undefined ? undefined : { ...named, file };
}

function textOf(file: string, refusal: (error: unknown) => Error): string | undefined {
  try {
    return readOwnText(file, { maxBytes: MAX_FILE_BYTES, keptFrom: 'readers' })?.text;
  } catch (error) {
    throw refusal(error);
  }
}

/**
 * @param from where the text comes from, for an error about it @throws a usage error, which never repeats what was
 * given
 */
export function storeNamed(text: string, from: string): Omit<ChosenStore, 'isGiven'> | undefined {
  if (text === FILES) return undefined;
  if (!isPostgresUrl(text))
    throw usageError(`expected ${from} to be the URL of a PostgreSQL database, or ${FILES}`, HINT);
  const url = new URL(text);
  const wrong = wordsProblem(text, OUR_WORDS);
  if (wrong !== undefined) throw usageError(`expected of ${from} ${wrong}`, HINT);
  const schema = url.searchParams.get('schema') ?? undefined;
  if (schema !== undefined && !/^[a-z_][a-z0-9_]{0,40}$/.test(schema))
    throw usageError(`expected the schema of ${from} to be a name of lower-case letters, digits and "_"`, HINT);
  const size = url.searchParams.get('pool_size') ?? undefined;
  if (size !== undefined && !/^[1-9]\d{0,2}$/.test(size))
    throw usageError(`expected pool_size of ${from} to be a whole number from 1 to 999`, HINT);
  const asked = asWords({ schema, pool_size: size });
  const shown = `postgres://${url.host}${url.pathname}${asWords({ schema })}`;
  // Passwords come as parameters too.
  const isOpen = url.password === '' && [...url.searchParams.keys()].every((name) => OUR_WORDS.includes(name));
  const user = url.username === '' ? '' : `${url.username}@`;
  for (const word of OUR_WORDS) url.searchParams.delete(word);
  return {
    url: url.toString(),
    schema,
    poolSize: size === undefined ? undefined : Number(size),
    shown,
    word: isOpen ? `postgres://${user}${url.host}${url.pathname}${asked}` : 'URL',
  };
}

/** Empty when none is there. */
function asWords(words: Readonly<Record<string, string | undefined>>): string {
  const said = Object.entries(words).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
  return said.length === 0 ? '' : `?${said.join('&')}`;
}

export function isDatabase(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text);
}
