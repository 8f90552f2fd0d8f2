/**
 * Finds what is gone from a log without a trace: every record says how the log went on when it was written, and readers
 * compare.
 *
 * The chain of a log is a running checksum over the checksums of its records, in file order, whether they count or not.
 * Appends of several processes are not ordered by a lock, so a record cannot name the one before it. It names a point
 * of the chain instead: the last one that its writer knew to be on the disk. Records that others wrote in between are
 * covered by the next that names a later point. A power failure takes only what was not synced, so a point that a
 * record names is never one that a crash takes: where it is not there, something acknowledged is gone. What no record
 * names yet is kept beside the log, see log-end.ts.
 */
import { crc32 } from 'node:zlib';
import { WordRows } from '../../machines/session/word-rows.ts';

/** How a log goes up to its n-th record. */
export interface ChainPoint {
  readonly records: number;
  readonly chain: number;
}

/** The point that a record names. */
export interface ChainClaim extends ChainPoint {
  /** Of one writer: two writers never write the same bytes, so a record that is there twice was copied. */
  readonly writer: string;
}

export interface ChainedRecord {
  readonly checksum: number;
  readonly over?: ChainClaim | undefined;
  /** What is missing before it was accepted: the chain goes on from the point that it names. */
  readonly isAnew?: boolean | undefined;
}

/** What is wrong with a log, in words: the rest of a sentence about the log. */
export type LogFault = string;

export const CHAIN_START: ChainPoint = { records: 0, chain: 0 };

const link = Buffer.alloc(4);

export function chained({ records, chain }: ChainPoint, checksum: number): ChainPoint {
  return { records: records + 1, chain: nextChain(chain, checksum) };
}

function nextChain(chain: number, checksum: number): number {
  link.writeUInt32BE(checksum);
  return crc32(link, chain);
}

export class LogChain {
  #base: ChainPoint;
  #records: number;
  #chain: number;
  /** The chain after each record behind the base. */
  readonly #links = new WordRows(1);
  #fault: LogFault | undefined;

  constructor(start: ChainPoint = CHAIN_START) {
    this.#base = start;
    this.#records = start.records;
    this.#chain = start.chain;
  }

  get point(): ChainPoint {
    return { records: this.#records, chain: this.#chain };
  }

  /** The first thing that was found and that no later record accepts. */
  get fault(): LogFault | undefined {
    return this.#fault;
  }

  /** Takes the next record of the file. */
  take({ checksum, over, isAnew }: ChainedRecord): void {
    if (over !== undefined && isAnew === true) this.#restart(over);
    else if (over !== undefined) this.#fault ??= this.faultOf(over);
    this.#chain = nextChain(this.#chain, checksum);
    this.#records += 1;
    this.#links.set(this.#links.add(), 0, this.#chain);
  }

  note(fault: LogFault): void {
    this.#fault ??= fault;
  }

  /** What is wrong when the log once went as `point` says; nothing where it cannot be compared any more. */
  faultOf({ records, chain }: ChainPoint): LogFault | undefined {
    if (records < this.#base.records) return undefined;
    if (records > this.#records) return `${records} records were stored, and ${this.#records} are there`;
    const there =
      records === this.#base.records ? this.#base.chain : this.#links.get(records - this.#base.records - 1, 0);
    return there === chain
      ? undefined
      : `the first ${records} records are not those that were stored, or not in their order`;
  }

  #restart(point: ChainPoint): void {
    this.#base = point;
    this.#records = point.records;
    this.#chain = point.chain;
    this.#links.clear();
    this.#fault = undefined;
  }
}
