/** The output of one command, its beginning and its end, in bounded memory, to be read by position. */
import { completeUtf8Length, nextUtf8Start } from '../../task/output-utf8.ts';
import {
  DEFAULT_OUTPUT_PAGE_BYTES,
  KEPT_HEAD_BYTES,
  KEPT_TAIL_BYTES,
  REPLY_HEAD_BYTES,
  REPLY_TAIL_BYTES,
} from './shell-limits.ts';

export interface OutputPage {
  readonly output: string;
  /** Where `output` begins, in bytes from the beginning; later than asked for when what was there is not kept. */
  readonly offset: number;
  /** Where the next page begins; absent when this one goes to the end of what there is. */
  readonly nextOffset?: number | undefined;
  /** Bytes put out so far. */
  readonly totalBytes: number;
  /** What was asked for and is not kept any more: from this position up to `offset`. */
  readonly lostFrom?: number | undefined;
}

/** What a reply says of the output since the last one. */
export interface OutputExcerpt {
  readonly text: string;
  /** Bytes put out so far. */
  readonly totalBytes: number;
  /** The part that `text` leaves out. */
  readonly left?: { readonly from: number; readonly to: number } | undefined;
}

export interface KeptOutputLimits {
  readonly headBytes: number;
  readonly tailBytes: number;
}

export class KeptOutput {
  readonly #limits: KeptOutputLimits;
  #head = new Uint8Array(0);
  #headLength = 0;
  /** A ring, made when the head is full. */
  #ring: Uint8Array<ArrayBuffer> | undefined;
  #totalBytes = 0;

  constructor(limits: KeptOutputLimits = { headBytes: KEPT_HEAD_BYTES, tailBytes: KEPT_TAIL_BYTES }) {
    this.#limits = limits;
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  /** Copies what it keeps. */
  append(bytes: Uint8Array): void {
    const room = Math.min(this.#limits.headBytes - this.#headLength, bytes.length);
    if (room > 0) this.#appendHead(bytes.subarray(0, room));
    if (room < bytes.length) this.#appendTail(bytes.subarray(room));
    this.#totalBytes += bytes.length;
  }

  /** The page at `offset`, whole characters, at most `limit` bytes and at least one character where there is one. */
  page({
    offset = 0,
    limit = DEFAULT_OUTPUT_PAGE_BYTES,
  }: { readonly offset?: number | undefined; readonly limit?: number | undefined } = {}): OutputPage {
    const from = Math.min(offset, this.#totalBytes);
    const raw = this.#read(from, Math.max(limit, MAX_CHARACTER_BYTES));
    const skipped = from === 0 ? 0 : nextUtf8Start(raw.bytes, 0);
    const rest = raw.bytes.subarray(skipped);
    const atEnd = raw.from + raw.bytes.length >= this.#totalBytes;
    const taken = atEnd ? rest : rest.subarray(0, completeUtf8Length(rest));
    const start = raw.from + skipped;
    const next = start + taken.length;
    return {
      output: decode(taken),
      offset: start,
      totalBytes: this.#totalBytes,
      ...(next < this.#totalBytes ? { nextOffset: next } : {}),
      ...(raw.from > from ? { lostFrom: from } : {}),
    };
  }

  /** Everything from `from` on, or its beginning and its end with a line between them that says what is missing. */
  excerpt(from = 0): OutputExcerpt {
    const totalBytes = this.#totalBytes;
    if (totalBytes - from <= REPLY_HEAD_BYTES + REPLY_TAIL_BYTES) {
      const { output, offset, lostFrom } = this.page({ offset: from, limit: REPLY_HEAD_BYTES + REPLY_TAIL_BYTES });
      return lostFrom === undefined
        ? { text: output, totalBytes }
        : { text: gapMark(lostFrom, offset) + output, totalBytes, left: { from: lostFrom, to: offset } };
    }
    const head = this.page({ offset: from, limit: REPLY_HEAD_BYTES });
    const tail = this.page({ offset: totalBytes - REPLY_TAIL_BYTES, limit: REPLY_TAIL_BYTES });
    // What follows a gap is no beginning: then the end alone is shown.
    const beginning = head.lostFrom === undefined ? head.output : '';
    const left = { from: head.lostFrom ?? head.nextOffset ?? totalBytes, to: tail.offset };
    return { text: beginning + gapMark(left.from, left.to) + tail.output, totalBytes, left };
  }

  #appendHead(bytes: Uint8Array): void {
    const needed = this.#headLength + bytes.length;
    if (needed > this.#head.length) {
      const grown = new Uint8Array(Math.min(this.#limits.headBytes, Math.max(needed, this.#head.length * 2)));
      grown.set(this.#head.subarray(0, this.#headLength));
      this.#head = grown;
    }
    this.#head.set(bytes, this.#headLength);
    this.#headLength = needed;
  }

  /** Each byte has its place in the ring by its position in the output, so that nothing is ever moved. */
  #appendTail(bytes: Uint8Array): void {
    const { tailBytes, headBytes } = this.#limits;
    if (tailBytes === 0) return;
    this.#ring ??= new Uint8Array(tailBytes);
    const end = Math.max(this.#totalBytes, headBytes) + bytes.length;
    const kept = bytes.subarray(Math.max(0, bytes.length - tailBytes));
    const at = (end - kept.length) % tailBytes;
    const untilWrap = Math.min(kept.length, tailBytes - at);
    this.#ring.set(kept.subarray(0, untilWrap), at);
    this.#ring.set(kept.subarray(untilWrap), 0);
  }

  /** Bytes from `from` on, or from where they begin again when those are lost. */
  #read(from: number, limit: number): { readonly from: number; readonly bytes: Uint8Array } {
    const { tailBytes } = this.#limits;
    const tailFrom = Math.max(this.#headLength, this.#totalBytes - tailBytes);
    if (from < this.#headLength) {
      const head = this.#head.subarray(from, Math.min(this.#headLength, from + limit));
      const isJoined = tailFrom === this.#headLength && from + limit > this.#headLength;
      return { from, bytes: isJoined ? joined(head, this.#readTail(tailFrom, limit - head.length)) : head };
    }
    const start = Math.max(from, tailFrom);
    return { from: start, bytes: this.#readTail(start, limit) };
  }

  #readTail(from: number, limit: number): Uint8Array {
    const length = Math.min(limit, this.#totalBytes - from);
    if (this.#ring === undefined || length <= 0) return new Uint8Array(0);
    const at = from % this.#ring.length;
    return joined(
      this.#ring.subarray(at, at + length),
      this.#ring.subarray(0, Math.max(0, at + length - this.#ring.length)),
    );
  }
}

const MAX_CHARACTER_BYTES = 4;

function gapMark(from: number, to: number): string {
  return `\n[${to - from} bytes left out here: bytes ${from} to ${to} of the output]\n`;
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
