/** Reads values of which it is not known for sure how they check: the first plausible one counts, and nothing throws. */
import { isRecord } from '../validate.ts';
import { MAX_IMPORT_DEPTH } from './import-limits.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** Milliseconds that an id can hold. */
const MAX_TIME_MS = 2 ** 48 - 1;
/** Numbers below this are seconds: as milliseconds they would lie before March 1973. */
const FIRST_MILLISECONDS = 100_000_000_000;

export function asObject(value: unknown): JsonObject | undefined {
  return isRecord(value) ? value : undefined;
}

/** The first of these fields that is there, `null` counting as absent. */
export function firstOf(object: JsonObject, names: readonly string[]): unknown {
  const name = names.find((each) => Object.hasOwn(object, each) && object[each] !== null && object[each] !== undefined);
  return name === undefined ? undefined : object[name];
}

/** The first of these fields that is a text with something in it, or a number. */
export function firstText(object: JsonObject, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    if (typeof value === 'string' && value !== '') return value;
    if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  }
  return undefined;
}

/** A text, the texts of a list of parts, or the text of one part. */
export function textIn(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  if (Array.isArray(value)) {
    const texts = value.map(textIn).filter((text) => text !== undefined);
    return texts.length === 0 ? undefined : texts.join('\n');
  }
  const object = asObject(value);
  return object === undefined ? undefined : firstText(object, ['text', 'content', 'value', 'message']);
}

/** A time as milliseconds since the epoch: ISO-8601, or a number of seconds or milliseconds. */
function timeIn(value: unknown): number | undefined {
  const time =
    typeof value === 'number'
      ? value < FIRST_MILLISECONDS
        ? value * 1_000
        : value
      : typeof value === 'string' && /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(value)
        ? Date.parse(value)
        : NaN;
  return Number.isFinite(time) && time > 0 && time <= MAX_TIME_MS ? Math.trunc(time) : undefined;
}

export function firstTime(object: JsonObject, names: readonly string[]): number | undefined {
  for (const name of names) {
    const time = Object.hasOwn(object, name) ? timeIn(object[name]) : undefined;
    if (time !== undefined) return time;
  }
  return undefined;
}

/** Whether a value is nested no deeper than MAX_IMPORT_DEPTH. */
export function isShallow(value: unknown, depth = MAX_IMPORT_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((each) => isShallow(each, depth - 1));
}

/** A text that is JSON as what it says; any other as it is. */
export function unfoldedJson(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{"]/.test(value)) return value;
  try {
    const parsed: unknown = JSON.parse(value);
    return isShallow(parsed) ? parsed : value;
  } catch {
    return value;
  }
}

/** What of `object` is in none of these fields. */
export function furtherFields(object: JsonObject, known: ReadonlySet<string>): readonly string[] {
  return Object.keys(object).filter((name) => !known.has(name));
}
