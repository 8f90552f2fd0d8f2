/**
 * Finds secrets in bytes, in a few passes whatever the number of secrets: the first four bytes of each form are checked
 * up at every place, and what begins so is compared. The bytes are read as they stand, with their escapes resolved
 * one after the other, without what dumps put around them, and where characters are spelled out. Where a text was cut,
 * what is left of a secret is found too.
 */
import { dumped, endOfLine } from './dumped.ts';
import { secretForms } from './secret-forms.ts';
import { isSecret } from './secret-parts.ts';
import { spelledOut } from './spelled-out.ts';
import { fullyUnescaped } from './unescaped.ts';
import { CUT, endOf, startOf, visible } from './visible-text.ts';
import type { Placed } from './visible-text.ts';

/**
 * Bytes by which forms are looked up. As many have to be there before the end of a text is kept back as the beginning
 * of a secret.
 */
const KEY_BYTES = 4;
/**
 * What is shorter, as it is searched for, would tear every text to pieces. A secret itself may be a little shorter than
 * its other forms.
 */
const MIN_SECRET_CHARACTERS = 6;
const MIN_FORM_BYTES = 8;
/** As many characters of a secret are known by themselves where a text was cut. */
const MIN_TORN_CHARACTERS = 8;

const HASH_BITS = 16;
const HASH_FACTOR = 0x9e3779b1;
const BEGINS = 1;
const ENDS = 2;

/** Beside these a text that was cut is quoted. */
const IS_QUOTE = new Uint8Array(256);
for (const quote of '"\'`') IS_QUOTE[quote.charCodeAt(0)] = 1;

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
  /** As it is searched for. */
  readonly bytes: Uint8Array;
  /** What it is a form of, without white space. */
  readonly text: string;
  readonly name: string;
}

export interface ScanOptions {
  /** Nothing comes before the bytes, or it was cut off. */
  readonly isStart: boolean;
  /** Nothing comes after the bytes, or it was cut off. */
  readonly isWhole: boolean;
}

/**
 * Where what is left of a secret counts as one: where the text begins and ends, and beside whatever a cut may stand at.
 */
type Torn = 'nowhere' | 'at the ends' | 'beside cuts';

interface Pass {
  readonly seen: Placed;
  readonly torn: Torn;
  /** Whether what comes after its last byte may go on there. */
  readonly mayGoOn: boolean;
  readonly isStart: boolean;
  readonly onFound: (start: number, end: number, name: string) => void;
  readonly onUnsure: (start: number) => void;
}

export class SecretScan {
  readonly #beginnings = new Map<number, Pattern[]>();
  readonly #endings = new Map<number, Pattern[]>();
  /** The secrets themselves, as they are searched for. */
  readonly #values: Uint8Array[] = [];
  readonly #mayBe = new Uint8Array(2 ** HASH_BITS);
  /** Whether a secret has any in it. */
  #hasWhiteSpace = false;
  /** Bytes of the longest form; 0 when there is none. */
  readonly longest: number;

  /** @param secrets values by what the secrets are called: that of now, and those that it had before */
  constructor(secrets: ReadonlyMap<string, string | readonly string[]>) {
    let longest = 0;
    for (const [name, values] of secrets) {
      for (const value of [values].flat().filter((each) => each.trim().length >= MIN_SECRET_CHARACTERS)) {
        for (const [index, form] of secretForms(value).entries()) {
          const { bytes } = visible({ bytes: form.bytes }, true);
          if (bytes.length < (index === 0 ? MIN_SECRET_CHARACTERS : MIN_FORM_BYTES)) continue;
          this.#hasWhiteSpace ||= index === 0 && /\s/.test(form.text);
          if (index === 0) this.#values.push(bytes.slice());
          this.#add({ name, bytes: bytes.slice(), text: form.text.replaceAll(/\s/g, '') });
          longest = Math.max(longest, bytes.length);
        }
      }
    }
    this.longest = longest;
  }

  check(bytes: Uint8Array, { isStart, isWhole }: ScanOptions): Scan {
    if (this.longest === 0) return { found: [], unsureFrom: bytes.length };
    const found: FoundSecret[] = [];
    let unsureFrom = bytes.length;
    const heard = {
      torn: isWhole ? 'beside cuts' : 'nowhere',
      mayGoOn: !isWhole,
      isStart,
      onFound: (start: number, end: number, name: string) => found.push({ start, end, name }),
      onUnsure: (start: number) => (unsureFrom = Math.min(unsureFrom, start)),
    } as const;
    const rows = (read: Placed): void =>
      spelledOut(read, (row) =>
        this.#pass({
          ...heard,
          seen: visible(row, true),
          isStart: false,
          mayGoOn: heard.mayGoOn && row.isLast,
          torn: isWhole && row.isLast ? 'at the ends' : 'nowhere',
        }),
      );
    const check = (read: Placed): void => {
      const seen = visible(read, isWhole);
      this.#pass({ ...heard, seen });
      // A character that is white space stands in the one, and signs with white space of any kind beside them in the
      // other.
      for (const each of this.#hasWhiteSpace ? [read, seen] : [seen]) rows(each);
    };
    check({ bytes });
    fullyUnescaped(bytes, isWhole, check);
    this.#searchDump(bytes, { ...heard, isStart: false, torn: 'nowhere' });
    return { found: merged(found), unsureFrom };
  }

  /** With the characters that stand beside the last bytes of it. */
  #searchDump(bytes: Uint8Array, heard: Omit<Pass, 'seen'>): void {
    const read = dumped(bytes);
    if (read === undefined) return;
    const { onFound, onUnsure, mayGoOn } = heard;
    const toEndOfLine = (start: number, end: number, name: string): void => {
      const endOfAll = endOfLine(bytes, end);
      if (endOfAll === bytes.length && mayGoOn) onUnsure(start);
      onFound(start, endOfAll, name);
    };
    this.#pass({ ...heard, seen: visible(read, !mayGoOn), onFound: toEndOfLine });
  }

  /** How many bytes at the end are the first of a secret as it is: fewer than are looked up. */
  firstCharactersAt(bytes: Uint8Array): number {
    for (let count = Math.min(KEY_BYTES - 1, bytes.length); count > 0; count -= 1) {
      const { bytes: end } = visible({ bytes: bytes.subarray(bytes.length - count) }, false);
      if (end.length === count && this.#values.some((value) => end.every((byte, index) => byte === value[index])))
        return count;
    }
    return 0;
  }

  #add(pattern: Pattern): void {
    const { bytes } = pattern;
    for (const [patterns, key, mark] of [
      [this.#beginnings, keyAt(bytes, 0), BEGINS],
      [this.#endings, keyAt(bytes, bytes.length - KEY_BYTES), ENDS],
    ] as const) {
      const others = patterns.get(key);
      if (others === undefined) patterns.set(key, [pattern]);
      else others.push(pattern);
      this.#mayBe[hashOf(key)] = (this.#mayBe[hashOf(key)] as number) | mark;
    }
  }

  #pass(pass: Pass): void {
    const mayBe = this.#mayBe;
    const { bytes } = pass.seen;
    let key = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      key = (key << 8) | (bytes[at] as number);
      const what = mayBe[hashOf(key)] as number;
      if (what === 0 || at < KEY_BYTES - 1) continue;
      if ((what & BEGINS) !== 0)
        for (const pattern of this.#beginnings.get(key) ?? []) compare(pass, at + 1 - KEY_BYTES, pattern);
      if ((what & ENDS) !== 0)
        for (const pattern of this.#endings.get(key) ?? []) compareBackwards(pass, at + 1, pattern);
    }
  }
}

function compare(pass: Pass, start: number, pattern: Pattern): void {
  const { seen, mayGoOn, onFound, onUnsure } = pass;
  const { bytes: sought, name } = pattern;
  let matched = KEY_BYTES;
  while (matched < sought.length && seen.bytes[start + matched] === sought[matched]) matched += 1;
  const end = start + matched;
  if (matched === sought.length) onFound(startOf(seen, start), endOf(seen, end - 1), name);
  else if (end === seen.bytes.length && mayGoOn) onUnsure(startOf(seen, start));
  else if (saysSomething(pattern, matched, 'start') && isTornAfter(pass, end))
    onFound(startOf(seen, start), endOf(seen, end - 1), name);
}

/** What is left of it where the beginning of the text was cut off. */
function compareBackwards({ seen, torn, isStart, onFound }: Pass, end: number, pattern: Pattern): void {
  const { bytes: sought, name } = pattern;
  let matched = KEY_BYTES;
  while (
    matched < sought.length &&
    end > matched &&
    seen.bytes[end - matched - 1] === sought[sought.length - matched - 1]
  )
    matched += 1;
  const start = end - matched;
  if (torn !== 'beside cuts' || matched === sought.length || (start === 0 ? !isStart : seen.bytes[start - 1] !== CUT))
    return;
  if (saysSomething(pattern, matched, 'end')) onFound(startOf(seen, start), endOf(seen, end - 1), name);
}

/** Whether so many bytes at the start or the end of a form tell of the secret what no word, name or address does. */
function saysSomething({ bytes, text }: Pattern, matched: number, where: 'start' | 'end'): boolean {
  const count = Math.floor((matched * text.length) / bytes.length);
  return count >= MIN_TORN_CHARACTERS && isSecret(where === 'start' ? text.slice(0, count) : text.slice(-count));
}

/** Whether the text could have been cut in front of a byte: it has ended, or that is no part of the same word. */
function isTornAfter({ seen, torn }: Pass, end: number): boolean {
  if (torn === 'nowhere' || end === seen.bytes.length) return torn !== 'nowhere';
  const next = seen.bytes[end] as number;
  return torn === 'beside cuts' && (next === CUT || IS_QUOTE[next] === 1 || startOf(seen, end) > endOf(seen, end - 1));
}

function keyAt(bytes: Uint8Array, from: number): number {
  return bytes.subarray(from, from + KEY_BYTES).reduce((key, byte) => (key << 8) | byte, 0);
}

function hashOf(key: number): number {
  return Math.imul(key, HASH_FACTOR) >>> (32 - HASH_BITS);
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
