/**
 * The thread that ends an orphaned worker. It waits on a pipe that only the parent holds at the other end: the pipe
 * ends when the parent does, however it ends, and no work in the main thread of the worker can keep this one from
 * noticing.
 */
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { residentLimitIn } from '../../machines/task/process-stat.ts';
import { residentLimitOf } from '../../machines/task/resident-limit.ts';

export interface GuardOptions {
  /** The descriptor of the pipe. */
  readonly lifeline: number;
  /** The exchange folder: no other process is left to remove it. */
  readonly folder: string;
  /** How long the main thread may take to end by itself, in milliseconds. */
  readonly graceMs: number;
}

/** Names the trees that a process belongs to, outermost first; set for the worker by the process that forked it. */
const TAG_VARIABLE = 'WAKECHART_TASK';
/** What is forked while the others are killed is found by the next check. */
const CHECKS = 5;

export function endWithParent(): void {
  const { lifeline, folder, graceMs } = workerData as GuardOptions;
  const pipe = new Socket({ fd: lifeline, readable: true, writable: false });
  pipe.on('error', () => undefined);
  pipe.once('close', () => {
    setTimeout(() => endEverything(folder), graceMs);
  });
  pipe.resume();
  parentPort?.postMessage('guarding');
}

function endEverything(folder: string): void {
  const tag = process.env[TAG_VARIABLE]?.split(':').at(-1);
  if (tag !== undefined && tag !== '') {
    const trees = new Set([tag]);
    for (let check = 0; check < CHECKS; check += 1) {
      const others = processesOf(trees, tag).filter((pid) => pid !== process.pid);
      if (others.length === 0) break;
      for (const pid of others) kill(pid);
    }
  }
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // The main thread may write into it at this very moment: better a folder that is left than a process.
  }
  // The group last: this process is in it.
  kill(-process.pid);
  kill(process.pid);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended in between.
  }
}

/**
 * All processes that this worker started, also in sessions of their own, or without the tag but with the limit of a
 * tree. Finds none where there is no /proc: there the next start does.
 * @param trees those of this worker as far as they are known; the ones that are seen are added
 */
function processesOf(trees: Set<string>, tag: string): readonly number[] {
  try {
    const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
    const tagged = pids.filter((pid) => {
      const tags = tagsOf(pid);
      if (!tags.includes(tag)) return false;
      for (const inner of tags.slice(tags.indexOf(tag))) trees.add(inner);
      return true;
    });
    const limits = new Set([...trees].flatMap((tree) => residentLimitOf(tree) ?? []));
    return [...new Set([...tagged, ...pids.filter((pid) => limits.has(residentLimitIn(statOf(pid))))])];
  } catch {
    return [];
  }
}

function statOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return '';
  }
}

function tagsOf(pid: number): readonly string[] {
  try {
    const entry = readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .find((text) => text.startsWith(`${TAG_VARIABLE}=`));
    return entry?.slice(TAG_VARIABLE.length + 1).split(':') ?? [];
  } catch {
    return [];
  }
}
