/** The managers that the task benches measure, all doing nothing as fast as they can. */
import { BackgroundTaskManager } from 'wakechart';
import type { BackgroundTaskManagerOptions, BackgroundTaskRequestInput } from 'wakechart';
import type { BackgroundTaskRunner, BackgroundTaskStart } from 'wakechart/ports';

export const CONCURRENCY = 64;

export const request: BackgroundTaskRequestInput = {
  kind: 'process',
  label: 'no-op',
  mode: 'background',
  parentSessionId: 'bench',
  depth: 0,
  cwd: '/',
  command: 'true',
};

/** Work that is over as soon as it has begun. */
export const noop: BackgroundTaskRunner = {
  kind: 'process',
  start: ({ taskId }) => ({ taskId, result: Promise.resolve({ taskId, output: '' }), cancel: () => undefined }),
};

/** Work that goes on until it is cancelled. */
export const endless: BackgroundTaskRunner = {
  kind: 'process',
  start: ({ taskId }) => ({ taskId, result: new Promise(() => undefined), cancel: () => undefined }),
};

export function createManager(
  runner: BackgroundTaskRunner,
  options: BackgroundTaskManagerOptions = {},
): BackgroundTaskManager {
  return new BackgroundTaskManager({
    maxConcurrent: CONCURRENCY,
    maxPending: Infinity,
    runners: { [runner.kind]: runner },
    ...options,
  });
}

/** An agent runner that keeps its starts, so that a bench can speak for the tasks. */
export function createSpeaker(): { readonly runner: BackgroundTaskRunner; readonly starts: BackgroundTaskStart[] } {
  const starts: BackgroundTaskStart[] = [];
  return {
    starts,
    runner: {
      kind: 'agent',
      start: (start) => {
        starts.push(start);
        return { taskId: start.taskId, result: new Promise(() => undefined), cancel: () => undefined };
      },
    },
  };
}
