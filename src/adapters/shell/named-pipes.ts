/**
 * Real pipes for the output of commands, where the system has them.
 *
 * What Node calls a pipe to a child is a pair of sockets. Commands notice: `echo oops > /dev/stderr` fails, since no
 * process can open a socket by name. And Node reads it into a new buffer each time, which at a gigabyte a second costs
 * more than everything done with the data. A named pipe whose name is removed at once is a pipe like any other, and is
 * read into one buffer over and over. Node cannot make one; `mkfifo` can, a few at a time.
 *
 * Not for input: a command that opens /dev/stdin after the input has ended would wait for a writer for ever, where a
 * socket is an error at once.
 */
import { execFile } from 'node:child_process';
import { closeSync, constants, open } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isFree } from '../system/process-life.ts';

/** Two file descriptors. Their taker closes them. */
export interface NamedPipe {
  readonly readEnd: number;
  readonly writeEnd: number;
}

/** Made at once: enough for six tasks, and few enough that those which wait are no burden. */
const BATCH = 12;

/** Shared by all runners of this process: pipes that wait for a task are the same to each. */
const waiting: NamedPipe[] = [];
let making: Promise<void> | undefined;
let sweeping: Promise<void> | undefined;

/**
 * Undefined where pipes are not to be had: not on Linux, no `mkfifo`, no room for temporary files, no descriptors left.
 */
export async function takeNamedPipes(count: number): Promise<readonly NamedPipe[] | undefined> {
  if (process.platform !== 'linux') return undefined;
  try {
    while (waiting.length < count) {
      making ??= makePipes().finally(() => {
        making = undefined;
      });
      await making;
    }
  } catch {
    return undefined;
  }
  return waiting.splice(0, count);
}

export function closePipe({ readEnd, writeEnd }: NamedPipe): void {
  closeDescriptor(readEnd);
  closeDescriptor(writeEnd);
}

/** At once: while this process holds the writing end, the reader never sees an end. */
export function closeDescriptor(descriptor: number): void {
  try {
    closeSync(descriptor);
  } catch {
    // Nothing can be done about one that does not close.
  }
}

/** Of a folder, with the process that made it; it is gone a moment later, unless that process was killed meanwhile. */
const FOLDER = /^wakechart-pipes-(\d+)-/;

async function makePipes(): Promise<void> {
  await (sweeping ??= sweep().catch(() => undefined));
  const folder = await mkdtemp(join(tmpdir(), `wakechart-pipes-${process.pid}-`));
  try {
    const paths = Array.from({ length: BATCH }, (_, index) => join(folder, String(index)));
    await promisify(execFile)('mkfifo', ['-m', '600', ...paths]);
    for (const path of paths) waiting.push(await openPipe(path));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Removes what processes left that were killed in between. Once in each process: it is a few bytes, and no caller waits
 * for it.
 */
async function sweep(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = Number(FOLDER.exec(name)?.[1] ?? Number.NaN);
    // One whose process lives, or another one of its number, is left for another time; one of another user is not ours
    // to remove.
    if (Number.isSafeInteger(pid) && isFree(pid))
      await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => undefined);
  }
}

async function openPipe(path: string): Promise<NamedPipe> {
  const descriptor = promisify(open);
  // The reading end must not wait for a writer; the writing end then finds a reader.
  const readEnd = await descriptor(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return { readEnd, writeEnd: await descriptor(path, constants.O_WRONLY) };
  } catch (error) {
    closeDescriptor(readEnd);
    throw error;
  }
}
