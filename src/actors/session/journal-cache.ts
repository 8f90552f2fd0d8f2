/**
 * Keeps the folded state of the sessions used last, so that checking again costs only what is new. Bounded: the rest is
 * folded anew, and so is a session that another process has deleted and brought back.
 */
import { RuntimeError } from '../../machines/errors.ts';
import type { SessionOpening } from '../../machines/session/due-sessions.ts';
import { SessionJournal } from './session-journal.ts';
import type { JournalPorts } from './session-journal.ts';

/** Sessions whose state stays folded in memory. */
const MAX_CACHED_JOURNALS = 256;

export class JournalCache {
  readonly #ports: JournalPorts;
  /** In the order of last use, the oldest first. */
  readonly #journals = new Map<string, SessionJournal>();

  constructor(ports: JournalPorts) {
    this.#ports = ports;
  }

  /**
   * The journal of a session, up to date; with an opening at least as new as that.
   * @throws RuntimeError SESSION_NOT_FOUND
   */
  async open(sessionId: string, opening?: SessionOpening): Promise<SessionJournal> {
    const journal =
      this.#opened(sessionId, opening) ??
      (await this.#known(sessionId)) ??
      (await SessionJournal.open(sessionId, this.#ports));
    this.#journals.delete(sessionId);
    this.#journals.set(sessionId, journal);
    this.#dropOldest();
    return journal;
  }

  /** The session is gone. */
  forget(sessionId: string): void {
    this.#journals.delete(sessionId);
  }

  #opened(sessionId: string, opening: SessionOpening | undefined): SessionJournal | undefined {
    if (opening === undefined) return undefined;
    const { agentId, state, events } = opening;
    const journal = this.#journals.get(sessionId) ?? new SessionJournal({ sessionId, agentId }, this.#ports, { state });
    return journal.take(events) ? journal : undefined;
  }

  /** Undefined too when the session was deleted: another one may be there under its id. */
  async #known(sessionId: string): Promise<SessionJournal | undefined> {
    const journal = this.#journals.get(sessionId);
    try {
      await journal?.refresh();
      return journal;
    } catch (error) {
      if (!RuntimeError.is(error) || error.code !== 'SESSION_NOT_FOUND') throw error;
      if (this.#journals.get(sessionId) === journal) this.#journals.delete(sessionId);
      return undefined;
    }
  }

  #dropOldest(): void {
    for (const sessionId of this.#journals.keys()) {
      if (this.#journals.size <= MAX_CACHED_JOURNALS) return;
      this.#journals.delete(sessionId);
    }
  }
}
