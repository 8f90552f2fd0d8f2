/**
 * Bytes with what programs put before characters taken out of them, so that a secret reads the same however often it was written into JSON, a URL,
 * a page or a line of a shell: `\"` and `\\\"` are `"`; `\u0041`, `\x41`, `\101`, `%41`, `%2541`, `&#65;` and `&#x41;` are `A`; and a line end that
 * is written as `\n` is none. It is read once, whatever is written in what: what an escape stands for may be a part of the next one.
 */
import { entityIn } from './entities.ts';

/** Bytes as they read, and where each of them was read: from `starts` up to `ends`. */
export interface ReadBytes {
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const AMPERSAND = 0x26;
const LETTER_U = 0x75;
const LETTER_X = 0x78;

const BEGINS_ESCAPE = new Uint8Array(256);
for (const byte of [BACKSLASH, PERCENT, AMPERSAND]) BEGINS_ESCAPE[byte] = 1;

/** What may stand after an ampersand, also when that was written in another way. */
const BEGINS_ENTITY = new Uint8Array(256);
for (const sign of '#alqg\\%') BEGINS_ENTITY[sign.charCodeAt(0)] = 1;

/** What stands after a backslash for a character that separates. */
const WHITE_SPACE: ReadonlySet<number> = new Set([0x6e, 0x72, 0x74]);

/** Bytes of the longest escape, and of the longest character. */
const MAX_ESCAPE = 12;
const MAX_BYTES_OF_CHARACTER = 4;

/** How often what one byte has ended may end what was begun before it. */
const MAX_NESTING = 4;

/**
 * Undefined where nothing is written in another way.
 * @param isWhole nothing comes after it. Otherwise an escape that has not ended by the end is left out
 */
export function unescaped(bytes: Uint8Array, isWhole = true): ReadBytes | undefined {
  if (!bytes.includes(BACKSLASH) && !bytes.includes(PERCENT) && !bytes.includes(AMPERSAND)) return undefined;
  const reader = new EscapeReader(bytes);
  reader.read(isWhole);
  const { length } = reader;
  return { bytes: reader.out.subarray(0, length), starts: reader.starts.subarray(0, length), ends: reader.ends.subarray(0, length) };
}

class EscapeReader {
  readonly #bytes: Uint8Array;
  readonly out: Uint8Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  length = 0;
  /** Where in `out` an escape begins that may still become one; -1: nowhere. */
  #open = -1;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    // No escape is shorter than what it stands for, but while it is read it is there as well.
    const room = bytes.length + MAX_BYTES_OF_CHARACTER;
    this.out = new Uint8Array(room);
    this.starts = new Uint32Array(room);
    this.ends = new Uint32Array(room);
  }

  read(isWhole: boolean): void {
    const bytes = this.#bytes;
    for (let at = 0; at < bytes.length; ) {
      if (this.#open < 0) at = this.#readPlain(at);
      if (at === bytes.length) break;
      this.#take(bytes[at] as number, at, at + 1, MAX_NESTING);
      at += 1;
    }
    if (this.#open >= 0) this.#end(isWhole);
  }

  /** Most of every text: with nothing looked up in the object. */
  #readPlain(from: number): number {
    const bytes = this.#bytes;
    const { out, starts, ends } = this;
    let { length } = this;
    let at = from;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at] as number;
      // Most of these signs stand for themselves.
      if (BEGINS_ESCAPE[byte] === 1 && (byte !== AMPERSAND || BEGINS_ENTITY[bytes[at + 1] ?? 0x23] === 1)) break;
      out[length] = byte;
      starts[length] = at;
      ends[length] = at + 1;
      length += 1;
    }
    this.length = length;
    return at;
  }

  #take(byte: number, start: number, end: number, nesting: number): void {
    const { length } = this;
    this.out[length] = byte;
    this.starts[length] = start;
    this.ends[length] = end;
    this.length = length + 1;
    if (this.#open < 0) this.#open = BEGINS_ESCAPE[byte] === 1 ? length : -1;
    else this.#goOn(nesting);
  }

  /** One byte more has been read of what may be an escape. */
  #goOn(nesting: number): void {
    const begin = this.out[this.#open];
    if (begin === PERCENT) this.#percent(nesting);
    else if (begin === BACKSLASH) this.#backslash(nesting);
    else this.#entity(nesting);
  }

  #percent(nesting: number): void {
    const count = this.length - this.#open;
    const digit = digitOf(this.out[this.length - 1] as number);
    if (digit === undefined) this.#isNone();
    else if (count === 3) this.#standsFor((digitOf(this.out[this.#open + 1] as number) ?? 0) * 16 + digit, nesting, true);
  }

  #backslash(nesting: number): void {
    const from = this.#open;
    const first = this.out[from + 1] as number;
    // However many: each writing doubles them.
    if (first === BACKSLASH) this.length -= 1;
    else if (WHITE_SPACE.has(first)) this.#forget();
    else if (first === LETTER_U) this.#hexCode(4, nesting);
    else if (first === LETTER_X) this.#hexCode(2, nesting);
    else if (isOctal(first)) this.#octal(nesting);
    else this.#isPlainAfterBackslash();
  }

  #hexCode(digits: number, nesting: number): void {
    const from = this.#open;
    const count = this.length - from - 2;
    if (count === 0) return;
    if (digitOf(this.out[this.length - 1] as number) === undefined) return this.#isPlainAfterBackslash();
    if (count < digits) return;
    let code = 0;
    for (let at = from + 2; at < this.length; at += 1) code = code * 16 + (digitOf(this.out[at] as number) ?? 0);
    this.#standsFor(code, nesting, false);
  }

  /** Two digits or three, as far as they make no more than a byte. */
  #octal(nesting: number): void {
    const from = this.#open;
    const count = this.length - from - 1;
    const last = this.out[this.length - 1] as number;
    if (count === 1 || (count === 2 && isOctal(last))) return;
    if (count === 2) return this.#isPlainAfterBackslash();
    const two = octalOf(this.out, from + 1, 2);
    if (isOctal(last) && two * 8 + last - 0x30 <= 0xff) return this.#standsFor(two * 8 + last - 0x30, nesting, false);
    const [start, end] = [this.starts[this.length - 1] as number, this.ends[this.length - 1] as number];
    this.length -= 1;
    this.#standsFor(two, nesting, false);
    this.#take(last, start, end, nesting);
  }

  #entity(nesting: number): void {
    const found = entityIn(this.out, this.#open, this.length);
    if (found === 'none') this.#isNone();
    else if (found !== 'more') this.#standsFor(found, nesting, false);
  }

  /** Nothing comes after it. */
  #end(isWhole: boolean): void {
    const from = this.#open;
    const isWholeOctal = isWhole && this.out[from] === BACKSLASH && this.length - from === 3 && isOctal(this.out[from + 1] as number);
    if (isWholeOctal) this.#standsFor(octalOf(this.out, from + 1, 2), 0, false);
    else this.length = from;
  }

  /** It stays as it is; only its last byte may begin another. */
  #isNone(): void {
    this.#open = BEGINS_ESCAPE[this.out[this.length - 1] as number] === 1 ? this.length - 1 : -1;
  }

  /** The backslash means nothing, what stands after it is read as it is. */
  #isPlainAfterBackslash(): void {
    const from = this.#open;
    for (const list of [this.out, this.starts, this.ends]) list.copyWithin(from, from + 1, this.length);
    this.length -= 1;
    this.#isNone();
  }

  #forget(): void {
    this.length = this.#open;
    this.#open = -1;
  }

  /** @param isByte otherwise it is a character, which is more than one byte in UTF-8 */
  #standsFor(code: number, nesting: number, isByte: boolean): void {
    const from = this.#open;
    const start = this.starts[from] as number;
    const end = this.ends[this.length - 1] as number;
    this.length = from;
    this.#open = -1;
    if (code >= 0x80 && !isByte) return this.#takeCharacter(code, start, end);
    if (nesting > 0) this.#openBefore(from);
    this.#take(code, start, end, nesting - 1);
  }

  /** What was begun before it and did not go on, may go on now: `%%341`. */
  #openBefore(length: number): void {
    const { out } = this;
    for (let at = length - 1; at >= Math.max(0, length - MAX_ESCAPE); at -= 1) {
      if (BEGINS_ESCAPE[out[at] as number] === 0) continue;
      if (isBegun(out, at, length)) this.#open = at;
      return;
    }
  }

  /** The halves of a pair one by one, as patterns for them are made. */
  #takeCharacter(code: number, start: number, end: number): void {
    const more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    this.#put((code >> (6 * more)) | ((0xff00 >> (more + 1)) & 0xff), start, end);
    for (let left = more - 1; left >= 0; left -= 1) this.#put(0x80 | ((code >> (6 * left)) & 0x3f), start, end);
  }

  #put(byte: number, start: number, end: number): void {
    this.out[this.length] = byte;
    this.starts[this.length] = start;
    this.ends[this.length] = end;
    this.length += 1;
  }
}

/** Whether what stands there is the beginning of an escape, and no whole one. */
function isBegun(out: Uint8Array, at: number, length: number): boolean {
  if (out[at] === AMPERSAND) return length === at + 1 || entityIn(out, at, length) === 'more';
  const isBackslash = out[at] === BACKSLASH;
  const first = out[at + 1];
  const digitsFrom = isBackslash && (first === LETTER_U || first === LETTER_X) ? at + 2 : at + 1;
  for (let digit = digitsFrom; digit < length; digit += 1) if (digitOf(out[digit] as number) === undefined) return false;
  return true;
}

function octalOf(bytes: Uint8Array, from: number, digits: number): number {
  let value = 0;
  for (let at = from; at < from + digits; at += 1) value = value * 8 + (bytes[at] as number) - 0x30;
  return value;
}

function isOctal(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x37;
}

function digitOf(byte: number): number | undefined {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : undefined;
}
