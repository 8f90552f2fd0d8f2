/** Finds out by checking now and then that something has changed. */
import type { Clock, TimerHandle } from '../../actors/clock/clock.ts';

export interface StampWatchOptions {
  /** Another text after every change. */
  readonly stamp: () => Promise<string>;
  readonly clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>;
  /** Between two checks. */
  readonly pollMs: number;
  readonly onChange: () => void;
}

/** Calls `onChange` once it watches, and after each change. Returns the function that ends it. */
export function watchStamp({ stamp, clock, pollMs, onChange }: StampWatchOptions): () => void {
  let timer: TimerHandle | undefined;
  let isOver = false;
  let last: string | undefined;
  const look = async (): Promise<void> => {
    // A database that is away has nothing to tell; the next check finds what happened meanwhile.
    const now = await stamp().catch(() => last);
    if (isOver) return;
    if (now !== last) {
      last = now;
      onChange();
    }
    timer = clock.setTimeout(() => void look(), pollMs);
  };
  void look();
  return () => {
    isOver = true;
    clock.clearTimeout(timer);
  };
}
