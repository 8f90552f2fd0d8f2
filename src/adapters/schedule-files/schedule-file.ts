/**
 * The log of one schedule in segments, shared by any number of processes without a lock.
 *
 * A write is one `O_APPEND`, so the file puts the records of all processes in one order. A writer then reads what has
 * come since it last checked, its own lines included, and so learns which of its records hold. A segment that has grown
 * long is closed with a seal: what lands behind the seal does not count, for its writer sees the seal first and writes
 * again to the next segment. That one begins with the sum of everything before, which all compute alike, and the first
 * to create it creates it for all.
 */
import { constants } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EMPTY_HISTORY, SlotLedger } from '../../machines/schedule/slot-ledger.ts';
import type { ScheduleHistory } from '../../machines/schedule/slot-ledger.ts';
import type { ScheduleRecord } from '../../machines/schedule/slot-record.ts';
import { decodeLine, encodeLines } from './line-format.ts';
import type { FileLine } from './line-format.ts';
import { createFile, makeFolder, namesIn, syncFolder } from '../system/whole-files.ts';
import { absent, damaged, linesIn, readFrom } from './file-access.ts';
import { segmentPath, segmentsAmong } from './schedule-folder.ts';

const FIRST_SEGMENT = 1;
/** Enough for the checksum and the id of the first line. */
const IDENTITY_BYTES = 96;

/** A seal can beat a write again and again only where segments are smaller than a write. */
const MAX_ATTEMPTS = 16;

export interface ScheduleFileOptions {
  readonly folder: string;
  readonly scheduleId: string;
  readonly maxSegmentBytes: number;
  /** Whether a write is on the disk before it counts, or with the operating system. */
  readonly durability: 'disk' | 'os';
  /** Makes an id that no line has. Safe as a part of a file name. */
  readonly nextLineId: () => string;
}

/** What became of lines, by id; undefined until they have been read back. */
type Answers = Map<string, boolean | undefined>;

export class ScheduleFile {
  readonly #options: ScheduleFileOptions;
  /** How far this process has read, and what it adds up to. */
  #segment: number | undefined = undefined;
  /** Tells whether the file at the segment's path is still the one that was read. */
  #identity = '';
  #offset = 0;
  #ledger = new SlotLedger();

  constructor(options: ScheduleFileOptions) {
    this.#options = options;
  }

  async history(): Promise<ScheduleHistory> {
    if (!(await this.#locate())) return EMPTY_HISTORY;
    await this.#readOn();
    return this.#ledger.history();
  }

  /** @returns for each record whether it holds */
  async append(records: readonly ScheduleRecord[]): Promise<readonly boolean[]> {
    if (records.length === 0) return [];
    if (!(await this.#locate())) await this.#begin();
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      await this.#readOn();
      const writtenTo = this.#segment;
      const lines = records.map((record): FileLine => ({
        id: this.#options.nextLineId(),
        entry: { kind: 'record', record },
      }));
      await this.#write(lines);
      const answers: Answers = new Map(lines.map(({ id }) => [id, undefined]));
      await this.#readOn(answers);
      const held = [...answers.values()].filter((answer) => answer !== undefined);
      if (held.length === records.length) {
        if (this.#offset >= this.#options.maxSegmentBytes) await this.#seal();
        return held;
      }
      if (this.#segment === writtenTo) throw damaged(this.#path, 'what was written a moment ago cannot be read back');
    }
    throw damaged(this.#path, `a write was overtaken by a seal ${MAX_ATTEMPTS} times`);
  }

  async *records(): AsyncGenerator<ScheduleRecord> {
    for (const segment of await this.#segments()) {
      for (const { text } of linesIn(await readFile(segmentPath(this.#options.folder, segment)))) {
        const entry = decodeLine(text)?.entry;
        if (entry?.kind === 'seal') break;
        if (entry?.kind === 'record') yield entry.record;
      }
    }
  }

  get #path(): string {
    return segmentPath(this.#options.folder, this.#segment ?? FIRST_SEGMENT);
  }

  /** Makes sure of a place to read on from. @returns false when there is no file yet */
  async #locate(): Promise<boolean> {
    if (this.#segment !== undefined) {
      const found = await stat(this.#path).catch(absent);
      if (found !== undefined && found.size >= this.#offset && this.#identity === (await identityOf(this.#path)))
        return true;
    }
    this.#segment = undefined;
    const segments = await this.#segments();
    // A damaged head is no loss while the segments before it are there: they add up to the same.
    for (const segment of segments.toReversed()) {
      const history = segment === FIRST_SEGMENT ? EMPTY_HISTORY : await this.#headOf(segment);
      if (history === undefined) continue;
      this.#ledger = new SlotLedger(history);
      await this.#enter(segment);
      return true;
    }
    if (segments.length === 0) return false;
    throw damaged(this.#options.folder, 'no segment begins with a sound head');
  }

  async #headOf(segment: number): Promise<ScheduleHistory | undefined> {
    const [first] = linesIn(await readFile(segmentPath(this.#options.folder, segment)));
    const entry = first === undefined ? undefined : decodeLine(first.text)?.entry;
    return entry?.kind === 'head' ? entry.history : undefined;
  }

  async #segments(): Promise<number[]> {
    return segmentsAmong(await namesIn(this.#options.folder));
  }

  /** Reads whatever has been written since the last time, through as many segments as there are. */
  async #readOn(answers?: Answers): Promise<void> {
    while (await this.#readSegment(answers)) {
      const next = (this.#segment ?? FIRST_SEGMENT) + 1;
      // The process that sealed may have died before creating it.
      await this.#create(next, this.#ledger.history());
      await this.#enter(next);
    }
  }

  async #enter(segment: number): Promise<void> {
    this.#identity = await identityOf(segmentPath(this.#options.folder, segment));
    this.#segment = segment;
    this.#offset = 0;
  }

  /** @returns whether the segment ends in a seal */
  async #readSegment(answers?: Answers): Promise<boolean> {
    const start = this.#offset;
    for (const { text, end, isEnded } of linesIn(await readFrom(this.#path, start))) {
      const line = decodeLine(text);
      // The beginning of a line that its writer is about to finish.
      if (line === undefined && !isEnded) return false;
      this.#offset = start + end;
      if (line?.entry.kind === 'seal') return true;
      if (line?.entry.kind === 'head') this.#checkOwner(line.entry.scheduleId);
      if (line?.entry.kind !== 'record') continue;
      const holds = this.#ledger.ingest(line.entry.record);
      if (answers?.has(line.id) === true) answers.set(line.id, holds);
    }
    return false;
  }

  #checkOwner(scheduleId: string): void {
    if (scheduleId === this.#options.scheduleId) return;
    throw damaged(this.#path, `it belongs to schedule "${scheduleId}", not to "${this.#options.scheduleId}"`);
  }

  async #seal(): Promise<void> {
    await this.#write([{ id: this.#options.nextLineId(), entry: { kind: 'seal' } }]);
    await this.#readOn();
  }

  async #write(lines: readonly FileLine[]): Promise<void> {
    const bytes = encodeLines(lines);
    // Without O_CREAT: a segment that is gone must not come back without its head.
    const file = await open(this.#path, constants.O_WRONLY | constants.O_APPEND);
    try {
      const { bytesWritten } = await file.write(bytes);
      if (bytesWritten < bytes.length)
        throw damaged(this.#path, `only ${bytesWritten} of ${bytes.length} bytes could be written; is the disk full?`);
      if (this.#options.durability === 'disk') await file.datasync();
    } finally {
      await file.close();
    }
  }

  async #begin(): Promise<void> {
    const { folder, durability } = this.#options;
    await makeFolder(folder, { durability });
    // Its maker may have died before it was on the disk.
    await syncFolder(dirname(folder), { durability });
    await this.#create(FIRST_SEGMENT, EMPTY_HISTORY);
    this.#ledger = new SlotLedger();
    await this.#enter(FIRST_SEGMENT);
  }

  /** Creates a segment with its head, at once and only if no other process has. */
  async #create(segment: number, history: ScheduleHistory): Promise<void> {
    const { folder, scheduleId, durability, nextLineId } = this.#options;
    const path = segmentPath(folder, segment);
    if ((await stat(path).catch(absent)) !== undefined) return;
    await createFile(
      path,
      encodeLines([{ id: nextLineId(), entry: { kind: 'head', v: 1, scheduleId, segment, history } }]),
      { durability },
    );
    // A faster process may have died before it was on the disk.
    await syncFolder(folder, { durability });
  }
}

/** How a file begins: with a checksum and an id that no other file has. An inode number is given away again at once. */
async function identityOf(path: string): Promise<string> {
  return (await readFrom(path, 0, IDENTITY_BYTES)).toString('latin1');
}
