/** Waiting that ends: after a time, or when a signal aborts. */
import type { Clock } from '../../actors/clock/clock.ts';

export interface Pause {
  /** Ends it early. A caller that has to know reads the signal. */
  readonly signal?: AbortSignal | null | undefined;
  /** Default: real time, as for all that waits for processes and disks. */
  readonly clock?: Pick<Clock, 'setTimeout' | 'clearTimeout'> | undefined;
  /** Whether the process goes on for this alone, in real time. Default true. */
  readonly keepsAlive?: boolean | undefined;
}

/** Resolves after so many milliseconds, or at once when the signal aborts. */
export function pause(durationMs: number, { signal, clock, keepsAlive = true }: Pause = {}): Promise<undefined> {
  if (signal?.aborted === true) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const end = (): void => {
      disarm();
      signal?.removeEventListener('abort', end);
      resolve(undefined);
    };
    const disarm = clock === undefined ? realTimer(end, durationMs, keepsAlive) : timerOf(clock, end, durationMs);
    signal?.addEventListener('abort', end, { once: true });
  });
}

/**
 * What `work` comes to, or undefined when that takes longer than so many milliseconds: it goes on unobserved. @throws
 * what `work` throws by then
 */
export async function within<Result>(
  work: Promise<Result>,
  durationMs: number,
  options: Omit<Pause, 'signal'> = {},
): Promise<Result | undefined> {
  const over = new AbortController();
  try {
    return await Promise.race([work, pause(durationMs, { ...options, signal: over.signal })]);
  } finally {
    over.abort();
  }
}

/** As `work`, or rejects with the reason of the signal at once, however deaf the work is: it goes on unobserved. */
export function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
    if (signal.aborted) onAbort();
  });
}

function realTimer(end: () => void, durationMs: number, keepsAlive: boolean): () => void {
  const timer = setTimeout(end, durationMs);
  if (!keepsAlive) timer.unref();
  return () => clearTimeout(timer);
}

function timerOf(clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>, end: () => void, durationMs: number): () => void {
  const timer = clock.setTimeout(end, durationMs);
  return () => clock.clearTimeout(timer);
}
