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

/**
 * Calls `onChange` once when it is watching, since what was appended before would go unnoticed. Returns the function
 * that ends it.
 */
export function watchLog(options: LogWatchOptions): () => void {
  const watch = new LogWatch(options);
  return () => watch.end();
}

class LogWatch {
  readonly #options: LogWatchOptions;
  #segment: number;
  #endWatching: (() => void) | undefined;
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
    do {
      this.#endWatching?.();
      // Tells at once, while it begins, that there may be something new.
      this.#endWatching = undefined;
      this.#endWatching = watchFile({ path: segments.pathOf(this.#segment), clock, onChange: () => this.#change() });
    } while (!this.#hasEnded && this.#followsOn());
    if (this.#hasEnded) this.#endWatching();
  }

  #change(): void {
    if (this.#hasEnded) return;
    this.#options.onChange();
    if (this.#endWatching !== undefined && this.#followsOn()) this.#watch();
  }

  /** A segment is sealed after the next one was made: its last change finds that. */
  #followsOn(): boolean {
    if (!this.#options.segments.isThere(this.#segment + 1)) return false;
    this.#segment += 1;
    return true;
  }
}
