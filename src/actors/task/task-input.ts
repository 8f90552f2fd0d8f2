/** Input on its way to a running task: checked, answered permissions first, then handed to the runner. */
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { BackgroundTaskInput } from '../../machines/task/task-state.ts';
import { checkedInput } from '../../machines/task/task-input.ts';
import { goOn, settlePermission } from './runner-events.ts';
import type { TaskHost } from './task-host.ts';
import type { LiveTask, TaskRecord } from './task-record.ts';

/** @throws BackgroundTaskError `validation` for bad input, `runner` for a task that cannot take it */
export async function deliverInput(host: TaskHost, record: TaskRecord, given: BackgroundTaskInput): Promise<void> {
  const input = checkedInput(given);
  const { execution } = record;
  if (execution === undefined) {
    throw new BackgroundTaskError('runner', `task ${record.id} is still queued and cannot take input`, {
      code: 'TASK_NOT_STARTED',
      hint: 'Wait until it is running.',
    });
  }
  if (record.isStopping)
    throw new BackgroundTaskError('runner', `task ${record.id} is being stopped and takes no input`, {
      code: 'TASK_STOPPING',
      hint: 'Wait until it has ended, then spawn another.',
    });
  if (input.permission !== undefined) return answerPermission(host, record, execution, input, input.permission);
  await execution.send(input);
  goOn(host, record, execution);
}

async function answerPermission(
  host: TaskHost,
  record: TaskRecord,
  execution: LiveTask,
  input: BackgroundTaskInput,
  { requestId, allowed }: { readonly requestId: string; readonly allowed: boolean },
): Promise<void> {
  if (execution.openPermissions?.get(requestId) !== 'open') {
    throw new BackgroundTaskError('validation', `task ${record.id} has no open permission request "${requestId}"`, {
      code: 'TASK_PERMISSION_STALE',
      hint: 'It was answered already, or the task went on without it.',
    });
  }
  if (!allowed && execution.handle?.takesDenials !== true) {
    const error = new BackgroundTaskError('permission', `permission request "${requestId}" was denied`, {
      code: 'TASK_PERMISSION_DENIED',
    });
    const ended = record.whenEnded();
    execution.stop({ kind: 'denied', error });
    return ended;
  }
  // Told first and settled after: an answer that never reached the runner is still open.
  const { openPermissions } = execution;
  openPermissions.set(requestId, 'answering');
  try {
    await execution.send(input);
  } catch (error) {
    if (openPermissions.has(requestId)) openPermissions.set(requestId, 'open');
    throw error;
  }
  settlePermission(host, record, execution, requestId);
}
