/** What a runner says, turned into transitions, views and announcements. */
import { assertNever } from '../../machines/errors.ts';
import type { BackgroundTaskRunnerEvent } from '../../machines/task/task-state.ts';
import { plainCopy } from '../../machines/plain-copy.ts';
import type { TaskHost } from './task-host.ts';
import type { BackgroundTaskHandle } from './task-runner.ts';
import type { LiveTask, TaskRecord } from './task-record.ts';

/** Requests of one task that may be open. Each is held until it is answered. */
export const MAX_OPEN_PERMISSIONS = 256;

const REQUEST_PERMISSION = Object.freeze({ type: 'REQUEST_PERMISSION' });
const PERMISSION_ALLOWED = Object.freeze({ type: 'PERMISSION_ALLOWED' });
const SLEEP = Object.freeze({ type: 'SLEEP' });
const WAKE = Object.freeze({ type: 'WAKE' });

export function relayRunnerEvent(
  host: TaskHost,
  record: TaskRecord,
  execution: LiveTask,
  event: BackgroundTaskRunnerEvent,
): void {
  switch (event.type) {
    case 'background_task_text_delta':
      record.noteActivity(host.now());
      if (host.hasAudience(record.id))
        host.announce(record, { type: event.type, taskId: record.id, delta: event.delta });
      execution.watchdog?.text(event.delta);
      return;
    case 'background_task_tool_start': {
      execution.watchdog?.toolStarted(event.toolTimeoutMs);
      const currentAction = event.firstArg === undefined ? event.toolName : `${event.toolName}(${event.firstArg})`;
      return reportTool(host, record, event, currentAction);
    }
    case 'background_task_tool_end':
      execution.watchdog?.toolEnded();
      return reportTool(host, record, event, undefined);
    case 'background_task_permission_request':
      return requestPermission(host, record, execution, event);
    case 'background_task_permission_resolved':
      return settlePermission(host, record, execution, event.requestId);
    case 'background_task_sleeping':
      return sleep(host, record, event.nextFireAt);
    case 'background_task_waking':
      return wake(host, record, execution, event);
    case 'background_task_activity':
      record.noteActivity(host.now());
      execution.watchdog?.progress();
      return;
    case 'background_task_progress':
      record.noteActivity(host.now());
      execution.watchdog?.progress();
      return host.progress(record, event.progress);
    default:
      return assertNever(event, 'unknown runner event');
  }
}

/** One request was answered; with the last one the task goes back to work. */
export function settlePermission(host: TaskHost, record: TaskRecord, execution: LiveTask, requestId: string): void {
  execution.openPermissions?.delete(requestId);
  if (execution.openPermissions !== undefined && execution.openPermissions.size > 0) return;
  goOn(host, record, execution);
}

/** The task goes back to work. A request that is still open stays so: its answer counts whenever it comes. */
export function goOn(host: TaskHost, record: TaskRecord, execution: LiveTask): void {
  if (record.isStopping || !host.move(record, PERMISSION_ALLOWED)) return;
  execution.watchdog?.resume();
  host.announceUpdated(record);
}

type ToolEvent = Extract<
  BackgroundTaskRunnerEvent,
  { type: 'background_task_tool_start' | 'background_task_tool_end' }
>;

function reportTool(host: TaskHost, record: TaskRecord, event: ToolEvent, currentAction: string | undefined): void {
  const now = host.now();
  record.noteActivity(now);
  host.progress(record, { currentAction }, now);
  if (host.hasAudience(record.id)) host.announce(record, { ...event, taskId: record.id });
}

function requestPermission(
  host: TaskHost,
  record: TaskRecord,
  execution: LiveTask,
  event: Extract<BackgroundTaskRunnerEvent, { type: 'background_task_permission_request' }>,
): void {
  // Work that is being stopped gets no answer any more.
  if (record.isStopping) return;
  record.noteActivity(host.now());
  rouse(host, record, execution);
  const open = (execution.openPermissions ??= new Map<string, 'open'>());
  const { handle } = execution;
  if (open.size >= MAX_OPEN_PERMISSIONS && !open.has(event.requestId) && handle?.takesDenials === true)
    return void denyUnheard(handle, event.requestId);
  open.set(event.requestId, 'open');
  if (host.move(record, REQUEST_PERMISSION)) host.announceUpdated(record);
  host.announce(record, { ...event, taskId: record.id, toolArgs: plainCopy(event.toolArgs) });
}

/** No person is to be asked, and the work goes on without. */
async function denyUnheard(handle: BackgroundTaskHandle, requestId: string): Promise<void> {
  try {
    await handle.send?.({ permission: { requestId, allowed: false } });
  } catch {
    // Its work has ended meanwhile.
  }
}

function sleep(host: TaskHost, record: TaskRecord, nextFireAt: string | undefined): void {
  record.noteActivity(host.now());
  if (host.move(record, SLEEP)) host.releaseSlot(record);
  host.progress(record, { nextFireAt });
}

function wake(
  host: TaskHost,
  record: TaskRecord,
  execution: LiveTask,
  event: Extract<BackgroundTaskRunnerEvent, { type: 'background_task_waking' }>,
): void {
  record.noteActivity(host.now());
  rouse(host, record, execution);
  host.announce(record, { ...event, taskId: record.id });
}

/** A task that sleeps goes back to work; any other stays as it is. */
function rouse(host: TaskHost, record: TaskRecord, execution: LiveTask): void {
  if (!host.move(record, WAKE)) return;
  execution.watchdog?.resume();
  host.takeSlot(record);
  host.announceUpdated(record);
}
