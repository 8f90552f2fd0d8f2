/** How long a request may take: so long without a sign of life, and so long altogether. */
import type { Clock, TimerHandle } from '../../actors/clock/clock.ts';

export interface DeadlineOptions {
  readonly clock: Clock;
  /** Since the start or the last `extend`, in milliseconds. */
  readonly limitMs: number;
  /** Since the start, in milliseconds. */
  readonly totalMs: number;
  /** Called once, with the limit that was reached. */
  readonly onReached: (limitMs: number) => void;
}

export class Deadline {
  readonly #options: DeadlineOptions;
  readonly #startedMs: number;
  #timer: TimerHandle | undefined;
  #isOver = false;

  constructor(options: DeadlineOptions) {
    this.#options = options;
    this.#startedMs = options.clock.steadyNow();
    this.extend();
  }

  /** Begins the limit anew. */
  extend(): void {
    if (this.#isOver) return;
    const { clock, limitMs, totalMs } = this.#options;
    const leftMs = this.#startedMs + totalMs - clock.steadyNow();
    clock.clearTimeout(this.#timer);
    this.#timer = clock.setTimeout(
      () => this.#reach(leftMs < limitMs ? totalMs : limitMs),
      Math.max(0, Math.min(limitMs, leftMs)),
    );
  }

  /** No limit is reached any more. */
  end(): void {
    this.#isOver = true;
    this.#options.clock.clearTimeout(this.#timer);
  }

  #reach(limitMs: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.onReached(limitMs);
  }
}
