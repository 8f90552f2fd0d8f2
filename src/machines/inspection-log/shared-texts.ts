/**
 * Keeps one copy of the names that repeat in a million records: JSON makes a new string for each, which would be most
 * of what a log takes in memory.
 */
import type { InspectionRecord } from './inspection-record.ts';

/** Above it, what is new is not shared. */
const MAX_SHARED = 200_000;

export class SharedTexts {
  readonly #texts = new Map<string, string>();

  /** @param record fresh from JSON, changed in place */
  shared(record: InspectionRecord): InspectionRecord {
    const fields = record as { -readonly [Name in 'a' | 'type' | 'value' | 'from']?: unknown };
    fields.a = this.#one(record.a);
    if (typeof fields.type === 'string') fields.type = this.#one(fields.type);
    if (typeof fields.value === 'string') fields.value = this.#one(fields.value);
    if (typeof fields.from === 'string') fields.from = this.#one(fields.from);
    if (record.k !== 'step') return record;
    const { taken } = record as { readonly taken: string[] };
    for (const [index, id] of taken.entries()) taken[index] = this.#one(id);
    return record;
  }

  #one(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    if (this.#texts.size < MAX_SHARED) this.#texts.set(text, text);
    return text;
  }
}
