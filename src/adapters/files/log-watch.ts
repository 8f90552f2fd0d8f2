/** Tells when a session's log may have grown, in whichever segment it is written by then, also by another process. */
import type { Clock } from '../../actors/clock/clock.ts';
import { watchFile } from './file-watch.ts';
import type { LogSegments } from './log-segments.ts';

export interface LogWatchOptions {
  readonly segments: LogSegments;
  /** One that is there. The newest is found from here. */
  readonly segment: number;
  readonly clock: Clock;
  readonly onChange: () => void;
}

/** Calls `onChange` once when it is watching, since what was appended before would go unnoticed. Returns the function that ends it. */
export function watchLog(options: LogWatchOptions): () => void {
  const watch = new LogWatch(options);
  return () => watch.end();
}

class LogWatch {
  readonly #options: LogWatchOptions;
  #segment: number;
  #endWatching: (() => void) | undefined;
  #isLooking = false;
  #isToLookAgain = false;
  #hasEnded = false;

  constructor(options: LogWatchOptions) {
    this.#options = options;
    this.#segment = options.segment;
    this.#watch();
  }

  end(): void {
    this.#hasEnded = true;
    this.#endWatching?.();
  }

  #watch(): void {
    const { segments, clock } = this.#options;
    this.#endWatching?.();
    this.#endWatching = watchFile({ path: segments.pathOf(this.#segment), clock, onChange: () => this.#change() });
  }

  #change(): void {
    if (this.#hasEnded) return;
    this.#options.onChange();
    void this.#followOn();
  }

  /** A segment is sealed after the next one was made: its last change finds that. */
  async #followOn(): Promise<void> {
    this.#isToLookAgain = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    while (this.#isToLookAgain) {
      this.#isToLookAgain = false;
      const hasNext = await this.#options.segments.sizeOf(this.#segment + 1).catch(() => undefined);
      if (this.#hasEnded) return;
      if (hasNext === undefined) continue;
      this.#segment += 1;
      // Says at once that there may be something new, and so looks again.
      this.#watch();
    }
    this.#isLooking = false;
  }
}
