/**
 * One process at a time works under a lock, and one that is killed while it does keeps no other out.
 *
 * The lock is a symbolic link that leads nowhere: it is made whole in one step, or not at all, and its text names the
 * holder. Where the holder is gone, exactly one process may remove it: the one that makes a second link named after
 * this very lock. That one too may be gone, and is removed in the same way. So no lock is ever taken from the living,
 * however the processes run in between.
 */
import { randomUUID } from 'node:crypto';
import { lstat, readFile, readlink, symlink, unlink } from 'node:fs/promises';
import * as z from 'zod';
import type { RuntimeError } from '../../machines/errors.ts';
import { hasCode, unlessCode } from './error-codes.ts';
import { livenessHere, thisProcess } from './process-life.ts';
import { pause } from './waiting.ts';

/** A change takes milliseconds. */
const MAX_WAIT_MS = 20_000;
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 40;

/**
 * Where no process can tell whether the holder lives: on another machine, or where the system does not say when a
 * process began.
 */
const UNKNOWN_HOLDER_MS = 15_000;

const ID = z.uuid();
const PID = z.coerce.number().int().positive();
const linkSchema = z
  .tuple([ID, PID, z.string().max(40), z.string().max(300)])
  .transform(([id, pid, began, system]) => ({ id, pid, began: began === UNTOLD ? '' : began, system }));

/** Of an earlier version, whose locks were files. */
const fileSchema = z
  .object({ id: ID, pid: PID, began: z.string(), host: z.string() })
  .transform(({ host, ...holder }) => ({ ...holder, system: host }));

/** In place of an empty word, which would not be seen. */
const UNTOLD = '-';

interface Holder {
  /** One of a kind for each time that the lock is taken. */
  readonly id: string;
  readonly pid: number;
  readonly began: string;
  readonly system: string;
}

/** One that is not readable has no holder that could be told: its age decides. */
const UNREADABLE: Holder = { id: '00000000-0000-4000-8000-000000000000', pid: 1, began: '', system: '' };

/**
 * What to throw when others have held it all the time. @param pid of the one who does; undefined when it cannot be told
 */
type Busy = (waitedMs: number, pid: number | undefined) => RuntimeError;

export interface LockWait {
  readonly busy: Busy;
  /** Milliseconds. Default 20,000. */
  readonly maxWaitMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs `work` while no other process runs one under the lock at `path`. An ExclusiveWork: the composition root lends it
 * to adapters.
 * @throws what `busy` makes, and what `work` throws
 */
export async function underLock<Result>(path: string, work: () => Promise<Result>, busy: Busy): Promise<Result> {
  await acquireLock(path, { busy });
  try {
    return await work();
  } finally {
    await releaseLock(path);
  }
}

/** Who has acquired it releases it. @throws what `busy` makes, the reason of the signal, and what the system says */
export async function acquireLock(path: string, { busy, maxWaitMs = MAX_WAIT_MS, signal }: LockWait): Promise<void> {
  const deadline = performance.now() + maxWaitMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    if (await take(path)) return;
    if (await removeAbandoned(path, path)) continue;
    if (performance.now() > deadline) throw busy(maxWaitMs, pidOf(await holderOf(path).catch(() => undefined)));
    // Uneven, so that those who wait do not all come back together.
    await pause(pauseMs * (0.5 + Math.random()), { signal });
    signal?.throwIfAborted();
  }
}

export async function releaseLock(path: string): Promise<void> {
  await unlink(path).catch(unlessCode('ENOENT'));
}

/** Makes the link, named after this process. @returns false when it is there already */
async function take(path: string): Promise<boolean> {
  const { pid, began, system } = thisProcess();
  try {
    await symlink([randomUUID(), pid, began === '' ? UNTOLD : began, system].join(' '), path);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** Removes the link at `path` if its maker is gone. @returns whether it is worth trying again at once */
async function removeAbandoned(lock: string, path: string): Promise<boolean> {
  const holder = await holderOf(path);
  if (holder === undefined) return true;
  if (await isHeld(path, holder)) return false;
  const permit = `${lock}.${holder.id}.gone`;
  if (!(await take(permit))) return removeAbandoned(lock, permit);
  try {
    // Another process may have used the permit and given it back: then another link is there by now, or none.
    if ((await holderOf(path))?.id === holder.id) await releaseLock(path);
  } finally {
    await releaseLock(permit);
  }
  return true;
}

/** Undefined when nothing is there. */
async function holderOf(path: string): Promise<Holder | undefined> {
  try {
    return linkSchema.safeParse((await readlink(path)).split(' ')).data ?? UNREADABLE;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    if (hasCode(error, 'EINVAL')) return holderInFile(path);
    throw error;
  }
}

async function holderInFile(path: string): Promise<Holder | undefined> {
  try {
    return fileSchema.safeParse(JSON.parse(await readFile(path, 'utf8'))).data ?? UNREADABLE;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    if (error instanceof SyntaxError) return UNREADABLE;
    throw error;
  }
}

async function isHeld(path: string, holder: Holder): Promise<boolean> {
  const liveness = livenessHere(holder);
  if (liveness !== 'unknown') return liveness === 'alive';
  const made = await lstat(path).catch(() => undefined);
  return made === undefined || Date.now() - made.mtimeMs < UNKNOWN_HOLDER_MS;
}

function pidOf(holder: Holder | undefined): number | undefined {
  return holder === UNREADABLE ? undefined : holder?.pid;
}
