/**
 * How the program of a worker begins. It says that it is there before it loads anything, keeps what it is told meanwhile, and watches its
 * parent from a thread of its own, which sees the parent go even when the agent keeps this one busy.
 *
 * What is imported here is loaded before `ready`: nothing but Node's own.
 */
import { rmSync } from 'node:fs';
import { Worker, isMainThread } from 'node:worker_threads';
import { endWithParent } from './parent-guard.ts';
import type { GuardOptions } from './parent-guard.ts';
import { EXCHANGE_VARIABLE, LIFELINE_VARIABLE } from './worker-variables.ts';

/** Between the end of the parent and that of a worker which does not end by itself. */
const ORPHAN_GRACE_MS = 3_000;
const NOT_A_WORKER = 2;

/** What serves the job, once it is loaded. */
export interface WorkerService {
  /** A value that the channel brought. */
  take(value: unknown): void;
  /** Ends what runs, as far as it can be ended, and then the process. */
  end(reason: string): void;
}

/** What the channel to the parent is made of. */
export interface WorkerSurroundings {
  /** The exchange folder. */
  readonly folder: string;
  readonly transmit: (value: object, done: (error: Error | null) => void) => void;
  /** Resolves when the thread that watches the parent is there. */
  readonly guarded: Promise<void>;
  /** Ends this process. What was not handed to the channel yet is lost. */
  readonly exit: (code: number) => void;
}

/** Called by the program that is forked, as the first thing it does. `load` brings all that is heavy. */
export function startSubagentWorker(load: () => Promise<(surroundings: WorkerSurroundings) => WorkerService>): void {
  if (!isMainThread) {
    endWithParent();
    return;
  }
  const { [EXCHANGE_VARIABLE]: folder, [LIFELINE_VARIABLE]: lifeline } = process.env;
  if (process.send === undefined || folder === undefined || lifeline === undefined) {
    process.stderr.write('This program is forked by Wakechart, for one subagent job each time. Run "wakechart --help" for what people run.\n');
    process.exitCode = NOT_A_WORKER;
    return;
  }
  // They are nobody's business but ours: commands of the agent inherit our environment.
  delete process.env[EXCHANGE_VARIABLE];
  delete process.env[LIFELINE_VARIABLE];
  transmit({ v: 1, type: 'ready', pid: process.pid, confirms: true }, () => undefined);
  serve({ folder, lifeline: Number(lifeline) }, load);
}

function serve({ folder, lifeline }: { readonly folder: string; readonly lifeline: number }, load: Parameters<typeof startSubagentWorker>[0]): void {
  const early: unknown[] = [];
  let service: WorkerService | undefined;
  let ending: string | undefined;
  const end = (reason: string): void => {
    ending ??= reason;
    service?.end(reason);
  };
  process.on('message', (value) => {
    if (service === undefined) early.push(value);
    else service.take(value);
  });
  process.once('disconnect', () => end('the parent has closed the channel'));
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => end(`it got ${signal}`));
  const guarded = guard({ lifeline, folder, graceMs: ORPHAN_GRACE_MS });
  const exit = (code: number): void => {
    // Else the parent does it, when it has read what lies there.
    if (!process.connected) rmSync(folder, { recursive: true, force: true });
    process.exit(code);
  };
  // What fails here ends the process, which says so on its error output.
  void load().then((open) => {
    service = open({ folder, transmit, guarded, exit });
    for (const value of early.splice(0)) service.take(value);
    if (ending !== undefined) service.end(ending);
  });
}

function guard(options: GuardOptions): Promise<void> {
  const program = process.argv[1];
  if (program === undefined) throw new Error('a worker without a program cannot be guarded');
  // The program itself: in a thread, `startSubagentWorker` does nothing else. So there is no second file to be found or lost.
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
