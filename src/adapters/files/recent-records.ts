/**
 * The newest records of a log, kept in memory: every follower reads what was just appended, and need not read it back
 * from the disk and check it. Bounded; whatever is older is read from the log.
 */
import { deepFrozen } from '../../machines/plain-copy.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import { eventsOf } from './record-codec.ts';
import type { ReadRecord } from './record-codec.ts';

/** Bytes of the log that are kept: a wake or two of the usual size. Up to a hundred logs are open at once. */
export const RECENT_BYTES = 64 * 1024;

/** Dropped records are taken off the list when they are as many as this. */
const SLACK_RECORDS = 64;

interface RecentRecord {
  readonly record: ReadRecord;
  readonly firstSeq: number;
  readonly bytes: number;
}

export class RecentRecords {
  readonly #sessionId: string;
  #records: RecentRecord[] = [];
  /** Position of the oldest one that is kept. */
  #oldest = 0;
  #bytes = 0;
  #nextSeq = 0;

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  /** Keeps the record that was admitted with `firstSeq`. It is frozen from now on. `bytes` is its length in the log. */
  keep(record: ReadRecord, firstSeq: number, bytes: number): void {
    if (firstSeq !== this.#nextSeq) this.clear();
    for (const { data } of record.events) deepFrozen(data);
    this.#records.push({ record, firstSeq, bytes });
    this.#nextSeq = firstSeq + record.events.length;
    this.#bytes += bytes;
    while (this.#bytes > RECENT_BYTES && this.#oldest < this.#records.length) this.#dropOldest();
    if (this.#oldest >= SLACK_RECORDS) {
      this.#records = this.#records.slice(this.#oldest);
      this.#oldest = 0;
    }
  }

  /** The events from `from` to `to`, or undefined when not all of them are kept. */
  events({ from, to }: { readonly from: number; readonly to: number }): SessionEvent[] | undefined {
    const oldestSeq = this.#records[this.#oldest]?.firstSeq;
    if (oldestSeq === undefined || from < oldestSeq || to >= this.#nextSeq) return undefined;
    const events: SessionEvent[] = [];
    for (let position = this.#positionOf(from); position < this.#records.length; position += 1) {
      const entry = this.#records[position];
      if (entry === undefined || entry.firstSeq > to) break;
      for (const event of eventsOf(entry.record, { sessionId: this.#sessionId, firstSeq: entry.firstSeq })) {
        if (event.seq >= from && event.seq <= to) events.push(event);
      }
    }
    return events;
  }

  clear(): void {
    this.#records = [];
    this.#oldest = 0;
    this.#bytes = 0;
    this.#nextSeq = 0;
  }

  #dropOldest(): void {
    const entry = this.#records[this.#oldest];
    this.#bytes -= entry?.bytes ?? 0;
    this.#oldest += 1;
  }

  /** Of the record that holds event `seq`: most ask for what came last. */
  #positionOf(seq: number): number {
    let position = this.#records.length - 1;
    while (position > this.#oldest && (this.#records[position]?.firstSeq ?? 0) > seq) position -= 1;
    return position;
  }
}
