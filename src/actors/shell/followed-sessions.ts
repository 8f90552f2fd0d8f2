/**
 * The sessions that are followed because something is known of shells of theirs. Nothing is watched or held open for
 * any other.
 */
import { messageOf } from '../../machines/errors.ts';
import { shellDidNotOpen } from './shell-errors.ts';
import { SessionWatch } from './session-watch.ts';
import type { SessionEnd, SessionWatchPorts } from './session-watch.ts';

export interface FollowedSessionsOptions extends SessionWatchPorts {
  readonly onEnd: (sessionId: string, end: SessionEnd) => void;
}

export class FollowedSessions {
  readonly #options: FollowedSessionsOptions;
  readonly #watches = new Map<string, Promise<SessionWatch>>();

  constructor(options: FollowedSessionsOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the session is followed; it is until `leave`.
   * @param shell the one that is to be opened in it @throws RuntimeError SHELL_NOT_OPENED when it cannot be followed
   */
  async follow(sessionId: string, shell: string): Promise<SessionWatch> {
    try {
      return await (this.#watches.get(sessionId) ?? this.#start(sessionId));
    } catch (error) {
      throw shellDidNotOpen(shell, `its session could not be checked: ${messageOf(error)}`, error);
    }
  }

  /** Resolves when `onEnd` has been called if the session is not there any more. @throws when that cannot be seen */
  async confirm(sessionId: string): Promise<void> {
    await (await this.#watches.get(sessionId))?.confirm();
  }

  /** Idempotent. */
  leave(sessionId: string): void {
    const watch = this.#watches.get(sessionId);
    this.#watches.delete(sessionId);
    watch?.then(
      (started) => started.stop(),
      () => undefined,
    );
  }

  #start(sessionId: string): Promise<SessionWatch> {
    const watch = SessionWatch.start(this.#options, sessionId, (end) => {
      if (this.#watches.get(sessionId) === watch) this.#options.onEnd(sessionId, end);
    });
    this.#watches.set(sessionId, watch);
    // One that did not come about is tried again with the next shell.
    watch.catch(() => this.#watches.get(sessionId) === watch && this.#watches.delete(sessionId));
    return watch;
  }
}
