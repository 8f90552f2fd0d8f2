/**
 * The logs that are open. Bounded: those not used for longest are closed while no call needs them, and opened again
 * when one does. One whose session turns out to be gone is given up, since another process may have brought the session
 * back in new files.
 */
import { RuntimeError } from '../../machines/errors.ts';
import { sessionNotFound, storeClosed } from '../../actors/session/event-store.ts';
import type { SessionIdentity } from '../../actors/session/event-store.ts';
import { systemCodeOf } from '../system/error-codes.ts';
import type { HomeLayout } from './layout.ts';
import type { FileOperations } from './file-operations.ts';
import { SessionLog } from './session-log.ts';
import type { LogLimits } from './session-log.ts';
import { storageFailed } from './storage-errors.ts';

/**
 * Logs that stay open although no caller uses them at the moment. Each holds two descriptors, and 0.5 kB for each event
 * since its last checkpoint (512 events); to open one again for a wake takes 1 to 2 ms of processor.
 */
const MOST_OPEN_LOGS = 512;
const LEAST_OPEN_LOGS = 128;

/** An eighth of what the process may open is for logs: pipes, sockets and files of tools need the rest. */
const DESCRIPTORS_PER_OPEN_LOG = 16;

/** Logs to keep open in a process that may have so many descriptors. */
export function openLogsWithin(descriptors: number): number {
  const share = Math.floor(descriptors / DESCRIPTORS_PER_OPEN_LOG);
  return Math.max(LEAST_OPEN_LOGS, Math.min(MOST_OPEN_LOGS, share));
}

export interface LogCacheOptions extends LogLimits {
  readonly layout: HomeLayout;
  readonly durability: 'disk' | 'os';
  readonly operations: FileOperations;
  /** Logs that stay open while no caller uses them. */
  readonly maxOpen: number;
}

/** A log that is open, or is being opened. */
interface OpenLog {
  readonly sessionId: string;
  readonly opening: Promise<SessionLog>;
  /** Once it is open. */
  log: SessionLog | undefined;
  /** How many callers hold it right now. */
  users: number;
}

/** @throws RuntimeError STORE_OPTIONS_INVALID */
export function checkOpenLogs(maxOpenLogs: number): void {
  if (Number.isInteger(maxOpenLogs) && maxOpenLogs >= 1) return;
  throw new RuntimeError(
    'STORE_OPTIONS_INVALID',
    `expected a whole number of open logs from 1 on, received ${maxOpenLogs}`,
    {
      category: 'validation',
      hint: 'Leave maxOpenLogs out for as many as the process may have open files for.',
    },
  );
}

export class LogCache {
  readonly #options: LogCacheOptions;
  /** In the order of last use, the oldest first. */
  readonly #logs = new Map<string, OpenLog>();
  /** Those that callers hold, also when they were forgotten meanwhile. */
  readonly #held = new Set<OpenLog>();
  #newest: OpenLog | undefined;
  #isClosed = false;

  constructor(options: LogCacheOptions) {
    this.#options = options;
  }

  /**
   * Runs `work` with the session's log, which stays open until it is done. After SESSION_NOT_FOUND and
   * SESSION_HISTORY_LOST the next call opens it anew; after the first, `orElse` may know where the session is now.
   */
  async use<Value>(
    identity: SessionIdentity,
    work: (log: SessionLog) => Promise<Value>,
    orElse?: () => Promise<Value>,
  ): Promise<Value> {
    if (this.#isClosed) throw storeClosed();
    const entry = this.#open(identity);
    if (entry.users === 0) this.#held.add(entry);
    entry.users += 1;
    try {
      return await work(entry.log ?? (await entry.opening));
    } catch (error) {
      // Another call may have opened it anew already.
      if (isSessionGone(error) || isHistoryLost(error)) this.#drop(entry);
      if (orElse === undefined || !isSessionGone(error)) throw error;
      return await orElse();
    } finally {
      const closing = this.#leave(entry);
      if (closing !== undefined) await closing;
    }
  }

  /** Forgets the session's log, and closes it once no call uses it. */
  async forget(sessionId: string): Promise<void> {
    const entry = this.#logs.get(sessionId);
    if (entry === undefined) return;
    this.#drop(entry);
    if (entry.users === 0) await closeLog(entry);
  }

  /** Waits for what is being written; a call that still reads is told that it cannot be read. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const logs = new Set([...this.#logs.values(), ...this.#held]);
    this.#logs.clear();
    await Promise.all([...logs].map(closeLog));
  }

  /** What there is to wait for; nothing most of the time. */
  #leave(entry: OpenLog): Promise<void> | undefined {
    entry.users -= 1;
    if (entry.users > 0) return undefined;
    this.#held.delete(entry);
    const closing = !this.#isClosed && this.#logs.get(entry.sessionId) !== entry ? closeLog(entry) : undefined;
    if (this.#logs.size <= this.#options.maxOpen) return closing;
    return closing === undefined ? this.#closeUnused() : closing.then(() => this.#closeUnused());
  }

  #open(identity: SessionIdentity): OpenLog {
    const { sessionId } = identity;
    const entry = this.#logs.get(sessionId) ?? this.#opened(identity);
    if (entry === this.#newest) return entry;
    this.#newest = entry;
    this.#logs.delete(sessionId);
    this.#logs.set(sessionId, entry);
    return entry;
  }

  #opened(identity: SessionIdentity): OpenLog {
    const entry: OpenLog = {
      sessionId: identity.sessionId,
      opening: this.#openFile(identity),
      log: undefined,
      users: 0,
    };
    entry.opening.then(
      (log) => {
        entry.log = log;
      },
      // One that could not be opened is tried again next time.
      () => this.#drop(entry),
    );
    return entry;
  }

  #drop(entry: OpenLog): void {
    if (this.#logs.get(entry.sessionId) === entry) this.#logs.delete(entry.sessionId);
    if (this.#newest === entry) this.#newest = undefined;
  }

  async #openFile(identity: SessionIdentity): Promise<SessionLog> {
    const { layout, maxOpen: _, ...options } = this.#options;
    try {
      return await SessionLog.open({
        ...options,
        isNeverEmpty: true,
        sessionId: identity.sessionId,
        directory: layout.session(identity),
      });
    } catch (error) {
      throw systemCodeOf(error) === 'ENOENT'
        ? sessionNotFound(identity.sessionId)
        : storageFailed(`open the log of session ${identity.sessionId}`, error);
    }
  }

  async #closeUnused(): Promise<void> {
    for (const entry of this.#logs.values()) {
      if (this.#logs.size <= this.#options.maxOpen) return;
      if (entry.users > 0) continue;
      const log = await entry.opening.catch(() => undefined);
      // Used again while we waited: the next round will check it.
      if (entry.users > 0 || log?.isBusy === true || this.#logs.get(entry.sessionId) !== entry) continue;
      this.#drop(entry);
      await log?.close();
    }
  }
}

/** Whether an error says that the session is not there, as far as its open files tell. */
export function isSessionGone(error: unknown): boolean {
  return RuntimeError.is(error) && error.code === 'SESSION_NOT_FOUND';
}

/** The files may be restored, and must be read from their beginning then. */
function isHistoryLost(error: unknown): boolean {
  return RuntimeError.is(error) && error.code === 'SESSION_HISTORY_LOST';
}

/** One that could not be opened has nothing to close. */
async function closeLog({ opening }: OpenLog): Promise<void> {
  const opened = await opening.catch(() => undefined);
  await opened?.close();
}
