/** Input on its way to a running task: checked, answered permissions first, then handed to the runner. */
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { BackgroundTaskInput } from '../../machines/task/task-state.ts';
import { checkedInput } from '../../machines/task/task-input.ts';
import { allowAll, settlePermission } from './runner-events.ts';
import type { TaskExecution } from './task-execution.ts';
import type { TaskHost } from './task-host.ts';
import type { TaskRecord } from './task-record.ts';

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
  if (execution.isStopping) throw new BackgroundTaskError('runner', `task ${record.id} is being stopped and takes no input`, { code: 'TASK_STOPPING' });
  if (input.permission !== undefined) return answerPermission(host, record, execution, input, input.permission);
  if (record.status === 'waiting_permission') allowAll(host, record, execution);
  await execution.send(input);
}

async function answerPermission(
  host: TaskHost,
  record: TaskRecord,
  execution: TaskExecution,
  input: BackgroundTaskInput,
  { requestId, allowed }: { readonly requestId: string; readonly allowed: boolean },
): Promise<void> {
  if (execution.openPermissions?.has(requestId) !== true) {
    throw new BackgroundTaskError('validation', `task ${record.id} has no open permission request "${requestId}"`, {
      code: 'TASK_PERMISSION_STALE',
      hint: 'It was answered already, or the task went on without it.',
    });
  }
  if (!allowed) {
    const error = new BackgroundTaskError('permission', `permission request "${requestId}" was denied`, { code: 'TASK_PERMISSION_DENIED' });
    const ended = record.whenEnded();
    execution.stop({ kind: 'denied', error });
    return ended;
  }
  settlePermission(host, record, execution, requestId);
  if (execution.handle?.send !== undefined) await execution.send(input);
}
