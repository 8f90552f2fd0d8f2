/**
 * Finds the documents that the terms of a query fit best, by BM25+ over title and text, part by part: nothing of a
 * document is opened but what is counted. Gives the same however the documents came into the parts.
 */
import type { DocumentFacts } from '../../machines/retrieval/retrieval-document.ts';
import { BestHits } from './best-hits.ts';
import type { Ranked } from './best-hits.ts';
import type { Part } from './part.ts';
import { postedDocument, timesInText, timesInTitle } from './part-layout.ts';
import type { Slices } from './slices.ts';
import type { SoughtTerm } from './sought-terms.ts';
import type { Vocabulary } from './vocabulary.ts';

/** A part with the numbers of its terms in the vocabulary. */
export interface NumberedPart {
  /** Of a session its id: what is equally good comes in this order. */
  readonly name: string;
  readonly part: Part;
  readonly numbers: Uint32Array;
}

export interface Totals {
  readonly documents: number;
  /** Different terms of every title, and of every text, summed. */
  readonly titleTerms: number;
  readonly textTerms: number;
}

export interface WordSearch {
  readonly parts: readonly NumberedPart[];
  readonly sought: readonly SoughtTerm[];
  readonly totals: Totals;
  readonly vocabulary: Vocabulary;
  readonly accepts: (facts: DocumentFacts) => boolean;
  readonly limit: number;
}

export interface WordHit extends Ranked {
  readonly from: NumberedPart;
  readonly index: number;
  /** By BM25+, however many of the terms fit. */
  readonly score: number;
  /** What fits, in the order in which it was sought. */
  readonly found: SoughtTerm[];
}

/** What a title counts beside a text. */
const TITLE_WEIGHT = 1.2;

/** Long texts are punished less than is common: what says much is what answers. */
const SATURATION = { k: 1.2, b: 0.35, d: 0.5 };

const NOWHERE = -1;

export async function searchWords(search: WordSearch, slices: Slices): Promise<readonly WordHit[]> {
  const { parts, sought, limit } = search;
  const slots = new Map<NumberedPart, Int32Array>();
  const weights = weightsOf(search);
  const best = new BestHits<WordHit>(limit, byRank);
  const scores = new PartScores(Math.max(0, ...parts.map(({ part }) => part.counts.documents)));
  for (const each of parts) {
    const places = new Int32Array(sought.length);
    for (const [term, wanted] of sought.entries()) places[term] = slotOf(each, wanted);
    slots.set(each, places);
    scores.count(each.part, { slots: places, weights, search });
    scores.offer(each, search.accepts, best);
    if (slices.isOver) await slices.breathe();
  }
  const hits = best.sorted();
  tellWhatFits(hits, slots, sought);
  return hits;
}

function byRank(one: WordHit, other: WordHit): number {
  if (one.rank !== other.rank) return other.rank - one.rank;
  if (one.from !== other.from) return one.from.name < other.from.name ? -1 : 1;
  return one.index - other.index;
}

/** Where a part has a term; NOWHERE where it has not. */
function slotOf({ part, numbers }: NumberedPart, { number, hash: wanted }: SoughtTerm): number {
  const { hashes } = part;
  let [low, high] = [0, hashes.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((hashes[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  // Different terms may have the same hash.
  for (; hashes[low] === wanted; low += 1) if (numbers[low] === number) return low;
  return NOWHERE;
}

interface TermWeights {
  /** By term: what it counts in a title and in a text, with how rare it is there. */
  readonly inTitle: Float64Array;
  readonly inText: Float64Array;
}

function weightsOf({ sought, totals, vocabulary }: WordSearch): TermWeights {
  const [inTitle, inText] = [new Float64Array(sought.length), new Float64Array(sought.length)];
  for (const [term, { weight, number }] of sought.entries()) {
    const { titles, texts } = vocabulary.holding(number);
    inTitle[term] = TITLE_WEIGHT * weight * rarityOf(titles, totals.documents);
    inText[term] = weight * rarityOf(texts, totals.documents);
  }
  return { inTitle, inText };
}

/** As BM25 has it: above 0, and the more the fewer documents hold the term. */
export function rarityOf(holding: number, all: number): number {
  return Math.log(1 + (all - holding + 0.5) / (holding + 0.5));
}

interface Counting {
  readonly slots: Int32Array;
  readonly weights: TermWeights;
  readonly search: WordSearch;
}

/** The scores of the documents of one part after another. */
class PartScores {
  readonly #scores: Float64Array;
  /** Different terms of the query that fit, and the last of them. */
  readonly #sources: Uint16Array;
  readonly #lastSource: Int16Array;
  /** Documents with a score. */
  readonly #touched: number[] = [];

  constructor(documents: number) {
    this.#scores = new Float64Array(documents);
    this.#sources = new Uint16Array(documents);
    this.#lastSource = new Int16Array(documents);
  }

  count(part: Part, { slots, weights, search }: Counting): void {
    const { sought, totals } = search;
    const titleNorm = SATURATION.b / (totals.titleTerms / totals.documents || 1);
    const textNorm = SATURATION.b / (totals.textTerms / totals.documents || 1);
    for (let term = 0; term < slots.length; term += 1) {
      const slot = slots[term] ?? NOWHERE;
      if (slot === NOWHERE) continue;
      const [inTitle, inText, source] = [
        weights.inTitle[term] ?? 0,
        weights.inText[term] ?? 0,
        sought[term]?.sourceIndex ?? 0,
      ];
      const end = part.starts[slot + 1] ?? 0;
      for (let at = part.starts[slot] ?? 0; at < end; at += 1) {
        const posting = part.postings[at] ?? 0;
        const document = postedDocument(posting);
        const lengths = part.lengths[document] ?? 0;
        const [titleTimes, textTimes] = [timesInTitle(posting), timesInText(posting)];
        let score = 0;
        if (titleTimes > 0) score += inTitle * saturated(titleTimes, titleNorm * (lengths >>> 16));
        if (textTimes > 0) score += inText * saturated(textTimes, textNorm * (lengths & 0xff_ff));
        this.#add(document, source, score);
      }
    }
  }

  /** Gives what was counted away, and begins anew. */
  offer(from: NumberedPart, accepts: (facts: DocumentFacts) => boolean, best: BestHits<WordHit>): void {
    for (const index of this.#touched) {
      const score = this.#scores[index] ?? 0;
      const rank = score * (this.#sources[index] ?? 0);
      if (rank >= best.least && accepts(from.part.factsOf(index))) best.offer({ from, index, score, rank, found: [] });
      this.#scores[index] = 0;
      this.#sources[index] = 0;
    }
    this.#touched.length = 0;
  }

  #add(document: number, source: number, score: number): void {
    const sources = this.#sources[document] ?? 0;
    if (sources === 0) this.#touched.push(document);
    if (sources === 0 || this.#lastSource[document] !== source) this.#sources[document] = sources + 1;
    this.#lastSource[document] = source;
    this.#scores[document] = (this.#scores[document] ?? 0) + score;
  }
}

function saturated(times: number, length: number): number {
  const { k, b, d } = SATURATION;
  return d + (times * (k + 1)) / (times + k * (1 - b + length));
}

function tellWhatFits(
  hits: readonly WordHit[],
  slots: ReadonlyMap<NumberedPart, Int32Array>,
  sought: readonly SoughtTerm[],
): void {
  const byPart = new Map<NumberedPart, Map<number, WordHit>>();
  for (const hit of hits) {
    const known = byPart.get(hit.from) ?? new Map<number, WordHit>();
    byPart.set(hit.from, known.set(hit.index, hit));
  }
  for (const [from, byIndex] of byPart) {
    for (const [term, slot] of (slots.get(from) ?? new Int32Array(0)).entries()) {
      const each = sought[term];
      if (slot === NOWHERE || each === undefined) continue;
      for (const posting of from.part.postings.subarray(from.part.starts[slot], from.part.starts[slot + 1]))
        byIndex.get(postedDocument(posting))?.found.push(each);
    }
  }
}
