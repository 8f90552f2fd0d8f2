/**
 * Idempotency keys as a column holds them. UTF-8 has no halves of characters and PostgreSQL no NUL, and keys that
 * differ in them alone are different keys: a key that was cut in the middle of an emoji must not be taken for another
 * one.
 */
import { utf8Length } from '../../machines/utf8.ts';

/** What stands behind it is the key as JSON, which writes both as escapes. */
const ESCAPED = 'json:';

/** Of a key in its column. An index takes a row of 2,704 bytes. */
export const MAX_KEY_BYTES = 2_048;

export function columnOfKey(key: string): string {
  return isStorableText(key) && !key.startsWith(ESCAPED) ? key : `${ESCAPED}${JSON.stringify(key)}`;
}

export function keyOfColumn(column: string): string {
  if (!column.startsWith(ESCAPED)) return column;
  const key: unknown = JSON.parse(column.slice(ESCAPED.length));
  return typeof key === 'string' ? key : column;
}

export function isTooLongKey(column: string): boolean {
  return utf8Length(column) > MAX_KEY_BYTES;
}

/** Whether PostgreSQL gives it back as it was. The driver sends half a character as U+FFFD. */
export function isStorableText(text: string): boolean {
  return !LONE_SURROGATE_OR_NUL.test(text);
}

const LONE_SURROGATE_OR_NUL = /[\0\p{Surrogate}]/u;
