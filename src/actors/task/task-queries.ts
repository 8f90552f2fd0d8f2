/** Questions about tasks: filters, and promises for their end. */
import type {
  BackgroundTaskFilter,
  BackgroundTaskResult,
  BackgroundTaskState,
} from '../../machines/task/task-state.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import { cancelledRecord } from './stop-cause.ts';

interface Filtered extends Pick<BackgroundTaskState, 'status' | 'kind'> {
  readonly mode?: BackgroundTaskState['mode'] | undefined;
  readonly parentSessionId?: string | undefined;
  readonly parentTaskId?: string | undefined;
}

export function matchesFilter(state: Filtered, filter: BackgroundTaskFilter): boolean {
  const { status } = filter;
  if (status !== undefined && !(typeof status === 'string' ? status === state.status : status.includes(state.status)))
    return false;
  if (filter.kind !== undefined && filter.kind !== state.kind) return false;
  if (filter.mode !== undefined && filter.mode !== state.mode) return false;
  if (filter.parentSessionId !== undefined && filter.parentSessionId !== state.parentSessionId) return false;
  return filter.parentTaskId === undefined || filter.parentTaskId === state.parentTaskId;
}

/** What became of a task that has ended. @returns a rejection with the task's own error when it did not complete */
export function resultOf(
  ended: Pick<BackgroundTaskState, 'status' | 'result' | 'error'> | undefined,
): Promise<BackgroundTaskResult> {
  if (ended?.status === 'completed' && ended.result !== undefined) return Promise.resolve(ended.result);
  return Promise.reject(BackgroundTaskError.fromRecord(ended?.error ?? cancelledRecord('its record was closed')));
}
