/** Waits, but not longer than asked and not beyond a stop. Giving up changes nothing about what was waited for. */
import type { Clock, TimerHandle } from './clock.ts';

export type WaitEnd = 'over' | 'timed_out' | 'aborted';

export interface WaitOptions {
  readonly clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>;
  /** Infinity: for ever, without a timer. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Which came first. `over` when several have. @param over settles: its failure is for a caller that reads it */
export function waitFor(over: Promise<unknown>, { clock, timeoutMs, signal }: WaitOptions): Promise<WaitEnd> {
  return new Promise((resolve) => {
    let timer: TimerHandle | undefined;
    const settle = (end: WaitEnd): void => {
      clock.clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      resolve(end);
    };
    const onAbort = (): void => settle('aborted');
    const isOver = (): void => settle('over');
    void over.then(isOver, isOver);
    // What is over already is heard of before the time is up.
    if (signal?.aborted === true) void Promise.resolve().then(onAbort);
    else {
      signal?.addEventListener('abort', onAbort, { once: true });
      if (timeoutMs !== Infinity) timer = clock.setTimeout(() => settle('timed_out'), timeoutMs);
    }
  });
}

/**
 * Resolves when `timeoutMs` have passed, or soon after the signal aborts. The caller reads the signal to know which.
 */
export async function pause(options: WaitOptions): Promise<void> {
  await waitFor(new Promise(() => undefined), options);
}

/** Lets the events that are due be taken before what comes next: long work does not hold up the rest of the process. */
export function letOthersRun(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
