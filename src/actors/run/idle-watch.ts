/**
 * Notices that a program or a provider has said nothing for too long. Stands still while it waits for a person or
 * another program.
 */
import type { Clock, TimerHandle } from '../clock/clock.ts';

export interface IdleWatchOptions {
  readonly clock: Clock;
  readonly limitMs: number;
  /** Called once. */
  readonly onIdle: () => void;
}

export class IdleWatch {
  readonly #options: IdleWatchOptions;
  #timer: TimerHandle | undefined;
  #lastSignMs: number;
  #pauses = 0;
  #isOver = false;

  constructor(options: IdleWatchOptions) {
    this.#options = options;
    this.#lastSignMs = options.clock.steadyNow();
    this.#arm(options.limitMs);
  }

  /** A sign of life. Cheap: the timer checks when it fires whether there was one. */
  touch(): void {
    this.#lastSignMs = this.#options.clock.steadyNow();
  }

  /** A person or another program is waited for. Each call needs a `resume` of its own. */
  pause(): void {
    this.#pauses += 1;
  }

  resume(): void {
    this.#pauses -= 1;
    this.touch();
  }

  /** Idempotent. */
  end(): void {
    this.#isOver = true;
    this.#options.clock.clearTimeout(this.#timer);
  }

  #arm(delayMs: number): void {
    this.#timer = this.#options.clock.setTimeout(() => this.#check(), delayMs);
  }

  #check(): void {
    if (this.#isOver) return;
    const { clock, limitMs, onIdle } = this.#options;
    if (this.#pauses > 0) this.touch();
    const leftMs = this.#lastSignMs + limitMs - clock.steadyNow();
    if (leftMs > 0) {
      this.#arm(leftMs);
      return;
    }
    this.#isOver = true;
    onIdle();
  }
}
