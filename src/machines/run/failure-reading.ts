/**
 * Reads what may be anything at all without being hurt by it: getters that throw, proxies, endless iterators, texts of
 * any length.
 */
import { beginningOf } from '../cut-text.ts';

/**
 * Characters of one text that are checked: its beginning and its end, where messages and the last lines of a log are.
 */
const MAX_TEXT_CHARACTERS = 8_000;

const MAX_HEADERS = 200;
const MAX_HEADER_CHARACTERS = 500;

const ESCAPE = String.fromCodePoint(27);
const TERMINAL_COLORS = new RegExp(`${ESCAPE}\\[[0-9;?]{0,20}[A-Za-z]`, 'g');

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** The property, or nothing when it cannot be read. */
export function field(value: object, key: string | symbol): unknown {
  try {
    return Reflect.get(value, key);
  } catch {
    return undefined;
  }
}

export function textField(value: object, key: string): string | undefined {
  const found = field(value, key);
  return typeof found === 'string' && found.trim() !== '' ? found : undefined;
}

export function isList(value: object): value is readonly unknown[] {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

export function clipped(text: string): string {
  const half = MAX_TEXT_CHARACTERS / 2;
  const kept = text.length <= MAX_TEXT_CHARACTERS ? text : `${text.slice(0, half)}\n${text.slice(-half)}`;
  return kept.includes(ESCAPE) ? kept.replace(TERMINAL_COLORS, '') : kept;
}

/** The value a JSON text stands for, when that is an object or a list. */
export function parsedJson(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Headers of a plain object, a Map, a list of pairs or the `Headers` of fetch, by their names in lower case. */
export function headerEntries(bag: object): readonly (readonly [string, string])[] {
  try {
    return entriesOf(bag).flatMap(([name, value]) => {
      const text = headerText(value);
      return typeof name === 'string' && text !== undefined ? [[name.toLowerCase(), text] as const] : [];
    });
  } catch {
    return [];
  }
}

function entriesOf(bag: object): readonly (readonly [unknown, unknown])[] {
  if (!(Symbol.iterator in bag))
    return Object.keys(bag)
      .slice(0, MAX_HEADERS)
      .map((name) => [name, field(bag, name)]);
  const entries: (readonly [unknown, unknown])[] = [];
  for (const pair of bag as Iterable<unknown>) {
    if (entries.length >= MAX_HEADERS) break;
    if (isObject(pair)) entries.push([field(pair, '0'), field(pair, '1')]);
  }
  return entries;
}

function headerText(value: unknown): string | undefined {
  const first: unknown = isObject(value) && isList(value) ? value[0] : value;
  if (typeof first === 'number') return String(first);
  return typeof first === 'string' ? beginningOf(first, MAX_HEADER_CHARACTERS).trim() : undefined;
}
