/**
 * The exclusive right to wake a session, across processes, that frees itself when its owner dies.
 *
 * On Linux it is a listening socket in the abstract namespace: the kernel takes it back with the process. Elsewhere it is a file made
 * exclusively, with the owner's process id and start time; one whose owner is gone is passed over. Either only avoids contention and
 * tells who lives: which wake may write is decided by its epoch in the log.
 *
 * It excludes only processes that can see each other: the socket those of one network namespace of one machine, the file those of one
 * pid namespace. Containers with networks of their own, and machines that share a home over the network, do not meet in it: two of them
 * may wake one session at once, and then both may call the model and run tools. The log stays whole, since the epoch of the later wake
 * voids what the earlier one writes from then on. Until the right is a lease in the log, one home belongs to one network namespace.
 * A time limit on what a stranger's wake left in the log is no way out: it would freeze the session of a container that crashed and
 * was started again, and would not hold for a tool call that takes longer than the limit.
 */
import { createHash, randomUUID } from 'node:crypto';
import { link, readFile, readdir, unlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { wakeConflict } from '../../actors/session/event-store.ts';
import type { WakeRight } from '../../actors/session/event-store.ts';
import { replaceFile, writeNewFile } from './durable-files.ts';
import { LOCK_FILE } from './layout.ts';
import { processStartTime } from './process-start.ts';
import { storageFailed, systemCodeOf } from './storage-errors.ts';

export type WakeLockKind = 'socket' | 'file';

export interface WakeLockRequest {
  readonly sessionId: string;
  /** The session's folder by its real path, so that two ways to the same home meet in one lock. */
  readonly directory: string;
}

export const defaultWakeLockKind: WakeLockKind = process.platform === 'linux' ? 'socket' : 'file';

/** @throws RuntimeError WAKE_CONFLICT when a living process, perhaps this one, holds it */
export function acquireWakeLock(kind: WakeLockKind, request: WakeLockRequest): Promise<WakeRight> {
  return kind === 'socket' ? acquireSocket(request) : acquireFile(request);
}

async function acquireSocket({ sessionId, directory }: WakeLockRequest): Promise<WakeRight> {
  const name = `\0wakechart-wake-${createHash('sha256').update(directory).digest('hex')}`;
  // Nobody has anything to say here: whoever connects is sent away.
  const server = createServer((connection) => connection.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(systemCodeOf(error) === 'EADDRINUSE' ? wakeConflict(sessionId) : storageFailed(`lock session ${sessionId}`, error)));
    // Exclusive: workers of a cluster would otherwise share it.
    server.listen({ path: name, exclusive: true }, resolve);
  });
  server.on('error', () => undefined);
  server.unref();
  const closed = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
  let releasing: Promise<void> | undefined;
  return { release: () => (releasing ??= closed()) };
}

interface LockOwner {
  readonly pid: number;
  readonly startedAt: string | undefined;
  readonly isReleased: boolean;
}

/** How often the files may change under us before we leave the lock to the others. */
const MAX_ATTEMPTS = 16;

/**
 * Lock files are numbered, and the owner of the highest one holds the lock. A dead or released one is never removed to make room, only
 * passed by the next number, which exactly one can take: two that saw the same dead owner cannot both succeed.
 */
async function acquireFile({ sessionId, directory }: WakeLockRequest): Promise<WakeRight> {
  const owner: LockOwner = { pid: process.pid, startedAt: await processStartTime(process.pid), isReleased: false };
  const prepared = join(directory, `.${LOCK_FILE}.${randomUUID()}`);
  try {
    await writeNewFile(prepared, JSON.stringify(owner));
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const highest = Math.max(0, ...(await lockNumbers(directory)));
      if (highest > 0 && (await isHeld(lockPath(directory, highest)))) break;
      const number = highest + 1;
      if (!(await linked(prepared, lockPath(directory, number)))) continue;
      const numbers = await lockNumbers(directory);
      // Slow as we were, others may have gone past the number we took.
      if (Math.max(...numbers) === number) {
        await removeBelow(directory, numbers, number);
        return { release: () => releaseFile(lockPath(directory, number), owner) };
      }
      await unlink(lockPath(directory, number)).catch(() => undefined);
    }
  } catch (error) {
    throw storageFailed(`lock session ${sessionId}`, error);
  } finally {
    await unlink(prepared).catch(() => undefined);
  }
  throw wakeConflict(sessionId);
}

function lockPath(directory: string, number: number): string {
  return join(directory, `${LOCK_FILE}.${number}`);
}

async function lockNumbers(directory: string): Promise<number[]> {
  const names = await readdir(directory);
  return names.flatMap((name) => {
    const number = /^wake\.lock\.([1-9][0-9]{0,14})$/.exec(name)?.[1];
    return number === undefined ? [] : [Number(number)];
  });
}

async function removeBelow(directory: string, numbers: readonly number[], limit: number): Promise<void> {
  for (const number of numbers) if (number < limit) await unlink(lockPath(directory, number)).catch(() => undefined);
}

/** A link appears with its content in it, so nobody ever reads half an owner. */
async function linked(own: string, path: string): Promise<boolean> {
  try {
    await link(own, path);
    return true;
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Whether the owner of a lock file lives and has not released it. */
async function isHeld(path: string): Promise<boolean> {
  const owner = await readOwner(path);
  return owner !== undefined && !owner.isReleased && (await isAlive(owner));
}

async function readOwner(path: string): Promise<LockOwner | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    return isLockOwner(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isLockOwner(value: unknown): value is LockOwner {
  return typeof value === 'object' && value !== null && 'pid' in value && typeof value.pid === 'number' && 'isReleased' in value;
}

/** The start time tells the owner from a newer process that was given the same id. */
async function isAlive({ pid, startedAt }: LockOwner): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (systemCodeOf(error) === 'ESRCH') return false;
  }
  const actual = await processStartTime(pid);
  return startedAt === undefined || actual === startedAt;
}

/** The file stays, since its number must not be given out again; the next owner removes it. */
async function releaseFile(path: string, owner: LockOwner): Promise<void> {
  await replaceFile(path, JSON.stringify({ ...owner, isReleased: true } satisfies LockOwner));
}
