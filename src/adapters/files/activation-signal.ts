/**
 * Tells every process that hints were made: one file whose time of change is moved, and one watch on the folder it lies
 * in, however many folders of hints there are. Where the system cannot notify, the file is checked now and then.
 */
import { closeSync, openSync, utimesSync, watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, TimerHandle } from '../../actors/clock/clock.ts';
import { systemCodeOf } from '../system/error-codes.ts';
import { makePrivateDirectory } from './durable-files.ts';

const BELL_FILE = '.bell';
const BELL_MODE = 0o600;

/** How often the bell is checked when the system cannot notify, as when its limit of watches is reached. */
const FALLBACK_CHECK_INTERVAL_MS = 500;

export interface ActivationSignalOptions {
  /** The folder that the bell lies in. */
  readonly directory: string;
  readonly clock: Clock;
  readonly onRing: () => void;
}

/** Rings for every process that watches. The hint is made: one that misses the bell checks without it in a while. */
export function raiseActivationSignal(directory: string): void {
  const path = join(directory, BELL_FILE);
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') makeSignalFile(path);
  }
}

function makeSignalFile(path: string): void {
  try {
    closeSync(openSync(path, 'a', BELL_MODE));
  } catch {
    // The folder was taken away: then so were the hints in it.
  }
}

/** Calls `onRing` once when it hears, since what rang before would go unnoticed. Returns the function that ends it. */
export function watchActivationSignal(options: ActivationSignalOptions): () => void {
  const ear = new Ear(options);
  ear.open().catch(() => undefined);
  return () => ear.close();
}

class Ear {
  readonly #options: ActivationSignalOptions;
  #watcher: FSWatcher | undefined;
  #timer: TimerHandle | undefined;
  #folder: number | undefined;
  #rungAtMs: number | undefined;
  #isMoving = false;
  #isClosed = false;

  constructor(options: ActivationSignalOptions) {
    this.#options = options;
  }

  /** Watches the folder that is there now, made if need be. */
  async open(): Promise<void> {
    const { directory, onRing } = this.#options;
    try {
      await makePrivateDirectory(directory);
      const { ino } = await stat(directory);
      if (this.#isClosed) return;
      this.#folder = ino;
      this.#watcher = watch(directory, (what, name) => this.#hear(what, name));
      this.#watcher.on('error', () => this.#checkInstead());
    } catch {
      this.#checkInstead();
    }
    if (!this.#isClosed) onRing();
  }

  close(): void {
    this.#isClosed = true;
    this.#watcher?.close();
    this.#options.clock.clearTimeout(this.#timer);
  }

  #hear(what: string, name: string | null): void {
    if (this.#isClosed) return;
    if (name === null || name === BELL_FILE) this.#options.onRing();
    // Folders come and go every ten minutes; that may have been ours, and a folder that is gone is deaf.
    else if (what === 'rename') this.#moveIfGone().catch(() => undefined);
  }

  async #moveIfGone(): Promise<void> {
    if (this.#isMoving) return;
    this.#isMoving = true;
    try {
      const found = await stat(this.#options.directory).catch(() => undefined);
      if (this.#isClosed || found?.ino === this.#folder) return;
      this.#watcher?.close();
      this.#watcher = undefined;
      await this.open();
    } finally {
      this.#isMoving = false;
    }
  }

  #checkInstead(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    if (this.#isClosed || this.#timer !== undefined) return;
    this.#timer = this.#options.clock.setTimeout(() => void this.#check(), FALLBACK_CHECK_INTERVAL_MS);
  }

  async #check(): Promise<void> {
    const rungAtMs = await stat(join(this.#options.directory, BELL_FILE)).then(
      (found) => found.mtimeMs,
      () => undefined,
    );
    this.#timer = undefined;
    if (this.#isClosed) return;
    if (rungAtMs !== this.#rungAtMs) this.#options.onRing();
    this.#rungAtMs = rungAtMs;
    this.#checkInstead();
  }
}
