/**
 * One process at a time changes a policy file, and one that is killed while it does keeps nobody out.
 *
 * The lock is a file that names its holder. Where the holder is gone, exactly one process may remove the file: the one that makes a second
 * file named after this very lock. That one too may be gone, and is removed in the same way. So no lock is ever taken from the living,
 * however the processes run in between.
 */
import { randomUUID } from 'node:crypto';
import { link, open, readFile, stat, unlink } from 'node:fs/promises';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { RuntimeError } from '../../machines/errors.ts';
import { processStat } from '../../machines/task/process-stat.ts';
import type { ProcessStat } from '../../machines/task/process-stat.ts';
import { policyBusy, systemCodeOf } from './policy-errors.ts';

const FILE_MODE = 0o600;

/** A change takes milliseconds. */
const MAX_WAIT_MS = 20_000;
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 50;

/** Where nobody can tell whether the holder lives: on another machine, or where the system does not say when a process began. */
const UNKNOWN_HOLDER_MS = 15_000;

const holderSchema = z.object({
  /** One of a kind for each time that the lock is taken. */
  id: z.uuid(),
  pid: z.number().int().positive(),
  /** When the process began, as its system tells; empty where it does not. */
  began: z.string(),
  /** The system, and where there are several on it the namespace, in which the pid means something. */
  host: z.string(),
});

type Holder = z.output<typeof holderSchema>;

/**
 * Runs `work` while no other process runs one under the lock at `path`. An ExclusiveWork: whoever composes adapters lends it to others.
 * @throws what `busy` makes (default: RuntimeError POLICY_BUSY), and what `work` throws
 */
export async function underLock<Result>(path: string, work: () => Promise<Result>, busy = (waitedMs: number): RuntimeError => policyBusy(path, waitedMs)): Promise<Result> {
  await acquire(path, busy);
  try {
    return await work();
  } finally {
    await remove(path);
  }
}

async function acquire(path: string, busy: (waitedMs: number) => RuntimeError): Promise<void> {
  const deadline = performance.now() + MAX_WAIT_MS;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    if (await take(path)) return;
    if (await removeAbandoned(path, path)) continue;
    if (performance.now() > deadline) throw busy(MAX_WAIT_MS);
    // Uneven, so that those who wait do not all come back together.
    await delay(pauseMs * (0.5 + Math.random()));
  }
}

/** Makes the file, whole and named after this process. @returns false when it is there already */
async function take(path: string): Promise<boolean> {
  const id = randomUUID();
  const draft = `${path}.${id}.draft`;
  const holder: Holder = { id, pid: process.pid, began: beginOf(process.pid)?.began ?? '', host: hostName() };
  try {
    const handle = await open(draft, 'wx', FILE_MODE);
    try {
      await handle.writeFile(JSON.stringify(holder));
    } finally {
      await handle.close();
    }
    // Unlike a rename, a link never replaces what is there.
    await link(draft, path);
    return true;
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await remove(draft);
  }
}

/** Removes the file at `path` if whoever made it is gone. @returns whether it is worth looking again at once */
async function removeAbandoned(lock: string, path: string): Promise<boolean> {
  const holder = await holderOf(path);
  if (holder === undefined) return true;
  if (await isHeld(path, holder)) return false;
  const permit = `${lock}.${holder.id}.gone`;
  if (!(await take(permit))) return removeAbandoned(lock, permit);
  try {
    // Somebody may have had the permit before, used it and given it back: then another file is there by now, or none.
    if ((await holderOf(path))?.id === holder.id) await remove(path);
  } finally {
    await remove(permit);
  }
  return true;
}

/** Undefined when the file is not there. One that is not readable has no holder that could be told: its age decides. */
async function holderOf(path: string): Promise<Holder | undefined> {
  try {
    const parsed = holderSchema.safeParse(JSON.parse(await readFile(path, 'utf8')));
    return parsed.success ? parsed.data : UNREADABLE;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    if (error instanceof SyntaxError) return UNREADABLE;
    throw error;
  }
}

const UNREADABLE: Holder = { id: '00000000-0000-4000-8000-000000000000', pid: 1, began: '', host: '' };

async function isHeld(path: string, holder: Holder): Promise<boolean> {
  if (holder.host !== '' && holder.host === hostName() && holder.began !== '') {
    const seen = beginOf(holder.pid);
    return seen?.began === holder.began && !seen.isOver;
  }
  if (holder.host !== '' && holder.host === hostName() && isNobody(holder.pid)) return false;
  const made = await stat(path).catch(() => undefined);
  return made === undefined || Date.now() - made.mtimeMs < UNKNOWN_HOLDER_MS;
}

/** Undefined when the system does not show it. */
function beginOf(pid: number): ProcessStat | undefined {
  try {
    return processStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return undefined;
  }
}

function isNobody(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return systemCodeOf(error) === 'ESRCH';
  }
}

function hostName(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

async function remove(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error;
  }
}
