/** Notices when a provider has sent nothing for too long. Hearing something costs a reading of the clock, not a timer. */
import type { Clock, TimerHandle } from '../../actors/clock/clock.ts';

export interface IdleWatchOptions {
  readonly clock: Clock;
  readonly limitMs: number;
  /** Called once. */
  readonly onIdle: () => void;
}

export class IdleWatch {
  readonly #options: IdleWatchOptions;
  #heardAtMs: number;
  #timer: TimerHandle | undefined;

  constructor(options: IdleWatchOptions) {
    this.#options = options;
    this.#heardAtMs = options.clock.steadyNow();
    this.#arm(options.limitMs);
  }

  heard(): void {
    this.#heardAtMs = this.#options.clock.steadyNow();
  }

  /** Idempotent. */
  stop(): void {
    this.#options.clock.clearTimeout(this.#timer);
  }

  #arm(delayMs: number): void {
    this.#timer = this.#options.clock.setTimeout(() => this.#look(), delayMs);
  }

  #look(): void {
    const { clock, limitMs, onIdle } = this.#options;
    const leftMs = this.#heardAtMs + limitMs - clock.steadyNow();
    if (leftMs > 0) this.#arm(leftMs);
    else onIdle();
  }
}
