/** How a job ended, as the state that is stored and shown. */
import type { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { BackgroundTaskState } from '../../machines/task/task-state.ts';
import { timeoutReasonOf } from '../../machines/task/watchdog.ts';
import { cancelledRecord } from '../task/stop-cause.ts';
import { handoffOf } from './job-words.ts';
import type { SubagentJobResult } from './subagent-runner.ts';
import { handoffMetadata } from './worktree-handoff.ts';

export type JobEnd =
  | { readonly kind: 'completed'; readonly result: SubagentJobResult }
  | { readonly kind: 'failed'; readonly error: BackgroundTaskError }
  | { readonly kind: 'stopped'; readonly reason: string };

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
  if (end.kind === 'stopped')
    return withHandoffDetails({ ...ended, status: 'cancelled', error: cancelledRecord(end.reason) });
  const timeoutReason = timeoutReasonOf(end.error);
  const timeout = timeoutReason === undefined ? {} : { timeoutReason };
  return withHandoffDetails({ ...ended, status: 'failed', error: end.error.toJSON(), ...timeout });
}

/** The task with the handoff of its worktree in the details of its error, where the handler of the error finds it. */
export function withHandoffDetails(task: BackgroundTaskState): BackgroundTaskState {
  const handoff = handoffOf(task);
  if (handoff === undefined || task.error === undefined) return Object.freeze(task);
  const details = Object.freeze({ ...task.error.details, ...handoffMetadata(handoff) });
  return Object.freeze({ ...task, error: Object.freeze({ ...task.error, details }) });
}
