/**
 * Waits for work, but not for ever once it was told to stop: a backend or a tool that is deaf to its signal must not
 * hold a session.
 */
import type { Clock, TimerHandle } from '../clock/clock.ts';

/** How long work may take to stop, in milliseconds, unless it asks for longer. */
const STOP_GRACE_MS = 5_000;

export interface StoppableWork<Result> {
  /** Has told the work to stop when it aborts. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Has no patience any more when it aborts. */
  readonly force?: AbortSignal | undefined;
  /** In milliseconds. Default STOP_GRACE_MS. */
  readonly graceMs?: number | undefined;
  /** The result in place of work that did not stop. What the work yields later is dropped. */
  readonly givenUp: () => Result;
}

/** What the work came to; or, when it has not stopped `graceMs` after the signal, what `givenUp` says. */
export function settledOrStopped<Result>(
  work: Promise<Result>,
  { signal, force, clock, graceMs = STOP_GRACE_MS, givenUp }: StoppableWork<Result>,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    let timer: TimerHandle | undefined;
    const giveUp = (): void => {
      settle();
      resolve(givenUp());
    };
    const onAbort = (): void => {
      timer ??= clock.setTimeout(giveUp, graceMs);
    };
    const settle = (): void => {
      clock.clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      force?.removeEventListener('abort', giveUp);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    force?.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) onAbort();
    if (force?.aborted === true) giveUp();
    work.then(resolve, reject).finally(settle);
  });
}
