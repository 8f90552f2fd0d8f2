/**
 * Reads one session's log, segment after segment, and keeps its index up to date. Whatever is wrong with a checkpoint
 * or its index is made good here, by reading the log again from its start. Not safe against itself: one call at a time.
 */
import { historyLost } from '../../actors/session/event-store.ts';
import type { Verdict } from '../../machines/session/log-admission.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { LogFile } from './file-operations.ts';
import { IndexDamaged } from './index-entry.ts';
import type { LogPlace } from './index-entry.ts';
import { agrees } from './indexed-part.ts';
import { scanLines } from './line-scanner.ts';
import type { ScannedLine } from './line-scanner.ts';
import type { Checkpoint } from './log-checkpoint.ts';
import { LogIndex, assertSame } from './log-index.ts';
import type { ChainPoint, LogFault } from './log-chain.ts';
import type { LogSegments } from './log-segments.ts';
import { RECENT_BYTES, RecentRecords } from './recent-records.ts';
import { decodeLine, eventsOf, isSeal } from './record-codec.ts';
import type { EncodedRecord, ReadRecord, Seal } from './record-codec.ts';
import type { EarlierRecords } from './tail-admission.ts';

export interface LogReaderOptions {
  readonly sessionId: string;
  readonly segments: LogSegments;
  /** From this size on, in bytes, a segment may have been followed by another one although its seal cannot be read. */
  readonly segmentBytes: number;
  /** How the log went when its receipts were given. */
  readonly ends: readonly ChainPoint[];
  /** Whether it was made with a record in it: where there is none, they are gone. Default false. */
  readonly isNeverEmpty?: boolean | undefined;
  /**
   * What is done with a log of which something is gone. `tell`: it is read as far as it goes, and `fault` says what is
   * wrong. Default `refuse`.
   */
  readonly onLoss?: 'refuse' | 'tell' | undefined;
}

/** A record that counts, and where in the log it stands. */
export interface PlacedRecord {
  readonly record: ReadRecord;
  readonly firstSeq: number;
}

interface Wanted {
  readonly from: number;
  readonly limit: number;
}

const NOTHING: Wanted = { from: Infinity, limit: 0 };

/** Why a scan of a segment stopped. */
type ScanEnd = 'sealed' | 'enough' | 'end_of_file';

export class LogReader {
  readonly #options: LogReaderOptions;
  #file: LogFile;
  #index: LogIndex;
  /** The state at the point where the index begins. */
  #state: SessionState | undefined;
  /** Whether the file after this segment was searched for, and nothing has raised a doubt since. */
  #isLastSegment = false;
  readonly #recent: RecentRecords;
  /** From here on records of the segment that is being scanned are among the newest. */
  #recentFrom = 0;
  #missingSegment: number | undefined;
  /** How the log went before records of which it is not known whether they are there. */
  #doubted: ChainPoint | undefined;
  /** Points of the chain that the log has not been compared with yet. */
  #unproven: readonly ChainPoint[];

  private constructor(options: LogReaderOptions, file: LogFile, checkpoint: Checkpoint | undefined) {
    this.#options = options;
    this.#recent = new RecentRecords(options.sessionId);
    this.#file = file;
    this.#index = new LogIndex(checkpoint?.start);
    this.#state = checkpoint?.state;
    this.#unproven = options.ends;
  }

  /** @throws ENOENT when the session has no log */
  static async open(options: LogReaderOptions, checkpoint: Checkpoint | undefined): Promise<LogReader> {
    return new LogReader(options, await options.segments.open(checkpoint?.start.segment ?? 1), checkpoint);
  }

  get index(): LogIndex {
    return this.#index;
  }

  /** The segment that was being written when the log was last read. */
  get file(): LogFile {
    return this.#file;
  }

  /** The state of the checkpoint that the index begins with. */
  get checkpointState(): SessionState | undefined {
    return this.#state;
  }

  /** A segment that a seal names and that is not there. */
  get missingSegment(): number | undefined {
    return this.#missingSegment;
  }

  /** What is wrong with the log, as far as it was read. */
  get fault(): LogFault | undefined {
    return this.#index.chain.fault;
  }

  /** Goes on from a checkpoint at exactly the point that has been read. */
  rebase({ start, state }: Checkpoint): void {
    this.#index = new LogIndex(start);
    this.#state = state;
  }

  /**
   * Runs `work`, and once more after reading all of the log anew when the index turns out not to agree with the log.
   */
  async withIndex<Value>(work: () => Promise<Value>): Promise<Value> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof IndexDamaged)) throw error;
      await this.#restart();
      return work();
    }
  }

  async read(wanted: Wanted): Promise<readonly SessionEvent[]> {
    return this.withIndex(async () => {
      if (this.#doubted !== undefined) await this.#restart();
      const known = wanted.from <= this.#index.admission.head ? await this.reread(wanted) : [];
      if (known.length >= wanted.limit) return known;
      const fresh = await this.#scan({
        from: Math.max(wanted.from, this.#index.admission.head + 1),
        limit: wanted.limit - known.length,
      });
      // Further on it may say that the loss was accepted.
      if (this.fault !== undefined) await this.#scan(NOTHING);
      this.#assertWhole();
      return known.length === 0 ? fresh : [...known, ...fresh];
    });
  }

  /** Takes records that this process wrote at the end, without reading them back. */
  takeOwn(records: readonly EncodedRecord[]): Verdict[] {
    const verdicts = this.#index.takeOwn(records);
    for (const [number, { record, byteLength }] of records.entries()) {
      const verdict = verdicts[number];
      if (verdict?.kind === 'admitted') this.#recent.keep(record, verdict.firstSeq, byteLength);
    }
    return verdicts;
  }

  /** What was taken behind this point may not be there: before anything else, the log is read anew. */
  doubt(point: ChainPoint): void {
    this.#doubted = point;
  }

  /** Reads what has been appended since. */
  async catchUp(): Promise<void> {
    await this.withIndex(async () => {
      if (this.#doubted !== undefined) await this.#restart();
      await this.#scan(NOTHING);
      this.#assertWhole();
    });
  }

  /**
   * Reads what stands before `size` in the segment that is being read, and nothing behind it. False when all was read
   * anew instead.
   */
  async readTo(size: number): Promise<boolean> {
    try {
      await this.#scanSegment(size, NOTHING, []);
      return true;
    } catch (error) {
      if (!(error instanceof IndexDamaged)) throw error;
      await this.#restart();
      return false;
    }
  }

  /** Whether the last record that counts still stands where it was read. */
  async isStillThere(): Promise<boolean> {
    const { segment, extent } = this.#index;
    if (extent.last?.segment !== segment) return true;
    for await (const record of this.#options.segments.recordsAt([extent.last], { segment, file: this.#file }))
      return record?.checksum === extent.last.checksum;
    return false;
  }

  /** @throws RuntimeError SESSION_HISTORY_LOST */
  refuse(what: LogFault): void {
    if (this.#options.onLoss !== 'tell') throw historyLost(this.#options.sessionId, what);
    this.#index.chain.note(what);
  }

  /** What `record` repeats of the part before the checkpoint. @throws IndexDamaged */
  async earlier(record: ReadRecord): Promise<EarlierRecords | undefined> {
    const { part } = this.#index;
    return part?.mayHold(record) === true ? part.findEarlier(record) : undefined;
  }

  /** Reads again what was read before. @throws IndexDamaged */
  async reread({ from, limit }: Wanted): Promise<SessionEvent[]> {
    const to = Math.min(from + limit - 1, this.#index.admission.head);
    const kept = this.#recent.events({ from, to });
    if (kept !== undefined) return kept;
    const { sessionId } = this.#options;
    const records = await this.recordsIn({ from, to });
    return records
      .flatMap(({ record, firstSeq }) => eventsOf(record, { sessionId, firstSeq }))
      .filter(({ seq }) => seq >= from && seq <= to);
  }

  /** The records that hold the events from `from` to `to`, as far as they were read before. @throws IndexDamaged */
  async recordsIn({ from, to }: { readonly from: number; readonly to: number }): Promise<PlacedRecord[]> {
    const { part, admission } = this.#index;
    const last = Math.min(to, admission.head);
    const known = part?.head ?? 0;
    const records: PlacedRecord[] = [];
    if (part !== undefined && from <= Math.min(last, known)) {
      const entries = await part.covering({ from, to: Math.min(last, known) });
      await this.#collect(entries, records, (entry, record) => {
        if (record === undefined || !agrees(entry, record)) throw new IndexDamaged();
      });
    }
    const tailFrom = Math.max(from, known + 1);
    if (last >= tailFrom)
      await this.#collect(this.#index.tailCovering({ from: tailFrom, to: last }), records, assertSame);
    return records;
  }

  async #collect<Entry extends LogPlace & { readonly firstSeq: number }>(
    entries: readonly Entry[],
    records: PlacedRecord[],
    check: (entry: Entry, record: ReadRecord | undefined) => void,
  ): Promise<void> {
    let next = 0;
    for await (const record of this.#options.segments.recordsAt(entries, {
      segment: this.#index.segment,
      file: this.#file,
    })) {
      const entry = entries[next];
      next += 1;
      if (entry === undefined) return;
      check(entry, record);
      if (record !== undefined) records.push({ record, firstSeq: entry.firstSeq });
    }
  }

  /** Reads on where the last scan stopped, and returns the events from `from` on, at most `limit`. */
  async #scan(wanted: Wanted): Promise<SessionEvent[]> {
    const events: SessionEvent[] = [];
    for (;;) {
      const size = await this.#file.size();
      if (size < this.#index.offset) this.refuse(`a file of it that had ${this.#index.offset} bytes has ${size}`);
      const end = await this.#scanSegment(size, wanted, events);
      if (end === 'enough') return events.slice(0, wanted.limit);
      if (end === 'sealed') continue;
      if (!(await this.#hasGoneOn())) {
        this.#compareEnds();
        return events;
      }
      // A writer into the next one has sealed this one before: what came here until then counts.
      if ((await this.#file.size()) !== size) continue;
      await this.#moveTo(this.#index.segment + 1, { isSealed: false });
    }
  }

  async #scanSegment(size: number, wanted: Wanted, events: SessionEvent[]): Promise<ScanEnd> {
    if (size <= this.#index.offset) return 'end_of_file';
    this.#recentFrom = size - RECENT_BYTES;
    for await (const { lines, end } of scanLines(this.#file, this.#index.offset, size)) {
      for (const line of lines) {
        const taken = this.#takeLine(line, wanted, events);
        const stop = taken instanceof Promise ? await taken : taken;
        if (stop !== undefined) return stop;
      }
      this.#index.passTo(end);
    }
    return 'end_of_file';
  }

  /** The log was read to its end. */
  #compareEnds(): void {
    const { chain, admission } = this.#index;
    for (const end of this.#unproven) {
      const fault = chain.faultOf(end);
      if (fault !== undefined) return chain.note(fault);
    }
    this.#unproven = [];
    if (admission.head === 0 && this.#options.isNeverEmpty === true) chain.note('there is no record in it');
  }

  #assertWhole(): void {
    if (this.fault !== undefined && this.#options.onLoss !== 'tell')
      throw historyLost(this.#options.sessionId, this.fault);
  }

  /** Not an async function: it runs for every record, and only few of them need to check the disk. */
  #takeLine(
    line: ScannedLine,
    wanted: Wanted,
    events: SessionEvent[],
  ): ScanEnd | undefined | Promise<ScanEnd | undefined> {
    const content = line.bytes === undefined ? undefined : decodeLine(line.bytes);
    if (content === undefined) {
      this.#isLastSegment = false;
      this.#index.takeDamage(line.end);
      return undefined;
    }
    if (isSeal(content)) return this.#takeSeal(content, line);
    if (this.#index.part?.mayHold(content) !== true) return this.#takeRecord(content, line, undefined, wanted, events);
    return this.earlier(content).then((earlier) => this.#takeRecord(content, line, earlier, wanted, events));
  }

  #takeSeal({ seal }: Seal, { end }: ScannedLine): Promise<ScanEnd> | undefined {
    if (seal === this.#index.segment + 1) return this.#goOnIn(seal);
    // The seal of another segment ends nothing here.
    this.#index.passTo(end);
    return undefined;
  }

  #takeRecord(
    record: ReadRecord,
    line: ScannedLine,
    earlier: EarlierRecords | undefined,
    { from, limit }: Wanted,
    events: SessionEvent[],
  ): ScanEnd | undefined {
    const firstSeq = this.#index.take(record, line, earlier);
    if (firstSeq !== undefined && line.start >= this.#recentFrom)
      this.#recent.keep(record, firstSeq, line.end - line.start);
    if (firstSeq === undefined || limit === 0 || firstSeq + record.events.length <= from) return undefined;
    for (const event of eventsOf(record, { sessionId: this.#options.sessionId, firstSeq })) {
      if (event.seq >= from) events.push(event);
    }
    return events.length >= limit ? 'enough' : undefined;
  }

  /** Whether the log goes on in the next file although no seal in this one says so. */
  async #hasGoneOn(): Promise<boolean> {
    if (this.#isLastSegment && this.#index.offset < this.#options.segmentBytes) return false;
    const hasGoneOn = await this.#options.segments.holdsRecords(this.#index.segment + 1);
    this.#isLastSegment = !hasGoneOn;
    return hasGoneOn;
  }

  /** Its file was put on the disk before the seal was written. */
  async #goOnIn(segment: number): Promise<ScanEnd> {
    const { segments } = this.#options;
    this.#missingSegment = (await segments.sizeOf(segment)) === undefined ? segment : undefined;
    if (this.#missingSegment === undefined) return this.#moveTo(segment, { isSealed: true });
    this.refuse(`the file in which it goes on is gone: ${segments.pathOf(segment)}`);
    return 'end_of_file';
  }

  async #moveTo(segment: number, how: { readonly isSealed: boolean }): Promise<'sealed'> {
    const next = await this.#options.segments.open(segment);
    await this.#file.close();
    this.#file = next;
    this.#index.moveTo(segment, how);
    this.#isLastSegment = false;
    return 'sealed';
  }

  async #restart(): Promise<void> {
    // What was read before has to be there still.
    this.#unproven = [...this.#options.ends, this.#doubted ?? this.#index.chain.point];
    const first = await this.#options.segments.open(1);
    this.#doubted = undefined;
    await this.#file.close();
    this.#file = first;
    this.#index = new LogIndex();
    this.#state = undefined;
    this.#isLastSegment = false;
    this.#recent.clear();
    await this.#scan(NOTHING);
  }
}
