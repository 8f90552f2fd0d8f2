/**
 * The runner of scheduled tasks with one addition: what the slots of a durable schedule do is decided when they fire,
 * not when the schedule's task was started. Everything about slots is the scheduled task's own.
 */
import type { ScheduledTaskRequest } from '../../machines/task/task-request.ts';
import type { BackgroundTaskRunner, BackgroundTaskStart, ChildTasks } from '../task/task-runner.ts';

export interface DurableScheduleRunner extends BackgroundTaskRunner<ScheduledTaskRequest> {
  /** From now on, the slots of scheduled tasks of this name go through what `fires` makes of their child tasks. */
  adopt(slotsKey: string, fires: (children: ChildTasks) => ChildTasks): void;
  /** Tasks that have started keep what they have. */
  release(slotsKey: string): void;
}

export function createDurableScheduleRunner(runner: BackgroundTaskRunner<ScheduledTaskRequest>): DurableScheduleRunner {
  const adopted = new Map<string, (children: ChildTasks) => ChildTasks>();
  return {
    kind: 'scheduled',
    check: (request) => runner.check?.(request),
    start(start) {
      const fires = start.request.scheduleId === undefined ? undefined : adopted.get(start.request.scheduleId);
      return runner.start(fires === undefined ? start : withChildren(start, fires(start.children)));
    },
    adopt: (slotsKey, fires) => void adopted.set(slotsKey, fires),
    release: (slotsKey) => void adopted.delete(slotsKey),
  };
}

/** Not a spread: the signal is made when it is first read. */
function withChildren(
  start: BackgroundTaskStart<ScheduledTaskRequest>,
  children: ChildTasks,
): BackgroundTaskStart<ScheduledTaskRequest> {
  const { taskId, request, emit, parent } = start;
  return {
    taskId,
    request,
    emit,
    parent,
    children,
    get signal() {
      return start.signal;
    },
  };
}
