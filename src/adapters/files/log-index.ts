/**
 * What is known about the part of a log that has been read: which records count, and where each of them lies. It begins
 * at a checkpoint, when there is one; the part before that is on the disk. Fed with the records of the log in order.
 */
import type { Verdict } from '../../machines/session/log-admission.ts';
import { WordRows } from '../../machines/session/word-rows.ts';
import { IndexDamaged } from './index-entry.ts';
import type { LogPlace, NamedRecord } from './index-entry.ts';
import type { IndexedPart } from './indexed-part.ts';
import { LogChain } from './log-chain.ts';
import type { ChainPoint } from './log-chain.ts';
import type { EncodedRecord, ReadRecord } from './record-codec.ts';
import { TailAdmission } from './tail-admission.ts';
import type { EarlierRecords } from './tail-admission.ts';
import { hashText } from './text-hash.ts';

/** How far a log has been read. */
export interface LogExtent {
  /** Where the next unread line begins. */
  readonly segment: number;
  readonly offset: number;
  /** Sequence number and id of the last event; 0 and the empty string for an empty log. */
  readonly head: number;
  readonly headId: string;
  /** The last record that counts. */
  readonly last?: (LogPlace & { readonly checksum: number }) | undefined;
}

/** A point of a log from which reading can go on as if all before had been read. */
export interface LogPoint extends LogExtent {
  readonly epoch: number;
  /** Whether a line that could not be read stands between the last record that counts and this point. */
  readonly afterDamage: boolean;
  readonly damagedLines: number;
  readonly chain: ChainPoint;
}

/** The same, with a way to find what lies before it. */
export interface LogStart extends LogPoint {
  readonly part: IndexedPart;
}

/** Columns of a record behind the checkpoint. What else is known of it, the admission knows. */
const SEGMENT = 0;
const OFFSET = 1;
const CHECKSUM = 3;
const KEY_LOW = 4;
const KEY_HIGH = 5;
const TAIL_WORDS = 6;

export class LogIndex {
  readonly part: IndexedPart | undefined;
  readonly admission: TailAdmission;
  readonly chain: LogChain;
  /** Lines that could not be read. */
  damagedLines = 0;
  /** The segment that is being read, and where its next unread line begins. */
  segment = 1;
  offset = 0;
  #isAfterDamage = false;
  /** Of the last record that counts. */
  #last: LogExtent['last'];
  /** Bytes that were read since the start. */
  #tailBytes = 0;
  /** The records behind the checkpoint. */
  readonly #tail = new WordRows(TAIL_WORDS);

  constructor(start?: LogStart) {
    this.part = start?.part;
    this.admission = new TailAdmission(start);
    this.chain = new LogChain(start?.chain);
    if (start === undefined) return;
    this.damagedLines = start.damagedLines;
    this.segment = start.segment;
    this.offset = start.offset;
    this.#isAfterDamage = start.afterDamage;
    this.#last = start.last;
  }

  get extent(): LogExtent {
    const { head, headId } = this.admission;
    return { segment: this.segment, offset: this.offset, head, headId, last: this.#last };
  }

  /** The point that reading has come to. */
  get point(): LogPoint {
    return {
      ...this.extent,
      epoch: this.admission.epoch,
      afterDamage: this.#isAfterDamage,
      damagedLines: this.damagedLines,
      chain: this.chain.point,
    };
  }

  /** The records behind the checkpoint, in order. */
  get tail(): readonly NamedRecord[] {
    return Array.from({ length: this.#tail.size }, (_, number) => this.#recordAt(number));
  }

  /** How much has been read behind the checkpoint. */
  get tailSize(): { readonly records: number; readonly events: number; readonly bytes: number } {
    return { records: this.#tail.size, events: this.admission.head - (this.part?.head ?? 0), bytes: this.#tailBytes };
  }

  /** Takes the record that begins at `start` and ends before `end`. Gives its first sequence number if it counts. */
  take(
    record: ReadRecord,
    { start, end }: { readonly start: number; readonly end: number },
    earlier: EarlierRecords | undefined,
  ): number | undefined {
    this.passTo(end);
    const verdict = this.#admit(record, start, earlier);
    return verdict.kind === 'admitted' ? verdict.firstSeq : undefined;
  }

  /** Passes a line that could not be read. */
  takeDamage(end: number): void {
    this.passTo(end);
    this.damagedLines += 1;
    this.#isAfterDamage = true;
  }

  /** Nothing more that counts before `end`. */
  passTo(end: number): void {
    this.#tailBytes += end - this.offset;
    this.offset = end;
  }

  /** Goes on at the start of the next segment. Without a seal no reader can tell what the end of the one before was. */
  moveTo(segment: number, { isSealed }: { readonly isSealed: boolean }): void {
    this.segment = segment;
    this.offset = 0;
    if (!isSealed) this.#isAfterDamage = true;
  }

  /** Takes records that this process wrote at the end, one behind the other, without reading them back. */
  takeOwn(records: readonly EncodedRecord[]): Verdict[] {
    return records.map(({ record, byteLength }) => {
      // The newline in front makes an empty line of its own.
      const start = this.offset + 1;
      this.passTo(this.offset + byteLength);
      return this.#admit(record, start, undefined);
    });
  }

  /** What would become of a record, were it appended now. */
  judge(record: ReadRecord, earlier: EarlierRecords | undefined): Verdict {
    return this.admission.judge(record, { afterDamage: this.#isAfterDamage, earlier });
  }

  /** The records behind the checkpoint that hold the events from `from` to `to`. */
  tailCovering({ from, to }: { readonly from: number; readonly to: number }): readonly NamedRecord[] {
    if (this.#tail.size === 0) return [];
    const first = this.admission.numberOf(from);
    return Array.from({ length: this.admission.numberOf(to) + 1 - first }, (_, index) => this.#recordAt(first + index));
  }

  #recordAt(number: number): NamedRecord {
    const key = { low: this.#tail.get(number, KEY_LOW), high: this.#tail.get(number, KEY_HIGH) };
    return {
      ...this.admission.recordAt(number),
      segment: this.#tail.get(number, SEGMENT),
      offset: this.#tail.getLong(number, OFFSET),
      key: key.low === 0 && key.high === 0 ? undefined : key,
    };
  }

  #keep({ key, checksum }: ReadRecord, start: number): void {
    const number = this.#tail.add();
    this.#tail.set(number, SEGMENT, this.segment);
    this.#tail.setLong(number, OFFSET, start);
    this.#tail.set(number, CHECKSUM, checksum);
    if (key === undefined) return;
    const { low, high } = hashText(key);
    this.#tail.set(number, KEY_LOW, low);
    this.#tail.set(number, KEY_HIGH, high);
  }

  #admit(record: ReadRecord, start: number, earlier: EarlierRecords | undefined): Verdict {
    this.chain.take(record);
    const verdict = this.admission.admit(record, { afterDamage: this.#isAfterDamage, earlier });
    if (verdict.kind === 'duplicate') this.#compareCopies(record, verdict.firstSeq);
    // A void record says nothing about what the damaged one before it was: the next one that counts may still have to
    // follow that.
    if (verdict.kind !== 'admitted') return verdict;
    this.#isAfterDamage = false;
    this.#keep(record, start);
    this.#last = { segment: this.segment, offset: start, checksum: record.checksum };
    return verdict;
  }

  /** A writer that repeats an event writes another record, since it knows more of the log or another writer does. */
  #compareCopies({ over, checksum }: ReadRecord, firstSeq: number): void {
    if (over === undefined || this.#tail.size === 0) return;
    const number = this.admission.numberOf(firstSeq);
    if (this.admission.recordAt(number).firstSeq === firstSeq && this.#tail.get(number, CHECKSUM) === checksum)
      this.chain.note(`the record of event ${firstSeq} is there twice`);
  }
}

/** @throws IndexDamaged when the record is not the one that was taken at its place */
export function assertSame({ id, count }: NamedRecord, record: ReadRecord | undefined): asserts record is ReadRecord {
  if (record === undefined || record.events[0].id !== id || record.events.length !== count) throw new IndexDamaged();
}
