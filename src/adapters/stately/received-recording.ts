/**
 * The records of all programs, in one order. The newest are kept; of what falls out at the old end the charts stay, and how the actors stood that are
 * alive, so that whoever reads from there knows whom the records speak of.
 */
import type { InspectionRange, InspectionRecording } from '../../actors/inspection/inspection-source.ts';
import { Followers } from '../../actors/streams/followers.ts';
import type { ChartDescription } from '../../machines/inspection/chart-description.ts';
import { INSPECTION_LOG_FORMAT } from '../../machines/inspection-log/inspection-record.ts';
import type { InspectionHeader, InspectionRecord, InspectionRecordOf } from '../../machines/inspection-log/inspection-record.ts';
import type { StatelyCharts } from '../../machines/inspection-log/stately-charts.ts';
import type { UnnumberedRecord } from '../../machines/inspection-log/stately-records.ts';

const PAGE_RECORDS = 1_000;
/** The list of records is moved up when so many have fallen out, and those are the larger part. */
const COMPACT_AFTER = 1_024;

type Listener = (batch: readonly InspectionRecord[]) => void;

interface Kept {
  readonly record: InspectionRecord;
  readonly characters: number;
}

interface Standing {
  readonly told: InspectionRecordOf<'actor'>;
  readonly stood?: InspectionRecordOf<'step'> | InspectionRecordOf<'snap'> | undefined;
}

export interface ReceivedRecordingOptions {
  readonly boot: string;
  readonly startedAt: number;
  readonly charts: StatelyCharts;
  readonly limits: { readonly records: number; readonly characters: number };
  readonly onProblem: (error: unknown) => void;
}

export class ReceivedRecording implements InspectionRecording {
  readonly header: InspectionHeader;
  readonly #options: ReceivedRecordingOptions;
  readonly #followers = new Followers<Listener>();
  readonly #charts: InspectionRecordOf<'machine'>[] = [];
  readonly #standing = new Map<string, Standing>();
  #kept: Kept[] = [];
  /** Place of the oldest record in the list. */
  #head = 0;
  #next = 1;
  #characters = 0;
  #told = 1;
  #isTurnAwaited = false;

  constructor(options: ReceivedRecordingOptions) {
    this.#options = options;
    this.header = { format: INSPECTION_LOG_FORMAT, boot: options.boot, startedAt: options.startedAt };
  }

  /** How many have fallen out. */
  get forgotten(): number {
    return this.#oldest - 1;
  }

  /** @param t milliseconds since the epoch */
  add(records: readonly UnnumberedRecord[], t: number): void {
    for (const each of records) {
      // Spread over a union TypeScript keeps apart by kind; number and time are what all kinds share.
      const record = { s: this.#next, t, ...each } as InspectionRecord;
      const characters = JSON.stringify(record).length;
      this.#next += 1;
      this.#kept.push({ record, characters });
      this.#characters += characters;
    }
    const { limits } = this.#options;
    while (this.#count > limits.records || (this.#characters > limits.characters && this.#count > 1)) this.#dropOldest();
    if (records.length > 0 && this.#followers.size > 0) this.#awaitTurn();
  }

  range(): InspectionRange {
    return { first: this.#first, last: this.#next - 1 };
  }

  chart(id: string): ChartDescription | undefined {
    return this.#options.charts.chart(id);
  }

  async *records(from: number): AsyncGenerator<readonly InspectionRecord[]> {
    const last = this.#next - 1;
    const before = from < this.#oldest ? this.#prelude().filter(({ s }) => s >= from) : [];
    let next = Math.max(from, this.#oldest);
    if (before.length > 0) yield before;
    while (next <= last) {
      const page = this.#slice(next, Math.min(PAGE_RECORDS, last - next + 1));
      const newest = page.at(-1);
      if (newest === undefined) return;
      next = newest.s + 1;
      yield page;
    }
  }

  follow(listener: Listener): () => void {
    if (this.#followers.size === 0) this.#told = this.#next;
    return this.#followers.add(listener);
  }

  get #count(): number {
    return this.#kept.length - this.#head;
  }

  get #oldest(): number {
    return this.#next - this.#count;
  }

  /** There is room before the oldest: each told thing has had a number that has fallen out. */
  get #first(): number {
    return this.#oldest - this.#charts.length - this.#standing.size;
  }

  #slice(from: number, count: number): readonly InspectionRecord[] {
    const start = this.#head + Math.max(0, from - this.#oldest);
    return this.#kept.slice(start, start + count).map(({ record }) => record);
  }

  /** How everything stood before the oldest record. */
  #prelude(): readonly InspectionRecord[] {
    const first = this.#first;
    const actors = [...this.#standing.values()].map(({ told, stood }) => ({ ...told, ...(stood === undefined ? {} : { t: stood.t, status: stood.status, ...(stood.value === undefined ? {} : { value: stood.value }) }) }));
    return [...this.#charts, ...actors].map((record, index) => ({ ...record, s: first + index }));
  }

  #dropOldest(): void {
    const oldest = this.#kept[this.#head];
    this.#head += 1;
    if (oldest !== undefined) {
      this.#characters -= oldest.characters;
      this.#fold(oldest.record);
    }
    if (this.#head < COMPACT_AFTER || this.#head * 2 < this.#kept.length) return;
    this.#kept = this.#kept.slice(this.#head);
    this.#head = 0;
  }

  #fold(record: InspectionRecord): void {
    if (record.k === 'machine') this.#charts.push(record);
    else if (record.k === 'actor') {
      if (record.status === 'active') this.#standing.set(record.a, { told: record });
      else this.#standing.delete(record.a);
    } else if (record.k === 'step' || record.k === 'snap') {
      const standing = this.#standing.get(record.a);
      if (record.status !== 'active') this.#standing.delete(record.a);
      else if (standing !== undefined) this.#standing.set(record.a, { told: standing.told, stood: record });
    }
  }

  #awaitTurn(): void {
    if (this.#isTurnAwaited) return;
    this.#isTurnAwaited = true;
    setImmediate(() => {
      this.#isTurnAwaited = false;
      this.#tell();
    });
  }

  #tell(): void {
    const from = this.#told;
    this.#told = this.#next;
    if (this.#followers.size === 0 || from === this.#next) return;
    const batch = this.#slice(from, this.#next - from);
    for (const listener of this.#followers.all) {
      try {
        listener(batch);
      } catch (error) {
        this.#options.onProblem(error);
      }
    }
  }
}
