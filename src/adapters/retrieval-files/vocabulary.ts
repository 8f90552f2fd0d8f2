/** Every term of all parts of an agent, with a number of its own and the count of documents that hold it. */
import { editDistance } from '../../machines/closest-name.ts';
import type { Part } from './part.ts';
import { timesInText, timesInTitle } from './part-layout.ts';

/** A term near to one that was asked for. */
export interface NearTerm {
  readonly term: string;
  readonly number: number;
  /** Characters that differ. */
  readonly distance: number;
}

/** How many documents hold a term: at all, in their titles, in their texts. */
export interface Holding {
  readonly documents: number;
  readonly titles: number;
  readonly texts: number;
}

const FIRST_CAPACITY = 4_096;

export class Vocabulary {
  readonly #numbers = new Map<string, number>();
  readonly #terms: string[] = [];
  #documents = new Uint32Array(FIRST_CAPACITY);
  #titles = new Uint32Array(FIRST_CAPACITY);
  #texts = new Uint32Array(FIRST_CAPACITY);
  #living = 0;

  /** Counts the documents of a part. @returns the number of each of its terms, in the order of the part */
  add(part: Part): Uint32Array {
    const numbers = new Uint32Array(part.counts.terms);
    for (const [slot, term] of part.terms().entries()) {
      const number = this.#numberOf(term);
      numbers[slot] = number;
      this.#count(number, holdingOf(part, slot), 1);
    }
    return numbers;
  }

  /** @param numbers what `add` gave for the part */
  remove(part: Part, numbers: Uint32Array): void {
    for (const [slot, number] of numbers.entries()) this.#count(number, holdingOf(part, slot), -1);
  }

  /** Terms that no document holds any more are most of all. */
  get isMostlyDead(): boolean {
    const dead = this.#terms.length - this.#living;
    return dead > FIRST_CAPACITY && dead > this.#living;
  }

  /** Undefined for a term that no document holds. */
  numberOf(term: string): number | undefined {
    const number = this.#numbers.get(term);
    return number === undefined || this.#documents[number] === 0 ? undefined : number;
  }

  documentsWith(term: string): number {
    return this.#documents[this.#numbers.get(term) ?? -1] ?? 0;
  }

  /** @param number of a term of this vocabulary */
  holding(number: number): Holding {
    return {
      documents: this.#documents[number] ?? 0,
      titles: this.#titles[number] ?? 0,
      texts: this.#texts[number] ?? 0,
    };
  }

  /** Longer terms that begin so, in no order. */
  startingWith(term: string): readonly NearTerm[] {
    const found: NearTerm[] = [];
    for (const [number, other] of this.#terms.entries()) {
      if (other.length > term.length && other.startsWith(term) && this.#documents[number] !== 0)
        found.push({ term: other, number, distance: other.length - term.length });
    }
    return found;
  }

  /** Other terms that are written nearly so, in no order. */
  writtenLike(term: string, edits: number): readonly NearTerm[] {
    const found: NearTerm[] = [];
    for (const [number, other] of this.#terms.entries()) {
      if (Math.abs(other.length - term.length) > edits || other === term || this.#documents[number] === 0) continue;
      const distance = editDistance(term, other, edits);
      if (distance <= edits) found.push({ term: other, number, distance });
    }
    return found;
  }

  #numberOf(term: string): number {
    const known = this.#numbers.get(term);
    if (known !== undefined) return known;
    const number = this.#terms.push(term) - 1;
    this.#numbers.set(term, number);
    if (number >= this.#documents.length) {
      this.#documents = larger(this.#documents);
      this.#titles = larger(this.#titles);
      this.#texts = larger(this.#texts);
    }
    return number;
  }

  #count(number: number, { documents, titles, texts }: Holding, by: 1 | -1): void {
    const before = this.#documents[number] ?? 0;
    const after = before + by * documents;
    this.#documents[number] = after;
    this.#titles[number] = (this.#titles[number] ?? 0) + by * titles;
    this.#texts[number] = (this.#texts[number] ?? 0) + by * texts;
    if (before === 0 && after > 0) this.#living += 1;
    if (before > 0 && after === 0) this.#living -= 1;
  }
}

function holdingOf({ starts, postings }: Part, slot: number): Holding {
  const [start, end] = [starts[slot] ?? 0, starts[slot + 1] ?? 0];
  let [titles, texts] = [0, 0];
  for (let at = start; at < end; at += 1) {
    const posting = postings[at] ?? 0;
    if (timesInTitle(posting) > 0) titles += 1;
    if (timesInText(posting) > 0) texts += 1;
  }
  return { documents: end - start, titles, texts };
}

function larger(numbers: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const twice = new Uint32Array(2 * numbers.length);
  twice.set(numbers);
  return twice;
}
