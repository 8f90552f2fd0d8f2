/**
 * The index of one agent: a part for each session and for what they share, in memory as in the files beside the store.
 */
import type { AgentIndex, IndexSearch, IndexSize, SessionUpdate } from '../../actors/retrieval/retrieval-index.ts';
import type { QueryTerm } from '../../machines/retrieval/query.ts';
import type { TextHit } from '../../machines/retrieval/ranking.ts';
import type { RetrievalDocument } from '../../machines/retrieval/retrieval-document.ts';
import type { SessionCursor } from '../../machines/retrieval/session-documents.ts';
import type { Part } from './part.ts';
import { encodePart } from './part-encoding.ts';
import { entriesOf, entryOf, merged } from './part-entries.ts';
import type { PartEntry } from './part-entries.ts';
import type { PartFolder } from './part-folder.ts';
import { PartSet } from './part-set.ts';
import type { Slices } from './slices.ts';
import { soughtTerms } from './sought-terms.ts';
import { searchWords } from './word-search.ts';
import type { WordHit } from './word-search.ts';

export interface AgentPartsOptions {
  readonly folder: PartFolder;
  readonly slices: Slices;
}

interface Place {
  readonly part: Part;
  readonly index: number;
}

/** What a word of a document counts that is only nearly the one that was asked for, or means about the same. */
const INEXACT_SHARE = 0.7;
const SYNONYM_SHARE = 0.6;

export class AgentParts implements AgentIndex {
  readonly #folder: PartFolder;
  readonly #slices: Slices;
  readonly #parts = new PartSet();
  readonly #cursors = new Map<string, SessionCursor>();
  /** What the sessions share, as it was given last. */
  readonly #shared = new Map<string, string>();
  /** Where documents stand that were given out. */
  readonly #places = new WeakMap<RetrievalDocument, Place>();

  constructor({ folder, slices }: AgentPartsOptions) {
    this.#folder = folder;
    this.#slices = slices;
  }

  /** Takes in what is kept in the folder. What cannot be read is as if it were not there. */
  async load(): Promise<void> {
    await this.#folder.readAll(async ({ sessionId, cursor, part }) => {
      this.#parts.put(sessionId, part);
      this.#cursors.set(sessionId, cursor);
      await this.#slices.breathe();
    });
  }

  size(): IndexSize {
    return {
      sessions: this.#cursors.size,
      documents: this.#parts.totals.documents,
      characters: this.#parts.totals.characters,
    };
  }

  cursors(): ReadonlyMap<string, SessionCursor> {
    return this.#cursors;
  }

  async update(sessionId: string, { cursor, documents, isAnew }: SessionUpdate): Promise<void> {
    const known = isAnew ? undefined : this.#parts.get(sessionId);
    const part = known !== undefined && documents.length === 0 ? known : await this.#made(sessionId, known, documents);
    this.#parts.put(sessionId, part);
    this.#cursors.set(sessionId, cursor);
    await this.#folder.keep(sessionId, { cursor, part }, { isAnew });
    await this.#parts.tidy(this.#slices);
  }

  async forget(sessionId: string): Promise<void> {
    this.#parts.remove(sessionId);
    this.#cursors.delete(sessionId);
    await this.#folder.remove(sessionId);
    await this.#parts.tidy(this.#slices);
  }

  async share(kind: 'learning' | 'memory', documents: readonly RetrievalDocument[]): Promise<void> {
    const given = JSON.stringify(documents);
    if (this.#shared.get(kind) === given) return;
    this.#parts.put(kind, await this.#made(undefined, undefined, documents));
    this.#shared.set(kind, given);
    await this.#parts.tidy(this.#slices);
  }

  async search({ terms, accepts, limit }: IndexSearch): Promise<readonly TextHit[]> {
    const { all, totals, vocabulary } = this.#parts;
    const sought = soughtTerms(terms, vocabulary);
    const hits = await searchWords({ parts: all, sought, totals, vocabulary, accepts, limit }, this.#slices);
    const byTerm = new Map(terms.map((term) => [term.term, term]));
    const found: TextHit[] = [];
    for (const hit of hits) {
      const document = this.#documentAt({ part: hit.from.part, index: hit.index });
      if (document !== undefined)
        found.push({
          document,
          score: hit.score,
          terms: [...new Set(hit.found.map(({ term }) => term))],
          words: wordsOf(hit, byTerm),
        });
      if (this.#slices.isOver) await this.#slices.breathe();
    }
    return found;
  }

  rarity(word: string): number {
    return this.#parts.rarity(word);
  }

  around(document: RetrievalDocument): ReturnType<AgentIndex['around']> {
    const place = this.#places.get(document);
    return place === undefined || document.kind !== 'text'
      ? {}
      : { before: this.#textFrom(place, -1), after: this.#textFrom(place, 1) };
  }

  async #made(
    sessionId: string | undefined,
    known: Part | undefined,
    documents: readonly RetrievalDocument[],
  ): Promise<Part> {
    const added: PartEntry[] = [];
    for (const document of documents) {
      added.push(entryOf(document));
      if (this.#slices.isOver) await this.#slices.breathe();
    }
    return encodePart(
      sessionId,
      merged(known === undefined ? [] : await entriesOf(known, this.#slices), added),
      this.#slices,
    );
  }

  /** The next message in a direction. */
  #textFrom({ part, index }: Place, step: 1 | -1): RetrievalDocument | undefined {
    for (let at = index + step; at >= 0 && at < part.counts.documents; at += step)
      if (part.isText(at)) return this.#documentAt({ part, index: at });
    return undefined;
  }

  #documentAt(place: Place): RetrievalDocument | undefined {
    const document = place.part.documentAt(place.index);
    if (document !== undefined) this.#places.set(document, place);
    return document;
  }
}

/** How well each word of the query is there. */
function wordsOf({ found }: WordHit, terms: ReadonlyMap<string, QueryTerm>): ReadonlyMap<string, number> {
  const isExact = found.every(({ term }) => terms.has(term));
  const words = new Map<string, number>();
  for (const { source } of found) {
    const term = terms.get(source);
    if (term === undefined) continue;
    const share = (term.weight === 1 ? 1 : SYNONYM_SHARE) * (isExact ? 1 : INEXACT_SHARE);
    words.set(term.word, Math.max(share, words.get(term.word) ?? 0));
  }
  return words;
}
