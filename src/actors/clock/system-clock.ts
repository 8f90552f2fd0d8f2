/** Real time: steady time drives the timers, wall time only stamps records. */
import type { Clock, TimerHandle } from './clock.ts';
import { TimerQueue } from './timer-queue.ts';

/**
 * The longest delay a native timer takes; beyond it Node fires at once. Source: Node.js documentation of `setTimeout`.
 */
const MAX_NATIVE_DELAY_MS = 2 ** 31 - 1;

/** A clock whose timers share one native timer, however many there are and however far away they lie. */
export function createSystemClock(): Clock {
  const queue = new TimerQueue();
  let armed: { readonly dueMs: number; readonly native: ReturnType<typeof setTimeout> } | undefined;

  const disarm = (): void => {
    if (armed !== undefined) clearTimeout(armed.native);
    armed = undefined;
  };

  const arm = (): void => {
    const dueMs = queue.nextDueMs;
    if (dueMs === undefined) return disarm();
    if (armed !== undefined && armed.dueMs === dueMs) return;
    disarm();
    // Rounded up: a native timer counts whole milliseconds and a timer must never be early.
    const delayMs = Math.min(Math.max(Math.ceil(dueMs - performance.now()), 1), MAX_NATIVE_DELAY_MS);
    armed = { dueMs, native: setTimeout(fire, delayMs) };
  };

  const fire = (): void => {
    armed = undefined;
    try {
      for (let due = queue.takeDue(performance.now()); due !== undefined; due = queue.takeDue(performance.now())) due();
    } finally {
      // A callback that throws must not take the timers behind it along.
      arm();
    }
  };

  return {
    now: Date.now,
    steadyNow: () => performance.now(),
    setTimeout(callback: () => void, delayMs: number): TimerHandle {
      const handle = queue.add(performance.now() + Math.max(0, delayMs), callback);
      if (armed === undefined || (queue.nextDueMs ?? Infinity) < armed.dueMs) arm();
      return handle;
    },
    clearTimeout(handle: TimerHandle | undefined): void {
      queue.delete(handle);
      if (queue.size === 0) disarm();
    },
  };
}
