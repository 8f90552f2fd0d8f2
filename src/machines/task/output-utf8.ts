/** Where UTF-8 may be cut: output arrives in chunks that know nothing of characters. */

const CONTINUATION_MASK = 0xc0;
const CONTINUATION = 0x80;
/** A code point takes at most four bytes, so at most three can be missing or left over at a cut. */
const MAX_CODE_POINT_BYTES = 4;

/**
 * How many bytes of `bytes`, counted from its start, do not end in the middle of a code point. Invalid bytes count as
 * whole.
 */
export function completeUtf8Length(bytes: Uint8Array): number {
  const { length } = bytes;
  for (let back = 1; back <= Math.min(length, MAX_CODE_POINT_BYTES - 1); back += 1) {
    const byte = bytes[length - back] ?? 0;
    if (isContinuation(byte)) continue;
    return codePointBytes(byte) > back ? length - back : length;
  }
  return length;
}

/** The first index at or after `from` where a code point may begin. */
export function nextUtf8Start(bytes: Uint8Array, from: number): number {
  const limit = Math.min(bytes.length, from + MAX_CODE_POINT_BYTES - 1);
  let index = from;
  while (index < limit && isContinuation(bytes[index] ?? 0)) index += 1;
  return index;
}

function isContinuation(byte: number): boolean {
  return (byte & CONTINUATION_MASK) === CONTINUATION;
}

/** Length of the code point that `lead` begins, in bytes; 1 for bytes that begin none. */
function codePointBytes(lead: number): number {
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  if (lead >= 0xf0 && lead < 0xf5) return 4;
  return 1;
}

/** Joins chunks of one stream so that what comes out never ends inside a code point. */
export class Utf8Joiner {
  readonly #encoder = new TextEncoder();
  #bytes: Uint8Array = EMPTY;
  /** The first half of a surrogate pair whose second half has not come yet. */
  #highSurrogate = '';

  /** The incomplete end of the stream so far, as bytes. */
  get pending(): Uint8Array {
    return this.#highSurrogate === '' ? this.#bytes : this.#encoder.encode(this.#highSurrogate);
  }

  push(chunk: string | Uint8Array): Uint8Array {
    return typeof chunk === 'string' ? this.#pushText(chunk) : this.#pushBytes(chunk);
  }

  #pushText(chunk: string): Uint8Array {
    const text = this.#highSurrogate + chunk;
    const last = text.charCodeAt(text.length - 1);
    const splitsPair = last >= 0xd800 && last < 0xdc00;
    this.#highSurrogate = splitsPair ? text.slice(-1) : '';
    const encoded = this.#encoder.encode(splitsPair ? text.slice(0, -1) : text);
    // Text never completes a code point that bytes began.
    const before = this.#bytes;
    this.#bytes = EMPTY;
    return concatenate(before, encoded);
  }

  #pushBytes(chunk: Uint8Array): Uint8Array {
    const joined = concatenate(this.pending, chunk);
    this.#highSurrogate = '';
    const complete = completeUtf8Length(joined);
    this.#bytes = complete === joined.length ? EMPTY : joined.slice(complete);
    return joined.subarray(0, complete);
  }
}

const EMPTY = new Uint8Array(0);

function concatenate(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}
