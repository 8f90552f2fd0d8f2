/**
 * The records of a sequence that fit, found little by little: what is new first, then what was there, the newest first.
 * What is wanted most is there at once, and a million records hold nothing up.
 */
import { countUpTo } from '../../../machines/inspection-log/inspected-actor.ts';
import type { InspectionRecord } from '../../../machines/inspection-log/inspection-record.ts';
import type { RecordSequence } from '../../../machines/inspection-log/record-sequence.ts';

/** Records by their place. */
export interface RecordList {
  readonly length: number;
  /** Grows by one for each that vanishes at the front, and falls by one for each that is added there. */
  readonly vanished: number;
  at(index: number): InspectionRecord | undefined;
  /** The place of the last with this number or a lower one; -1 where there is none. */
  indexUpTo(seq: number): number;
}

/** So many are checked before the time is. */
const AT_A_TIME = 512;

export class FilteredRecords implements RecordList {
  readonly #all: RecordSequence;
  readonly #fits: (record: InspectionRecord) => boolean;
  /**
   * Places in the sequence, counted from the first record that ever was: descending, and ascending from where it began.
   */
  #older: number[] = [];
  #newer: number[] = [];
  #begin: number;
  #end: number;
  #gone = 0;
  #addedInFront = 0;

  constructor(all: RecordSequence, fits: (record: InspectionRecord) => boolean) {
    this.#all = all;
    this.#fits = fits;
    this.#begin = this.#end = all.vanished + all.length;
  }

  get length(): number {
    return this.#older.length + this.#newer.length;
  }

  get vanished(): number {
    return this.#gone - this.#addedInFront;
  }

  /** How many were checked of those that there are. */
  get seen(): number {
    return this.#end - Math.max(this.#begin, this.#all.vanished);
  }

  get isComplete(): boolean {
    return this.#begin <= this.#all.vanished && this.#end === this.#all.vanished + this.#all.length;
  }

  /** Checks on until all was seen or time is up. @returns whether it was for all */
  check(isTimeUp: () => boolean): boolean {
    this.#forget();
    while (!this.isComplete) {
      if (this.#end < this.#all.vanished + this.#all.length) this.#readAhead();
      else this.#readBack();
      if (isTimeUp()) break;
    }
    return this.isComplete;
  }

  at(index: number): InspectionRecord | undefined {
    const place = this.#placeAt(index);
    return place === undefined ? undefined : this.#all.at(place - this.#all.vanished);
  }

  indexUpTo(seq: number): number {
    return countUpTo(this.length, (place) => (this.at(place)?.s ?? 0) <= seq) - 1;
  }

  #placeAt(index: number): number | undefined {
    const { length } = this.#older;
    return index < length ? this.#older[length - 1 - index] : this.#newer[index - length];
  }

  #readAhead(): void {
    const until = Math.min(this.#end + AT_A_TIME, this.#all.vanished + this.#all.length);
    for (; this.#end < until; this.#end += 1) if (this.#fitsAt(this.#end)) this.#newer.push(this.#end);
  }

  #readBack(): void {
    const until = Math.max(this.#begin - AT_A_TIME, this.#all.vanished);
    while (this.#begin > until) {
      this.#begin -= 1;
      if (!this.#fitsAt(this.#begin)) continue;
      this.#older.push(this.#begin);
      this.#addedInFront += 1;
    }
  }

  #fitsAt(place: number): boolean {
    const record = this.#all.at(place - this.#all.vanished);
    return record !== undefined && this.#fits(record);
  }

  /** What the sequence has forgotten since. */
  #forget(): void {
    const first = this.#all.vanished;
    const before = this.length;
    while ((this.#older.at(-1) ?? first) < first) this.#older.pop();
    if ((this.#newer[0] ?? first) < first) this.#newer = this.#newer.filter((place) => place >= first);
    this.#gone += before - this.length;
    this.#end = Math.max(this.#end, first);
  }
}
