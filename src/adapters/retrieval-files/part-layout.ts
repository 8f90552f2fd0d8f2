/**
 * Where things are in the body of a part: the documents of one session and the words in them, as one block of bytes
 * that is the same in memory and in the file, so that opening a part is reading it.
 *
 *   at         Float64 x documents      milliseconds since the epoch, NaN where unknown
 *   hashes     Uint32  x terms          of each term, ascending: a term is found by halving
 *   starts     Uint32  x terms + 1      where the postings of a term begin
 *   postings   Uint32                   document, how often in its title, how often in its text: by document, ascending
 *   places     Uint32  x documents + 1  where the JSON of a document begins
 *   lastSeqs   Uint32  x documents
 *   lengths    Uint32  x documents      different terms of the title and of the text
 *   facts      Uint32  x documents      kind and tool
 *   words      bytes                    the terms, a line each, in the order of their hashes
 *   documents  bytes                    JSON, one after another, in the order of the session
 */
import * as z from 'zod';

/** Bits of a posting, from the lowest: times in the text, times in the title, document. */
const TEXT_BITS = 8;
const TITLE_BITS = 4;
export const MOST_IN_TEXT = 2 ** TEXT_BITS - 1;
export const MOST_IN_TITLE = 2 ** TITLE_BITS - 1;
/** What fits into the rest. */
const MAX_DOCUMENTS_OF_PART = 2 ** (32 - TEXT_BITS - TITLE_BITS);

export const packPosting = (document: number, inTitle: number, inText: number): number =>
  ((document << (TEXT_BITS + TITLE_BITS)) | (inTitle << TEXT_BITS) | inText) >>> 0;
export const postedDocument = (posting: number): number => posting >>> (TEXT_BITS + TITLE_BITS);
export const timesInTitle = (posting: number): number => (posting >>> TEXT_BITS) & MOST_IN_TITLE;
export const timesInText = (posting: number): number => posting & MOST_IN_TEXT;

const count = z
  .number()
  .int()
  .nonnegative()
  .max(2 ** 31);

/** Tools that a part can name; calls of further ones are found as calls of none. */
export const MAX_TOOLS_OF_PART = 1_000;

export const partCounts = z.strictObject({
  documents: count.max(MAX_DOCUMENTS_OF_PART),
  terms: count,
  postings: count,
  wordBytes: count,
  documentBytes: count,
  /** Of titles and texts. */
  characters: count,
  tools: z.array(z.string().max(200)).max(MAX_TOOLS_OF_PART),
});

export type PartCounts = Readonly<z.output<typeof partCounts>>;

export interface PartSections {
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
}

/** In bytes. */
export function bodySize({ documents, terms, postings, wordBytes, documentBytes }: PartCounts): number {
  return (
    8 * documents + 4 * (terms + (terms + 1) + postings + (documents + 1) + 3 * documents) + wordBytes + documentBytes
  );
}

/** @param body begins at a multiple of 8 in its memory, and is as long as `bodySize` says */
export function sectionsOf(body: Buffer, counts: PartCounts): PartSections {
  const { documents, terms, postings, wordBytes, documentBytes } = counts;
  let at = body.byteOffset + 8 * documents;
  const numbers = (length: number): Uint32Array => {
    const section = new Uint32Array(body.buffer, at, length);
    at += 4 * length;
    return section;
  };
  const bytes = (length: number): Buffer => {
    const section = Buffer.from(body.buffer, at, length);
    at += length;
    return section;
  };
  return {
    at: new Float64Array(body.buffer, body.byteOffset, documents),
    hashes: numbers(terms),
    starts: numbers(terms + 1),
    postings: numbers(postings),
    places: numbers(documents + 1),
    lastSeqs: numbers(documents),
    lengths: numbers(documents),
    facts: numbers(documents),
    words: bytes(wordBytes),
    documents: bytes(documentBytes),
  };
}

/** FNV-1a over UTF-16 units: 32 bits. */
export function hashOfTerm(term: string): number {
  let hash = 0x81_1c_9d_c5;
  for (let index = 0; index < term.length; index += 1) hash = Math.imul(hash ^ term.charCodeAt(index), 0x01_00_01_93);
  return hash >>> 0;
}
