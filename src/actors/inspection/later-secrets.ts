/**
 * Secrets that become known after they were recorded: records that were made before are redacted once more on their way
 * out.
 */
import { MAX_MESSAGE_CHARACTERS, MAX_NAME_CHARACTERS } from '../../machines/inspection-log/inspection-record.ts';
import type { InspectionRecord } from '../../machines/inspection-log/inspection-record.ts';
import type { InspectedText } from './inspected-text.ts';

/** What records are found and put in order by, and what charts name. */
const KEPT: ReadonlySet<string> = new Set([
  'k',
  's',
  't',
  'a',
  'e',
  'from',
  'parent',
  'chart',
  'status',
  'taken',
  'delayMs',
  'dueAt',
  'cut',
]);

export class LaterSecrets {
  readonly #text: InspectedText;
  #version: number;
  /** Records from this number on were redacted with everything that is known. */
  #cleanFrom = 1;

  constructor(text: InspectedText) {
    this.#text = text;
    this.#version = text.version;
  }

  /**
   * A page as it may be shown now.
   * @param next number of the next record to be made
   * @param isRenumbered the numbers do not say when the records were made
   */
  shown(page: readonly InspectionRecord[], next: number, isRenumbered = false): readonly InspectionRecord[] {
    const { version } = this.#text;
    if (version !== this.#version) {
      this.#version = version;
      this.#cleanFrom = next;
      this.#text.nextTurn();
    }
    const isClean = (record: InspectionRecord): boolean =>
      record.k === 'machine' || (isRenumbered ? this.#cleanFrom === 1 : record.s >= this.#cleanFrom);
    return page.every(isClean) ? page : page.map((record) => (isClean(record) ? record : this.#redacted(record)));
  }

  #redacted(record: InspectionRecord): InspectionRecord {
    return Object.fromEntries(
      Object.entries(record).map(([key, value]) => [key, KEPT.has(key) ? value : this.#again(value)]),
    ) as InspectionRecord;
  }

  /** @param value JSON, bounded in depth when it was recorded */
  #again(value: unknown): unknown {
    if (typeof value === 'string') return this.#string(value);
    if (typeof value === 'number') return this.#text.number(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((each: unknown) => this.#again(each));
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [this.#string(key), this.#again(each)]));
  }

  /**
   * What stands in the place of a secret may be longer than that was: names and messages stay as short as they have to
   * be.
   */
  #string(text: string): string {
    const bound = [MAX_NAME_CHARACTERS, MAX_MESSAGE_CHARACTERS].find((most) => text.length <= most);
    return this.#text.cut(text, bound ?? Infinity);
  }
}
