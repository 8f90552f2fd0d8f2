/** All parts of an agent together: their vocabulary, and what they sum up to. */
import type { Part } from './part.ts';
import type { Slices } from './slices.ts';
import { Vocabulary } from './vocabulary.ts';
import { rarityOf } from './word-search.ts';
import type { NumberedPart, Totals } from './word-search.ts';

export interface PartTotals extends Totals {
  readonly characters: number;
}

const NOTHING: PartTotals = { documents: 0, titleTerms: 0, textTerms: 0, characters: 0 };

export class PartSet {
  readonly #parts = new Map<string, NumberedPart>();
  #vocabulary = new Vocabulary();
  #totals = NOTHING;

  get all(): readonly NumberedPart[] {
    return [...this.#parts.values()];
  }

  get totals(): PartTotals {
    return this.#totals;
  }

  get vocabulary(): Vocabulary {
    return this.#vocabulary;
  }

  get(name: string): Part | undefined {
    return this.#parts.get(name)?.part;
  }

  /** In place of what had the name. */
  put(name: string, part: Part): void {
    this.remove(name);
    this.#parts.set(name, { name, part, numbers: this.#vocabulary.add(part) });
    this.#totals = summed(this.#totals, part, 1);
  }

  remove(name: string): void {
    const known = this.#parts.get(name);
    if (known === undefined) return;
    this.#parts.delete(name);
    this.#vocabulary.remove(known.part, known.numbers);
    this.#totals = summed(this.#totals, known.part, -1);
  }

  rarity(term: string): number {
    return rarityOf(this.#vocabulary.documentsWith(term), this.#totals.documents);
  }

  /** Forgets the words that no part uses any more, when they are many. */
  async tidy(slices: Slices): Promise<void> {
    if (!this.#vocabulary.isMostlyDead) return;
    const vocabulary = new Vocabulary();
    const numbered: NumberedPart[] = [];
    for (const each of this.all) {
      numbered.push({ ...each, numbers: vocabulary.add(each.part) });
      if (slices.isOver) await slices.breathe();
    }
    // Another caller may have changed something meanwhile: then it is for the next time.
    if (numbered.length !== this.#parts.size || numbered.some(({ name, part }) => this.#parts.get(name)?.part !== part))
      return;
    this.#vocabulary = vocabulary;
    for (const each of numbered) this.#parts.set(each.name, each);
  }
}

function summed(totals: PartTotals, { counts, lengths }: Part, by: 1 | -1): PartTotals {
  let [titleTerms, textTerms] = [0, 0];
  for (const length of lengths) {
    titleTerms += length >>> 16;
    textTerms += length & 0xff_ff;
  }
  return {
    documents: totals.documents + by * counts.documents,
    titleTerms: totals.titleTerms + by * titleTerms,
    textTerms: totals.textTerms + by * textTerms,
    characters: totals.characters + by * counts.characters,
  };
}
