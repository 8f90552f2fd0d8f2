/**
 * The documents of one session, or of what all sessions share, with the words in them. Never changes: another one is
 * made instead.
 */
import { retrievalDocument, retrievalKind } from '../../machines/retrieval/retrieval-document.ts';
import type { DocumentFacts, RetrievalDocument, RetrievalKind } from '../../machines/retrieval/retrieval-document.ts';
import { bodySize, postedDocument, sectionsOf } from './part-layout.ts';
import type { PartCounts, PartSections } from './part-layout.ts';

const KINDS: readonly RetrievalKind[] = retrievalKind.options;
const KIND_BITS = 8;

export class Part implements PartSections {
  /** Undefined for what all sessions share. */
  readonly sessionId: string | undefined;
  readonly counts: PartCounts;
  readonly body: Buffer;
  readonly at: Float64Array;
  readonly hashes: Uint32Array;
  readonly starts: Uint32Array;
  readonly postings: Uint32Array;
  readonly places: Uint32Array;
  readonly lastSeqs: Uint32Array;
  readonly lengths: Uint32Array;
  readonly facts: Uint32Array;
  readonly words: Buffer;
  readonly documents: Buffer;

  private constructor(sessionId: string | undefined, counts: PartCounts, body: Buffer) {
    this.sessionId = sessionId;
    this.counts = counts;
    this.body = body;
    const sections = sectionsOf(body, counts);
    this.at = sections.at;
    this.hashes = sections.hashes;
    this.starts = sections.starts;
    this.postings = sections.postings;
    this.places = sections.places;
    this.lastSeqs = sections.lastSeqs;
    this.lengths = sections.lengths;
    this.facts = sections.facts;
    this.words = sections.words;
    this.documents = sections.documents;
  }

  /** Undefined when the body is not what the counts say: whatever is asked of a part later stays within it. */
  static of(sessionId: string | undefined, counts: PartCounts, body: Buffer): Part | undefined {
    if (body.length !== bodySize(counts) || body.byteOffset % 8 !== 0) return undefined;
    const part = new Part(sessionId, counts, body);
    return part.#isWhole() ? part : undefined;
  }

  /** In the order of their hashes, which is that of everything else about terms. */
  terms(): readonly string[] {
    return this.counts.terms === 0 ? [] : this.words.toString('utf8').split('\n');
  }

  factsOf(index: number): DocumentFacts {
    const packed = this.facts[index] ?? 0;
    const tool = packed >>> KIND_BITS;
    return {
      kind: KINDS[packed & (2 ** KIND_BITS - 1)] ?? 'text',
      sessionId: this.sessionId,
      lastSeq: this.lastSeqs[index] ?? 0,
      atMs: this.at[index] ?? Number.NaN,
      tool: tool === 0 ? undefined : this.counts.tools[tool - 1],
    };
  }

  isText(index: number): boolean {
    return ((this.facts[index] ?? 0) & (2 ** KIND_BITS - 1)) === KINDS.indexOf('text');
  }

  /** Undefined for what is none, or another session's. */
  documentAt(index: number): RetrievalDocument | undefined {
    const parsed = retrievalDocument.safeParse(jsonOf(this.jsonAt(index).toString('utf8')));
    if (!parsed.success || (this.sessionId !== undefined && parsed.data.sessionId !== this.sessionId)) return undefined;
    return parsed.data;
  }

  /** A document as it is kept, in UTF-8. */
  jsonAt(index: number): Buffer {
    return this.documents.subarray(this.places[index] ?? 0, this.places[index + 1] ?? 0);
  }

  #isWhole(): boolean {
    const { documents, postings, documentBytes } = this.counts;
    return (
      rises(this.starts, postings) &&
      rises(this.places, documentBytes) &&
      this.postings.every((posting) => postedDocument(posting) < documents)
    );
  }
}

export function packFacts(kind: RetrievalKind, tool: number): number {
  return ((tool << KIND_BITS) | KINDS.indexOf(kind)) >>> 0;
}

/** From 0 to the end, never back. */
function rises(numbers: Uint32Array, end: number): boolean {
  if (numbers[0] !== 0 || numbers[numbers.length - 1] !== end) return false;
  return numbers.every((each, index) => index === 0 || each >= (numbers[index - 1] ?? 0));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
