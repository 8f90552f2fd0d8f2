/**
 * Real time that a test may send ahead: limits of hours run out at once, and not before the work that they watch is
 * where the test wants it.
 */
import type { Clock, TimerHandle } from '../../../src/actors/clock/clock.ts';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';

export interface LeapingClock extends Clock {
  /** Lets so many milliseconds pass now. */
  leap(milliseconds: number): void;
}

interface Armed {
  readonly callback: () => void;
  readonly dueMs: number;
  readonly timer: TimerHandle;
}

export function createLeapingClock(): LeapingClock {
  const inner = createSystemClock();
  const armed = new Map<TimerHandle, Armed>();
  let aheadMs = 0;
  const steadyNow = (): number => inner.steadyNow() + aheadMs;
  const fire = (handle: TimerHandle): void => {
    const found = armed.get(handle);
    if (!armed.delete(handle)) return;
    inner.clearTimeout(found?.timer);
    found?.callback();
  };
  return {
    now: () => inner.now() + aheadMs,
    steadyNow,
    setTimeout(callback, delayMs) {
      const handle = {};
      const timer = inner.setTimeout(() => fire(handle), delayMs);
      armed.set(handle, { callback, dueMs: steadyNow() + delayMs, timer });
      return handle;
    },
    clearTimeout(handle) {
      const found = handle === undefined ? undefined : armed.get(handle);
      if (handle === undefined || found === undefined) return;
      armed.delete(handle);
      inner.clearTimeout(found.timer);
    },
    leap(milliseconds) {
      aheadMs += milliseconds;
      const due = [...armed]
        .filter(([, { dueMs }]) => dueMs <= steadyNow())
        .toSorted(([, a], [, b]) => a.dueMs - b.dueMs);
      for (const [handle] of due) fire(handle);
    },
  };
}
