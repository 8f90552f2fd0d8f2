/**
 * The wakes of one session for the person who talks with it: one for what they say, and one whenever something of it is
 * due. While another process wakes it, that one is waited for.
 */
import { activationsOf } from '../../machines/session/session-activations.ts';
import type { WakeOutcome } from '../../machines/wake/wake-outcome.ts';
import type { Runtime } from '../../runtime.ts';

export interface OwnWakesOptions {
  readonly runtime: Pick<Runtime, 'trigger' | 'sessions'>;
  readonly sessionId: string;
  readonly onEnded: (outcome: WakeOutcome) => void;
  readonly onTrouble: (error: unknown) => void;
}

/** Timers hold no longer time than this, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export class OwnWakes {
  readonly #options: OwnWakesOptions;
  #running = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Where the log ended, and when, as a wake found nothing to do or failed: without news another one comes to the same. */
  #idle = { head: 0, atMs: 0 };
  /** A person is here to say what is to be tried again, and when. */
  #hasFailed = false;
  #isClosed = false;

  constructor(options: OwnWakesOptions) {
    this.#options = options;
  }

  /** A client has something for it: also one that is parked is woken. */
  wake(isAutonomous = false): void {
    const { runtime, sessionId, onEnded, onTrouble } = this.#options;
    if (this.#isClosed) return;
    this.#running += 1;
    this.#hasFailed = false;
    runtime
      .trigger(sessionId, { humans: 'reachable', isAutonomous })
      .then(
        (outcome) => {
          this.#hasFailed = outcome.error !== undefined;
          if (this.#hasFailed || outcome.outcome === 'nothing_to_do')
            this.#idle = { head: outcome.head, atMs: Date.now() };
          if (outcome.outcome !== 'nothing_to_do' && !this.#isClosed) onEnded(outcome);
        },
        (error: unknown) => {
          this.#hasFailed = true;
          this.#idle = { head: Infinity, atMs: Date.now() };
          if (!this.#isClosed) onTrouble(error);
        },
      )
      .finally(() => {
        this.#running -= 1;
        void this.check();
      });
  }

  /** Wakes it if something of it is due, else when it will be. */
  async check(): Promise<void> {
    const { runtime, sessionId } = this.#options;
    if (this.#isClosed || this.#running > 0) return;
    const state = await runtime.sessions.status(sessionId).catch(() => undefined);
    if (state === undefined || this.#isClosed || this.#running > 0) return;
    clearTimeout(this.#timer);
    const dueAtMs = Math.min(
      ...activationsOf(state)
        .filter(({ kind }) => kind === 'wake' || !this.#hasFailed || state.head > this.#idle.head)
        .map((activation) => activation.dueAtMs),
      Infinity,
    );
    const waitMs = dueAtMs - Date.now();
    if (waitMs > 0) {
      if (waitMs !== Infinity)
        this.#timer = setTimeout(() => void this.check(), Math.min(waitMs, MAX_TIMER_MS)).unref();
    } else if (state.head > this.#idle.head || dueAtMs > this.#idle.atMs) this.wake(true);
  }

  /** What runs goes on. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }
}
