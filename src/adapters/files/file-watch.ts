/**
 * Tells when a file may have grown, also by another process: by the system's notifications, or by checking now and then
 * where those fail.
 */
import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Clock, TimerHandle } from '../../actors/clock/clock.ts';

/** How often a file is checked when the system cannot notify, as when its limit of watches is reached. */
const FALLBACK_LOOK_INTERVAL_MS = 500;

export interface FileWatchOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly onChange: () => void;
}

/**
 * Calls `onChange` once when it is watching, since what was appended before would go unnoticed. Returns the function
 * that ends it.
 */
export function watchFile({ path, clock, onChange }: FileWatchOptions): () => void {
  let watcher: FSWatcher | undefined;
  let stopLooking: (() => void) | undefined;
  const fallBack = (): void => {
    watcher?.close();
    stopLooking ??= lookNowAndThen({ path, clock, onChange });
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
    stopLooking?.();
  };
}

function lookNowAndThen({ path, clock, onChange }: FileWatchOptions): () => void {
  let size = -1;
  let timer: TimerHandle | undefined;
  let hasEnded = false;
  const look = async (): Promise<void> => {
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
    timer = clock.setTimeout(() => void look(), FALLBACK_LOOK_INTERVAL_MS);
  };
  arm();
  return () => {
    hasEnded = true;
    clock.clearTimeout(timer);
  };
}
