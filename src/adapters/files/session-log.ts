/**
 * One session's log: appends with group commit, reads from any sequence number.
 *
 * Other processes append to the same files at the same time. Each append is one write at the end; afterwards the file
 * says, by the rules of log-admission.ts, which sequence numbers it got or why it does not count. Everything that
 * arrives while one write and its sync run goes into the next.
 */
import type { RuntimeError } from '../../machines/errors.ts';
import type { RecordPlace } from '../../machines/session/log-admission.ts';
import { MAX_RECORD_BYTES } from '../../machines/session/limits.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { MAX_READ_EVENTS, recordTooLarge, sessionNotFound } from '../../actors/session/event-store.ts';
import type {
  AppendOptions,
  AppendResult,
  NewSessionEvents,
  ReadOptions,
  StoredRecord,
} from '../../actors/session/event-store.ts';
import { systemCodeOf } from '../system/error-codes.ts';
import type { PendingAppend, Written } from './append-outcomes.ts';
import { AppendOutcomes, MAX_BATCH_BYTES, MAX_SEALED_WRITES, MAX_WRITE_ATTEMPTS } from './append-outcomes.ts';
import type { FileOperations } from './file-operations.ts';
import { LogEnd, encodedEnd } from './log-end.ts';
import type { AcknowledgedEnd } from './log-end.ts';
import { readCheckpoint, writeCheckpoint } from './log-checkpoint.ts';
import type { CheckpointPlace } from './log-checkpoint.ts';
import type { LogExtent, LogIndex } from './log-index.ts';
import { LogReader } from './log-reader.ts';
import { LogSegments } from './log-segments.ts';
import { encodeRecord, encodeSeal, placedEvents } from './record-codec.ts';
import type { EncodedRecord } from './record-codec.ts';
import { storageFailed } from './storage-errors.ts';

export const DEFAULT_SEGMENT_BYTES = 32 * 1024 * 1024;

/** A checkpoint is due when this much has come since the last one: so each event's share of the work is bounded. */
const DEFAULT_CHECKPOINT_EVENTS = 512;
const CHECKPOINT_BYTES = 1024 * 1024;

export interface LogLimits {
  /** From this size on a segment is followed by the next. Default 32 MiB. */
  readonly segmentBytes?: number | undefined;
  /** Events between two checkpoints. Default 512. */
  readonly checkpointEvents?: number | undefined;
}

export interface SessionLogOptions extends LogLimits {
  readonly sessionId: string;
  /** Of the session. */
  readonly directory: string;
  readonly operations: FileOperations;
  readonly durability: 'disk' | 'os';
  /** See LogReaderOptions. */
  readonly isNeverEmpty?: boolean | undefined;
}

export class SessionLog {
  readonly #sessionId: string;
  readonly #where: CheckpointPlace;
  readonly #durability: 'disk' | 'os';
  readonly #segmentBytes: number;
  readonly #checkpointEvents: number;
  readonly #reader: LogReader;
  readonly #end: LogEnd;
  readonly #outcomes: AppendOutcomes;
  readonly #listeners = new Set<() => void>();
  #queue: PendingAppend[] = [];
  #isDraining = false;
  #draining: Promise<void> = Promise.resolve();
  /**
   * Whether the log was read to its end, and nothing has failed since. What others append shows after the next write.
   */
  #isCaughtUp = false;
  #turn: Promise<unknown> = Promise.resolve();
  #users = 0;

  private constructor(
    { sessionId, durability, checkpointEvents }: SessionLogOptions,
    where: CheckpointPlace,
    segmentBytes: number,
    { reader, end }: { readonly reader: LogReader; readonly end: LogEnd },
  ) {
    this.#sessionId = sessionId;
    this.#where = where;
    this.#durability = durability;
    this.#segmentBytes = segmentBytes;
    this.#checkpointEvents = checkpointEvents ?? DEFAULT_CHECKPOINT_EVENTS;
    this.#reader = reader;
    this.#end = end;
    this.#outcomes = new AppendOutcomes({ sessionId, durability, reader });
  }

  /** @throws ENOENT when the session has no log */
  static async open(options: SessionLogOptions): Promise<SessionLog> {
    const { sessionId, directory, operations, segmentBytes = DEFAULT_SEGMENT_BYTES, isNeverEmpty } = options;
    const segments = new LogSegments(directory, operations);
    const where = { sessionId, directory, segments, operations };
    // Before the log, which may only have grown since.
    const end = await LogEnd.open(directory, operations);
    try {
      const reader = await LogReader.open(
        { sessionId, segments, segmentBytes, ends: end.known, isNeverEmpty },
        await readCheckpoint(where),
      );
      return new SessionLog(options, where, segmentBytes, { reader, end });
    } catch (error) {
      await end.close();
      throw error;
    }
  }

  /** Whether something is being read, written or watched. */
  get isBusy(): boolean {
    return this.#users > 0 || this.#queue.length > 0 || this.#listeners.size > 0;
  }

  /** The segment that was being written when the log was last read. */
  get segment(): number {
    return this.#reader.index.segment;
  }

  /** Lines that were found damaged so far. */
  get damagedLines(): number {
    return this.#reader.index.damagedLines;
  }

  append(events: NewSessionEvents, options: AppendOptions): Promise<AppendResult> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ events, options, resolve, reject });
      if (!this.#isDraining) this.#draining = this.#drain();
    });
  }

  async read({ from = 1, limit = MAX_READ_EVENTS }: ReadOptions): Promise<readonly SessionEvent[]> {
    const wanted = { from: Math.max(1, from), limit: Math.min(limit, MAX_READ_EVENTS) };
    return wanted.limit <= 0 ? [] : this.#exclusive('read', () => this.#reader.read(wanted));
  }

  async records({ from = 1, limit = MAX_READ_EVENTS }: ReadOptions): Promise<readonly StoredRecord[]> {
    const first = Math.max(1, from);
    const found = await this.#exclusive('read', async () => {
      await this.#reader.catchUp();
      return this.#reader.withIndex(() => this.#reader.recordsIn({ from: first, to: first + MAX_READ_EVENTS - 1 }));
    });
    return found.slice(0, Math.max(0, limit)).map(({ record, firstSeq }) => ({
      events: placedEvents(record, { sessionId: this.#sessionId, firstSeq }),
      key: record.key,
    }));
  }

  async head(): Promise<number> {
    return (await this.extent()).head;
  }

  /** How far the log goes. */
  extent(): Promise<LogExtent> {
    return this.#exclusive('read', async () => {
      await this.#reader.catchUp();
      return this.#reader.index.extent;
    });
  }

  /** How far the log goes, if it ends at `head`. */
  extentAt(head: number): Promise<LogExtent | undefined> {
    return this.#exclusive('read', async () => {
      await this.#reader.catchUp();
      const { extent } = this.#reader.index;
      return extent.head === head ? extent : undefined;
    });
  }

  /** Whether the log, as it is read now, has the same last event at the same number where `extent` ends. */
  holds({ head, headId }: LogExtent): Promise<boolean> {
    return this.#exclusive('read', async () => {
      await this.#reader.catchUp();
      const [event] = await this.#reader.withIndex(() => this.#reader.reread({ from: head, limit: 1 }));
      return event?.id === headId;
    });
  }

  findByKey(key: string): Promise<AppendResult | undefined> {
    return this.#found(({ admission, part }) => Promise.resolve(admission.findKey(key) ?? part?.findKey(key)));
  }

  findById(id: string): Promise<AppendResult | undefined> {
    return this.#found(({ admission, part }) => Promise.resolve(admission.findId(id) ?? part?.findId(id)));
  }

  /** The state of the newest checkpoint that this log was opened with or has made. */
  checkpoint(): Promise<SessionState | undefined> {
    return this.#exclusive('read', () => Promise.resolve(this.#reader.checkpointState));
  }

  /** Keeps `state` as a checkpoint, if it is that of the whole log and enough has come since the last one. */
  saveCheckpoint(state: SessionState): Promise<void> {
    return this.#exclusive('write a checkpoint of', async () => {
      await this.#reader.catchUp();
      await this.#reader.withIndex(async () => {
        const { index } = this.#reader;
        const { records, events, bytes } = index.tailSize;
        const isDue = records > 0 && (events >= this.#checkpointEvents || bytes >= CHECKPOINT_BYTES);
        const made =
          isDue && index.admission.head === state.head ? await writeCheckpoint(this.#where, index, state) : undefined;
        if (made !== undefined) this.#reader.rebase(made);
      });
    });
  }

  /** Calls `listener` after this process has appended. */
  onAppend(listener: () => void): () => void {
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  async close(): Promise<void> {
    await this.#draining;
    // Behind whatever is being read.
    await this.#exclusive('close', async () => {
      await this.#end.close();
      await this.#reader.file.close();
    });
  }

  #found(find: (index: LogIndex) => Promise<RecordPlace | undefined>): Promise<AppendResult | undefined> {
    return this.#exclusive('read', async () => {
      await this.#reader.catchUp();
      return this.#reader.withIndex(async () => {
        const place = await find(this.#reader.index);
        return place === undefined
          ? undefined
          : this.#outcomes.result(await this.#reader.reread({ from: place.firstSeq, limit: place.count }), true);
      });
    });
  }

  async #drain(): Promise<void> {
    this.#isDraining = true;
    while (this.#queue.length > 0) {
      await this.#exclusive('append to', () => this.#flush()).catch(() => undefined);
      for (const listener of this.#listeners) listener();
      // Those who were waiting for their receipts may append again before the next write begins.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#isDraining = false;
  }

  /** Writes what waits, as much as fits into one write, and settles it. */
  async #flush(): Promise<void> {
    const batch: PendingAppend[] = [];
    try {
      // What others have appended shows after the write at the latest; a condition on the head is better judged before.
      if (!this.#isCaughtUp || this.#queue.some(({ options }) => options.expectedHead !== undefined))
        await this.#reader.catchUp();
      this.#isCaughtUp = true;
      const left = await this.#writeAll(await this.#take(batch));
      for (const { pending } of left)
        pending.reject(this.#failed('append to', new Error('another process keeps writing into the same place')));
      await this.#outcomes.lookUp();
    } catch (error) {
      this.#isCaughtUp = false;
      this.#end.writeUnderNewName();
      this.#outcomes.forgetLookUps();
      const failure = this.#failed('append to', error);
      // What was settled before ignores this. The rest may or may not be in the file.
      for (const { reject } of batch.length > 0 ? batch : this.#queue.splice(0)) reject(failure);
    }
  }

  /**
   * Writes records until the log holds them or says why it never will. Returns those that it could not be brought to
   * hold.
   */
  async #writeAll(records: Written[]): Promise<Written[]> {
    let written = records;
    let attempts = 0;
    for (
      let writes = 0;
      written.length > 0 && attempts < MAX_WRITE_ATTEMPTS && writes < MAX_SEALED_WRITES;
      writes += 1
    ) {
      await this.#rollWhenLong();
      const { segment } = this.#reader.index;
      written = await this.#write(written);
      // What came behind a seal goes into the next segment; a seal means that a writer got on.
      if (this.#reader.index.segment === segment) attempts += 1;
    }
    return written;
  }

  /** Takes appends off the queue, settles those that need no writing, and encodes the others. */
  async #take(batch: PendingAppend[]): Promise<Written[]> {
    const written: Written[] = [];
    const keys = new Set<string>();
    let bytes = 0;
    while (this.#queue.length > 0 && bytes < MAX_BATCH_BYTES) {
      const [pending] = this.#queue;
      if (pending === undefined) break;
      const { idempotencyKey } = pending.options;
      // The same key twice in one batch: the second one waits until the first is stored, and finds it.
      if (idempotencyKey !== undefined && keys.has(idempotencyKey)) break;
      this.#queue.shift();
      batch.push(pending);
      const encoded = this.#encode(pending);
      if (encoded === undefined) continue;
      // Most records are judged without checking the disk, and so without waiting.
      const verdict = this.#outcomes.judgeAtOnce(encoded.record) ?? (await this.#outcomes.judge(encoded.record));
      if (!this.#outcomes.isToBeWritten(pending, encoded.record, { verdict, hasOthersAhead: written.length > 0 }))
        continue;
      if (idempotencyKey !== undefined) keys.add(idempotencyKey);
      const { record, text, byteLength } = encoded;
      written.push({ record, text, byteLength, pending });
      bytes += byteLength;
    }
    return written;
  }

  /** The record of an append, or undefined when the append was refused. */
  #encode(pending: PendingAppend): EncodedRecord | undefined {
    const { events, options } = pending;
    try {
      const after = options.expectedHead === undefined ? undefined : this.#reader.index.admission.headId;
      const encoded = encodeRecord(
        { events, key: options.idempotencyKey, after },
        { over: this.#end.claim(this.#reader.index.chain) },
      );
      if (encoded.byteLength > MAX_RECORD_BYTES)
        throw recordTooLarge(this.#sessionId, encoded.byteLength, MAX_RECORD_BYTES);
      return encoded;
    } catch (error) {
      pending.reject(error);
      return undefined;
    }
  }

  /** Writes records at the end and tells each append what became of its own. Returns those that are not to be found. */
  async #write(written: readonly Written[]): Promise<Written[]> {
    const { file, index } = this.#reader;
    const total = await this.#appendText(written.map(({ text }) => text).join(''));
    const synced = this.#durability === 'disk' ? file.sync() : Promise.resolve();
    // It is awaited below, unless the size says first that the file is gone.
    synced.catch(() => undefined);
    // Checked while the sync runs: any time after the write will do.
    const size = await file.size();
    // Nothing but ours came since the last time: no need to read it back.
    if (size === index.offset + total) {
      await this.#settleOwn(written, synced);
      return [];
    }
    await synced;
    if (!(await this.#reader.isStillThere())) this.#reader.refuse('its last record is not where it was written');
    // What was there before the sync began is on the disk now; what others wrote meanwhile may not be.
    const isAsSynced = await this.#reader.readTo(size);
    if (isAsSynced) await this.#keepEnd();
    await this.#reader.catchUp();
    return this.#outcomes.settleRead(written);
  }

  /**
   * Does everything while the disk works, but for telling. Records that a failed sync leaves behind are in doubt until
   * they are read again.
   */
  async #settleOwn(written: readonly Written[], synced: Promise<void>): Promise<void> {
    const before = this.#reader.index.chain.point;
    const tell = this.#reader
      .takeOwn(written)
      .map((verdict, number) => this.#outcomes.telling(written[number], verdict));
    const end = encodedEnd(this.#readEnd());
    try {
      await synced;
    } catch (error) {
      this.#reader.doubt(before);
      throw error;
    }
    await this.#keepEnd(end);
    for (const each of tell) each();
  }

  /** Everything that was read and written so far is on the disk, and receipts may say so. */
  async #keepEnd(bytes?: Buffer): Promise<void> {
    if (this.#durability === 'disk') await this.#where.segments.syncBefore(this.#reader.index.segment);
    await this.#end.keep(this.#readEnd(), bytes);
  }

  #readEnd(): AcknowledgedEnd {
    const { chain, admission } = this.#reader.index;
    return { ...chain.point, events: admission.head };
  }

  /** Writes at the end of the segment. Returns the number of bytes. */
  async #appendText(text: string): Promise<number> {
    const bytes = Buffer.from(text, 'utf8');
    for (let done = 0; done < bytes.length;) {
      const count = await this.#reader.file.append(done === 0 ? bytes : bytes.subarray(done));
      if (count === 0) throw new Error('the file takes no more bytes');
      done += count;
    }
    return bytes.length;
  }

  /** Goes on in the next segment when this one is long enough, unless another writer has done so already. */
  async #rollWhenLong(): Promise<void> {
    for (let rolls = 0; this.#reader.index.offset >= this.#segmentBytes && rolls < MAX_SEALED_WRITES; rolls += 1) {
      const next = this.#reader.index.segment + 1;
      await this.#where.segments.make(next);
      await this.#appendText(encodeSeal(next));
      if (this.#durability === 'disk') await this.#reader.file.sync();
      await this.#reader.catchUp();
    }
  }

  #failed(doing: string, error: unknown): RuntimeError {
    // The session was deleted while its files were open.
    if (systemCodeOf(error) === 'ENOENT') return sessionNotFound(this.#sessionId);
    return storageFailed(`${doing} the log of session ${this.#sessionId}`, error);
  }

  /** One thing at a time: the index and the file move together. */
  #exclusive<Value>(doing: string, work: () => Promise<Value>): Promise<Value> {
    this.#users += 1;
    const run = this.#turn.then(work).catch((error: unknown) => {
      throw this.#failed(doing, error);
    });
    this.#turn = run.then(
      () => undefined,
      () => undefined,
    );
    return run.finally(() => {
      this.#users -= 1;
    });
  }
}
