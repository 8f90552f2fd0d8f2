/**
 * One forked worker: in a group and session of its own, with its process tree on record before it exists, and ended
 * with it.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Clock } from '../../actors/clock/clock.ts';
import type { ProcessTree, TrackedProcessTree } from '../../actors/task/process-tree.ts';
import { messageOf } from '../../machines/errors.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import { EXCHANGE_VARIABLE, LIFELINE_VARIABLE } from './worker-variables.ts';

/** Beside input, output, errors and messages: open as long as this process lives. */
const LIFELINE_DESCRIPTOR = 4;
/** How long the last output of a gone worker may take to be read. Another process may hold the other ends open. */
const LAST_WORDS_MS = 1_000;
/** Messages that are kept until a listener is set. */
const MAX_UNHEARD = 100;

export interface WorkerExit {
  readonly code: number | undefined;
  readonly signal: string | undefined;
}

export interface StartWorkerOptions {
  readonly workerPath: string;
  readonly execArgv: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly processTree: ProcessTree;
  readonly clock: Clock;
  /** For the record of its process tree. */
  readonly taskId: string;
  readonly sessionId?: string | undefined;
}

/**
 * @throws BackgroundTaskError category `storage` when it cannot be put on record, `process` when it cannot be forked
 */
export async function startWorkerProcess({
  processTree,
  taskId,
  sessionId,
  ...options
}: StartWorkerOptions): Promise<WorkerProcess> {
  const [tree, folder] = await bothOrNeither(
    processTree.prepare({ taskId, sessionId, commandPreview: `subagent worker ${options.workerPath}` }),
    mkdtemp(join(tmpdir(), 'wakechart-worker-')),
  );
  try {
    return new WorkerProcess(await forked(options, tree, folder), tree, folder, options.clock);
  } catch (error) {
    await tree.end({ graceMs: 0 }).catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
    throw notForked(error);
  }
}

export class WorkerProcess {
  readonly pid: number;
  /** Where long messages lie. It goes with the worker. */
  readonly folder: string;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the process has ended. What it started may still run, and what it said may not have been read. */
  readonly exited: Promise<WorkerExit>;
  /** Resolves when no message can come any more. */
  readonly disconnected: Promise<void>;
  readonly #child: ForkedChild;
  readonly #tree: TrackedProcessTree;
  readonly #clock: Clock;
  #listener: ((value: unknown) => void) | undefined;
  /** What came while there was no listener. */
  #unheard: unknown[] = [];

  constructor(child: ForkedChild, tree: TrackedProcessTree, folder: string, clock: Clock) {
    this.pid = child.pid;
    this.folder = folder;
    this.stdout = child.stdout;
    this.stderr = child.stderr;
    this.#child = child;
    this.#tree = tree;
    this.#clock = clock;
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve({ code: code ?? undefined, signal: signal ?? undefined }));
    });
    this.disconnected = new Promise((resolve) => {
      child.once('disconnect', resolve);
    });
    child.on('message', (value) => this.#heard(value));
    // How it ended says more than that it could not be written to.
    for (const source of [child, child.stdout, child.stderr, lifelineOf(child)]) source.on('error', () => undefined);
    lifelineOf(child).unref();
    // Without it on record the tree is still found by its mark.
    tree.attach(child.pid).catch(() => undefined);
  }

  /** Values as they come, those that have come already first. */
  listen(listener: (value: unknown) => void): void {
    this.#listener = listener;
    for (const value of this.#unheard.splice(0)) listener(value);
  }

  /** Whether messages still reach it. */
  get isConnected(): boolean {
    return this.#child.connected;
  }

  readonly transmit = (value: object, done: (error: Error | null) => void): void => {
    // Only the callback: without a channel Node would also emit an error that no caller could connect with the message.
    if (!this.#child.connected) done(new Error('the worker is gone'));
    else this.#child.send(value, done);
  };

  /** Whether this process stays alive for its sake. */
  setHeld(isHeld: boolean): void {
    const { channel, stdout, stderr } = this.#child;
    for (const source of [this.#child, channel, socketOf(stdout), socketOf(stderr)]) {
      if (isHeld) source?.ref();
      else source?.unref();
    }
  }

  /** Nothing more is to be said: a worker that only waits for messages ends. */
  release(): void {
    if (this.#child.connected) this.#child.disconnect();
  }

  /** Resolves when the worker has ended, or so many milliseconds are over. */
  async endedWithin(durationMs: number): Promise<boolean> {
    return within({ happens: this.exited, durationMs, clock: this.#clock });
  }

  /**
   * Ends it and all that it started, and resolves when that is proven gone and its last words are read.
   * @throws BackgroundTaskError category `process` naming who is left
   */
  async end({ graceMs }: { readonly graceMs: number }): Promise<WorkerExit> {
    await this.#tree.end({ graceMs });
    const exit = await this.exited;
    await this.#lastWords();
    for (const stream of [this.stdout, this.stderr, lifelineOf(this.#child)]) stream.destroy();
    this.release();
    await rm(this.folder, { recursive: true, force: true });
    return exit;
  }

  async #lastWords(): Promise<void> {
    // A worker that had no job may have had no reader.
    for (const stream of [this.stdout, this.stderr]) stream.resume();
    const ends = [this.disconnected, ...[this.stdout, this.stderr].map(readToTheEnd)];
    await within({ happens: Promise.all(ends), durationMs: LAST_WORDS_MS, clock: this.#clock });
  }

  #heard(value: unknown): void {
    if (this.#listener !== undefined) this.#listener(value);
    else if (this.#unheard.length < MAX_UNHEARD) this.#unheard.push(value);
  }
}

type ForkedChild = ChildProcess & { readonly pid: number; readonly stdout: Readable; readonly stderr: Readable };

async function forked(
  { workerPath, execArgv, environment }: Omit<StartWorkerOptions, 'processTree' | 'taskId' | 'sessionId'>,
  tree: TrackedProcessTree,
  folder: string,
): Promise<ForkedChild> {
  const launch = tree.launch({
    program: process.execPath,
    args: execArgv,
    // Not the folder of the job: a worktree is never removed while a process is in it.
    cwd: folder,
    environment: { ...environment, [EXCHANGE_VARIABLE]: folder, [LIFELINE_VARIABLE]: String(LIFELINE_DESCRIPTOR) },
  });
  const child = fork(workerPath, [], {
    cwd: folder,
    env: launch.environment,
    execPath: launch.program,
    execArgv: [...launch.args],
    detached: true,
    serialization: 'json',
    stdio: ['ignore', 'pipe', 'pipe', 'ipc', 'pipe'],
  });
  if (isForked(child)) return child;
  throw await new Promise((resolve) => {
    child.once('error', resolve);
  });
}

function isForked(child: ChildProcess): child is ForkedChild {
  return child.pid !== undefined && child.stdout !== null && child.stderr !== null;
}

function lifelineOf({ stdio }: ChildProcess): Socket {
  const lifeline = stdio[LIFELINE_DESCRIPTOR];
  if (lifeline instanceof Socket) return lifeline;
  throw new Error('the worker was forked without a lifeline');
}

function socketOf(stream: Readable): Socket | undefined {
  return stream instanceof Socket ? stream : undefined;
}

function readToTheEnd(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.readableEnded || stream.destroyed) resolve();
    else stream.once('close', resolve);
  });
}

interface Within {
  readonly happens: Promise<unknown>;
  readonly durationMs: number;
  readonly clock: Clock;
}

async function within({ happens, durationMs, clock }: Within): Promise<boolean> {
  let timer: object | undefined;
  const tooLong = new Promise<false>((resolve) => {
    timer = clock.setTimeout(() => resolve(false), durationMs);
  });
  const hasHappened = await Promise.race([happens.then(() => true), tooLong]);
  clock.clearTimeout(timer);
  return hasHappened;
}

/** What one of them made is undone when the other fails. */
async function bothOrNeither(
  preparing: Promise<TrackedProcessTree>,
  making: Promise<string>,
): Promise<readonly [TrackedProcessTree, string]> {
  const [tree, folder] = await Promise.allSettled([preparing, making]);
  if (tree.status === 'fulfilled' && folder.status === 'fulfilled') return [tree.value, folder.value];
  if (tree.status === 'fulfilled') await tree.value.end({ graceMs: 0 }).catch(() => undefined);
  if (folder.status === 'fulfilled') await rm(folder.value, { recursive: true, force: true });
  throw notForked(tree.status === 'rejected' ? tree.reason : folder.status === 'rejected' ? folder.reason : undefined);
}

function notForked(error: unknown): BackgroundTaskError {
  if (error instanceof BackgroundTaskError) return error;
  return new BackgroundTaskError('process', `the subagent worker could not be forked: ${messageOf(error)}`, {
    code: 'SUBAGENT_WORKER_NOT_FORKED',
    hint: 'The system may be out of processes, memory or space in its temporary folder: run fewer jobs at once, or free some.',
    cause: error,
  });
}
