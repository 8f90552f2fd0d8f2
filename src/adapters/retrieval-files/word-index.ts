/** The words of documents, by MiniSearch: which documents hold a word, and how well they fit a query by BM25+. */
import MiniSearch from 'minisearch';
import type { QueryTerm } from '../../machines/retrieval/query.ts';
import type { RetrievalDocument } from '../../machines/retrieval/retrieval-document.ts';
import { termsOf } from '../../machines/retrieval/terms.ts';

export interface WordHit {
  readonly id: string;
  /** By BM25+, however many of the terms fit. */
  readonly score: number;
  /** Of the query, those that fit. */
  readonly queryTerms: readonly string[];
  /** Of the document, those that fit. */
  readonly terms: readonly string[];
  /** Whether a term of the document fits only nearly: a word that is longer, or written otherwise. */
  readonly isExact: boolean;
}

/** What a title counts beside a text. */
const TITLE_WEIGHT = 1.2;

/** Long texts are punished less than MiniSearch would: what says much is what answers. */
const SATURATION = { k: 1.2, b: 0.35, d: 0.5 };

/** Places that one search looks at, summed over its terms, unless that would leave too few words. A hundred thousand take some tenths of a second. */
const MAX_POSTINGS = 20_000;
const ENOUGH_WORDS = 2;

const FUZZY_WEIGHT = 0.5;
const PREFIX_WEIGHT = 0.6;

/** A word that hardly any document holds may be misspelt or cut short. Shorter ones would fit too much. */
const RARE_DOCUMENTS = 2;
const LEAST_FUZZY_CHARACTERS = 5;
const TWO_EDITS_FROM_CHARACTERS = 8;

export class WordIndex {
  readonly #index = new MiniSearch<RetrievalDocument>({ fields: ['title', 'text'], idField: 'id', tokenize: (text) => this.#terms.get(text) ?? termsOf(text), processTerm: (term) => term, autoVacuum: false });
  /** Of the texts that are taken in now. */
  readonly #terms = new Map<string, string[]>();
  /** In how many documents a term is. */
  readonly #documentsWith = new Map<string, number>();

  add(document: RetrievalDocument): void {
    const { title, text } = document;
    // Both need the terms, and making them is what costs most.
    this.#terms.set(title, termsOf(title)).set(text, termsOf(text));
    this.#index.add(document);
    this.#count(document, 1);
    this.#terms.clear();
  }

  remove(document: RetrievalDocument): void {
    if (!this.#index.has(document.id)) return;
    this.#index.discard(document.id);
    this.#count(document, -1);
  }

  /** Whether so much was removed that sweeping pays. */
  get isDirty(): boolean {
    return this.#index.dirtCount > 200 && this.#index.dirtFactor > 0.2;
  }

  /** Frees the memory of what was removed; lets others run while it does. */
  async sweep(): Promise<void> {
    await this.#index.vacuum({ batchSize: 2_000, batchWait: 0 });
  }

  /** As BM25 has it: above 0, and the more the fewer documents hold the term. */
  rarity(term: string): number {
    const all = this.#index.documentCount;
    const holding = this.#documentsWith.get(term) ?? 0;
    return Math.log(1 + (all - holding + 0.5) / (holding + 0.5));
  }

  has(term: string): boolean {
    return this.#documentsWith.has(term);
  }

  search(terms: readonly QueryTerm[], accepts: (id: string) => boolean): readonly WordHit[] {
    const weights = new Map(terms.map(({ term, weight }) => [term, weight]));
    const known = this.#worthLookingFor(terms);
    if (known.length === 0) return [];
    const results = this.#index.search(known.join(' '), {
      tokenize: (text) => text.split(' '),
      processTerm: (term) => term,
      boost: { title: TITLE_WEIGHT },
      bm25: SATURATION,
      boostTerm: (term) => weights.get(term) ?? 1,
      fuzzy: (term) => this.#editsFor(term),
      prefix: (term) => !this.has(term) && term.length >= LEAST_FUZZY_CHARACTERS,
      weights: { fuzzy: FUZZY_WEIGHT, prefix: PREFIX_WEIGHT },
      filter: ({ id }) => accepts(String(id as unknown)),
    });
    // MiniSearch multiplies by how many terms fit; synonyms must not count as more words.
    return results.map(({ id, score, queryTerms, terms: found }) => ({
      id: String(id as unknown),
      score: score / Math.max(1, queryTerms.length),
      queryTerms,
      terms: found,
      isExact: found.every((term) => weights.has(term)),
    }));
  }

  /** The rarest first, words before what stands for them, until so much is to be looked at that a search would take long: what is left out tells least. */
  #worthLookingFor(terms: readonly QueryTerm[]): readonly string[] {
    const holding = ({ term }: QueryTerm): number => this.#documentsWith.get(term) ?? 0;
    const known = terms.filter((term) => term.weight === 1 || holding(term) > 0);
    const costs = known.map((term) => ({ term: term.term, isWord: term.weight === 1, cost: holding(term), rank: holding(term) / term.weight }));
    const kept: string[] = [];
    let [words, postings] = [0, 0];
    for (const { term, isWord, cost } of costs.sort((one, other) => one.rank - other.rank)) {
      if (postings + cost > MAX_POSTINGS && words >= ENOUGH_WORDS) break;
      if (!isWord && postings + cost > MAX_POSTINGS) continue;
      kept.push(term);
      postings += cost;
      if (isWord && cost > 0) words += 1;
    }
    return kept;
  }

  #editsFor(term: string): number | false {
    if ((this.#documentsWith.get(term) ?? 0) > RARE_DOCUMENTS || term.length < LEAST_FUZZY_CHARACTERS || !/^\p{L}+$/u.test(term)) return false;
    return term.length >= TWO_EDITS_FROM_CHARACTERS ? 2 : 1;
  }

  #count(document: RetrievalDocument, by: 1 | -1): void {
    for (const term of new Set([document.title, document.text].flatMap((text) => this.#terms.get(text) ?? termsOf(text)))) {
      const count = (this.#documentsWith.get(term) ?? 0) + by;
      if (count > 0) this.#documentsWith.set(term, count);
      else this.#documentsWith.delete(term);
    }
  }
}
