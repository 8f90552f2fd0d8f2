/** Tells when a session's log may have grown, in whichever segment it is written by then, also by another process. */
import type { FSWatcher } from 'node:fs';
import { watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Clock, TimerHandle } from '../../actors/clock/clock.ts';
import type { LogSegments } from './log-segments.ts';

// Tells when a file may have grown, also by another process: by the system's notifications, or by checking now and then
// where those fail.

/** How often a file is checked when the system cannot notify, as when its limit of watches is reached. */
const FALLBACK_CHECK_INTERVAL_MS = 500;

interface FileWatchOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly onChange: () => void;
}

/**
 * Calls `onChange` once when it is watching, since what was appended before would go unnoticed. Returns the function
 * that ends it.
 */
function watchFile({ path, clock, onChange }: FileWatchOptions): () => void {
  let watcher: FSWatcher | undefined;
  let stopChecking: (() => void) | undefined;
  const fallBack = (): void => {
    watcher?.close();
    stopChecking ??= checkNowAndThen({ path, clock, onChange });
  };
  try {
    watcher = watch(path, onChange);
    watcher.on('error', fallBack);
  } catch {
    fallBack();
  }
  onChange();
  return () => {
    watcher?.close();
    watcher?.removeAllListeners();
    // What it might still say has no listener to reach, and must not end the process.
    watcher?.on('error', () => undefined);
    stopChecking?.();
  };
}

function checkNowAndThen({ path, clock, onChange }: FileWatchOptions): () => void {
  let size = -1;
  let timer: TimerHandle | undefined;
  let hasEnded = false;
  const check = async (): Promise<void> => {
    const now = await stat(path).then(
      (found) => found.size,
      () => size,
    );
    if (hasEnded) return;
    if (now !== size) onChange();
    size = now;
    arm();
  };
  const arm = (): void => {
    timer = clock.setTimeout(() => void check(), FALLBACK_CHECK_INTERVAL_MS);
  };
  arm();
  return () => {
    hasEnded = true;
    clock.clearTimeout(timer);
  };
}

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
  const log = new LogWatch(options);
  return () => log.end();
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
