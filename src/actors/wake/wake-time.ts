/** How long a wake has run, and the time after which the work in hand is cut short. */
import type { Clock, TimerHandle } from '../clock/clock.ts';

export class WakeTime {
  readonly #clock: Clock;
  /** On the steady clock. */
  #startedMs = 0;
  #timer: TimerHandle | undefined;
  #isUp = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get elapsedMs(): number {
    return this.#clock.steadyNow() - this.#startedMs;
  }

  /** Whether the limit was reached. */
  get isUp(): boolean {
    return this.#isUp;
  }

  begin(): void {
    this.#startedMs = this.#clock.steadyNow();
  }

  /** @param seconds from the beginning on; undefined: there is no limit */
  limit(seconds: number | undefined, onUp: () => void): void {
    if (seconds === undefined) return;
    const timeIsUp = (): void => {
      this.#isUp = true;
      onUp();
    };
    this.#timer = this.#clock.setTimeout(timeIsUp, Math.max(0, seconds * 1000 - this.elapsedMs));
  }

  end(): void {
    this.#clock.clearTimeout(this.#timer);
  }
}
