/** What the cases of a contract expect, said so that a failure can be understood without reading the case. */
import { AssertionError, deepStrictEqual } from 'node:assert/strict';
import { RuntimeError } from '../machines/errors.ts';

/**
 * How long a subject may take to tell something that it has to tell, in milliseconds: a limit for the deaf, not a
 * measure of speed.
 */
export const TELLING_LIMIT_MS = 20_000;

/** Characters of a value that a message shows in full. */
const MAX_SHOWN_CHARACTERS = 300;

/** What `outcomeOf` says when nothing was refused. */
export const SUCCEEDED = 'it succeeded';

/**
 * Expects the same data. A property that is undefined is the same as none, and it does not matter what made an object.
 */
export function expectSame(received: unknown, expected: unknown, what: string): void {
  const actual = plain(received);
  const wanted = plain(expected);
  try {
    deepStrictEqual(actual, wanted);
  } catch (error) {
    const difference = error instanceof Error ? error.message : String(error);
    throw new AssertionError({ message: described(what, actual, wanted, difference), actual, expected: wanted });
  }
}

/** Expects that something holds; `expected` and `received` say it in words. */
export function expectThat(
  holds: boolean,
  what: string,
  { expected, received }: { readonly expected: string; readonly received: unknown },
): void {
  if (!holds)
    throw new AssertionError({ message: `${what}: expected ${expected}, received ${shown(plain(received))}` });
}

/** Expects a refusal with this code. */
export async function expectRefusal(work: Promise<unknown>, code: string, what: string): Promise<void> {
  expectSame(await outcomeOf(work), code, what);
}

/** How something ended, as a word: the code of the RuntimeError that it was refused with, or SUCCEEDED. */
export async function outcomeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => SUCCEEDED,
    (error: unknown) => (RuntimeError.is(error) ? error.code : `not a RuntimeError: ${String(error)}`),
  );
}

/** Waits for something that the subject has to tell by itself. Rejects when it does not. */
export async function told<Value>(news: Promise<Value>, what: string): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () =>
        reject(
          new AssertionError({
            message: `${what}: expected it within ${TELLING_LIMIT_MS} milliseconds, received nothing`,
          }),
        ),
      TELLING_LIMIT_MS,
    );
  });
  try {
    return await Promise.race([news, silence]);
  } finally {
    clearTimeout(timer);
  }
}

function described(what: string, actual: unknown, expected: unknown, difference: string): string {
  const [came, wanted] = [shown(actual), shown(expected)];
  const isShort = Math.max(came.length, wanted.length) <= MAX_SHOWN_CHARACTERS;
  return isShort
    ? `${what}: expected ${wanted}, received ${came}`
    : `${what}: what was received (+) is not what was expected (-)\n${difference}`;
}

/** Without properties that are undefined, and with the prototypes of plain data, all the way down. */
function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  const entries = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.fromEntries(entries.map(([name, part]) => [name, plain(part)]));
}

function shown(value: unknown): string {
  // JSON has no words for some of these, and none for undefined.
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part)) ?? 'nothing';
}
