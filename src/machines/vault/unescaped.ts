/**
 * Bytes with what programs put before characters taken out of them, so that a secret reads the same however often it was written into JSON, a URL
 * or a line of a shell: `\"` and `\\\"` are `"`, `\u0041`, `\x41` and `%41` are `A`, and a line end that is written as `\n` is none.
 */

/** Where each byte of `bytes` was read: from `starts` up to `ends`. */
export interface Unescaped {
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  /** Whether there are signs among them now that were written in another way: what stands after those may mean something else again. */
  readonly isNested: boolean;
}

const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const LETTER_U = 0x75;
const LETTER_X = 0x78;

/** What stands after a backslash for a character that separates. */
const WHITE_SPACE: ReadonlySet<number> = new Set([0x6e, 0x72, 0x74]);

/** What takes more than one byte in a file takes more when it is written with a backslash: there is room for each. */
const MAX_BYTES_OF_ESCAPE = 3;

/** How often what is escaped is escaped again, at most: JSON in a URL in JSON. */
export const MAX_NESTING = 4;

/** Undefined where nothing is written in another way. An escape that has not ended by the end is left out with what follows it. */
export function unescaped(bytes: Uint8Array): Unescaped | undefined {
  if (!bytes.includes(BACKSLASH) && !bytes.includes(PERCENT)) return undefined;
  const reader = new EscapeReader(bytes);
  reader.read();
  const { length, isNested } = reader;
  return { bytes: reader.out.subarray(0, length), starts: reader.starts.subarray(0, length), ends: reader.ends.subarray(0, length), isNested };
}

class EscapeReader {
  readonly #bytes: Uint8Array;
  readonly out: Uint8Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  length = 0;
  isNested = false;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    // No escape is shorter than what it stands for.
    this.out = new Uint8Array(bytes.length + MAX_BYTES_OF_ESCAPE);
    this.starts = new Uint32Array(bytes.length + MAX_BYTES_OF_ESCAPE);
    this.ends = new Uint32Array(bytes.length + MAX_BYTES_OF_ESCAPE);
  }

  read(): void {
    const { length } = this.#bytes;
    while (this.#at < length) {
      this.#readPlain();
      if (this.#at === length) return;
      const isClear = this.#bytes[this.#at] === BACKSLASH ? this.#readBackslashes() : this.#readPercent();
      if (!isClear) return;
    }
  }

  /** Most of every text: with nothing looked up in the object. */
  #readPlain(): void {
    const bytes = this.#bytes;
    const { out, starts, ends } = this;
    let { length } = this;
    let at = this.#at;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at] as number;
      if (byte === BACKSLASH || byte === PERCENT) break;
      out[length] = byte;
      starts[length] = at;
      ends[length] = at + 1;
      length += 1;
    }
    this.#at = at;
    this.length = length;
  }

  /** However many: each writing doubles them. False when the bytes end before it is clear what they mean. */
  #readBackslashes(): boolean {
    const start = this.#at;
    let at = start;
    while (this.#bytes[at] === BACKSLASH) at += 1;
    const next = this.#bytes[at];
    if (next === undefined) return false;
    if (WHITE_SPACE.has(next)) {
      this.#at = at + 1;
      return true;
    }
    const digits = next === LETTER_U ? 4 : next === LETTER_X ? 2 : 0;
    const code = digits === 0 ? undefined : this.#hex(at + 1, digits);
    if (code === 'unfinished') return false;
    if (code === undefined) this.#at = at;
    else this.#takeCode(code, start, at + 1 + digits);
    return true;
  }

  #readPercent(): boolean {
    const start = this.#at;
    const code = this.#hex(start + 1, 2);
    if (code === 'unfinished') return false;
    if (code === undefined) this.#take(PERCENT, start, start + 1);
    else this.#takeWritten(code, start, start + 3);
    return true;
  }

  #hex(from: number, digits: number): number | 'unfinished' | undefined {
    let value = 0;
    for (let at = from; at < from + digits; at += 1) {
      const byte = this.#bytes[at];
      if (byte === undefined) return 'unfinished';
      const digit = digitOf(byte);
      if (digit === undefined) return undefined;
      value = value * 16 + digit;
    }
    return value;
  }

  /** In UTF-8; the halves of a pair one by one, as patterns for them are made. */
  #takeCode(code: number, start: number, end: number): void {
    if (code < 0x80) return this.#takeWritten(code, start, end);
    if (code < 0x800) {
      this.#take(0xc0 | (code >> 6), start, end);
    } else {
      this.#take(0xe0 | (code >> 12), start, end);
      this.#take(0x80 | ((code >> 6) & 0x3f), start, end);
    }
    this.#take(0x80 | (code & 0x3f), start, end);
  }

  #takeWritten(byte: number, start: number, end: number): void {
    this.isNested ||= byte === BACKSLASH || byte === PERCENT;
    this.#take(byte, start, end);
  }

  #take(byte: number, start: number, end: number): void {
    this.out[this.length] = byte;
    this.starts[this.length] = start;
    this.ends[this.length] = end;
    this.length += 1;
    this.#at = end;
  }
}

function digitOf(byte: number): number | undefined {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : undefined;
}
