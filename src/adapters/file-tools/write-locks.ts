/**
 * One writer at a time in each folder, among the calls of this process and among processes. A process that is killed
 * while it writes keeps no other out.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { RuntimeError } from '../../machines/errors.ts';
import { hasCode } from '../system/error-codes.ts';
import { acquireLock, releaseLock } from '../system/process-lock.ts';
import { makeFolder } from '../system/whole-files.ts';
import { fileFailed } from './file-errors.ts';
import { KeyedMutex } from '../../actors/concurrency/mutex.ts';

export interface WriteLocksOptions {
  /**
   * Absolute: the folder in which processes tell each other where they write, made when it is not there and closed to
   * other users. Processes that share a workspace need the same one. Default: none; then only the calls of this process
   * take turns.
   */
  readonly lockDirectory?: string | undefined;
  /** Milliseconds that a call waits for its turn. Default 10,000. */
  readonly maxLockWaitMs?: number | undefined;
}

const DEFAULT_MAX_WAIT_MS = 10_000;

export interface LockedFolder {
  readonly realPath: string;
  /** As errors name it. */
  readonly shown: string;
}

export class WriteLocks {
  readonly #directory: string | undefined;
  readonly #maxWaitMs: number;
  readonly #mutex = new KeyedMutex();

  constructor({ lockDirectory, maxLockWaitMs = DEFAULT_MAX_WAIT_MS }: WriteLocksOptions = {}) {
    this.#directory = lockDirectory;
    this.#maxWaitMs = maxLockWaitMs;
  }

  /**
   * Runs `work` while no other runs for the same folder. @throws RuntimeError WORKSPACE_BUSY; the reason of the signal;
   * what `work` throws
   */
  async run<Result>(folder: LockedFolder, work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    const deadline = performance.now() + this.#maxWaitMs;
    return this.#mutex.run(folder.realPath, async () => {
      signal.throwIfAborted();
      if (this.#directory === undefined) return work();
      const path = join(
        this.#directory,
        `${createHash('sha256').update(folder.realPath).digest('hex').slice(0, 40)}.lock`,
      );
      await this.#acquire(path, { folder, deadline, signal, directory: this.#directory });
      try {
        return await work();
      } finally {
        // What cannot be removed is taken away when this process is gone.
        await releaseLock(path).catch(() => undefined);
      }
    });
  }

  async #acquire(
    path: string,
    {
      folder,
      deadline,
      signal,
      directory,
    }: {
      readonly folder: LockedFolder;
      readonly deadline: number;
      readonly signal: AbortSignal;
      readonly directory: string;
    },
  ): Promise<void> {
    const acquire = (): Promise<void> =>
      acquireLock(path, {
        busy: (_, pid) => busy(folder, this.#maxWaitMs, pid),
        maxWaitMs: Math.max(0, deadline - performance.now()),
        signal,
      });
    try {
      await acquire().catch(async (error: unknown) => {
        if (!hasCode(error, 'ENOENT')) throw error;
        await makeFolder(directory, { durability: 'os' });
        await acquire();
      });
    } catch (error) {
      throw fileFailed('lock', folder.shown, error);
    }
  }
}

function busy({ shown }: LockedFolder, waitedMs: number, pid: number | undefined): RuntimeError {
  const who = pid === undefined ? 'another process' : `process ${pid}`;
  return new RuntimeError(
    'WORKSPACE_BUSY',
    `cannot write in ${shown}: ${who} has been writing there for ${waitedMs} ms; nothing was written`,
    {
      category: 'conflict',
      hint: 'Try again. If it stays so, see whether that process hangs.',
      details: { waitedMs, ...(pid === undefined ? {} : { pid }) },
    },
  );
}
