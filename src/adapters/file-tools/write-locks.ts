/**
 * One writer at a time in each folder, among the calls of this process and among processes. A process that is killed while it writes keeps
 * nobody out.
 *
 * The lock is a symbolic link that leads nowhere: it is made whole in one step, or not at all, and its text names the holder. Where the holder
 * is gone, exactly one process may remove it: the one that makes a second link named after this very lock. That one too may be gone, and is
 * removed in the same way. So no lock is ever taken from the living, however the processes run in between.
 */
import { createHash, randomUUID } from 'node:crypto';
import { lstat, mkdir, readlink, symlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { RuntimeError } from '../../machines/errors.ts';
import { fileFailed, systemCodeOf } from './file-errors.ts';
import { PathLanes } from './path-lanes.ts';
import { ownLife, systemName, livesStill } from './process-life.ts';

export interface WriteLocksOptions {
  /**
   * Absolute: the folder in which processes tell each other where they write, made when it is not there and for nobody else. Processes that
   * share a workspace need the same one. Default: none; then only the calls of this process take turns.
   */
  readonly lockDirectory?: string | undefined;
  /** Milliseconds that a call waits for its turn. Default 10,000. */
  readonly maxLockWaitMs?: number | undefined;
}

const DEFAULT_MAX_WAIT_MS = 10_000;
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 40;
const PRIVATE_FOLDER_MODE = 0o700;

/** Where nobody can tell whether the holder lives: on another machine, or where the system does not say when a process began. */
const UNKNOWN_HOLDER_MS = 15_000;

const holderSchema = z.tuple([z.uuid(), z.coerce.number().int().positive(), z.string().max(40), z.string().max(300)]);

interface Holder {
  /** One of a kind for each time that the lock is taken. */
  readonly id: string;
  readonly pid: number;
  readonly began: string;
  readonly system: string;
}

const UNREADABLE: Holder = { id: '00000000-0000-4000-8000-000000000000', pid: 1, began: '', system: '' };

export interface LockedFolder {
  readonly realPath: string;
  /** As errors name it. */
  readonly shown: string;
}

export class WriteLocks {
  readonly #directory: string | undefined;
  readonly #maxWaitMs: number;
  readonly #lanes = new PathLanes();

  constructor({ lockDirectory, maxLockWaitMs = DEFAULT_MAX_WAIT_MS }: WriteLocksOptions = {}) {
    this.#directory = lockDirectory;
    this.#maxWaitMs = maxLockWaitMs;
  }

  /** Runs `work` while nobody else runs one for the same folder. @throws RuntimeError WORKSPACE_BUSY; the reason of the signal; what `work` throws */
  async run<Result>(folder: LockedFolder, work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    const deadline = performance.now() + this.#maxWaitMs;
    return this.#lanes.run(folder.realPath, async () => {
      signal.throwIfAborted();
      if (this.#directory === undefined) return work();
      const path = join(this.#directory, `${createHash('sha256').update(folder.realPath).digest('hex').slice(0, 40)}.lock`);
      await this.#acquire(path, { folder, deadline, signal, directory: this.#directory });
      try {
        return await work();
      } finally {
        // What cannot be removed is taken away when this process is gone.
        await remove(path).catch(() => undefined);
      }
    });
  }

  async #acquire(path: string, { folder, deadline, signal, directory }: { readonly folder: LockedFolder; readonly deadline: number; readonly signal: AbortSignal; readonly directory: string }): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        if (await take(path, directory)) return;
        if (await removeAbandoned(path, path, directory)) continue;
      } catch (error) {
        throw fileFailed('lock', folder.shown, error);
      }
      if (performance.now() > deadline) throw busy(folder, this.#maxWaitMs, await holderOf(path).catch(() => undefined));
      // Uneven, so that those who wait do not all come back together.
      await delay(pauseMs * (0.5 + Math.random()), undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}

/** Makes the link, named after this process. @returns false when it is there already */
async function take(path: string, directory: string): Promise<boolean> {
  const text = [randomUUID(), process.pid, ownLife(), systemName()].join(' ');
  for (let isMade = false; ; isMade = true) {
    try {
      await symlink(text, path);
      return true;
    } catch (error) {
      if (systemCodeOf(error) === 'EEXIST') return false;
      if (systemCodeOf(error) !== 'ENOENT' || isMade) throw error;
      await mkdir(directory, { recursive: true, mode: PRIVATE_FOLDER_MODE });
    }
  }
}

/** Removes the link at `path` if whoever made it is gone. @returns whether it is worth looking again at once */
async function removeAbandoned(lock: string, path: string, directory: string): Promise<boolean> {
  const holder = await holderOf(path);
  if (holder === undefined) return true;
  if (await isHeld(path, holder)) return false;
  const permit = `${lock}.${holder.id}.gone`;
  if (!(await take(permit, directory))) return removeAbandoned(lock, permit, directory);
  try {
    // Somebody may have had the permit before, used it and given it back: then another link is there by now, or none.
    if ((await holderOf(path))?.id === holder.id) await remove(path);
  } finally {
    await remove(permit);
  }
  return true;
}

/** Undefined when it is not there. What is no link of ours has no holder that could be told: its age decides. */
async function holderOf(path: string): Promise<Holder | undefined> {
  try {
    const parsed = holderSchema.safeParse((await readlink(path)).split(' '));
    if (!parsed.success) return UNREADABLE;
    const [id, pid, began, system] = parsed.data;
    return { id, pid, began, system };
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    if (systemCodeOf(error) === 'EINVAL') return UNREADABLE;
    throw error;
  }
}

async function isHeld(path: string, { pid, began, system }: Holder): Promise<boolean> {
  const lives = system === systemName() ? livesStill(pid, began) : undefined;
  if (lives !== undefined) return lives;
  const made = await lstat(path).catch(() => undefined);
  return made === undefined || Date.now() - made.mtimeMs < UNKNOWN_HOLDER_MS;
}

async function remove(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error;
  }
}

function busy({ shown }: LockedFolder, waitedMs: number, holder: Holder | undefined): RuntimeError {
  const who = holder === undefined || holder === UNREADABLE ? 'another process' : `process ${holder.pid}`;
  return new RuntimeError('WORKSPACE_BUSY', `cannot write in ${shown}: ${who} has been writing there for ${waitedMs} ms; nothing was written`, {
    category: 'conflict',
    hint: 'Try again. If it stays so, see whether that process hangs.',
    details: { waitedMs, ...(holder === undefined ? {} : { pid: holder.pid }) },
  });
}
