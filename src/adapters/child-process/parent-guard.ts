/**
 * The thread that ends an orphaned worker. It waits on a pipe that only the parent holds at the other end: the pipe ends when the parent
 * does, however it ends, and no work in the main thread of the worker can keep this one from noticing.
 */
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

export interface GuardOptions {
  /** The descriptor of the pipe. */
  readonly lifeline: number;
  /** The exchange folder: nobody else is left to remove it. */
  readonly folder: string;
  /** How long the main thread may take to end by itself, in milliseconds. */
  readonly graceMs: number;
}

/** Names the trees that a process belongs to, outermost first; set for the worker by whoever forked it. */
const TAG_VARIABLE = 'WAKECHART_TASK';
/** What is forked while the others are killed is found by the next look. */
const LOOKS = 5;

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
    for (let look = 0; look < LOOKS; look += 1) {
      const others = processesOf(tag).filter((pid) => pid !== process.pid);
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

/** Whoever was started by this worker, also in a session of its own. Finds nobody where there is no /proc: there the next start does. */
function processesOf(tag: string): readonly number[] {
  try {
    return readdirSync('/proc').map(Number).filter((pid) => Number.isInteger(pid) && tagsOf(pid).includes(tag));
  } catch {
    return [];
  }
}

function tagsOf(pid: number): readonly string[] {
  try {
    const entry = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').find((text) => text.startsWith(`${TAG_VARIABLE}=`));
    return entry?.slice(TAG_VARIABLE.length + 1).split(':') ?? [];
  } catch {
    return [];
  }
}
