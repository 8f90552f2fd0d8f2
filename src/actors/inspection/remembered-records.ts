/**
 * Records of a log that is read, the newest of them: in pages, the oldest page dropped first. What is dropped is not
 * forgotten altogether: the charts, and how the actors stood that were alive then, are told before the oldest record
 * that is left, so that a reader who begins there knows whom it is about.
 */
import type { ChartDescription } from '../../machines/inspection/chart-description.ts';
import type { InspectionRecord, InspectionRecordOf } from '../../machines/inspection-log/inspection-record.ts';
import type { InspectionRange } from './inspection-source.ts';

export interface RememberedLimits {
  readonly records: number;
  /** Of the records as JSON. */
  readonly characters: number;
  /** Different charts. Default 1,000. */
  readonly charts?: number | undefined;
}

interface Page {
  readonly records: InspectionRecord[];
  characters: number;
}

interface ActiveActor {
  told: InspectionRecordOf<'actor'>;
  stood: InspectionRecordOf<'step' | 'snap'> | undefined;
}

const PAGE_RECORDS = 1_000;
/** A page is dropped whole: it is a small part of what is kept. */
const LEAST_PAGES = 10;
const MAX_CHARTS = 1_000;
/** Actors that are still told of although nothing of them is kept. The oldest are forgotten beyond it. */
const MAX_ACTIVE = 50_000;

export class RememberedRecords {
  readonly #limits: RememberedLimits;
  readonly #pageRecords: number;
  #pages: Page[] = [];
  #count = 0;
  #characters = 0;
  #last = 0;
  #dropped = 0;
  readonly #charts = new Map<string, ChartDescription>();
  readonly #chartsBefore = new Map<string, InspectionRecord>();
  readonly #active = new Map<string, ActiveActor>();

  constructor(limits: RememberedLimits) {
    this.#limits = limits;
    this.#pageRecords = Math.max(1, Math.min(PAGE_RECORDS, Math.floor(limits.records / LEAST_PAGES)));
  }

  /** How many have been dropped. */
  get dropped(): number {
    return this.#dropped;
  }

  get range(): InspectionRange {
    return { first: this.#oldest - this.#chartsBefore.size - this.#active.size, last: this.#last };
  }

  /** @param records numbered upwards, above all that were added before @param characters what they take up together */
  add(records: readonly InspectionRecord[], characters: number): void {
    const each = characters / Math.max(1, records.length);
    for (const record of records) {
      const page = this.#openPage();
      page.records.push(record);
      page.characters += each;
      if (record.k === 'machine' && this.#charts.size < (this.#limits.charts ?? MAX_CHARTS))
        this.#charts.set(record.id, record.chart);
      this.#last = record.s;
    }
    this.#count += records.length;
    this.#characters += characters;
    while (this.#pages.length > 1 && (this.#count > this.#limits.records || this.#characters > this.#limits.characters))
      this.#dropOldest();
  }

  chart(id: string): ChartDescription | undefined {
    return this.#charts.get(id);
  }

  get charts(): ReadonlyMap<string, ChartDescription> {
    return this.#charts;
  }

  /** Pages from number `from` to what is the newest now. What is dropped meanwhile is missing from them. */
  async *read(from: number): AsyncGenerator<readonly InspectionRecord[]> {
    const last = this.#last;
    let next = from;
    if (next < this.#oldest) {
      const before = this.#prelude().filter(({ s }) => s >= from);
      next = this.#oldest;
      if (before.length > 0) yield before;
    }
    while (next <= last) {
      const page = this.#pages.find(({ records }) => (records.at(-1)?.s ?? 0) >= next);
      const records = page?.records.filter(({ s }) => s >= next && s <= last) ?? [];
      const newest = records.at(-1);
      if (newest === undefined) return;
      next = newest.s + 1;
      yield records;
    }
  }

  get #oldest(): number {
    return this.#pages[0]?.records[0]?.s ?? this.#last + 1;
  }

  #openPage(): Page {
    const last = this.#pages.at(-1);
    if (last !== undefined && last.records.length < this.#pageRecords) return last;
    const page = { records: [], characters: 0 };
    this.#pages.push(page);
    return page;
  }

  #dropOldest(): void {
    const [oldest, ...rest] = this.#pages;
    if (oldest === undefined) return;
    this.#pages = rest;
    this.#count -= oldest.records.length;
    this.#characters -= oldest.characters;
    this.#dropped += oldest.records.length;
    for (const record of oldest.records) this.#fold(record);
    for (const key of this.#active.keys()) {
      if (this.#active.size <= MAX_ACTIVE) break;
      this.#active.delete(key);
    }
  }

  #fold(record: InspectionRecord): void {
    if (record.k === 'machine') {
      if (this.#charts.has(record.id)) this.#chartsBefore.set(record.id, record);
    } else if (record.k === 'actor') {
      if (record.status === 'active') this.#active.set(record.a, { told: record, stood: undefined });
      else this.#active.delete(record.a);
    } else if (record.k === 'step' || record.k === 'snap') {
      const active = this.#active.get(record.a);
      if (record.status !== 'active') this.#active.delete(record.a);
      else if (active !== undefined) active.stood = record;
    } else if (record.k === 'error') this.#active.delete(record.a);
  }

  /**
   * How everything stood before the oldest record, numbered up to that: each has had a number of its own that was
   * dropped, so there is space.
   */
  #prelude(): readonly InspectionRecord[] {
    const { first } = this.range;
    const actors = [...this.#active.values()].map(({ told, stood }) => ({ ...told, ...standOf(stood) }));
    return [...this.#chartsBefore.values(), ...actors].map((record, index) => ({ ...record, s: first + index }));
  }
}

function standOf(record: ActiveActor['stood']): Partial<InspectionRecordOf<'actor'>> {
  if (record === undefined) return {};
  return { t: record.t, status: record.status, ...(record.value === undefined ? {} : { value: record.value }) };
}
