/**
 * The database's time, for everything about sessions: all workers share it, whatever their own clocks say. Timers and
 * durations are those of this machine. It never runs ahead: what the database said when it was asked is taken for the
 * moment of its answer.
 */
import type { Clock, TimerHandle } from '../../actors/clock/clock.ts';

/** A reading that took so much longer than the one before tells less than that one, in milliseconds. */
const POORER_MS = 5;
/** For so long, in milliseconds: two clocks drift apart. */
const WORTH_MS = 60_000;

export class DatabaseClock implements Clock {
  readonly #local: Clock;
  #databaseMs: number;
  #atSteadyMs: number;
  #roundTripMs = Infinity;

  constructor(local: Clock) {
    this.#local = local;
    this.#databaseMs = local.now();
    this.#atSteadyMs = local.steadyNow();
  }

  /** How far this machine's own clock is ahead of the database's, in milliseconds. */
  get aheadMs(): number {
    return this.#local.now() - this.now();
  }

  /**
   * @param databaseMs milliseconds since the epoch @param askedMs when it was asked, on the steady clock; the answer is
   * there now
   */
  learn(databaseMs: number, askedMs: number): void {
    const nowMs = this.#local.steadyNow();
    const roundTripMs = nowMs - askedMs;
    const isOld = nowMs - this.#atSteadyMs > WORTH_MS;
    if (!isOld && roundTripMs > this.#roundTripMs + POORER_MS) return;
    this.#databaseMs = databaseMs;
    this.#atSteadyMs = nowMs;
    this.#roundTripMs = roundTripMs;
  }

  now(): number {
    return Math.floor(this.#databaseMs + (this.#local.steadyNow() - this.#atSteadyMs));
  }

  steadyNow(): number {
    return this.#local.steadyNow();
  }

  setTimeout(callback: () => void, delayMs: number): TimerHandle {
    return this.#local.setTimeout(callback, delayMs);
  }

  clearTimeout(handle: TimerHandle | undefined): void {
    this.#local.clearTimeout(handle);
  }
}
