/**
 * Documents with their words, on the way into a part: made of documents, or taken out of a part without reading any
 * text again.
 */
import type { RetrievalDocument, RetrievalKind } from '../../machines/retrieval/retrieval-document.ts';
import { factsOf } from '../../machines/retrieval/retrieval-document.ts';
import { MAX_DOCUMENTS_PER_SESSION } from '../../machines/retrieval/retrieval-limits.ts';
import { termsOf } from '../../machines/retrieval/terms.ts';
import type { Part } from './part.ts';
import { MOST_IN_TEXT, MOST_IN_TITLE, packPosting, postedDocument, timesInText, timesInTitle } from './part-layout.ts';
import type { Slices } from './slices.ts';

export interface PartEntry {
  readonly id: string;
  readonly kind: RetrievalKind;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly atMs: number;
  readonly tool?: string | undefined;
  /** The document as JSON, in UTF-8. */
  readonly json: Buffer;
  /** By term, postings of document 0. */
  readonly terms: ReadonlyMap<string, number>;
  readonly titleTerms: number;
  readonly textTerms: number;
  /** Of title and text. */
  readonly characters: number;
}

/** The first to go when there are too many. */
const FIRST_TO_GO = ['trace', 'text'] as const;

export function entryOf(document: RetrievalDocument): PartEntry {
  const { title, text } = document;
  const terms = new Map<string, number>();
  const titleTerms = addTerms(title, (term, times) =>
    terms.set(term, packPosting(0, Math.min(times, MOST_IN_TITLE), 0)),
  );
  const textTerms = addTerms(text, (term, times) =>
    terms.set(term, (terms.get(term) ?? 0) + Math.min(times, MOST_IN_TEXT)),
  );
  return { ...placed(document), json: Buffer.from(JSON.stringify(document)), terms, titleTerms, textTerms };
}

function placed(document: RetrievalDocument): Omit<PartEntry, 'json' | 'terms' | 'titleTerms' | 'textTerms'> {
  const { id, kind, seqs, title, text } = document;
  const { lastSeq, atMs, tool } = factsOf(document);
  return { id, kind, firstSeq: seqs[0] ?? 0, lastSeq, atMs, tool, characters: title.length + text.length };
}

/** @returns how many different ones there are */
function addTerms(text: string, add: (term: string, times: number) => void): number {
  const times = new Map<string, number>();
  for (const term of termsOf(text)) times.set(term, (times.get(term) ?? 0) + 1);
  for (const [term, each] of times) add(term, each);
  return times.size;
}

/** In the order of the session. */
export async function entriesOf(part: Part, slices: Slices): Promise<readonly PartEntry[]> {
  const termsBy = Array.from({ length: part.counts.documents }, () => new Map<string, number>());
  for (const [slot, term] of part.terms().entries()) {
    for (let at = part.starts[slot] ?? 0; at < (part.starts[slot + 1] ?? 0); at += 1) {
      const posting = part.postings[at] ?? 0;
      termsBy[postedDocument(posting)]?.set(term, packPosting(0, timesInTitle(posting), timesInText(posting)));
    }
    if (slices.isOver) await slices.breathe();
  }
  const entries: PartEntry[] = [];
  for (const [index, terms] of termsBy.entries()) {
    const document = part.documentAt(index);
    const lengths = part.lengths[index] ?? 0;
    if (document !== undefined)
      entries.push({
        ...placed(document),
        json: part.jsonAt(index),
        terms,
        titleTerms: lengths >>> 16,
        textTerms: lengths & 0xff_ff,
      });
    if (slices.isOver) await slices.breathe();
  }
  return entries;
}

/** With new ones in place of those with the same ids, without what is too much, in the order of the session. */
export function merged(known: readonly PartEntry[], added: readonly PartEntry[]): readonly PartEntry[] {
  const entries = new Map<string, PartEntry>([...known, ...added].map((entry) => [entry.id, entry]));
  const sorted = [...entries.values()].sort(byPlace);
  const dropped = new Set<PartEntry>();
  for (const kind of FIRST_TO_GO) {
    const excess = Math.max(0, sorted.length - dropped.size - MAX_DOCUMENTS_PER_SESSION);
    for (const entry of sorted.filter((each) => each.kind === kind).slice(0, excess)) dropped.add(entry);
  }
  return dropped.size === 0 ? sorted : sorted.filter((entry) => !dropped.has(entry));
}

/** Parts of one message come in order of their number, which ends their ids. */
function byPlace(one: PartEntry, other: PartEntry): number {
  return (
    one.firstSeq - other.firstSeq ||
    one.id.length - other.id.length ||
    (one.id < other.id ? -1 : one.id > other.id ? 1 : 0)
  );
}
