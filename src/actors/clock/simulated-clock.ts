/** Time that stands still until a test moves it. Weeks pass in microseconds, and the same run happens every time. */
import type { Clock, TimerHandle } from './clock.ts';
import { TimerQueue } from './timer-queue.ts';
import { letOthersRun } from './waiting.ts';

export interface SimulatedClock extends Clock {
  /**
   * Moves time forward by `durationMs`, running each timer at its own moment. Between moments, and before and after,
   * everything that is ready to run gets to run, so that work which waits on one timer can arm the next.
   */
  advance(durationMs: number): Promise<void>;
  /**
   * Moves time forward until `work` is settled, and gives what it gives. Work that never ends never lets it end.
   * @param stepMs how far at once: what reads a disk or a port meanwhile sees that much time pass in each turn of the
   *   event loop. Default 10
   */
  until<Result>(work: Promise<Result>, stepMs?: number): Promise<Result>;
  /** The same as `advance` without letting promises settle between timers. */
  advanceNow(durationMs: number): void;
  /** Changes the wall clock only, as an administrator or a time server does. Timers do not notice. */
  jumpWallClock(byMs: number): void;
  /** How many timers are armed. A test that ends with some has leaked them. */
  readonly pendingTimers: number;
}

interface SimulatedClockOptions {
  /** Wall-clock start, milliseconds since the epoch. Default 2026-01-01T00:00:00.000Z. */
  readonly now?: number | undefined;
}

export function createSimulatedClock(options: SimulatedClockOptions = {}): SimulatedClock {
  const queue = new TimerQueue();
  let steadyMs = 0;
  let wallOffsetMs = options.now ?? Date.UTC(2026, 0, 1);

  /** Moves to the next due moment up to `targetMs` and runs what is due there; false when there is none. */
  const step = (targetMs: number): boolean => {
    const dueMs = queue.nextDueMs;
    if (dueMs === undefined || dueMs > targetMs) return false;
    steadyMs = Math.max(steadyMs, dueMs);
    for (let due = queue.takeDue(steadyMs); due !== undefined; due = queue.takeDue(steadyMs)) due();
    return true;
  };

  const advance = async (durationMs: number): Promise<void> => {
    const targetMs = steadyMs + durationMs;
    await letOthersRun();
    while (step(targetMs)) await letOthersRun();
    steadyMs = targetMs;
    await letOthersRun();
  };

  return {
    now: () => wallOffsetMs + steadyMs,
    steadyNow: () => steadyMs,
    // At least a millisecond, as native timers do: a timer that re-arms itself without delay would stop time.
    setTimeout: (callback: () => void, delayMs: number): TimerHandle =>
      queue.add(steadyMs + Math.max(1, delayMs), callback),
    clearTimeout: (handle: TimerHandle | undefined): void => queue.delete(handle),
    advance,
    async until<Result>(work: Promise<Result>, stepMs = 10): Promise<Result> {
      let isSettled = false;
      const settle = (): void => void (isSettled = true);
      work.then(settle, settle);
      await letOthersRun();
      while (!isSettled) await advance(stepMs);
      return work;
    },
    advanceNow(durationMs: number): void {
      const targetMs = steadyMs + durationMs;
      while (step(targetMs));
      steadyMs = targetMs;
    },
    jumpWallClock(byMs: number): void {
      wallOffsetMs += byMs;
    },
    get pendingTimers(): number {
      return queue.size;
    },
  };
}
