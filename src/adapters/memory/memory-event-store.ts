/** The event store of tests and throw-away runtimes: the same contract, kept in this process and gone with it. */
import { deepFrozen } from '../../machines/plain-copy.ts';
import { checkActivation } from '../../machines/session/activation.ts';
import { epochOf } from '../../machines/session/log-admission.ts';
import type { LogAdmission, LogRecord } from '../../machines/session/log-admission.ts';
import { MAX_RECORD_BYTES } from '../../machines/session/limits.ts';
import { admitted, recordsOf } from '../../machines/session/log-records.ts';
import { placeEvent, readStoredEvent } from '../../machines/session/session-event.ts';
import type { SessionEvent, StoredEvent } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { utf8Length } from '../../machines/utf8.ts';
import {
  MAX_READ_EVENTS,
  assertIdentity,
  epochSuperseded,
  eventsNotStorable,
  headMoved,
  recordTooLarge,
  sessionBusy,
  sessionExists,
  sessionNotFound,
  storeClosed,
} from '../../actors/session/event-store.ts';
import type {
  AppendOptions,
  AppendResult,
  EventStore,
  ListFilter,
  NewSessionEvents,
  ReadOptions,
  SessionIdentity,
  SessionListing,
  SessionRecord,
  StoredRecord,
  WakeClaim,
  WakeRight,
} from '../../actors/session/event-store.ts';
import { MemoryActivations } from './memory-activations.ts';
import { MemoryWakeRights } from './memory-wake-rights.ts';

interface MemoryRecord extends LogRecord {
  readonly events: readonly [StoredEvent, ...StoredEvent[]];
}

interface MemorySession {
  readonly identity: SessionIdentity;
  readonly admission: LogAdmission;
  readonly events: SessionEvent[];
  readonly records: StoredRecord[];
  readonly listeners: Set<() => void>;
  view: SessionState | undefined;
}

export class MemoryEventStore implements EventStore {
  readonly durability = 'memory';
  readonly activations = new MemoryActivations();
  readonly #sessions = new Map<string, MemorySession>();
  readonly #wakeRights = new MemoryWakeRights();
  #isClosed = false;

  async create(identity: SessionIdentity, events: NewSessionEvents): Promise<AppendResult> {
    return this.#create(identity, () => recordsOf(events).map((part) => copyOf({ events: part })));
  }

  async createFromRecords(
    identity: SessionIdentity,
    records: readonly [SessionRecord, ...SessionRecord[]],
  ): Promise<AppendResult> {
    return this.#create(identity, () => records.map(copyOf));
  }

  async delete(sessionId: string, claim: WakeClaim): Promise<void> {
    this.#session(sessionId);
    const right = await this.#rightToDelete(sessionId, claim);
    this.#sessions.delete(sessionId);
    await right.release();
  }

  async identify(sessionId: string): Promise<SessionIdentity> {
    return this.#session(sessionId).identity;
  }

  async append(
    sessionId: string,
    events: NewSessionEvents,
    { idempotencyKey, expectedHead, activate = [], settle = [] }: AppendOptions = {},
  ): Promise<AppendResult> {
    const session = this.#session(sessionId);
    const record = copyOf({ events, key: idempotencyKey });
    assertSize(sessionId, record);
    const hints = activate.map(checkActivation);
    const verdict = session.admission.judge(record);
    if (verdict.kind === 'duplicate') return this.#resultAt(session, verdict.firstSeq, verdict.count);
    if (verdict.kind === 'superseded') throw epochSuperseded(sessionId, epochOf(record) ?? 0, verdict.epoch);
    const { head } = session.admission;
    if (expectedHead !== undefined && expectedHead !== head) throw headMoved(sessionId, expectedHead, head);
    session.admission.admit(record);
    const result = this.#store(session, record);
    await this.activations.add(hints);
    await this.activations.remove(settle);
    for (const listener of session.listeners) listener();
    return result;
  }

  async findByKey(sessionId: string, idempotencyKey: string): Promise<AppendResult | undefined> {
    const session = this.#session(sessionId);
    const place = session.admission.findKey(idempotencyKey);
    return place === undefined ? undefined : this.#resultAt(session, place.firstSeq, place.count);
  }

  async findById(sessionId: string, eventId: string): Promise<AppendResult | undefined> {
    const session = this.#session(sessionId);
    const place = session.admission.findId(eventId);
    return place === undefined ? undefined : this.#resultAt(session, place.firstSeq, place.count);
  }

  async read(
    sessionId: string,
    { from = 1, limit = MAX_READ_EVENTS }: ReadOptions = {},
  ): Promise<readonly SessionEvent[]> {
    const start = Math.max(1, from) - 1;
    const count = Math.max(0, Math.min(limit, MAX_READ_EVENTS));
    return this.#session(sessionId).events.slice(start, start + count);
  }

  async records(
    sessionId: string,
    { from = 1, limit = MAX_READ_EVENTS }: ReadOptions = {},
  ): Promise<readonly StoredRecord[]> {
    const { records } = this.#session(sessionId);
    const to = Math.max(1, from) + MAX_READ_EVENTS;
    const wanted = records.filter(({ events }) => (events.at(-1)?.seq ?? 0) >= from && events[0].seq < to);
    return wanted.slice(0, Math.max(0, limit));
  }

  async head(sessionId: string): Promise<number> {
    return this.#session(sessionId).admission.head;
  }

  async list({ agentId, newest = Infinity, before, sessionIds }: ListFilter = {}): Promise<readonly SessionListing[]> {
    this.#assertOpen();
    return [...this.#sessions.values()]
      .filter(
        ({ identity }) =>
          (agentId === undefined || identity.agentId === agentId) &&
          (before === undefined || identity.sessionId < before) &&
          (sessionIds === undefined || sessionIds.includes(identity.sessionId)),
      )
      .map(({ identity, view, admission }) => (view?.head === admission.head ? { ...identity, view } : identity))
      .toSorted((one, other) => (one.sessionId < other.sessionId ? -1 : 1))
      .slice(-newest);
  }

  async saveView(state: SessionState): Promise<void> {
    this.#session(state.sessionId).view = state;
  }

  async checkpoint(sessionId: string): Promise<SessionState | undefined> {
    return deepFrozen(this.#session(sessionId).view);
  }

  watch(sessionId: string, onChange: () => void): () => void {
    const listeners = this.#sessions.get(sessionId)?.listeners;
    const own = (): void => onChange();
    listeners?.add(own);
    return () => listeners?.delete(own);
  }

  async acquireWakeRight(sessionId: string, claim: WakeClaim): Promise<WakeRight> {
    this.#session(sessionId);
    return this.#wakeRights.acquire(sessionId, claim);
  }

  async isWakeRightHeld(sessionId: string): Promise<boolean> {
    this.#session(sessionId);
    return this.#wakeRights.isHeld(sessionId);
  }

  async wakeRightFreed(sessionId: string, signal: AbortSignal): Promise<void> {
    this.#session(sessionId);
    return this.#wakeRights.freed(sessionId, signal);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  #create(identity: SessionIdentity, read: () => readonly MemoryRecord[]): AppendResult {
    this.#assertOpen();
    assertIdentity(identity);
    if (this.#sessions.has(identity.sessionId)) throw sessionExists(identity.sessionId);
    const records = read();
    for (const record of records) assertSize(identity.sessionId, record);
    const admission = admitted(records);
    const session: MemorySession = {
      identity: Object.freeze({ ...identity }),
      admission,
      events: [],
      records: [],
      listeners: new Set(),
      view: undefined,
    };
    const stored = records.flatMap((record) => this.#store(session, record).events);
    this.#sessions.set(identity.sessionId, session);
    return { events: stored, durability: this.durability, isDuplicate: false };
  }

  /** Keeps a record that was admitted. */
  #store({ identity: { sessionId }, events, records }: MemorySession, record: MemoryRecord): AppendResult {
    const [first, ...rest] = record.events;
    const place = (event: StoredEvent, index: number): SessionEvent =>
      deepFrozen(placeEvent(event, sessionId, events.length + 1 + index));
    const stored = [place(first, 0), ...rest.map((event, index) => place(event, index + 1))] as const;
    events.push(...stored);
    records.push({ events: stored, key: record.key });
    return { events: stored, durability: this.durability, isDuplicate: false };
  }

  async #rightToDelete(sessionId: string, claim: WakeClaim): Promise<WakeRight> {
    try {
      return await this.#wakeRights.acquire(sessionId, claim);
    } catch {
      throw sessionBusy(sessionId);
    }
  }

  #resultAt({ events }: MemorySession, firstSeq: number, count: number): AppendResult {
    return { events: events.slice(firstSeq - 1, firstSeq - 1 + count), durability: this.durability, isDuplicate: true };
  }

  #session(sessionId: string): MemorySession {
    this.#assertOpen();
    const session = this.#sessions.get(sessionId);
    if (session === undefined) throw sessionNotFound(sessionId);
    return session;
  }

  #assertOpen(): void {
    if (this.#isClosed) throw storeClosed();
  }
}

function assertSize(sessionId: string, record: MemoryRecord): void {
  const bytes = utf8Length(JSON.stringify(record));
  if (bytes > MAX_RECORD_BYTES) throw recordTooLarge(sessionId, bytes, MAX_RECORD_BYTES);
}

/**
 * Through JSON, as every other store does it: what cannot be stored is refused here too, and no caller keeps a part of
 * what is stored.
 */
function copyOf(record: LogRecord): MemoryRecord {
  const { events, key } = toJson(record);
  const [first, ...rest] = events.map(readStoredEvent);
  if (first === undefined) throw eventsNotStorable();
  const isWhole = rest.every((event): event is StoredEvent => event !== undefined && event.epoch === first.epoch);
  if (!isWhole) throw eventsNotStorable();
  return { events: [first, ...rest], key };
}

function toJson(record: LogRecord): LogRecord {
  try {
    return JSON.parse(JSON.stringify(record)) as LogRecord;
  } catch (cause) {
    throw eventsNotStorable(cause);
  }
}
