/**
 * How the program of a worker begins. It says that it is there before it loads anything else, and keeps what it is told
 * meanwhile.
 *
 * What is imported here is loaded before `ready`, and each import takes its time: next to nothing.
 */
import { isMainThread } from 'node:worker_threads';
import type { LoadWorkerService } from './worker-life.ts';
import { EXCHANGE_VARIABLE, LIFELINE_VARIABLE } from './worker-variables.ts';

const NOT_A_WORKER = 2;

/** Called by the program that is forked, as the first thing it does. */
export function startSubagentWorker(load: LoadWorkerService): void {
  if (!isMainThread) {
    // The thread that watches the parent: see worker-life.ts.
    void import('./parent-guard.ts').then(({ endWithParent }) => endWithParent());
    return;
  }
  const { [EXCHANGE_VARIABLE]: folder, [LIFELINE_VARIABLE]: lifeline } = process.env;
  if (process.send === undefined || folder === undefined || lifeline === undefined) {
    process.stderr.write(
      'This program is forked by Wakechart, for one subagent job each time. Run "wakechart --help" for what people run.\n',
    );
    process.exitCode = NOT_A_WORKER;
    return;
  }
  process.send({ v: 1, type: 'ready', pid: process.pid, confirms: true });
  // They are for this process alone: commands of the agent inherit our environment.
  delete process.env[EXCHANGE_VARIABLE];
  delete process.env[LIFELINE_VARIABLE];
  const early: unknown[] = [];
  const keep = (value: unknown): void => void early.push(value);
  process.on('message', keep);
  // What fails here ends the process, which says so on its error output.
  void import('./worker-life.ts').then(({ liveAsWorker }) => {
    process.off('message', keep);
    liveAsWorker({ folder, lifeline: Number(lifeline), early, load });
  });
}
