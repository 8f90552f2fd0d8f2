/** The embedded event store: one folder per session, no service. Any number of processes may use the same home at once. */
import { randomUUID } from 'node:crypto';
import { access, mkdir, readdir, realpath, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { agentId as agentIdSchema, isUuidV7 } from '../../machines/ids.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { Clock } from '../../actors/clock/clock.ts';
import { sessionExists, sessionNotFound, storeClosed } from '../../actors/session/event-store.ts';
import type {
  AppendOptions,
  AppendResult,
  EventStore,
  NewSessionEvents,
  ReadOptions,
  SessionIdentity,
  SessionListing,
  WakeRight,
} from '../../actors/session/event-store.ts';
import { PRIVATE_FOLDER_MODE, makePrivateDirectory, syncDirectory, writeNewFile } from './durable-files.ts';
import { watchFile } from './file-watch.ts';
import { HomeLayout, LOG_FILE, RUNTIME_FOLDER, WORKSPACE_FOLDER } from './layout.ts';
import { openLogFile } from './log-file.ts';
import type { OpenLogFile } from './log-file.ts';
import { LogCache } from './log-cache.ts';
import { encodeRecord, eventsOf } from './record-codec.ts';
import { readSessionView, writeSessionViews } from './session-view.ts';
import { storageFailed, systemCodeOf } from './storage-errors.ts';
import { acquireWakeLock, defaultWakeLockKind } from './wake-lock.ts';
import type { WakeLockKind } from './wake-lock.ts';

export interface FileEventStoreOptions {
  /** The home directory; made with the first session. */
  readonly home: string;
  readonly clock: Clock;
  /** `os` skips the sync and says so in every receipt. Default `disk`. */
  readonly durability?: 'disk' | 'os' | undefined;
  /** Default: a socket on Linux, a file elsewhere. */
  readonly wakeLock?: WakeLockKind | undefined;
  /** Opens a log's file. Default: the file system. */
  readonly openLogFile?: OpenLogFile | undefined;
}

export class FileEventStore implements EventStore {
  readonly durability: 'disk' | 'os';
  readonly #layout: HomeLayout;
  readonly #clock: Clock;
  readonly #wakeLock: WakeLockKind;
  readonly #logs: LogCache;
  readonly #identities = new Map<string, SessionIdentity>();
  #isClosed = false;

  constructor({ home, clock, durability = 'disk', wakeLock = defaultWakeLockKind, openLogFile: openFile = openLogFile }: FileEventStoreOptions) {
    this.durability = durability;
    this.#layout = new HomeLayout(home);
    this.#clock = clock;
    this.#wakeLock = wakeLock;
    this.#logs = new LogCache({ layout: this.#layout, durability, openLogFile: openFile });
  }

  async create(identity: SessionIdentity, events: NewSessionEvents): Promise<AppendResult> {
    this.#assertOpen();
    const { record, bytes } = encodeRecord({ events });
    const sessions = this.#layout.sessionsOf(identity.agentId);
    // Made aside and moved into place: a session is there with its first events or not at all.
    const aside = join(sessions, `.new-${randomUUID()}`);
    try {
      await makePrivateDirectory(sessions);
      await mkdir(aside, { mode: PRIVATE_FOLDER_MODE });
      for (const folder of [RUNTIME_FOLDER, WORKSPACE_FOLDER]) await mkdir(join(aside, folder), { mode: PRIVATE_FOLDER_MODE });
      await writeNewFile(join(aside, LOG_FILE), bytes);
      await syncDirectory(aside);
      await rename(aside, this.#layout.session(identity));
      await syncDirectory(sessions);
    } catch (error) {
      await rm(aside, { recursive: true, force: true }).catch(() => undefined);
      const isTaken = ['ENOTEMPTY', 'EEXIST', 'EPERM'].includes(systemCodeOf(error) ?? '') && (await this.#isThere(identity));
      throw isTaken ? sessionExists(identity.sessionId) : storageFailed(`create session ${identity.sessionId}`, error);
    }
    this.#identities.set(identity.sessionId, identity);
    return { events: eventsOf(record, { sessionId: identity.sessionId, firstSeq: 1 }), durability: this.durability, isDuplicate: false };
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
        this.#identities.set(sessionId, identity);
        return identity;
      }
    }
    throw sessionNotFound(sessionId);
  }

  async append(sessionId: string, events: NewSessionEvents, options: AppendOptions = {}): Promise<AppendResult> {
    return this.#logs.use(await this.identify(sessionId), (log) => log.append(events, options));
  }

  async findByKey(sessionId: string, idempotencyKey: string): Promise<AppendResult | undefined> {
    return this.#logs.use(await this.identify(sessionId), (log) => log.findByKey(idempotencyKey));
  }

  async read(sessionId: string, options: ReadOptions = {}): ReturnType<EventStore['read']> {
    return this.#logs.use(await this.identify(sessionId), (log) => log.read(options));
  }

  async head(sessionId: string): Promise<number> {
    return this.#logs.use(await this.identify(sessionId), (log) => log.head());
  }

  async list({ agentId }: { readonly agentId?: string | undefined } = {}): Promise<readonly SessionListing[]> {
    this.#assertOpen();
    const agentIds = agentId === undefined ? await this.#agentIds() : [agentId];
    const identities: SessionIdentity[] = [];
    for (const owner of agentIds) {
      const names = await this.#namesIn(this.#layout.sessionsOf(owner));
      for (const sessionId of names.filter(isUuidV7)) identities.push({ sessionId, agentId: owner });
    }
    identities.sort((one, other) => (one.sessionId < other.sessionId ? -1 : 1));
    const listings: SessionListing[] = [];
    for (const identity of identities) {
      if (!(await this.#isThere(identity))) continue;
      const view = await readSessionView({ identity, directory: this.#layout.session(identity), logPath: this.#layout.log(identity) });
      listings.push(view === undefined ? identity : { ...identity, view });
    }
    return listings;
  }

  async saveView(state: SessionState): Promise<void> {
    const identity = await this.identify(state.sessionId);
    const extent = await this.#logs.use(identity, (log) => log.extent());
    // Somebody has appended since the state was folded: a view of the past would be taken for stale anyway.
    if (extent.head !== state.head) return;
    try {
      await writeSessionViews(this.#layout.session(identity), state, extent.bytes);
    } catch (error) {
      throw storageFailed(`write the views of session ${state.sessionId}`, error);
    }
  }

  watch(sessionId: string, onChange: () => void): () => void {
    let hasEnded = false;
    const endings: (() => void)[] = [];
    const begin = async (): Promise<void> => {
      const identity = await this.identify(sessionId);
      const stopHearing = await this.#logs.use(identity, (log) => Promise.resolve(log.onAppend(onChange)));
      endings.push(stopHearing);
      if (hasEnded) stopHearing();
      else endings.push(watchFile({ path: this.#layout.log(identity), clock: this.#clock, onChange }));
    };
    // A session that is not there shows in the next read, which is what a change leads to.
    begin().catch(onChange);
    return () => {
      hasEnded = true;
      for (const end of endings.splice(0)) end();
    };
  }

  async acquireWakeRight(sessionId: string): Promise<WakeRight> {
    const identity = await this.identify(sessionId);
    const directory = await realpath(this.#layout.session(identity));
    return acquireWakeLock(this.#wakeLock, { sessionId, directory });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#logs.close();
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
}
