/**
 * The logs that are open. Bounded: those not used for longest are closed when nobody needs them, and opened again when somebody does. One
 * whose session turns out to be gone is given up, since another process may have brought the session back in new files.
 */
import { RuntimeError } from '../../machines/errors.ts';
import { sessionNotFound, storeClosed } from '../../actors/session/event-store.ts';
import type { SessionIdentity } from '../../actors/session/event-store.ts';
import type { HomeLayout } from './layout.ts';
import type { FileOperations } from './file-operations.ts';
import { SessionLog } from './session-log.ts';
import type { LogLimits } from './session-log.ts';
import { storageFailed, systemCodeOf } from './storage-errors.ts';

/** Logs that stay open although nobody uses them at the moment. */
const MAX_OPEN_LOGS = 128;

export interface LogCacheOptions extends LogLimits {
  readonly layout: HomeLayout;
  readonly durability: 'disk' | 'os';
  readonly operations: FileOperations;
}

export class LogCache {
  readonly #options: LogCacheOptions;
  /** In the order of last use, the oldest first. */
  readonly #logs = new Map<string, Promise<SessionLog>>();
  /** How many callers hold a log right now. */
  readonly #users = new Map<Promise<SessionLog>, number>();
  #isClosed = false;

  constructor(options: LogCacheOptions) {
    this.#options = options;
  }

  /** Runs `work` with the session's log, which stays open until it is done. After SESSION_NOT_FOUND and SESSION_HISTORY_LOST the next call opens it anew. */
  async use<Value>(identity: SessionIdentity, work: (log: SessionLog) => Promise<Value>): Promise<Value> {
    if (this.#isClosed) throw storeClosed();
    const { sessionId } = identity;
    const log = this.#open(identity);
    this.#users.set(log, (this.#users.get(log) ?? 0) + 1);
    try {
      return await work(await log);
    } catch (error) {
      // Somebody else may have opened it anew already.
      if ((isSessionGone(error) || isHistoryLost(error)) && this.#logs.get(sessionId) === log) this.#logs.delete(sessionId);
      throw error;
    } finally {
      await this.#leave(sessionId, log);
    }
  }

  /** Forgets the session's log, and closes it once nobody uses it. */
  async forget(sessionId: string): Promise<void> {
    const log = this.#logs.get(sessionId);
    this.#logs.delete(sessionId);
    if (log !== undefined && !this.#users.has(log)) await closeLog(log);
  }

  /** Waits for what is being written; whoever reads still is told that it cannot be read. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const logs = new Set([...this.#logs.values(), ...this.#users.keys()]);
    this.#logs.clear();
    await Promise.all([...logs].map(closeLog));
  }

  async #leave(sessionId: string, log: Promise<SessionLog>): Promise<void> {
    const left = (this.#users.get(log) ?? 1) - 1;
    if (left > 0) this.#users.set(log, left);
    else this.#users.delete(log);
    if (left === 0 && !this.#isClosed && this.#logs.get(sessionId) !== log) await closeLog(log);
    if (this.#logs.size > MAX_OPEN_LOGS) await this.#closeUnused();
  }

  #open(identity: SessionIdentity): Promise<SessionLog> {
    const { sessionId } = identity;
    const log = this.#logs.get(sessionId) ?? this.#openFile(identity);
    this.#logs.delete(sessionId);
    this.#logs.set(sessionId, log);
    // One that could not be opened is tried again next time.
    log.catch(() => this.#logs.get(sessionId) === log && this.#logs.delete(sessionId));
    return log;
  }

  async #openFile(identity: SessionIdentity): Promise<SessionLog> {
    const { layout, ...options } = this.#options;
    try {
      return await SessionLog.open({ ...options, isNeverEmpty: true, sessionId: identity.sessionId, directory: layout.session(identity) });
    } catch (error) {
      throw systemCodeOf(error) === 'ENOENT' ? sessionNotFound(identity.sessionId) : storageFailed(`open the log of session ${identity.sessionId}`, error);
    }
  }

  async #closeUnused(): Promise<void> {
    for (const [sessionId, opening] of this.#logs) {
      if (this.#logs.size <= MAX_OPEN_LOGS) return;
      if (this.#users.has(opening)) continue;
      const log = await opening.catch(() => undefined);
      // Used again while we waited: the next round will look at it.
      if (this.#users.has(opening) || log?.isBusy === true || this.#logs.get(sessionId) !== opening) continue;
      this.#logs.delete(sessionId);
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
async function closeLog(log: Promise<SessionLog>): Promise<void> {
  const opened = await log.catch(() => undefined);
  await opened?.close();
}
