/**
 * What becomes of appends: a record is judged before it is written, and its caller hears what the log made of it. Shares
 * the reader of its log, and like that is not safe against itself: one call at a time.
 */
import { epochSuperseded, headMoved } from '../../actors/session/event-store.ts';
import type { AppendOptions, AppendResult, NewSessionEvents } from '../../actors/session/event-store.ts';
import { epochOf } from '../../machines/session/log-admission.ts';
import type { RecordPlace, Verdict } from '../../machines/session/log-admission.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { LogReader } from './log-reader.ts';
import { eventsOf } from './record-codec.ts';
import type { EncodedRecord, ReadRecord } from './record-codec.ts';
import type { EarlierRecords } from './tail-admission.ts';

/** Bytes that one write of appends may hold. What waits beyond goes into the next. */
export const MAX_BATCH_BYTES = 4 * 1024 * 1024;

/** How often a record is written again that another process's write has cut in two. */
export const MAX_WRITE_ATTEMPTS = 3;

/** How often in a row a write may come too late, into a segment that another process has just sealed. */
export const MAX_SEALED_WRITES = 1_000;

/** An append that waits for its turn, or for its receipt. */
export interface PendingAppend {
  readonly events: NewSessionEvents;
  readonly options: AppendOptions;
  readonly resolve: (result: AppendResult) => void;
  readonly reject: (error: unknown) => void;
}

/** One whose record is written. */
export interface Written extends EncodedRecord {
  readonly pending: PendingAppend;
}

interface OutcomesOptions {
  readonly sessionId: string;
  readonly durability: 'disk' | 'os';
  readonly reader: LogReader;
}

export class AppendOutcomes {
  readonly #sessionId: string;
  readonly #durability: 'disk' | 'os';
  readonly #reader: LogReader;
  /** Repeated appends whose first result is to be read. */
  #lookUps: (() => Promise<void>)[] = [];

  constructor({ sessionId, durability, reader }: OutcomesOptions) {
    this.#sessionId = sessionId;
    this.#durability = durability;
    this.#reader = reader;
  }

  /** The same as `judge`, where the disk is not needed for it. */
  judgeAtOnce(record: ReadRecord): Verdict | undefined {
    const { index } = this.#reader;
    if (index.part?.mayHold(record) === true) return undefined;
    const verdict = index.judge(record, undefined);
    return this.#isSettled(record, verdict) ? verdict : undefined;
  }

  /**
   * What would become of a record. Not refused for what is known only: another process may have stored the very same one
   * since.
   */
  async judge(record: ReadRecord): Promise<Verdict> {
    const known = await this.#judgeByKnown(record);
    if (this.#isSettled(record, known)) return known;
    await this.#reader.catchUp();
    return this.#judgeByKnown(record);
  }

  /**
   * Whether what others have stored since cannot change the verdict but by what writing shows. The id goes before the
   * key, and may be among theirs.
   */
  #isSettled({ events: [first] }: ReadRecord, { kind }: Verdict): boolean {
    return kind === 'admitted' || (kind === 'duplicate' && this.#reader.index.admission.findId(first.id) !== undefined);
  }

  async #judgeByKnown(record: ReadRecord): Promise<Verdict> {
    // The index may be another one afterwards.
    const earlier = await this.#earlier(record);
    return this.#reader.index.judge(record, earlier);
  }

  async #earlier(record: ReadRecord): Promise<EarlierRecords | undefined> {
    if (this.#reader.index.part?.mayHold(record) !== true) return undefined;
    return this.#reader.withIndex(() => this.#reader.earlier(record));
  }

  /** Settles an append that needs no writing. `hasOthersAhead`: others of its batch are written before it. */
  isToBeWritten(
    pending: PendingAppend,
    record: ReadRecord,
    { verdict, hasOthersAhead }: { readonly verdict: Verdict; readonly hasOthersAhead: boolean },
  ): boolean {
    const { expectedHead } = pending.options;
    const { head } = this.#reader.index.admission;
    if (this.#settleUnlessAdmitted(pending, record, verdict)) return false;
    if (expectedHead === undefined || (expectedHead === head && !hasOthersAhead)) return true;
    pending.reject(headMoved(this.#sessionId, expectedHead, head));
    return false;
  }

  /** Tells an append what became of its record, once it is called. */
  telling(written: Written | undefined, verdict: Verdict): () => void {
    if (written === undefined) return () => undefined;
    const { pending, record } = written;
    if (verdict.kind !== 'admitted') return () => this.#settleUnlessAdmitted(pending, record, verdict);
    const result = this.result(eventsOf(record, { sessionId: this.#sessionId, firstSeq: verdict.firstSeq }), false);
    return () => pending.resolve(result);
  }

  /** Settles records that were read back among those of others. Returns those that are not to be found. */
  async settleRead(written: readonly Written[]): Promise<Written[]> {
    const missing: Written[] = [];
    for (const each of written) {
      const { pending, record } = each;
      const place = this.#reader.index.admission.findId(record.events[0].id);
      if (place !== undefined)
        this.#lookUps.push(() => this.#resultOfRead(record, place).then(pending.resolve, pending.reject));
      else if (!this.#settleUnlessAdmitted(pending, record, await this.#judgeByKnown(record))) missing.push(each);
    }
    return missing;
  }

  /** Reads the results of repeated appends, and tells them. */
  async lookUp(): Promise<void> {
    for (const lookUp of this.#lookUps.splice(0)) await lookUp();
  }

  /** The log has failed before those results could be read: their callers hear of that. */
  forgetLookUps(): void {
    this.#lookUps = [];
  }

  result(events: readonly SessionEvent[], isDuplicate: boolean): AppendResult {
    return { events, durability: this.#durability, isDuplicate };
  }

  /** Settles an append whose record does not count. False when it does. */
  #settleUnlessAdmitted(pending: PendingAppend, record: ReadRecord, verdict: Verdict): boolean {
    switch (verdict.kind) {
      case 'admitted':
        return false;
      case 'duplicate':
        this.#lookUps.push(() => this.#resultAt(verdict.firstSeq, verdict.count).then(pending.resolve, pending.reject));
        return true;
      case 'moved':
        pending.reject(headMoved(this.#sessionId, pending.options.expectedHead ?? 0, verdict.head));
        return true;
      case 'superseded':
        pending.reject(epochSuperseded(this.#sessionId, epochOf(record) ?? 0, verdict.epoch));
        return true;
    }
  }

  /** Under the id of a record of ours there may be another one, which another process wrote before it. */
  async #resultOfRead(record: ReadRecord, { firstSeq, count }: RecordPlace): Promise<AppendResult> {
    const ours = eventsOf(record, { sessionId: this.#sessionId, firstSeq });
    const stored = await this.#resultAt(firstSeq, count);
    return JSON.stringify(ours) === JSON.stringify(stored.events) ? this.result(ours, false) : stored;
  }

  async #resultAt(firstSeq: number, count: number): Promise<AppendResult> {
    return this.result(await this.#reader.withIndex(() => this.#reader.reread({ from: firstSeq, limit: count })), true);
  }
}
