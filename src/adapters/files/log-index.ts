/**
 * What is known about the part of a log that has been read: which records count, and where to find a sequence number again without
 * reading from the start. Fed with the lines of the file in order.
 */
import { LogAdmission } from '../../machines/session/log-admission.ts';
import type { LogRecord, Verdict } from '../../machines/session/log-admission.ts';
import { decodeRecord } from './record-codec.ts';
import type { EncodedRecord, ReadRecord } from './record-codec.ts';
import type { ScannedLine } from './line-scanner.ts';

/** Events between two remembered places. */
const EVENTS_PER_MARK = 256;

interface Mark {
  /** Sequence number of the first event at `offset` or after. */
  readonly seq: number;
  readonly offset: number;
}

/** A record that counts, with its place. */
export interface AdmittedRecord {
  readonly record: ReadRecord;
  readonly firstSeq: number;
}

export class LogIndex {
  readonly admission = new LogAdmission();
  /** Lines that could not be read. */
  damagedLines = 0;
  /** Where the next unread line begins. */
  offset = 0;
  #isAfterDamage = false;
  readonly #marks: Mark[] = [{ seq: 1, offset: 0 }];
  /** Where records lie that are whole and do not count. */
  readonly #voidOffsets = new Set<number>();

  /** Takes the next line of the file. */
  take(line: ScannedLine): AdmittedRecord | undefined {
    this.offset = line.end;
    if (line.bytes?.length === 0) return undefined;
    const record = line.bytes === undefined ? undefined : decodeRecord(line.bytes);
    if (record !== undefined) return this.#admit(record, line.start);
    this.damagedLines += 1;
    this.#isAfterDamage = true;
    return undefined;
  }

  /** Takes records that this process wrote at the end, without reading them back. `bytes` is the length of each with its newlines. */
  takeOwn(records: readonly EncodedRecord[]): void {
    for (const { record, bytes } of records) {
      // The newline in front makes an empty line of its own.
      this.#admit(record, this.offset + 1);
      this.offset += bytes.length;
    }
  }

  /** What would become of a record, were it appended now. */
  judge(record: LogRecord): Verdict {
    return this.admission.judge(record, { afterDamage: this.#isAfterDamage });
  }

  /** Where to begin reading for `seq`, and the sequence number found there. */
  placeOf(seq: number): Mark {
    let low = 0;
    let high = this.#marks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#marks[middle]?.seq ?? Infinity) <= seq) low = middle;
      else high = middle - 1;
    }
    return this.#marks[low] ?? { seq: 1, offset: 0 };
  }

  /** Reads a line again, from the part that was taken before. */
  reread(line: ScannedLine): ReadRecord | undefined {
    if (line.bytes === undefined || line.bytes.length === 0 || this.#voidOffsets.has(line.start)) return undefined;
    return decodeRecord(line.bytes);
  }

  #admit(record: ReadRecord, start: number): AdmittedRecord | undefined {
    const verdict = this.admission.admit(record, { afterDamage: this.#isAfterDamage });
    this.#isAfterDamage = false;
    if (verdict.kind !== 'admitted') {
      this.#voidOffsets.add(start);
      return undefined;
    }
    const { firstSeq } = verdict;
    if (firstSeq >= (this.#marks.at(-1)?.seq ?? 1) + EVENTS_PER_MARK) this.#marks.push({ seq: firstSeq, offset: start });
    return { record, firstSeq };
  }
}
