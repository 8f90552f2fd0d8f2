/**
 * Rings once the wall clock has reached an instant. Timers count steady time, so the wall clock is asked again whenever
 * one fires, and at least every `checkIntervalMs`: it rings neither early when the clock was set back, nor much too
 * late when it was set forward or the machine slept.
 */
import type { Clock, TimerHandle } from '../clock/clock.ts';

export class SlotTimer {
  readonly #clock: Clock;
  readonly #checkIntervalMs: number;
  readonly #ring: () => void;
  #timer: TimerHandle | undefined = undefined;

  constructor(clock: Clock, checkIntervalMs: number, ring: () => void) {
    this.#clock = clock;
    this.#checkIntervalMs = checkIntervalMs;
    this.#ring = ring;
  }

  /**
   * Sets the alarm, in place of what was set before. @param atMs epoch milliseconds; a time in the past rings at once,
   * but never before this returns
   */
  set(atMs: number): void {
    this.clear();
    const delayMs = Math.min(Math.max(atMs - this.#clock.now(), 0), this.#checkIntervalMs);
    this.#timer = this.#clock.setTimeout(() => {
      this.#timer = undefined;
      if (this.#clock.now() < atMs) this.set(atMs);
      else this.#ring();
    }, delayMs);
  }

  clear(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
