/**
 * Keeps the beginning or the end of output that may be endless, in bounded memory, as text that is never cut inside a
 * character.
 */
import { BackgroundTaskError } from './task-error.ts';
import { Utf8Joiner, completeUtf8Length, nextUtf8Start } from './output-utf8.ts';

/** Stands where output was left out: after a kept head, before a kept tail. */
export const OUTPUT_TRUNCATION_MARKER = '\n[output truncated]\n';

export const DEFAULT_OUTPUT_LIMIT_BYTES = 30_000;

interface LimitedOutputCaptureOptions {
  /** Which end of the output stays when it is longer than the limit. Default `head`. */
  readonly keep?: 'head' | 'tail' | undefined;
}

export interface LimitedOutputCapture {
  /**
   * Takes the next piece. Chunks may split a code point; pieces of different sources are kept in the order they came,
   * with a code point that one source has only begun held back until the rest of it comes.
   */
  append(chunk: string | Uint8Array, source?: string): void;
  /** UTF-8 bytes appended so far, kept or not. */
  readonly totalBytes: number;
  readonly isTruncated: boolean;
  /**
   * What was kept: at most the limit in UTF-8 bytes, plus OUTPUT_TRUNCATION_MARKER once when something was left out.
   */
  toString(): string;
}

/**
 * @param limitBytes most UTF-8 bytes to keep; 0 keeps none, Infinity all
 * @throws BackgroundTaskError category `validation` when the limit is negative or not a number
 */
export function createLimitedOutputCapture(
  limitBytes: number = DEFAULT_OUTPUT_LIMIT_BYTES,
  options: LimitedOutputCaptureOptions = {},
): LimitedOutputCapture {
  if (!(limitBytes >= 0)) {
    throw new BackgroundTaskError('validation', `an output limit must be 0 or more bytes, got ${limitBytes}`, {
      hint: 'Pass a number of bytes, 0 to keep nothing, or Infinity to keep everything.',
    });
  }
  const limit = Math.floor(limitBytes);
  return new BoundedCapture(limit, options.keep === 'tail' ? new KeptTail(limit) : new KeptHead(limit));
}

/** Bytes that may be kept, bounded. Gets whole code points only. */
interface KeptBytes {
  /** Whether more bytes could still change what is kept. */
  readonly wantsMore: boolean;
  append(bytes: Uint8Array): void;
  /** The kept bytes, `limit` at most, whole code points, when `pending` were appended too. */
  with(pending: readonly Uint8Array[]): Uint8Array;
  /** The longest allowed part of `text` whose UTF-8 fits the limit. */
  fit(text: string): string;
  mark(text: string): string;
}

class BoundedCapture implements LimitedOutputCapture {
  readonly #limit: number;
  readonly #kept: KeptBytes;
  readonly #joiners = new Map<string, Utf8Joiner>();
  readonly #encoder = new TextEncoder();
  #totalBytes = 0;

  constructor(limit: number, kept: KeptBytes) {
    this.#limit = limit;
    this.#kept = kept;
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  get isTruncated(): boolean {
    return this.#read().isTruncated;
  }

  append(chunk: string | Uint8Array, source = ''): void {
    if (chunk.length === 0) return;
    if (!this.#kept.wantsMore) {
      // The beginning is complete: the rest is only counted, which keeps a flood cheap.
      this.#totalBytes += typeof chunk === 'string' ? this.#encoder.encode(chunk).length : chunk.length;
      return;
    }
    let joiner = this.#joiners.get(source);
    if (joiner === undefined) this.#joiners.set(source, (joiner = new Utf8Joiner()));
    const waiting = joiner.pending.length;
    const whole = joiner.push(chunk);
    this.#totalBytes += whole.length + joiner.pending.length - waiting;
    this.#kept.append(whole);
  }

  toString(): string {
    const { text, isTruncated } = this.#read();
    return isTruncated ? this.#kept.mark(text) : text;
  }

  #read(): { readonly text: string; readonly isTruncated: boolean } {
    const pending = [...this.#joiners.values()].map((joiner) => joiner.pending).filter((bytes) => bytes.length > 0);
    const decoded = new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.#kept.with(pending));
    // Each invalid byte becomes a replacement character of three: the text may exceed the limit that its bytes kept.
    const text = this.#kept.fit(decoded);
    return { text, isTruncated: this.#totalBytes > this.#limit || text.length < decoded.length };
  }
}

class KeptHead implements KeptBytes {
  readonly #limit: number;
  #bytes = new Uint8Array(0);
  #length = 0;
  /** Set once something did not fit: what comes later must not fill the gap. */
  #isFull = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get wantsMore(): boolean {
    return !this.#isFull;
  }

  append(bytes: Uint8Array): void {
    const room = this.#limit - this.#length;
    const taken = bytes.length <= room ? bytes : bytes.subarray(0, room);
    this.#isFull = bytes.length > room;
    this.#bytes = withRoomFor(this.#bytes, this.#length, taken.length);
    this.#bytes.set(taken, this.#length);
    this.#length += taken.length;
    if (this.#isFull) this.#length = completeUtf8Length(this.#bytes.subarray(0, this.#length));
  }

  with(pending: readonly Uint8Array[]): Uint8Array {
    const kept = this.#bytes.subarray(0, this.#length);
    return this.#isFull ? kept : joinBytes([kept, ...pending]);
  }

  fit(text: string): string {
    if (text.length * 3 <= this.#limit || this.#limit === Infinity) return text;
    const { read } = new TextEncoder().encodeInto(text, new Uint8Array(this.#limit));
    return text.slice(0, read);
  }

  mark(text: string): string {
    return text + OUTPUT_TRUNCATION_MARKER;
  }
}

class KeptTail implements KeptBytes {
  readonly #limit: number;
  /** One byte more than the limit: it tells whether the kept bytes begin inside a character. */
  readonly #keepBytes: number;
  #bytes = new Uint8Array(0);
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
    this.#keepBytes = limit + 1;
  }

  get wantsMore(): boolean {
    return true;
  }

  append(bytes: Uint8Array): void {
    const taken = bytes.length <= this.#keepBytes ? bytes : bytes.subarray(bytes.length - this.#keepBytes);
    // Twice as many before anything moves, so that moving costs at most one copy per byte.
    if (this.#length + taken.length > this.#keepBytes * 2) {
      const keep = this.#keepBytes - taken.length;
      this.#bytes.copyWithin(0, this.#length - keep, this.#length);
      this.#length = keep;
    }
    this.#bytes = withRoomFor(this.#bytes, this.#length, taken.length);
    this.#bytes.set(taken, this.#length);
    this.#length += taken.length;
  }

  with(pending: readonly Uint8Array[]): Uint8Array {
    const all = joinBytes([this.#bytes.subarray(0, this.#length), ...pending]);
    return all.length <= this.#limit ? all : all.subarray(nextUtf8Start(all, all.length - this.#limit));
  }

  fit(text: string): string {
    if (text.length * 3 <= this.#limit || this.#limit === Infinity) return text;
    const encoded = new TextEncoder().encode(text);
    if (encoded.length <= this.#limit) return text;
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(
      encoded.subarray(nextUtf8Start(encoded, encoded.length - this.#limit)),
    );
  }

  mark(text: string): string {
    return OUTPUT_TRUNCATION_MARKER + text;
  }
}

/**
 * `bytes`, or a larger copy of its first `length` bytes, with room for `more`; doubles so that appending stays linear.
 */
function withRoomFor(bytes: Uint8Array<ArrayBuffer>, length: number, more: number): Uint8Array<ArrayBuffer> {
  if (length + more <= bytes.length) return bytes;
  const grown = new Uint8Array(Math.max(length + more, bytes.length * 2));
  grown.set(bytes.subarray(0, length));
  return grown;
}

function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const [first = new Uint8Array(0), ...others] = parts;
  if (others.length === 0) return first;
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
