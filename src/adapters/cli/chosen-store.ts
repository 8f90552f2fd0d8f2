/** Which store a command works on, when it is not the one that is embedded in the home. */
import { isPostgresUrl } from '../postgres/postgres-url.ts';
import { usageError } from './usage.ts';

/** Says that the embedded store is meant, whatever $WAKECHART_STORE says. */
export const FILES = 'files';

export interface StoreChoice {
  /** From `--store`. */
  readonly given: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** A database. Its URL may hold a password and is never shown. */
export interface ChosenStore {
  readonly url: string;
  /** Of its tables; undefined for the one that is usual. */
  readonly schema: string | undefined;
  /** Where it is, for people. */
  readonly shown: string;
  /** The same as a word of a command that can be typed again. */
  readonly word: string;
  /** Whether it was named in this very command. */
  readonly isGiven: boolean;
}

const HINT = 'Write it as postgres://user@host:5432/database, with ?schema=NAME when its tables are in a schema of another name, or as files for the store in the home.';

/** Undefined: the store in the home. @throws a usage error, which never repeats what was given */
export function chosenStore({ given, environment }: StoreChoice): ChosenStore | undefined {
  const text = given ?? (environment['WAKECHART_STORE'] || FILES);
  const named = storeNamed(text, given === undefined ? '$WAKECHART_STORE' : '--store');
  return named === undefined ? undefined : { ...named, isGiven: given !== undefined };
}

/** @param from where the text comes from, for an error about it @throws a usage error, which never repeats what was given */
export function storeNamed(text: string, from: string): Omit<ChosenStore, 'isGiven'> | undefined {
  if (text === FILES) return undefined;
  if (!isPostgresUrl(text)) throw usageError(`expected ${from} to be the URL of a PostgreSQL database, or ${FILES}`, HINT);
  const url = new URL(text);
  const schema = url.searchParams.get('schema') ?? undefined;
  if (schema !== undefined && !/^[a-z_][a-z0-9_]{0,40}$/.test(schema)) throw usageError(`expected the schema of ${from} to be a name of lower-case letters, digits and "_"`, HINT);
  const asked = schema === undefined ? '' : `?schema=${schema}`;
  const shown = `postgres://${url.host}${url.pathname}${asked}`;
  // Passwords come as parameters too.
  const isOpen = url.password === '' && [...url.searchParams.keys()].every((name) => name === 'schema');
  const user = url.username === '' ? '' : `${url.username}@`;
  url.searchParams.delete('schema');
  return { url: url.toString(), schema, shown, word: isOpen ? `postgres://${user}${url.host}${url.pathname}${asked}` : 'URL' };
}

export function isDatabase(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text);
}
