/**
 * Bytes with what programs put before characters taken out of them, so that a secret reads the same however often it
 * was written into JSON, a URL, a page or a line of a shell: `\"` is `"`; `\u0041`, `\x41`, `\101`, `%41`, `&#65;` and
 * `&#x41;` are `A`; `\n` is the end of a line.
 */
import { Places } from './visible-text.ts';
import type { Placed } from './visible-text.ts';

const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const AMPERSAND = 0x26;
const SEMICOLON = 0x3b;

const BEGINS_ESCAPE = new Uint8Array(256);
for (const byte of [BACKSLASH, PERCENT, AMPERSAND]) BEGINS_ESCAPE[byte] = 1;

/** What stands after a backslash for a character that separates. */
const WHITE_SPACE: ReadonlySet<number> = new Set([0x6e, 0x72, 0x74]);
/** Those of signs, and of what shows nothing. */
const ENTITIES: ReadonlyMap<string, number> = new Map([
  ...([
    ['amp', 0x26],
    ['lt', 0x3c],
    ['gt', 0x3e],
    ['quot', 0x22],
    ['apos', 0x27],
  ] as const),
  ...([
    ['nbsp', 0xa0],
    ['shy', 0xad],
    ['ensp', 0x2002],
    ['emsp', 0x2003],
    ['thinsp', 0x2009],
    ['zwnj', 0x200c],
    ['zwj', 0x200d],
    ['lrm', 0x200e],
    ['rlm', 0x200f],
  ] as const),
]);
const MAX_ENTITY = 12;
const IN_ENTITY = new Uint8Array(256);
for (const sign of '#0123456789abcdefghijklmnopqrstuvwxyzABCDEFX') IN_ENTITY[sign.charCodeAt(0)] = 1;
const LAST_CHARACTER = 0x10ffff;

interface Escape {
  /** Bytes that it takes. */
  readonly size: number;
  readonly code: number;
  /** What it stands for is one byte; otherwise it is the character of that number. */
  readonly isByte: boolean;
}

/** `open`: it may become one when more comes. */
type Found = Escape | 'open' | undefined;

/** What was written in what: as often as it may be nested. */
const MAX_WRITINGS = 8;

/**
 * Every writing taken off, one after the other; `onRead` sees what each of them leaves. Undefined where nothing was
 * written so.
 */
export function fullyUnescaped(bytes: Uint8Array, isWhole = true, onRead?: (read: Placed) => void): Placed | undefined {
  let last: Placed | undefined;
  for (let writing = 0; writing < MAX_WRITINGS; writing += 1) {
    const next = unescapedOnce(last ?? { bytes }, isWhole);
    if (next === undefined) break;
    onRead?.(next);
    last = next;
  }
  return last;
}

/**
 * One writing taken off; undefined where nothing was written so. @param isWhole nothing comes after it: otherwise an
 * escape that has not ended is left out
 */
function unescapedOnce(read: Placed, isWhole: boolean): Placed | undefined {
  const { bytes } = read;
  let at = 0;
  while (at < bytes.length && (BEGINS_ESCAPE[bytes[at] as number] === 0 || escapeAt(bytes, at, isWhole) === undefined))
    at += 1;
  if (at === bytes.length) return undefined;
  // No escape is shorter than what it stands for.
  const out = bytes.slice();
  const places = new Places();
  let length = at;
  while (at < bytes.length) {
    const byte = bytes[at] as number;
    const found = BEGINS_ESCAPE[byte] === 0 ? undefined : escapeAt(bytes, at, isWhole);
    if (found === 'open') break;
    if (found === undefined || found.isByte || found.code < 0x80)
      out[length++] = found === undefined ? byte : found.code;
    else for (const each of utf8(found.code)) out[length++] = each;
    at += found === undefined ? 1 : found.size;
    if (found !== undefined) places.note(length, at);
  }
  return { bytes: out.subarray(0, length), source: { of: read, places, isWritten: true } };
}

function escapeAt(bytes: Uint8Array, at: number, isWhole: boolean): Found {
  const found =
    bytes[at] === PERCENT
      ? percentAt(bytes, at)
      : bytes[at] === AMPERSAND
        ? entityAt(bytes, at)
        : backslashAt(bytes, at, isWhole);
  return found === 'open' && isWhole ? undefined : found;
}

function percentAt(bytes: Uint8Array, at: number): Found {
  const byte = hexNumber(bytes, at + 1, 2);
  return typeof byte === 'number' ? { size: 3, code: byte, isByte: true } : byte;
}

function backslashAt(bytes: Uint8Array, at: number, isWhole: boolean): Found {
  const first = bytes[at + 1];
  if (first === undefined) return 'open';
  if (WHITE_SPACE.has(first)) return { size: 2, code: 0x0a, isByte: true };
  const found =
    first === 0x75
      ? characterAt(bytes, at + 1)
      : first === 0x78
        ? byteAt(bytes, at + 1)
        : isOctal(first)
          ? octalAt(bytes, at + 1, isWhole)
          : undefined;
  if (found === 'open') return found;
  return found === undefined ? { size: 2, code: first, isByte: true } : { ...found, size: found.size + 1 };
}

function byteAt(bytes: Uint8Array, at: number): Found {
  const byte = hexNumber(bytes, at + 1, 2);
  return typeof byte === 'number' ? { size: 3, code: byte, isByte: true } : byte;
}

/** `u0041`, `u{41}`, and the two halves of a character beyond the first plane. */
function characterAt(bytes: Uint8Array, at: number): Found {
  if (bytes[at + 1] === 0x7b) return bracedAt(bytes, at);
  const code = hexNumber(bytes, at + 1, 4);
  if (typeof code !== 'number') return code;
  if (code < 0xd800 || code > 0xdbff) return { size: 5, code, isByte: false };
  const [slash = BACKSLASH, letter = 0x75] = bytes.subarray(at + 5, at + 7);
  const low = slash === BACKSLASH && letter === 0x75 ? hexNumber(bytes, at + 7, 4) : undefined;
  if (low === 'open') return low;
  return low === undefined || low < 0xdc00 || low > 0xdfff
    ? { size: 5, code: 0xfffd, isByte: false }
    : { size: 11, code: (code - 0xd800) * 0x400 + low - 0xdc00 + 0x10000, isByte: false };
}

function bracedAt(bytes: Uint8Array, at: number): Found {
  const end = bytes.subarray(at, at + MAX_ENTITY).indexOf(0x7d);
  if (end < 0) return at + MAX_ENTITY > bytes.length ? 'open' : undefined;
  const code = hexNumber(bytes, at + 2, end - 2);
  return typeof code === 'number' && code <= LAST_CHARACTER ? { size: end + 1, code, isByte: false } : undefined;
}

/** Two digits or three, as far as they make no more than a byte; a single zero. */
function octalAt(bytes: Uint8Array, at: number, isWhole: boolean): Found {
  let [size, byte] = [0, 0];
  while (size < 3 && isOctal(bytes[at + size] ?? 0) && byte * 8 + (bytes[at + size] as number) - 0x30 <= 0xff) {
    byte = byte * 8 + (bytes[at + size] as number) - 0x30;
    size += 1;
  }
  if (size < 3 && at + size === bytes.length && !isWhole) return 'open';
  return size > 1 || byte === 0 ? { size, code: byte, isByte: true } : undefined;
}

function entityAt(bytes: Uint8Array, at: number): Found {
  let end = at + 1;
  while (end - at < MAX_ENTITY && IN_ENTITY[bytes[end] ?? 0] === 1) end += 1;
  if (end === bytes.length && end - at < MAX_ENTITY) return 'open';
  if (bytes[end] !== SEMICOLON) return undefined;
  const code =
    bytes[at + 1] === 0x23
      ? numbered(bytes, at + 2, end)
      : ENTITIES.get(String.fromCharCode(...bytes.subarray(at + 1, end)));
  return code === undefined || code > LAST_CHARACTER ? undefined : { size: end + 1 - at, code, isByte: false };
}

function numbered(bytes: Uint8Array, from: number, end: number): number | undefined {
  const base = ((bytes[from] as number) | 0x20) === 0x78 ? 16 : 10;
  const digitsFrom = base === 16 ? from + 1 : from;
  let number = 0;
  for (let at = digitsFrom; at < end; at += 1) {
    const digit = digitOf(bytes[at] as number) ?? base;
    if (digit >= base) return undefined;
    number = number * base + digit;
  }
  return end === digitsFrom ? undefined : number;
}

function hexNumber(bytes: Uint8Array, from: number, digits: number): number | 'open' | undefined {
  let number = 0;
  for (let at = from; at < from + digits; at += 1) {
    const byte = bytes[at];
    if (byte === undefined) return 'open';
    const digit = digitOf(byte);
    if (digit === undefined) return undefined;
    number = number * 16 + digit;
  }
  return digits === 0 ? undefined : number;
}

/** Half of a pair by itself cannot be written. */
function utf8(character: number): Uint8Array {
  return new TextEncoder().encode(String.fromCodePoint(character));
}

function isOctal(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x37;
}

function digitOf(byte: number): number | undefined {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : undefined;
}
