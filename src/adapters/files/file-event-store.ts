/**
 * The embedded event store: one folder per session, no service. Any number of processes may use the same home at once.
 */
import { access, constants, readdir, stat } from 'node:fs/promises';
import { agentId as agentIdSchema, isUuidV7 } from '../../machines/ids.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { deepFrozen } from '../../machines/plain-copy.ts';
import { MAX_RECORD_BYTES } from '../../machines/session/limits.ts';
import { admitted, recordsOf } from '../../machines/session/log-records.ts';
import { HINT_GRACE_MS } from '../../machines/session/worker-rules.ts';
import type { Activation } from '../../machines/session/activation.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { Clock } from '../../actors/clock/clock.ts';
import type { ActivationIndex } from '../../actors/session/activation-index.ts';
import type { WordChannel } from '../../actors/words/word-channel.ts';
import {
  assertIdentity,
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
import { systemCodeOf } from '../system/error-codes.ts';
import { FileActivationIndex } from './activation-index.ts';
import { hasStoredNothing, hintsOf } from './stored-nothing.ts';
import { systemFileOperations } from './file-operations.ts';
import type { FileOperations } from './file-operations.ts';
import { HomeLayout } from './layout.ts';
import {
  acquireLease,
  assertLeasable,
  assertSessionFolder,
  checkLeaseOptions,
  isLeaseHeld,
  leaseFreed,
} from './lease.ts';
import type { CheckedLeaseOptions, LeaseRequest } from './lease.ts';
import { descriptorLimit } from '../system/descriptor-limit.ts';
import { LogCache, checkOpenLogs, isSessionGone, openLogsWithin } from './log-cache.ts';
import { LogSegments } from './log-segments.ts';
import { watchLog } from './log-watch.ts';
import { encodeRecord, eventsOf } from './record-codec.ts';
import { firstLogOf, makeSessionFolder, removeSessionFolder } from './session-folder.ts';
import type { LogLimits, SessionLog } from './session-log.ts';
import { FileWordChannel } from './word-channel.ts';
import { readCurrentView, readSessionView, writeSessionView } from './session-view.ts';
import type { SessionViewPlace } from './session-view.ts';
import { storageFailed } from './storage-errors.ts';

/** Sessions of which we remember whose they are. */
const MAX_IDENTITIES = 4_096;
/** Sessions that a list reads side by side. */
const LISTED_AT_ONCE = 16;

export interface FileEventStoreOptions extends LogLimits {
  /** The home directory; made with the first session. */
  readonly home: string;
  readonly clock: Clock;
  /** `os` skips the sync and says so in every receipt. Default `disk`. */
  readonly durability?: 'disk' | 'os' | undefined;
  /**
   * How long a wake's process may give no sign of life before another wake takes over, in milliseconds. Default 15,000.
   */
  readonly leaseMs?: number | undefined;
  /**
   * A folder, for this user only, in which to keep the sockets that tell who wakes which session. All who share a home
   * must name the same one. Default: the session's own folder on Linux; below /tmp elsewhere, and where the home's file
   * system takes no sockets.
   */
  readonly socketDirectory?: string | undefined;
  /** Whether the copy of a state is written that lies beside its log. Default true. */
  readonly keepsViews?: boolean | undefined;
  /**
   * Logs that stay open while no caller uses them, two descriptors each. Default: a sixteenth of the descriptors that
   * the process may have, at least 128 and at most 512.
   */
  readonly maxOpenLogs?: number | undefined;
  /** Every change that the store makes to a disk. Default: the file system. */
  readonly operations?: FileOperations | undefined;
}

/** An append that makes hints, or ends some. */
interface HintedAppend {
  readonly options: AppendOptions;
  readonly activate: readonly Activation[];
  readonly settle: readonly Activation[];
}

export class FileEventStore implements EventStore {
  readonly durability: 'disk' | 'os';
  readonly #words: FileWordChannel;
  readonly #activations: FileActivationIndex;
  readonly #layout: HomeLayout;
  readonly #clock: Clock;
  readonly #operations: FileOperations;
  readonly #keepsViews: boolean;
  readonly #lease: CheckedLeaseOptions;
  readonly #logs: LogCache;
  readonly #identities = new Map<string, SessionIdentity>();
  #isClosed = false;

  constructor({
    home,
    clock,
    durability = 'disk',
    keepsViews = true,
    operations = systemFileOperations,
    leaseMs,
    socketDirectory,
    segmentBytes,
    checkpointEvents,
    maxOpenLogs = openLogsWithin(descriptorLimit()),
  }: FileEventStoreOptions) {
    this.durability = durability;
    this.#layout = new HomeLayout(home);
    this.#clock = clock;
    this.#operations = operations;
    this.#keepsViews = keepsViews;
    this.#lease = checkLeaseOptions({ leaseMs, socketDirectory });
    checkOpenLogs(maxOpenLogs);
    this.#logs = new LogCache({
      layout: this.#layout,
      durability,
      operations,
      segmentBytes,
      checkpointEvents,
      maxOpen: maxOpenLogs,
    });
    this.#activations = new FileActivationIndex({ directory: this.#layout.activations, clock, operations });
    this.#words = new FileWordChannel({
      place: (sessionId) => this.#located(sessionId, async (identity) => this.#leaseRequest(identity)),
      watch: (sessionId, onChange) => this.watch(sessionId, onChange),
    });
  }

  get activations(): ActivationIndex {
    return this.#activations;
  }

  /** What models say in the wakes of other processes, and in ours for them. */
  get words(): WordChannel {
    return this.#words;
  }

  async create(identity: SessionIdentity, events: NewSessionEvents): Promise<AppendResult> {
    return this.#create(identity, () => recordsOf(events).map((part) => ({ events: part })));
  }

  async createFromRecords(
    identity: SessionIdentity,
    records: readonly [SessionRecord, ...SessionRecord[]],
  ): Promise<AppendResult> {
    return this.#create(identity, () => records);
  }

  async #create(identity: SessionIdentity, given: () => readonly SessionRecord[]): Promise<AppendResult> {
    this.#assertOpen();
    assertIdentity(identity);
    const { sessionId } = identity;
    const records = given().map(({ events, key }) => encodeRecord({ events, key }));
    admitted(records.map(({ record }) => record));
    for (const { byteLength } of records)
      if (byteLength > MAX_RECORD_BYTES) throw recordTooLarge(sessionId, byteLength, MAX_RECORD_BYTES);
    try {
      await makeSessionFolder({ identity, layout: this.#layout, operations: this.#operations }, firstLogOf(records));
    } catch (error) {
      const isTaken =
        ['ENOTEMPTY', 'EEXIST', 'EPERM'].includes(systemCodeOf(error) ?? '') && (await this.#isThere(identity));
      throw isTaken ? sessionExists(sessionId) : storageFailed(`create session ${sessionId}`, error);
    }
    this.#remember(identity);
    const stored: SessionEvent[] = [];
    for (const { record } of records) stored.push(...eventsOf(record, { sessionId, firstSeq: stored.length + 1 }));
    return { events: stored, durability: this.durability, isDuplicate: false };
  }

  async delete(sessionId: string, claim: WakeClaim): Promise<void> {
    const identity = await this.identify(sessionId);
    const right = await this.acquireWakeRight(sessionId, claim).catch((error: unknown) => {
      throw RuntimeError.is(error) && error.code === 'WAKE_CONFLICT' ? sessionBusy(sessionId) : error;
    });
    try {
      await removeSessionFolder({ identity, layout: this.#layout, operations: this.#operations });
    } catch (error) {
      throw storageFailed(`delete session ${sessionId}`, error);
    } finally {
      this.#identities.delete(sessionId);
      await this.#logs.forget(sessionId);
      await right.release();
    }
  }

  async identify(sessionId: string): Promise<SessionIdentity> {
    this.#assertOpen();
    const known = this.#identities.get(sessionId);
    if (known !== undefined) return known;
    // The id becomes part of a path, so it must be one.
    if (isUuidV7(sessionId)) {
      for (const agentId of await this.#agentIds()) {
        const identity = { sessionId, agentId };
        if (!(await this.#isThere(identity))) continue;
        this.#remember(identity);
        return identity;
      }
    }
    throw sessionNotFound(sessionId);
  }

  append(sessionId: string, events: NewSessionEvents, options: AppendOptions = {}): Promise<AppendResult> {
    const { activate = [], settle = [] } = options;
    if (activate.length > 0 || settle.length > 0)
      return this.#appendWithHints(sessionId, events, { options, activate, settle });
    return this.#withLog(sessionId, (log) => log.append(events, options));
  }

  async #appendWithHints(
    sessionId: string,
    events: NewSessionEvents,
    { options, activate, settle }: HintedAppend,
  ): Promise<AppendResult> {
    this.#assertOpen();
    if (!this.#identities.has(sessionId)) await this.identify(sessionId);
    // Before any process can see the events: a hint too many costs a check, a missing one would cost the wake.
    if (activate.length > 0) await this.#activations.foretell(activate);
    const result = await this.#withLog(sessionId, (log) => log.append(events, options)).catch(
      async (error: unknown) => {
        if (activate.length > 0 && hasStoredNothing(error)) await this.#takeBack(sessionId, events, activate);
        throw error;
      },
    );
    if (activate.length > 0 && !result.isDuplicate) await this.#announce(activate);
    if (activate.length > 0 && result.isDuplicate && result.events[0]?.id !== events[0].id)
      await this.#takeBack(sessionId, events, activate);
    if (settle.length > 0) await this.#activations.remove(settle).catch(() => undefined);
    return result;
  }

  /**
   * What is due is stored now. A worker that finds no cause for a hint leaves it alone for HINT_GRACE_MS; an older one,
   * made again, it may have taken for a stray. Stored is stored, whatever becomes of hints now.
   */
  async #announce(activations: readonly Activation[]): Promise<void> {
    const areFresh = activations.every(({ dueAtMs }) => this.#clock.now() - dueAtMs < HINT_GRACE_MS / 2);
    if (areFresh) this.#activations.announce();
    else await this.#activations.add(activations).catch(() => undefined);
  }

  async findById(sessionId: string, eventId: string): Promise<AppendResult | undefined> {
    return this.#withLog(sessionId, (log) => log.findById(eventId));
  }

  async findByKey(sessionId: string, idempotencyKey: string): Promise<AppendResult | undefined> {
    return this.#withLog(sessionId, (log) => log.findByKey(idempotencyKey));
  }

  async read(sessionId: string, options: ReadOptions = {}): ReturnType<EventStore['read']> {
    return this.#withLog(sessionId, (log) => log.read(options));
  }

  async records(sessionId: string, options: ReadOptions = {}): Promise<readonly StoredRecord[]> {
    return this.#withLog(sessionId, (log) => log.records(options));
  }

  async head(sessionId: string): Promise<number> {
    return this.#withLog(sessionId, (log) => log.head());
  }

  async list({ agentId, newest = Infinity, before, sessionIds }: ListFilter = {}): Promise<readonly SessionListing[]> {
    this.#assertOpen();
    const agentIds = agentId === undefined ? await this.#agentIds() : [agentId];
    const all: SessionIdentity[] = [];
    for (const owner of agentIds) {
      const names = sessionIds ?? (await this.#namesIn(this.#layout.sessionsOf(owner)));
      for (const sessionId of names.filter((name) => isUuidV7(name) && (before === undefined || name < before)))
        all.push({ sessionId, agentId: owner });
    }
    const sorted = all.toSorted((one, other) => (one.sessionId < other.sessionId ? -1 : 1));
    // Of those that are named some may not be there: the newest of them are not known yet.
    const identities = sessionIds === undefined ? sorted.slice(-newest) : sorted;
    const listings = new Array<SessionListing | undefined>(identities.length);
    const left = identities.entries();
    // They share what is left: one after the other, ten thousand sessions are eighty thousand waits for the disk.
    const check = async (): Promise<void> => {
      for (const [place, identity] of left) listings[place] = await this.#listing(identity);
    };
    await Promise.all(Array.from({ length: LISTED_AT_ONCE }, check));
    return listings.filter((listing) => listing !== undefined);
  }

  async saveView(state: SessionState): Promise<void> {
    if (!this.#keepsViews) return;
    await this.#withLog(state.sessionId, async (log, identity) => {
      const extent = await log.extentAt(state.head);
      // Another process has appended since the state was folded: a view of the past would be taken for stale anyway.
      if (extent === undefined) return;
      // One that cannot be written does not keep the other from being written.
      const [view, checkpoint] = await Promise.allSettled([
        writeSessionView(this.#layout.session(identity), { state, extent }, this.#operations),
        log.saveCheckpoint(state),
      ]);
      if (view.status === 'rejected') throw storageFailed(`write the view of session ${state.sessionId}`, view.reason);
      if (checkpoint.status === 'rejected')
        throw storageFailed(`write a checkpoint of session ${state.sessionId}`, checkpoint.reason);
    });
  }

  async checkpoint(sessionId: string): Promise<SessionState | undefined> {
    return this.#withLog(sessionId, async (log, identity) => {
      const view = await readSessionView(this.#viewPlace(identity));
      const checkpoint = await log.checkpoint();
      const isNewer =
        view !== undefined && view.state.head >= (checkpoint?.head ?? 0) && (await log.holds(view.extent));
      return deepFrozen(isNewer ? view.state : checkpoint);
    });
  }

  watch(sessionId: string, onChange: () => void): () => void {
    let hasEnded = false;
    const endings: (() => void)[] = [];
    const begin = async (): Promise<void> => {
      const { stopHearing, segment, identity } = await this.#withLog(sessionId, async (log, where) => ({
        stopHearing: log.onAppend(onChange),
        segment: log.segment,
        identity: where,
      }));
      endings.push(stopHearing);
      if (!hasEnded)
        endings.push(watchLog({ segments: this.#segments(identity), segment, clock: this.#clock, onChange }));
      // Also when the listener has ended it at the first call.
      if (hasEnded) for (const end of endings.splice(0)) end();
    };
    // A session that is not there shows in the next read, which is what a change leads to.
    begin().catch(onChange);
    return () => {
      hasEnded = true;
      for (const end of endings.splice(0)) end();
    };
  }

  async acquireWakeRight(sessionId: string, claim: WakeClaim): Promise<WakeRight> {
    return this.#located(sessionId, async (identity) => {
      const request = this.#leaseRequest(identity);
      await assertLeasable(request);
      return acquireLease(request, claim);
    });
  }

  async isWakeRightHeld(sessionId: string): Promise<boolean> {
    return this.#located(sessionId, async (identity) => {
      const request = this.#leaseRequest(identity);
      await assertSessionFolder(request);
      return isLeaseHeld(request);
    });
  }

  async wakeRightFreed(sessionId: string, signal: AbortSignal): Promise<void> {
    return this.#located(sessionId, async (identity) => {
      const request = this.#leaseRequest(identity);
      await assertSessionFolder(request);
      return leaseFreed(request, signal);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#activations.settled();
    await this.#logs.close();
  }

  /** Runs `work` on the session's log. */
  #withLog<Value>(
    sessionId: string,
    work: (log: SessionLog, identity: SessionIdentity) => Promise<Value>,
  ): Promise<Value> {
    const known = this.#identities.get(sessionId);
    const use = (identity: SessionIdentity, orElse?: () => Promise<Value>): Promise<Value> =>
      this.#logs.use(identity, (log) => work(log, identity), orElse);
    return known === undefined || this.#isClosed
      ? this.#located(sessionId, (identity) => use(identity))
      : use(known, () => this.#anew(sessionId, use));
  }

  /** Where the session is now: another process may have deleted it and brought it back. */
  async #anew<Value>(sessionId: string, work: (identity: SessionIdentity) => Promise<Value>): Promise<Value> {
    this.#identities.delete(sessionId);
    return work(await this.identify(sessionId));
  }

  /** Runs `work`, and once more when the session is gone from where we know it. */
  async #located<Value>(sessionId: string, work: (identity: SessionIdentity) => Promise<Value>): Promise<Value> {
    this.#assertOpen();
    const identity = this.#identities.get(sessionId) ?? (await this.identify(sessionId));
    try {
      return await work(identity);
    } catch (error) {
      if (!isSessionGone(error)) throw error;
    }
    return this.#anew(sessionId, work);
  }

  #remember(identity: SessionIdentity): void {
    this.#identities.set(identity.sessionId, identity);
    const [oldest] = this.#identities.keys();
    if (this.#identities.size > MAX_IDENTITIES && oldest !== undefined) this.#identities.delete(oldest);
  }

  /** Removes the hints of an append that has stored nothing, so that no worker searches for what they speak of. */
  async #takeBack(sessionId: string, events: NewSessionEvents, activate: readonly Activation[]): Promise<void> {
    const vain = hintsOf(events, activate);
    if (vain.length === 0) return;
    await this.#activations.remove(vain).catch(() => undefined);
    // Another process may have stored the very same events just now, and its hints have the same names.
    const isStored = await this.findById(sessionId, events[0].id).then(
      (found) => found !== undefined,
      (error: unknown) => !isSessionGone(error),
    );
    if (isStored) await this.#activations.add(vain).catch(() => undefined);
  }

  #leaseRequest(identity: SessionIdentity): LeaseRequest {
    return {
      sessionId: identity.sessionId,
      directory: this.#layout.session(identity),
      clock: this.#clock,
      onFollow: (connection, by) => this.#words.admit(identity.sessionId, connection, by),
      ...this.#lease,
    };
  }

  #assertOpen(): void {
    if (this.#isClosed) throw storeClosed();
  }

  async #agentIds(): Promise<string[]> {
    const names = await this.#namesIn(this.#layout.agents);
    return names.filter((name) => agentIdSchema.safeParse(name).success);
  }

  async #namesIn(directory: string): Promise<string[]> {
    try {
      return (await readdir(directory)).sort();
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT' || systemCodeOf(error) === 'ENOTDIR') return [];
      throw storageFailed(`list ${directory}`, error);
    }
  }

  async #isThere(identity: SessionIdentity): Promise<boolean> {
    return access(this.#layout.log(identity)).then(
      () => true,
      () => false,
    );
  }

  /** What a list says of a session; undefined when there is none. */
  async #listing(identity: SessionIdentity): Promise<SessionListing | undefined> {
    try {
      const path = this.#layout.log(identity);
      if (!(await stat(path)).isFile()) throw new Error(`expected ${path} to be a file`);
      await access(path, constants.R_OK);
      const view = await readCurrentView(this.#viewPlace(identity));
      return view === undefined ? identity : { ...identity, view };
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') return undefined;
      return { ...identity, error: storageFailed(`read the log of session ${identity.sessionId}`, error).toJSON() };
    }
  }

  #viewPlace(identity: SessionIdentity): SessionViewPlace {
    return { identity, directory: this.#layout.session(identity), segments: this.#segments(identity) };
  }

  #segments(identity: SessionIdentity): LogSegments {
    return new LogSegments(this.#layout.session(identity), this.#operations);
  }
}
