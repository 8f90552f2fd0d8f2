/**
 * Time as the runtime sees it. Everything that waits or stamps a record goes through this port, so that tests run on
 * simulated time and a wall clock that jumps cannot fire a watchdog. It satisfies XState's clock too.
 */

/** Identifies an armed timer; opaque to callers. */
export type TimerHandle = object;

export interface Clock {
  /** Wall-clock time in milliseconds since the epoch. Stamps records; may jump. */
  now(): number;
  /** Milliseconds since some fixed moment, never jumping. Measures durations. */
  steadyNow(): number;
  /**
   * Runs `callback` once, never before `delayMs` of steady time has passed. Delays of any finite length are honoured.
   */
  setTimeout(callback: () => void, delayMs: number): TimerHandle;
  /** Disarms a timer. Idempotent; a fired or foreign handle is ignored. */
  clearTimeout(handle: TimerHandle | undefined): void;
}
