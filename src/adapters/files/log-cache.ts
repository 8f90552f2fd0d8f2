/** The logs that are open. Bounded: those not used for longest are closed when nobody needs them, and opened again when somebody does. */
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
  readonly #users = new Map<string, number>();
  #isClosed = false;

  constructor(options: LogCacheOptions) {
    this.#options = options;
  }

  /** Runs `work` with the session's log, which stays open until it is done. */
  async use<Value>(identity: SessionIdentity, work: (log: SessionLog) => Promise<Value>): Promise<Value> {
    if (this.#isClosed) throw storeClosed();
    const { sessionId } = identity;
    this.#users.set(sessionId, (this.#users.get(sessionId) ?? 0) + 1);
    try {
      return await work(await this.#open(identity));
    } finally {
      const left = (this.#users.get(sessionId) ?? 1) - 1;
      if (left > 0) this.#users.set(sessionId, left);
      else this.#users.delete(sessionId);
      if (this.#logs.size > MAX_OPEN_LOGS) await this.#closeUnused();
    }
  }

  /** Closes the session's log and forgets it, when nobody uses it. */
  async forget(sessionId: string): Promise<void> {
    const log = this.#logs.get(sessionId);
    this.#logs.delete(sessionId);
    await log?.then((opened) => opened.close(), () => undefined);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const logs = [...this.#logs.values()];
    this.#logs.clear();
    await Promise.all(logs.map((log) => log.then((opened) => opened.close(), () => undefined)));
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
      return await SessionLog.open({ ...options, sessionId: identity.sessionId, directory: layout.session(identity) });
    } catch (error) {
      throw systemCodeOf(error) === 'ENOENT' ? sessionNotFound(identity.sessionId) : storageFailed(`open the log of session ${identity.sessionId}`, error);
    }
  }

  async #closeUnused(): Promise<void> {
    for (const [sessionId, opening] of this.#logs) {
      if (this.#logs.size <= MAX_OPEN_LOGS) return;
      if (this.#users.has(sessionId)) continue;
      const log = await opening.catch(() => undefined);
      // Used again while we waited: the next round will look at it.
      if (this.#users.has(sessionId) || log?.isBusy === true || this.#logs.get(sessionId) !== opening) continue;
      this.#logs.delete(sessionId);
      await log?.close();
    }
  }
}
