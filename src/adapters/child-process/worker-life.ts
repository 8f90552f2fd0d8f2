/**
 * The life of a worker beside its job: it loads what serves the job, gives it what the parent says, and ends with the
 * parent. That the parent has gone is seen here, and by a thread of its own, which sees it even when the agent keeps
 * this one busy.
 */
import { rmSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { GuardOptions } from './parent-guard.ts';

/** Brings all that is heavy. */
export type LoadWorkerService = () => Promise<(surroundings: WorkerSurroundings) => WorkerService>;

/** Between the end of the parent and that of a worker which does not end by itself. */
const ORPHAN_GRACE_MS = 3_000;

/** What serves the job, once it is loaded. */
export interface WorkerService {
  /** A value that the channel brought. */
  take(value: unknown): void;
  /** Ends what runs, as far as it can be ended, and then the process. */
  end(reason: string): void;
}

/** What it is given. */
export interface WorkerSurroundings {
  /** The exchange folder. */
  readonly folder: string;
  readonly transmit: (value: object, done: (error: Error | null) => void) => void;
  /** Resolves when the thread that watches the parent is there. */
  readonly guarded: Promise<void>;
  /** Ends this process. What was not handed to the channel yet is lost. */
  readonly exit: (code: number) => void;
}

export interface WorkerLifeOptions {
  readonly folder: string;
  /** The descriptor of a pipe that ends with the parent. */
  readonly lifeline: number;
  /** What the channel has brought already. */
  readonly early: readonly unknown[];
  readonly load: LoadWorkerService;
}

export function liveAsWorker({ folder, lifeline, early, load }: WorkerLifeOptions): void {
  const waiting = [...early];
  let service: WorkerService | undefined;
  let ending: string | undefined;
  const end = (reason: string): void => {
    ending ??= reason;
    service?.end(reason);
  };
  process.on('message', (value) => {
    if (service === undefined) waiting.push(value);
    else service.take(value);
  });
  process.once('disconnect', () => end('the parent has closed the channel'));
  // It may have gone before this process listened.
  if (!process.connected) end('the parent has closed the channel');
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => end(`it got ${signal}`));
  // Without a parent no process reads what is printed. That is no reason to fall over before all is closed.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
  const guarded = guard({ lifeline, folder, graceMs: ORPHAN_GRACE_MS });
  const exit = (code: number): void => {
    // Else the parent does it, when it has read what lies there.
    if (!process.connected) rmSync(folder, { recursive: true, force: true });
    process.exit(code);
  };
  // What fails here ends the process, which says so on its error output.
  void load().then((open) => {
    service = open({ folder, transmit, guarded, exit });
    for (const value of waiting.splice(0)) service.take(value);
    if (ending !== undefined) service.end(ending);
  });
}

function guard(options: GuardOptions): Promise<void> {
  const program = process.argv[1];
  if (program === undefined) throw new Error('a worker without a program cannot be guarded');
  // The program itself, which does nothing else in a thread: so there is no second file to be found or lost.
  const thread = new Worker(program, { workerData: options, execArgv: [], stdin: false });
  thread.unref();
  return new Promise((resolve) => {
    thread.once('message', () => resolve());
  });
}

function transmit(value: object, done: (error: Error | null) => void): void {
  if (process.send === undefined || !process.connected) done(new Error('the parent is gone'));
  else process.send(value, undefined, undefined, done);
}
