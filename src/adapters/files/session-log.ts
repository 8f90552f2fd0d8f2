/**
 * One session's log file: appends with group commit, reads from any sequence number.
 *
 * Other processes append to the same file at the same time. Each append is one write at the end; afterwards the file says, by the
 * rules of log-admission.ts, which sequence numbers it got or why it does not count. Everything that arrives while one write and its
 * sync run goes into the next.
 */
import type { RuntimeError } from '../../machines/errors.ts';
import { epochOf } from '../../machines/session/log-admission.ts';
import type { LogRecord } from '../../machines/session/log-admission.ts';
import { MAX_RECORD_BYTES } from '../../machines/session/limits.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import { MAX_READ_EVENTS, epochSuperseded, headMoved, recordTooLarge } from '../../actors/session/event-store.ts';
import type { AppendOptions, AppendResult, NewSessionEvents, ReadOptions } from '../../actors/session/event-store.ts';
import { LogIndex } from './log-index.ts';
import { scanLines } from './line-scanner.ts';
import type { LogFile } from './log-file.ts';
import { encodeRecord, eventsOf } from './record-codec.ts';
import type { EncodedRecord } from './record-codec.ts';
import { storageFailed } from './storage-errors.ts';

/** Bytes that one write may hold. What waits beyond goes into the next. */
const MAX_BATCH_BYTES = 4 * 1024 * 1024;

/** How often a record is written again that another process's write has cut in two. */
const MAX_WRITE_ATTEMPTS = 3;

export interface SessionLogOptions {
  readonly sessionId: string;
  readonly file: LogFile;
  readonly durability: 'disk' | 'os';
}

interface PendingAppend {
  readonly events: NewSessionEvents;
  readonly options: AppendOptions;
  readonly resolve: (result: AppendResult) => void;
  readonly reject: (error: unknown) => void;
}

interface Written extends EncodedRecord {
  readonly pending: PendingAppend;
}

export class SessionLog {
  readonly #sessionId: string;
  readonly #file: LogFile;
  readonly #durability: 'disk' | 'os';
  readonly #index = new LogIndex();
  readonly #listeners = new Set<() => void>();
  /** Repeated appends whose first result is being read. */
  #lookUps: Promise<void>[] = [];
  #queue: PendingAppend[] = [];
  #isDraining = false;
  #turn: Promise<unknown> = Promise.resolve();
  #users = 0;

  constructor({ sessionId, file, durability }: SessionLogOptions) {
    this.#sessionId = sessionId;
    this.#file = file;
    this.#durability = durability;
  }

  /** Whether something is being read, written or watched. */
  get isBusy(): boolean {
    return this.#users > 0 || this.#queue.length > 0 || this.#isDraining || this.#listeners.size > 0;
  }

  /** Lines that were found damaged so far. */
  get damagedLines(): number {
    return this.#index.damagedLines;
  }

  append(events: NewSessionEvents, options: AppendOptions): Promise<AppendResult> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ events, options, resolve, reject });
      if (!this.#isDraining) void this.#drain();
    });
  }

  async read({ from = 1, limit = MAX_READ_EVENTS }: ReadOptions): Promise<readonly SessionEvent[]> {
    const wanted = { from: Math.max(1, from), limit: Math.min(limit, MAX_READ_EVENTS) };
    if (wanted.limit <= 0) return [];
    return this.#exclusive('read', async () => {
      const known = wanted.from <= this.#index.admission.head ? await this.#reread(wanted) : [];
      if (known.length >= wanted.limit) return known;
      const fresh = await this.#scan({ from: Math.max(wanted.from, this.#index.admission.head + 1), limit: wanted.limit - known.length });
      return [...known, ...fresh];
    });
  }

  head(): Promise<number> {
    return this.#exclusive('read', async () => {
      await this.#scanToEnd();
      return this.#index.admission.head;
    });
  }

  /** How far the log has been read, once all of it has. */
  extent(): Promise<{ readonly head: number; readonly bytes: number }> {
    return this.#exclusive('read', async () => {
      await this.#scanToEnd();
      return { head: this.#index.admission.head, bytes: this.#index.offset };
    });
  }

  findByKey(key: string): Promise<AppendResult | undefined> {
    return this.#exclusive('read', async () => {
      await this.#scanToEnd();
      const place = this.#index.admission.findKey(key);
      return place === undefined ? undefined : this.#resultAt(place.firstSeq, place.count);
    });
  }

  /** Calls `listener` after this process has appended. */
  onAppend(listener: () => void): () => void {
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  async close(): Promise<void> {
    // Behind whatever is being written.
    await this.#exclusive('close', () => this.#file.close());
  }

  async #drain(): Promise<void> {
    this.#isDraining = true;
    while (this.#queue.length > 0) {
      await this.#exclusive('append to', () => this.#flush()).catch(() => undefined);
      for (const listener of this.#listeners) listener();
    }
    this.#isDraining = false;
  }

  /** Writes what waits, as much as fits into one write, and settles it. */
  async #flush(): Promise<void> {
    const batch: PendingAppend[] = [];
    try {
      await this.#scanToEnd();
      let written = this.#take(batch);
      for (let attempt = 1; written.length > 0 && attempt <= MAX_WRITE_ATTEMPTS; attempt += 1) {
        await this.#write(written);
        written = this.#settle(written);
      }
      for (const { pending } of written) pending.reject(this.#failed('append to', new Error('another process keeps writing into the same place')));
    } catch (error) {
      const failure = this.#failed('append to', error);
      // What was settled before ignores this. The rest may or may not be in the file.
      for (const { reject } of batch.length > 0 ? batch : this.#queue.splice(0)) reject(failure);
    }
    await Promise.all(this.#lookUps.splice(0));
  }

  /** Takes appends off the queue, settles those that need no writing, and encodes the others. */
  #take(batch: PendingAppend[]): Written[] {
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
      const encoded = this.#prepare(pending, written.length > 0);
      if (encoded === undefined) continue;
      if (idempotencyKey !== undefined) keys.add(idempotencyKey);
      written.push({ ...encoded, pending });
      bytes += encoded.bytes.length;
    }
    return written;
  }

  /** The record to write, or undefined when the append was settled without. */
  #prepare(pending: PendingAppend, hasOthersAhead: boolean): EncodedRecord | undefined {
    const { events, options } = pending;
    const { head, headId } = this.#index.admission;
    try {
      const { expectedHead, idempotencyKey } = options;
      const isConditional = expectedHead !== undefined;
      const encoded = encodeRecord({ events, key: idempotencyKey, after: isConditional ? headId : undefined });
      if (encoded.bytes.length > MAX_RECORD_BYTES) throw recordTooLarge(this.#sessionId, encoded.bytes.length, MAX_RECORD_BYTES);
      if (this.#settleUnlessAdmitted(pending, encoded.record)) return undefined;
      if (isConditional && (expectedHead !== head || hasOthersAhead)) throw headMoved(this.#sessionId, expectedHead, head);
      return encoded;
    } catch (error) {
      pending.reject(error);
      return undefined;
    }
  }

  async #write(written: readonly Written[]): Promise<void> {
    let bytes = Buffer.concat(written.map((each) => each.bytes));
    const total = bytes.length;
    while (bytes.length > 0) {
      const count = await this.#file.append(bytes);
      if (count === 0) throw new Error('the file takes no more bytes');
      bytes = bytes.subarray(count);
    }
    if (this.#durability === 'disk') await this.#file.sync();
    // Nothing but ours came since the last scan: no need to read it back.
    if ((await this.#file.size()) === this.#index.offset + total) this.#index.takeOwn(written);
    else await this.#scanToEnd();
  }

  /** Tells each append what became of its record. Those whose record is not to be found are returned. */
  #settle(written: readonly Written[]): Written[] {
    const missing: Written[] = [];
    for (const each of written) {
      const { pending, record } = each;
      const firstSeq = this.#index.admission.findId(record.events[0].id)?.firstSeq;
      if (firstSeq !== undefined) pending.resolve(this.#result(eventsOf(record, { sessionId: this.#sessionId, firstSeq }), false));
      else if (!this.#settleUnlessAdmitted(pending, record)) missing.push(each);
    }
    return missing;
  }

  /** Settles an append whose record would not count. False when it would. */
  #settleUnlessAdmitted(pending: PendingAppend, record: LogRecord): boolean {
    const verdict = this.#index.judge(record);
    switch (verdict.kind) {
      case 'admitted':
        return false;
      case 'duplicate':
        this.#lookUps.push(this.#resultAt(verdict.firstSeq, verdict.count).then(pending.resolve, pending.reject));
        return true;
      case 'moved':
        pending.reject(headMoved(this.#sessionId, pending.options.expectedHead ?? 0, verdict.head));
        return true;
      case 'superseded':
        pending.reject(epochSuperseded(this.#sessionId, epochOf(record) ?? 0, verdict.epoch));
        return true;
    }
  }

  async #resultAt(firstSeq: number, count: number): Promise<AppendResult> {
    return this.#result(await this.#reread({ from: firstSeq, limit: count }), true);
  }

  #result(events: readonly SessionEvent[], isDuplicate: boolean): AppendResult {
    return { events, durability: this.#durability, isDuplicate };
  }

  /** Reads again what was read before. */
  async #reread({ from, limit }: { readonly from: number; readonly limit: number }): Promise<SessionEvent[]> {
    const place = this.#index.placeOf(from);
    const events: SessionEvent[] = [];
    let firstSeq = place.seq;
    for await (const lines of scanLines(this.#file, place.offset, this.#index.offset)) {
      for (const line of lines) {
        const record = this.#index.reread(line);
        if (record === undefined) continue;
        if (firstSeq + record.events.length > from) events.push(...eventsOf(record, { sessionId: this.#sessionId, firstSeq }).filter(({ seq }) => seq >= from));
        firstSeq += record.events.length;
        if (events.length >= limit) return events.slice(0, limit);
      }
    }
    return events;
  }

  /** Reads on where the last scan stopped, and returns the events from `from` on, at most `limit`. */
  async #scan({ from, limit }: { readonly from: number; readonly limit: number }): Promise<SessionEvent[]> {
    const events: SessionEvent[] = [];
    const size = await this.#file.size();
    for await (const lines of scanLines(this.#file, this.#index.offset, size)) {
      for (const line of lines) {
        const admitted = this.#index.take(line);
        if (admitted === undefined) continue;
        const { record, firstSeq } = admitted;
        if (limit > 0) events.push(...eventsOf(record, { sessionId: this.#sessionId, firstSeq }).filter(({ seq }) => seq >= from));
        if (limit > 0 && events.length >= limit) return events.slice(0, limit);
      }
    }
    return events;
  }

  async #scanToEnd(): Promise<void> {
    await this.#scan({ from: Infinity, limit: 0 });
  }

  #failed(doing: string, error: unknown): RuntimeError {
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
