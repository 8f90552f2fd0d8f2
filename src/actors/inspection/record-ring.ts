/**
 * The newest records. What falls out at the old end is not forgotten altogether: how the actors stood that were alive
 * then, and the charts, are told before the oldest record that is left, so that a reader who begins there knows whom
 * the records speak of.
 */
import type { InspectionRecord, InspectionRecordOf } from '../../machines/inspection-log/inspection-record.ts';
import type { RecorderLimits } from '../../machines/inspection-log/recorder-limits.ts';
import { RecordColumns, actorRecord } from './record-columns.ts';
import { ActiveOwners } from './record-owner.ts';
import { KIND, kindCodeOf, statusOfMarks } from './record-row.ts';
import type { RecordRow } from './record-row.ts';

/** What a record takes up besides its payload. */
const RECORD_CHARACTERS = 160;
/** Room is made for so many at a time. */
const SEGMENT_RECORDS = 4_096;

/** A place in the ring. */
interface Place {
  segment: number;
  at: number;
}

export class RecordRing {
  readonly #boot: string;
  readonly #capacity: number;
  readonly #maxCharacters: number;
  readonly #segmentRecords: number;
  readonly #segmentCount: number;
  readonly #segments: RecordColumns[] = [];
  /** Charts whose records have fallen out, and living actors of which that is true. */
  readonly #charts: InspectionRecordOf<'machine'>[] = [];
  readonly #active = new ActiveOwners();
  /** Of the oldest record that is left, and of the next one to come. */
  #oldest = 1;
  #next = 1;
  readonly #oldestPlace: Place = { segment: 0, at: 0 };
  readonly #nextPlace: Place = { segment: 0, at: 0 };
  #characters = 0;

  /** @param boot what the keys of actors begin with */
  constructor(boot: string, { records, characters }: Pick<RecorderLimits, 'records' | 'characters'>) {
    this.#boot = boot;
    this.#capacity = records;
    this.#maxCharacters = characters;
    this.#segmentCount = Math.ceil(records / SEGMENT_RECORDS);
    this.#segmentRecords = Math.ceil(records / this.#segmentCount);
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

  /**
   * The number of the first record of `prelude`, or of the oldest one: there is space before it, since each told thing
   * has had a number that has fallen out.
   */
  get first(): number {
    return this.#oldest - this.#charts.length - this.#active.size;
  }

  add(row: RecordRow): void {
    if (this.#next - this.#oldest === this.#capacity) this.#dropOldest();
    const place = this.#nextPlace;
    const segment = (this.#segments[place.segment] ??= new RecordColumns(this.#boot, this.#segmentRecords));
    segment.put(place.at, row);
    this.#advance(place);
    this.#characters += row.size + RECORD_CHARACTERS;
    this.#next += 1;
    while (this.#characters > this.#maxCharacters && this.#next - this.#oldest > 1) this.#dropOldest();
  }

  /** From number `from` on, at most `count`. Those that have fallen out are skipped. */
  slice(from: number, count: number): readonly InspectionRecord[] {
    const first = Math.max(from, this.#oldest);
    const end = Math.min(this.#next, first + count);
    const records: InspectionRecord[] = [];
    const begin = this.#oldestPlace.segment * this.#segmentRecords + this.#oldestPlace.at - this.#oldest;
    const slots = this.#segmentCount * this.#segmentRecords;
    for (let number = first; number < end; number += 1) {
      const slot = (begin + number) % slots;
      const record = this.#segments[Math.floor(slot / this.#segmentRecords)]?.recordAt(
        slot % this.#segmentRecords,
        number,
      );
      if (record !== undefined) records.push(record);
    }
    return records;
  }

  /**
   * How everything stood before the oldest record: charts, then actors, numbered up to that record. In pages of at most
   * `count`: an actor that ends between two of them is left out.
   */
  *prelude(count: number): Generator<readonly InspectionRecord[]> {
    const { first } = this;
    const charts = this.#charts.map((chart, index) => ({ ...chart, s: first + index }));
    const owners = [...this.#active];
    for (let from = 0; from < charts.length; from += count) yield charts.slice(from, from + count);
    for (let from = 0; from < owners.length; from += count) {
      const page = owners.slice(from, from + count).flatMap((owner, index) => {
        const { standsSince: t } = owner;
        return t === undefined
          ? []
          : [actorRecord({ s: first + charts.length + from + index, t, boot: this.#boot, owner, status: 'active' })];
      });
      if (page.length > 0) yield page;
    }
  }

  #advance(place: Place): void {
    place.at += 1;
    if (place.at < this.#segmentRecords) return;
    place.at = 0;
    place.segment = place.segment + 1 === this.#segmentCount ? 0 : place.segment + 1;
  }

  #dropOldest(): void {
    const place = this.#oldestPlace;
    const segment = this.#segments[place.segment];
    if (segment !== undefined) {
      this.#characters -= segment.sizeAt(place.at) + RECORD_CHARACTERS;
      this.#fold(segment, place.at);
      segment.clear(place.at);
    }
    this.#advance(place);
    this.#oldest += 1;
  }

  #fold(segment: RecordColumns, at: number): void {
    const marks = segment.marksAt(at);
    switch (kindCodeOf(marks)) {
      case KIND.machine: {
        const record = segment.recordAt(at, this.#oldest);
        if (record.k === 'machine') this.#charts.push(record);
        return;
      }
      case KIND.actor:
        if (statusOfMarks(marks) === 'active') this.#active.add(segment.ownerAt(at), segment.timeAt(at));
        return;
      case KIND.step:
      case KIND.snap: {
        const owner = segment.ownerAt(at);
        if (owner.standsSince === undefined) return;
        if (statusOfMarks(marks) !== 'active') return this.#active.delete(owner);
        owner.value = segment.valueAt(at) ?? owner.value;
        owner.standsSince = segment.timeAt(at);
        return;
      }
      case KIND.error:
        return this.#active.delete(segment.ownerAt(at));
      default:
      // The others say nothing of how an actor stands.
    }
  }
}
