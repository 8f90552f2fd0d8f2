/**
 * Follows one session that has shells, and says when it is over: terminated, or deleted, by whomever and in whichever
 * process.
 *
 * It is told by the store, and checks by itself now and then in case it was not told: file systems of a network tell no
 * process. What it cannot see at the moment it tries again later.
 */
import { backOffMs } from '../../machines/session/worker-rules.ts';
import type { TimerHandle } from '../clock/clock.ts';
import type { SessionIdentity } from '../session/event-store.ts';
import { SessionJournal } from '../session/session-journal.ts';
import type { JournalPorts } from '../session/session-journal.ts';

/** Holds on to a session as it is when it is taken, to tell it from another one that is made under its id later. */
export interface SessionHold {
  /**
   * False once the session is deleted, also when it was brought back since. @throws when that cannot be seen at the
   * moment
   */
  isThere(): Promise<boolean>;
  /** Idempotent. */
  release(): Promise<void>;
}

export interface SessionWatchPorts extends JournalPorts {
  /** @throws when the session is not there, or cannot be checked */
  readonly hold: (session: SessionIdentity) => Promise<SessionHold>;
}

/** How a session can be over. One that was terminated can still be deleted. */
export type SessionEnd = 'terminated' | 'deleted';

/** How long it rests at most before it checks by itself, in milliseconds. */
const REST_LIMIT_MS = 60_000;

export class SessionWatch {
  readonly #ports: SessionWatchPorts;
  readonly #sessionId: string;
  readonly #hold: SessionHold;
  readonly #onEnd: (end: SessionEnd) => void;
  #journal: SessionJournal | undefined;
  #end: SessionEnd | undefined;
  #isChecking = false;
  #isWanted = false;
  #isStopped = false;
  #failures = 0;
  #timer: TimerHandle | undefined;
  #unwatch: (() => void) | undefined;

  /**
   * @param onEnd called once for each end that is seen @throws when the session is not there, or cannot be checked
   */
  static async start(
    ports: SessionWatchPorts,
    sessionId: string,
    onEnd: (end: SessionEnd) => void,
  ): Promise<SessionWatch> {
    const hold = await ports.hold(await ports.store.identify(sessionId));
    return new SessionWatch(ports, sessionId, hold, onEnd);
  }

  private constructor(
    ports: SessionWatchPorts,
    sessionId: string,
    hold: SessionHold,
    onEnd: (end: SessionEnd) => void,
  ) {
    this.#ports = ports;
    this.#sessionId = sessionId;
    this.#hold = hold;
    this.#onEnd = onEnd;
    this.#watch();
  }

  /** As far as it was seen. */
  get end(): SessionEnd | undefined {
    return this.#end;
  }

  /**
   * Checks whether the session is still the one that is followed; `onEnd` has been called when it is not. @throws when
   * that cannot be seen
   */
  async confirm(): Promise<void> {
    if (this.#isStopped || (await this.#hold.isThere())) return;
    this.#tell('deleted');
  }

  /** Releases everything. Idempotent. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#unwatch?.();
    this.#ports.clock.clearTimeout(this.#timer);
    this.#hold.release().catch(() => undefined);
  }

  #watch(): void {
    this.#unwatch?.();
    this.#unwatch = this.#ports.store.watch(this.#sessionId, () => void this.#check());
    // The store may have found nothing to watch, and then tells nothing either.
    void this.#check();
  }

  /** Many reasons to check once are one check. */
  async #check(): Promise<void> {
    this.#isWanted = true;
    if (this.#isChecking) return;
    this.#isChecking = true;
    while (this.#isWanted && !this.#isStopped) {
      this.#isWanted = false;
      await this.#checkOnce();
    }
    this.#isChecking = false;
  }

  async #checkOnce(): Promise<void> {
    try {
      const end = await this.#endNow();
      this.#failures = 0;
      this.#arm(REST_LIMIT_MS);
      if (end !== undefined) this.#tell(end);
    } catch {
      this.#failures += 1;
      this.#arm(backOffMs('backed_off', this.#failures));
    }
  }

  /**
   * Whether it is there is asked of the hold alone: a log that cannot be found may lie where we must not check just now.
   */
  async #endNow(): Promise<SessionEnd | undefined> {
    if (!(await this.#hold.isThere())) return 'deleted';
    this.#journal ??= await SessionJournal.open(this.#sessionId, this.#ports);
    const { status } = await this.#journal.refresh();
    return status === 'terminated' ? 'terminated' : undefined;
  }

  #tell(end: SessionEnd): void {
    if (this.#isStopped || this.#end === end) return;
    this.#end = end;
    if (end === 'deleted') this.stop();
    this.#onEnd(end);
  }

  /** What is watched may have failed, or not be what there is to watch by then: so it is watched anew. */
  #arm(delayMs: number): void {
    const { clock } = this.#ports;
    clock.clearTimeout(this.#timer);
    if (!this.#isStopped) this.#timer = clock.setTimeout(() => this.#watch(), delayMs);
  }
}
