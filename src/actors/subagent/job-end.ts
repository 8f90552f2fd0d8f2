/** How a job ended, as the state that is stored and shown. */
import type { ErrorRecord } from '../../machines/errors.ts';
import type { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { BackgroundTaskState, BackgroundTaskTimeoutReason } from '../../machines/task/task-state.ts';
import { isTimeoutReason, watchdogError } from '../../machines/task/watchdog.ts';
import { cancelledRecord } from '../task/stop-cause.ts';
import { handoffOf } from './job-words.ts';
import type { SubagentJobResult } from './subagent-runner.ts';
import { handoffMetadata } from './worktree-handoff.ts';

export type JobEnd =
  | { readonly kind: 'completed'; readonly result: SubagentJobResult }
  | { readonly kind: 'failed'; readonly error: BackgroundTaskError }
  /** `denied`: the requests whose denial ends the job. */
  | { readonly kind: 'stopped'; readonly reason: string; readonly denied: Iterable<string> };

/** `view` as it is once the job has ended so. */
export function endedTask(view: BackgroundTaskState, end: JobEnd, now: string): BackgroundTaskState {
  const { result: _result, error: _error, currentAction: _action, ...rest } = view;
  const ended = { ...rest, unread: true, updatedAt: now, completedAt: now };
  if (end.kind === 'completed') {
    const { output, metadata } = end.result;
    const { logPath, transcriptPath } = view;
    return Object.freeze({
      ...ended,
      status: 'completed',
      result: Object.freeze({ taskId: view.id, output, logPath, transcriptPath, metadata }),
    });
  }
  const failure = end.kind === 'failed' ? failureOf(end.error) : stopOf(end.reason, end.denied);
  return withHandoffDetails({ ...ended, ...failure });
}

/** The task with the handoff of its worktree in the details of its error, where the handler of the error finds it. */
export function withHandoffDetails(task: BackgroundTaskState): BackgroundTaskState {
  const handoff = handoffOf(task);
  if (handoff === undefined || task.error === undefined) return Object.freeze(task);
  const details = Object.freeze({ ...task.error.details, ...handoffMetadata(handoff) });
  return Object.freeze({ ...task, error: Object.freeze({ ...task.error, details }) });
}

type Failure = Pick<BackgroundTaskState, 'status' | 'error' | 'timeoutReason'>;

function failureOf(error: BackgroundTaskError): Failure {
  const reason = error.category === 'timeout' ? error.details?.['timeoutReason'] : undefined;
  return { status: 'failed', error: error.toJSON(), ...(isTimeoutReason(reason) ? { timeoutReason: reason } : {}) };
}

const WATCHDOGS: readonly BackgroundTaskTimeoutReason[] = [
  'idle',
  'max_runtime',
  'output_limit',
  'repetition',
  'stale_worker',
];

/**
 * A task tells its runner in words why it is to stop. These are the words of a watchdog and of a denial; any others are
 * a caller's own.
 */
function stopOf(reason: string, denied: Iterable<string>): Failure {
  for (const timeoutReason of WATCHDOGS) {
    const words = watchdogError(timeoutReason, '').message;
    if (reason.startsWith(words))
      return {
        status: 'failed',
        timeoutReason,
        error: watchdogError(timeoutReason, reason.slice(words.length)).toJSON(),
      };
  }
  for (const requestId of denied) {
    if (reason === `permission request "${requestId}" was denied`)
      return { status: 'failed', error: deniedRecord(reason) };
  }
  return { status: 'cancelled', error: cancelledRecord(reason) };
}

function deniedRecord(message: string): ErrorRecord {
  return {
    name: 'BackgroundTaskError',
    code: 'TASK_PERMISSION_DENIED',
    category: 'permission',
    message,
    recoverable: true,
  };
}
