/**
 * Bounds what the payloads of one recording take up in this tab: those of the oldest records are dropped, the records
 * themselves stay.
 */
import type { InspectionRecord } from '../../../machines/inspection-log/inspection-record.ts';

/** In characters of JSON, of all records together. As objects they take two to three times as many bytes. */
const MOST_CHARACTERS = 256 * 1_048_576;
const PAYLOADS = ['data', 'context', 'params', 'output'] as const;

export class PayloadBudget {
  readonly #most: number;
  #pieces: { readonly records: readonly InspectionRecord[]; readonly characters: number }[] = [];
  #characters = 0;

  constructor(most = MOST_CHARACTERS) {
    this.#most = most;
  }

  /**
   * @param characters of all of them as JSON @returns the number of the last record whose payload was dropped by this
   */
  add(records: readonly InspectionRecord[], characters: number): number | undefined {
    this.#pieces.push({ records, characters });
    this.#characters += characters;
    let gone = 0;
    while (this.#characters > this.#most && gone < this.#pieces.length - 1) {
      const oldest = this.#pieces[gone];
      this.#characters -= oldest?.characters ?? 0;
      for (const record of oldest?.records ?? []) dropPayloads(record);
      gone += 1;
    }
    if (gone === 0) return undefined;
    const last = this.#pieces[gone - 1]?.records.at(-1)?.s;
    this.#pieces = this.#pieces.slice(gone);
    return last;
  }
}

function dropPayloads(record: InspectionRecord): void {
  for (const name of PAYLOADS) {
    if (!Object.hasOwn(record, name)) continue;
    Reflect.deleteProperty(record, name);
    Object.assign(record, { cut: true });
  }
}
