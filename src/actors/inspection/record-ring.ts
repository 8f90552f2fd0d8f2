/**
 * The newest records. What falls out at the old end is not forgotten altogether: how the actors stood that were alive then, and the charts, are told
 * before the oldest record that is left, so that whoever reads from there knows whom the records speak of.
 */
import type { InspectionRecord } from '../../machines/inspection-log/inspection-record.ts';

/** Whom a record is about. */
export interface RecordOwner {
  readonly key: string;
  /** The record that told it, once that has fallen out, and the last one that said how it stands. */
  told: InspectionRecord | undefined;
  stood: InspectionRecord | undefined;
}

/** What a record takes up besides its payload. */
const RECORD_CHARACTERS = 160;

export class RecordRing {
  readonly #capacity: number;
  readonly #maxCharacters: number;
  readonly #records: (InspectionRecord | undefined)[] = [];
  readonly #owners: (RecordOwner | undefined)[] = [];
  readonly #sizes: number[] = [];
  /** Charts and living actors whose records have fallen out. */
  readonly #charts: InspectionRecord[] = [];
  readonly #standing = new Map<string, RecordOwner>();
  /** Of the oldest record that is left, and of the next one to come. */
  #oldest = 1;
  #next = 1;
  #characters = 0;

  constructor({ records, characters }: { readonly records: number; readonly characters: number }) {
    this.#capacity = records;
    this.#maxCharacters = characters;
  }

  get oldest(): number {
    return this.#oldest;
  }

  get next(): number {
    return this.#next;
  }

  get characters(): number {
    return this.#characters;
  }

  /** The number of the first record of `prelude`, or of the oldest one: there is room before it, since each told thing has had a number that has fallen out. */
  get first(): number {
    return this.#oldest - this.#charts.length - this.#standing.size;
  }

  /** @param record numbered `next` @param size of its payload, in characters */
  add(record: InspectionRecord, owner: RecordOwner, size: number): void {
    if (this.#next - this.#oldest === this.#capacity) this.#dropOldest();
    const at = (this.#next - 1) % this.#capacity;
    this.#records[at] = record;
    this.#owners[at] = owner;
    this.#sizes[at] = size + RECORD_CHARACTERS;
    this.#characters += size + RECORD_CHARACTERS;
    this.#next += 1;
    while (this.#characters > this.#maxCharacters && this.#next - this.#oldest > 1) this.#dropOldest();
  }

  /** From number `from` on, at most `count`. Those that have fallen out are skipped. */
  slice(from: number, count: number): readonly InspectionRecord[] {
    const first = Math.max(from, this.#oldest);
    const end = Math.min(this.#next, first + count);
    const records: InspectionRecord[] = [];
    for (let number = first; number < end; number += 1) {
      const record = this.#records[(number - 1) % this.#capacity];
      if (record !== undefined) records.push(record);
    }
    return records;
  }

  /** How everything stood before the oldest record: charts, then actors, numbered up to that record. */
  prelude(): readonly InspectionRecord[] {
    const actors = [...this.#standing.values()].flatMap(({ told, stood }) => (told?.k === 'actor' ? [{ ...told, ...standOf(stood) }] : []));
    const { first } = this;
    return [...this.#charts, ...actors].map((record, index) => ({ ...record, s: first + index }));
  }

  #dropOldest(): void {
    const at = (this.#oldest - 1) % this.#capacity;
    const record = this.#records[at];
    const owner = this.#owners[at];
    this.#characters -= this.#sizes[at] ?? 0;
    this.#records[at] = undefined;
    this.#owners[at] = undefined;
    this.#oldest += 1;
    if (record !== undefined && owner !== undefined) this.#fold(record, owner);
  }

  #fold(record: InspectionRecord, owner: RecordOwner): void {
    switch (record.k) {
      case 'machine':
        this.#charts.push(record);
        return;
      case 'actor':
        owner.told = record;
        if (record.status === 'active') this.#standing.set(owner.key, owner);
        return;
      case 'step':
      case 'snap':
        owner.stood = record;
        if (record.status !== 'active') this.#standing.delete(owner.key);
        return;
      case 'error':
        this.#standing.delete(owner.key);
        return;
      case 'event':
      case 'action':
      case 'emit':
      case 'timer':
      case 'cancel':
    }
  }
}

function standOf(record: InspectionRecord | undefined): Partial<Pick<InspectionRecord & { readonly k: 'step' }, 't' | 'value' | 'status'>> {
  if (record?.k !== 'step' && record?.k !== 'snap') return {};
  return { t: record.t, status: record.status, ...(record.value === undefined ? {} : { value: record.value }) };
}
