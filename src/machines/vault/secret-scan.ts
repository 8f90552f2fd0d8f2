/**
 * Finds secrets in bytes, in every form, in either case and however white space divides it, in a few passes whatever the number of secrets: the
 * first four bytes of each form are looked up at every place, and what begins so is compared. The bytes are looked at as they are, with their
 * escapes resolved, without what dumps put around them, and where characters are spelled out.
 */
import { dumped, endOfLine } from './dumped.ts';
import { secretForms } from './secret-forms.ts';
import { spelledOut } from './spelled-out.ts';
import { unescaped } from './unescaped.ts';
import type { ReadBytes } from './unescaped.ts';

/** Bytes by which forms are looked up. As many have to be there before the end of a text is kept back as the beginning of a secret. */
const KEY_BYTES = 4;
/** What is shorter, as it is looked for, would tear every text to pieces. */
const MIN_SECRET_BYTES = 8;
/** Bytes of white space that may stand between two characters of a secret: a line end and the indentation of the next line. */
const MAX_GAP = 32;

/** Besides white space: bytes of nothing, which every other one is where two are used for each character. */
const IS_GAP = new Uint8Array(256);
for (const byte of [0x00, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20]) IS_GAP[byte] = 1;

/** Capitals as small letters. */
const FOLDED = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte));

const HASH_BITS = 16;
const HASH_FACTOR = 0x9e3779b1;

export interface FoundSecret {
  readonly start: number;
  readonly end: number;
  /** What the secret is called. */
  readonly name: string;
}

export interface Scan {
  /** By place, none within another. */
  readonly found: readonly FoundSecret[];
  /** From here on it may be the beginning of a secret; the length of the bytes where it is none. */
  readonly unsureFrom: number;
}

interface Pattern {
  readonly bytes: Uint8Array;
  readonly name: string;
}

export class SecretScan {
  readonly #patterns = new Map<number, Pattern[]>();
  readonly #mayBegin = new Uint8Array(2 ** HASH_BITS);
  /** Bytes of the longest form. */
  readonly longest: number;

  /** @param secrets values by what the secrets are called: that of now, and those that it had before */
  constructor(secrets: ReadonlyMap<string, readonly string[]>) {
    let longest = 0;
    for (const [name, values] of secrets) {
      for (const bytes of values.flatMap((value) => secretForms(value)).map(lookedFor)) {
        if (bytes.length < MIN_SECRET_BYTES) continue;
        this.#add({ name, bytes });
        longest = Math.max(longest, bytes.length);
      }
    }
    this.longest = longest;
  }

  /** @param isWhole nothing comes after the bytes */
  look(bytes: Uint8Array, isWhole = true): Scan {
    const found: FoundSecret[] = [];
    let unsureFrom = bytes.length;
    const unsure = (start: number): void => {
      unsureFrom = Math.min(unsureFrom, start);
    };
    const heard: Heard = { onFound: (start, end, name) => found.push({ start, end, name }), onUnsure: unsure };
    this.#pass(bytes, heard);
    const plain = unescaped(bytes, isWhole);
    if (plain !== undefined) this.#pass(plain.bytes, heardIn(plain, heard));
    const heardInPlain = plain === undefined ? heard : heardIn(plain, heard);
    spelledOut(plain?.bytes ?? bytes, (row) => {
      const { onFound, onUnsure } = heardIn(row, heardInPlain);
      this.#pass(row.bytes, { onFound, onUnsure: row.isLast ? onUnsure : ignore });
    });
    this.#lookInDump(bytes, heard);
    return { found: merged(found), unsureFrom };
  }

  /** With the characters that stand beside the last bytes of it. */
  #lookInDump(bytes: Uint8Array, { onFound, onUnsure }: Heard): void {
    const read = dumped(bytes);
    if (read === undefined) return;
    const toEndOfLine = (start: number, end: number, name: string): void => {
      const endOfAll = endOfLine(bytes, end);
      if (endOfAll === bytes.length) onUnsure(start);
      onFound(start, endOfAll, name);
    };
    this.#pass(read.bytes, heardIn(read, { onFound: toEndOfLine, onUnsure }));
  }

  #add(pattern: Pattern): void {
    const key = keyAt(pattern.bytes);
    const others = this.#patterns.get(key);
    if (others === undefined) this.#patterns.set(key, [pattern]);
    else others.push(pattern);
    this.#mayBegin[hashOf(key)] = 1;
  }

  #pass(bytes: Uint8Array, heard: Heard): void {
    const mayBegin = this.#mayBegin;
    let key = 0;
    let known = 0;
    let gap = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = FOLDED[bytes[at] as number] as number;
      if (IS_GAP[byte] === 1) {
        gap += 1;
        if (gap > MAX_GAP) known = 0;
        continue;
      }
      gap = 0;
      key = (key << 8) | byte;
      known += 1;
      if (known < KEY_BYTES || mayBegin[hashOf(key)] === 0) continue;
      const patterns = this.#patterns.get(key);
      if (patterns !== undefined) compare(bytes, at, patterns, heard);
    }
  }
}

interface Heard {
  readonly onFound: (start: number, end: number, name: string) => void;
  readonly onUnsure: (start: number) => void;
}

/** What is found in what was read, told by the places in what was there first. */
function heardIn({ starts, ends }: ReadBytes, { onFound, onUnsure }: Heard): Heard {
  return { onFound: (start, end, name) => onFound(starts[start] ?? 0, ends[end - 1] ?? 0, name), onUnsure: (start) => onUnsure(starts[start] ?? 0) };
}

function ignore(): void {
  // What comes after it is there, and goes on with something else.
}

/** The last byte of the key is at `at`. */
function compare(bytes: Uint8Array, at: number, patterns: readonly Pattern[], { onFound, onUnsure }: Heard): void {
  for (const pattern of patterns) {
    const end = endOf(bytes, at + 1, pattern.bytes);
    if (end === undefined) continue;
    const start = startOf(bytes, at);
    if (end === 'unsure') onUnsure(start);
    else onFound(start, end, pattern.name);
  }
}

function endOf(bytes: Uint8Array, from: number, pattern: Uint8Array): number | 'unsure' | undefined {
  let matched = KEY_BYTES;
  let gap = 0;
  for (let at = from; matched < pattern.length; at += 1) {
    const byte = bytes[at];
    if (byte === undefined) return 'unsure';
    if (FOLDED[byte] === pattern[matched]) {
      matched += 1;
      gap = 0;
      if (matched === pattern.length) return at + 1;
    } else if (IS_GAP[byte] !== 1 || ++gap > MAX_GAP) {
      return undefined;
    }
  }
  return from;
}

function startOf(bytes: Uint8Array, end: number): number {
  let at = end;
  for (let left = KEY_BYTES - 1; left > 0; ) {
    at -= 1;
    if (IS_GAP[bytes[at] ?? 1] !== 1) left -= 1;
  }
  return at;
}

function keyAt(bytes: Uint8Array): number {
  return bytes.subarray(0, KEY_BYTES).reduce((key, byte) => (key << 8) | byte, 0);
}

function hashOf(key: number): number {
  return Math.imul(key, HASH_FACTOR) >>> (32 - HASH_BITS);
}

/** Without white space, in small letters. */
function lookedFor(bytes: Uint8Array): Uint8Array {
  return bytes.filter((byte) => IS_GAP[byte] !== 1).map((byte) => FOLDED[byte] as number);
}

/** Where one lies over another, both are taken out; the one that begins first gives the name. */
function merged(found: readonly FoundSecret[]): readonly FoundSecret[] {
  if (found.length < 2) return found;
  const all: FoundSecret[] = [];
  for (const next of found.toSorted((one, other) => one.start - other.start || other.end - one.end)) {
    const last = all.at(-1);
    if (last === undefined || next.start >= last.end) all.push(next);
    else if (next.end > last.end) all[all.length - 1] = { ...last, end: next.end };
  }
  return all;
}
