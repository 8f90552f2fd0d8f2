/**
 * The event store for many machines: any number of processes share one PostgreSQL. Every step that has to be atomic is
 * one call of a function there.
 */
import { isUuidV7 } from '../../machines/ids.ts';
import { admitted, recordsOf } from '../../machines/session/log-records.ts';
import type { LogRecord } from '../../machines/session/log-admission.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { Clock } from '../../actors/clock/clock.ts';
import type { ActivationIndex } from '../../actors/session/activation-index.ts';
import {
  assertIdentity,
  epochSuperseded,
  headMoved,
  sessionBusy,
  sessionExists,
  sessionNotFound,
  storeClosed,
  wakeConflict,
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
import { ASKED_FOR } from './append-one.ts';
import { AppendQueue } from './append-queue.ts';
import { appendedRecord, eventColumns, placedEvents } from './appended-record.ts';
import type { AppendedRecord } from './appended-record.ts';
import { DatabaseClock } from './database-clock.ts';
import type { WordChannel } from '../../actors/words/word-channel.ts';
import { Notifications } from './notifications.ts';
import type { ProgramWord } from './notifications.ts';
import { assertSchema } from './migrate.ts';
import { PostgresActivations } from './postgres-activations.ts';
import { ConnectedDatabase, losable } from './postgres-database.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import { loadDriver } from './postgres-driver.ts';
import type { PostgresDriver } from './postgres-driver.ts';
import { checkStoreOptions } from './postgres-options.ts';
import type { PostgresEventStoreOptions, StoreSettings } from './postgres-options.ts';
import { PostgresWordChannel } from './postgres-word-channel.ts';
import { SessionRows } from './session-rows.ts';
import { SessionWatchers } from './session-watchers.ts';
import { WakeRights } from './wake-rights.ts';
import type { LeasedRight } from './wake-rights.ts';
import { WorkerLife } from './worker-life.ts';

/** How long the end of a store waits for a server that is away, and then for one that says nothing, in milliseconds. */
const CLOSING_GRACE_MS = 2_000;

export class PostgresEventStore implements EventStore {
  readonly durability: 'disk' | 'os';
  /** The database's time, which every worker shares. */
  readonly clock: Clock;
  readonly #settings: StoreSettings;
  readonly #database: ConnectedDatabase;
  readonly #rows: SessionRows;
  readonly #queue: AppendQueue;
  readonly #activations: PostgresActivations;
  readonly #watchers: SessionWatchers;
  readonly #rights: WakeRights;
  readonly #life: WorkerLife;
  readonly #notifications: Notifications;
  readonly #words: PostgresWordChannel;
  readonly #hearers = new Set<(word: ProgramWord) => void>();
  #closing: Promise<void> | undefined;

  /**
   * Opens the store of a database whose schema is up to date.
   * @throws RuntimeError STORE_OPTIONS_INVALID, POSTGRES_DRIVER_MISSING, STORE_SCHEMA_OLD, STORE_SCHEMA_NEW,
   * STORE_SERVER_OLD, STORE_NOT_SYNCED, STORAGE_FAILED
   */
  static async open(options: PostgresEventStoreOptions): Promise<PostgresEventStore> {
    const settings = checkStoreOptions(options);
    const store = new PostgresEventStore(settings, await loadDriver());
    try {
      await store.#begin();
      return store;
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  private constructor(settings: StoreSettings, driver: PostgresDriver) {
    const { clock, url, schema: schemaName, owner, leaseMs, poolSize, durability } = settings;
    const databaseClock = new DatabaseClock(clock);
    this.durability = durability;
    this.clock = databaseClock;
    this.#settings = settings;
    const database = new ConnectedDatabase(driver, settings);
    this.#database = database;
    this.#rows = new SessionRows(database);
    this.#queue = new AppendQueue({ database, isAsync: durability === 'os', maxInFlight: Math.max(1, poolSize - 1) });
    this.#watchers = new SessionWatchers(database);
    this.#rights = new WakeRights({
      database,
      clock,
      life: () => this.#life,
      onFreed: (sessionId, isDue) => this.#freed(sessionId, isDue),
    });
    this.#life = new WorkerLife({
      ...{ database, clock, databaseClock, owner, leaseMs },
      held: () => this.#rights.held(),
      onTaken: (lease, by) => this.#rights.take(lease, by),
      onExpired: (reason) => this.#rights.loseAll(reason),
      onRenewed: () => this.#rights.releaseUnanswered(),
    });
    this.#activations = new PostgresActivations({
      database,
      registered: () => this.#life.registered(),
      onMade: () => this.#made(),
    });
    this.#notifications = new Notifications({
      ...{ driver, database, clock, url, schemaName },
      ...{
        callLimitMs: settings.callLimitMs,
        news: settings.news,
        pollMs: settings.pollMs,
        slowPollMs: settings.slowPollMs,
      },
      onDue: () => this.#activations.tell(),
      onSessions: (news) => news.forEach(({ sessionId, head }) => this.#watchers.tell([sessionId], head)),
      onWord: (word) => this.#hearers.forEach((hear) => hear(word)),
      onPoll: () => {
        this.#activations.tell();
        this.#watchers.poll();
        this.#words.poll();
      },
      onNotification: (notification) => this.#words.heard(notification),
      onProcess: (name) => this.#words.heardOf(name),
      onAsked: (asker, sessions) => this.#words.asked(asker, sessions),
    });
    this.#words = new PostgresWordChannel({
      ...{ clock, schemaName, notifications: this.#notifications },
      firstEventId: (sessionId) => this.#firstEventId(sessionId),
    });
  }

  get activations(): ActivationIndex {
    return this.#activations;
  }

  /** What models say in the wakes of other processes, and in ours for them. */
  get words(): WordChannel {
    return this.#words;
  }

  /**
   * Resolves when the database has answered and its schema still serves this program.
   * @throws RuntimeError as `open`
   */
  check(): Promise<void> {
    return assertSchema(this.#database, this.#settings);
  }

  /** The connections, for what else lies in the same schema. */
  get database(): PostgresDatabase {
    return this.#database;
  }

  /**
   * Whether it is told of news by other processes. False behind a pooler of transactions, and while the server is away:
   * then it polls.
   */
  get isHearing(): boolean {
    return this.#notifications.isHearing;
  }

  /** To the other programs over this store that hear. A lost word is not said again. */
  say(word: ProgramWord): Promise<void> {
    return this.#notifications.say(word);
  }

  /** What others say. @returns leaves */
  hear(hearer: (word: ProgramWord) => void): () => void {
    this.#hearers.add(hearer);
    return () => void this.#hearers.delete(hearer);
  }

  /** Its id in the table of workers, once it has asked for something to do. */
  get workerId(): string | undefined {
    return this.#life.id;
  }

  async create(identity: SessionIdentity, events: NewSessionEvents): Promise<AppendResult> {
    this.#assertOpen();
    assertIdentity(identity);
    return this.#create(
      identity,
      recordsOf(events).map((part) => ({ events: part })),
    );
  }

  async createFromRecords(
    identity: SessionIdentity,
    records: readonly [SessionRecord, ...SessionRecord[]],
  ): Promise<AppendResult> {
    this.#assertOpen();
    assertIdentity(identity);
    admitted(records);
    return this.#create(identity, records);
  }

  async identify(sessionId: string): Promise<SessionIdentity> {
    return this.#of(sessionId, () => this.#rows.identify(sessionId));
  }

  async append(
    sessionId: string,
    events: NewSessionEvents,
    { idempotencyKey, ...options }: AppendOptions = {},
  ): Promise<AppendResult> {
    return this.#of(sessionId, async () => {
      const record = appendedRecord(
        sessionId,
        { events, key: idempotencyKey },
        options,
        this.#rights.hookOf(sessionId, options),
      );
      const {
        verdict,
        first_seq: firstSeq,
        events: count,
        head,
        epoch,
        is_due: isDue,
      } = await this.#rights.withRecord(record, (each) => this.#queue.append(each));
      switch (verdict) {
        case 'stored':
          return this.#stored(record, firstSeq ?? 0, isDue);
        case 'same':
        case 'duplicate':
          // It may be ours, and the answer was lost: then no watcher has been told.
          if (verdict === 'same') this.#tell(record, firstSeq ?? 0);
          return {
            events: await this.#rows.at(sessionId, { firstSeq: firstSeq ?? 0, count: count ?? 0 }),
            durability: this.durability,
            isDuplicate: true,
          };
        case 'superseded':
          throw epochSuperseded(sessionId, record.stored[0].epoch ?? 0, epoch ?? 0);
        case 'moved':
          throw headMoved(sessionId, record.expectedHead ?? 0, head ?? 0);
        case 'missing':
          throw sessionNotFound(sessionId);
        case 'conflict':
        case 'passed':
        case 'expired':
          throw wakeConflict(sessionId);
      }
    });
  }

  async findByKey(sessionId: string, idempotencyKey: string): Promise<AppendResult | undefined> {
    return this.#of(sessionId, () => this.#find(sessionId, 'record_key', idempotencyKey));
  }

  async findById(sessionId: string, eventId: string): Promise<AppendResult | undefined> {
    return this.#of(sessionId, () => this.#find(sessionId, 'id', eventId));
  }

  async read(sessionId: string, options?: ReadOptions): ReturnType<EventStore['read']> {
    return this.#of(sessionId, () => this.#rows.read(sessionId, options));
  }

  async records(sessionId: string, options?: ReadOptions): Promise<readonly StoredRecord[]> {
    return this.#of(sessionId, () => this.#rows.records(sessionId, options));
  }

  async head(sessionId: string): Promise<number> {
    return this.#of(sessionId, () => this.#rows.head(sessionId));
  }

  async list(filter: ListFilter = {}): Promise<readonly SessionListing[]> {
    this.#assertOpen();
    return this.#rows.list(filter);
  }

  async delete(sessionId: string, claim: WakeClaim): Promise<void> {
    const right = await this.#acquire(sessionId, claim).catch((error: unknown) => {
      throw RuntimeError.is(error) && error.code === 'WAKE_CONFLICT' ? sessionBusy(sessionId) : error;
    });
    try {
      const [row] = await this.#database.run<{ readonly verdict: string }>(
        `SELECT ${this.#database.schema}.delete_session_1($1, $2) AS verdict`,
        [sessionId, right.token],
      );
      if (row?.verdict === 'lost') throw sessionBusy(sessionId);
    } finally {
      await right.release();
    }
  }

  async saveView(state: SessionState): Promise<void> {
    await this.#of(state.sessionId, () => this.#rows.saveView(state));
  }

  watch(sessionId: string, onChange: (head?: number) => void): () => void {
    return this.#watchers.watch(sessionId, onChange);
  }

  async checkpoint(sessionId: string): Promise<SessionState | undefined> {
    return this.#of(sessionId, () => this.#rows.checkpoint(sessionId));
  }

  acquireWakeRight(sessionId: string, claim: WakeClaim): Promise<WakeRight> {
    return this.#acquire(sessionId, claim);
  }

  async isWakeRightHeld(sessionId: string): Promise<boolean> {
    return this.#of(sessionId, async () => {
      const { schema } = this.#database;
      const [row] = await this.#database.run<{ readonly is_held: boolean }>(
        `SELECT EXISTS (SELECT FROM ${schema}.worker w WHERE w.id = s.lease_worker AND w.alive_until > clock_timestamp()) AS is_held FROM ${schema}.session s WHERE s.id = $1`,
        [sessionId],
      );
      if (row === undefined) throw sessionNotFound(sessionId);
      return row.is_held;
    });
  }

  async wakeRightFreed(sessionId: string, signal: AbortSignal): Promise<void> {
    this.#assertOpen();
    // Watched before it is asked: what happens in between is heard.
    let ring: () => void = () => undefined;
    let news = new Promise<void>((resolve) => (ring = resolve));
    const hear = (): void => ring();
    const stop = this.#watchers.watch(sessionId, hear);
    signal.addEventListener('abort', hear);
    try {
      while (await this.isWakeRightHeld(sessionId)) {
        const { clock, pollMs, leaseMs } = this.#settings;
        // One who dies says nothing; his time runs out.
        const timer = clock.setTimeout(hear, this.isHearing ? Math.min(leaseMs, 1_000) : pollMs);
        if (!signal.aborted && this.#closing === undefined) await news;
        clock.clearTimeout(timer);
        if (signal.aborted || this.#closing !== undefined) return;
        news = new Promise<void>((resolve) => (ring = resolve));
      }
    } finally {
      stop();
      signal.removeEventListener('abort', hear);
    }
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#end());
  }

  async #begin(): Promise<void> {
    await assertSchema(this.#database, this.#settings);
    const askedMs = this.#settings.clock.steadyNow();
    const [row] = await this.#database.run<{ readonly now_ms: number }>(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms',
    );
    if (row !== undefined && this.clock instanceof DatabaseClock) this.clock.learn(row.now_ms, askedMs);
    await this.#notifications.begin();
  }

  async #end(): Promise<void> {
    const { clock } = this.#settings;
    const timers = [
      clock.setTimeout(() => this.#database.hurry(), CLOSING_GRACE_MS),
      clock.setTimeout(() => this.#database.cut(), 2 * CLOSING_GRACE_MS),
    ];
    await this.#queue.settled();
    this.#database.hurry();
    await this.#life.close();
    await this.#notifications.close();
    await this.#database.close();
    for (const timer of timers) clock.clearTimeout(timer);
  }

  async #create(identity: SessionIdentity, records: readonly LogRecord[]): Promise<AppendResult> {
    const { sessionId, agentId } = identity;
    const parts = records.map((record) => appendedRecord(sessionId, record));
    const { tenantOf } = this.#settings;
    const { schema } = this.#database;
    const from = `${schema}.create_session_1($1, $2, $3, coalesce($4, nullif(current_setting('wakechart.tenant', true), ''), 'default'),
         $5::text[], $6::integer[], $7::uuid[], $8::text[], $9::integer[], $10::integer[], $11::text[], $12::text[]) AS verdict`;
    const [row] = await this.#database.run<{ readonly verdict: 'stored' | 'same' | 'taken' }>(
      this.durability === 'os'
        ? losable({ because: ASKED_FOR, columns: 'verdict', from })
        : `SELECT verdict FROM ${from}`,
      [
        false,
        sessionId,
        agentId,
        tenantOf?.(identity) ?? null,
        parts.map(({ key }) => key ?? null),
        parts.map(({ events }) => events.length),
        ...eventColumns(parts.flatMap(({ events }) => events)),
      ],
    );
    // Made with the very same first event: by ourselves, and the answer was lost.
    if (row?.verdict === 'taken') throw sessionExists(sessionId);
    let next = 1;
    const events = parts.flatMap((part) => {
      const placed = placedEvents(part, next);
      next += placed.length;
      return placed;
    });
    return { events, durability: this.durability, isDuplicate: false };
  }

  #stored(record: AppendedRecord, firstSeq: number, isDue: boolean | undefined): AppendResult {
    const stored: AppendResult = {
      events: placedEvents(record, firstSeq),
      durability: this.durability,
      isDuplicate: false,
    };
    this.#tell(record, firstSeq);
    if (record.hook?.lease?.act !== 'free') return stored;
    this.#rights.freed(record.sessionId);
    // Workers that wait for the right have been told of the record.
    if (isDue !== false) this.#made();
    return { ...stored, hasEnded: true };
  }

  #tell({ sessionId, hints, events }: AppendedRecord, firstSeq: number): void {
    if (hints.length > 0) this.#made();
    const head = firstSeq + events.length - 1;
    this.#watchers.tellAppended(sessionId, head);
    this.#notifications.ringSession(sessionId, head);
  }

  #made(): void {
    this.#activations.tell();
    this.#notifications.ringDue();
  }

  /**
   * A worker that waits for the right may have it, and what is due of the session may be claimed: where nothing is, no
   * worker has to check.
   */
  #freed(sessionId: string, isDue: boolean): void {
    this.#watchers.tell([sessionId]);
    this.#notifications.ringSession(sessionId);
    if (isDue) this.#made();
  }

  async #find(sessionId: string, column: 'id' | 'record_key', value: string): Promise<AppendResult | undefined> {
    const events = await this.#rows.findRecord(sessionId, column, value);
    return events === undefined ? undefined : { events, durability: this.durability, isDuplicate: true };
  }

  async #firstEventId(sessionId: string): Promise<string> {
    const [first] = await this.read(sessionId, { limit: 1 });
    if (first === undefined) throw sessionNotFound(sessionId);
    return first.id;
  }

  async #acquire(sessionId: string, claim: WakeClaim): Promise<LeasedRight> {
    return this.#of(sessionId, () => this.#rights.acquire(sessionId, claim));
  }

  /** Work on a session that may be there. */
  async #of<Value>(sessionId: string, work: () => Promise<Value>): Promise<Value> {
    this.#assertOpen();
    if (!isUuidV7(sessionId)) throw sessionNotFound(sessionId);
    return work();
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw storeClosed();
  }
}
