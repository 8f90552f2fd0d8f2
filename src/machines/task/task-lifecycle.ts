/**
 * The task chart compiled, and everything that is read off it: the transition table, the status function, the terminal
 * test.
 */
import { compileLifecycle } from '../lifecycle.ts';
import type { LifecycleSnapshot } from '../lifecycle.ts';
import { BackgroundTaskError } from './task-error.ts';
import { taskMachine } from './task-machine.ts';
import type { BackgroundTaskChartEvent, BackgroundTaskStatus, BackgroundTaskTransitionEvent } from './task-machine.ts';
import type { StateValueFrom } from 'xstate';

/** The life of a task as actor logic. Every task actor runs this. */
export const taskLifecycle = compileLifecycle<StateValueFrom<typeof taskMachine>, BackgroundTaskChartEvent>(
  taskMachine,
);

export type TaskLifecycleSnapshot = LifecycleSnapshot<StateValueFrom<typeof taskMachine>>;

export interface BackgroundTaskTransition {
  readonly from: BackgroundTaskStatus;
  readonly event: BackgroundTaskTransitionEvent;
  readonly to: BackgroundTaskStatus;
}

/** Each terminal status; a new status fails to compile until it is placed. */
const TERMINAL = {
  queued: false,
  running: false,
  waiting_permission: false,
  sleeping: false,
  completed: true,
  failed: true,
  cancelled: true,
} as const satisfies Record<BackgroundTaskStatus, boolean>;

type TerminalBackgroundTaskStatus = {
  [Status in BackgroundTaskStatus]: (typeof TERMINAL)[Status] extends true ? Status : never;
}[BackgroundTaskStatus];

/** The status of a configuration: its outermost state. */
export function statusOf(snapshot: TaskLifecycleSnapshot): BackgroundTaskStatus {
  // The chart's top-level states are the statuses, by construction of the type.
  return snapshot.topLevel as BackgroundTaskStatus;
}

const STOPPING: ReadonlySet<TaskLifecycleSnapshot> = new Set(
  taskLifecycle.snapshots.filter(({ value }) => typeof value === 'object' && Object.values(value).includes('stopping')),
);

/** Whether the work is to end and has not yet: what the chart calls `stopping`, whatever the status. */
export function isStoppingTask(snapshot: TaskLifecycleSnapshot): boolean {
  return STOPPING.has(snapshot);
}

/** The moves between statuses, in chart order. Moves inside a status are not part of it. */
const TRANSITIONS: readonly BackgroundTaskTransition[] = Object.freeze(listTransitions());

function listTransitions(): BackgroundTaskTransition[] {
  const rows = new Map<string, BackgroundTaskTransition>();
  for (const snapshot of taskLifecycle.snapshots) {
    for (const event of taskLifecycle.events) {
      const target = taskLifecycle.next(snapshot, event);
      if (target === undefined || target.topLevel === snapshot.topLevel) continue;
      const key = `${snapshot.topLevel} ${event}`;
      // Moves between statuses are the public events; STARTED and STOP stay inside one.
      const row = { from: statusOf(snapshot), event: event as BackgroundTaskTransitionEvent, to: statusOf(target) };
      if (!rows.has(key)) rows.set(key, Object.freeze(row));
    }
  }
  return [...rows.values()];
}

const NEXT = new Map(TRANSITIONS.map((row) => [`${row.from} ${row.event}`, row.to]));

/** The table of moves between statuses, generated from the chart. A copy: changing it changes nothing. */
export function getBackgroundTaskTransitions(): BackgroundTaskTransition[] {
  return TRANSITIONS.map((row) => ({ ...row }));
}

export function isTerminalBackgroundTaskStatus(status: BackgroundTaskStatus): status is TerminalBackgroundTaskStatus {
  return TERMINAL[status];
}

/**
 * The status after `event`. Pure.
 * @throws BackgroundTaskError category `validation` when the chart has no such move.
 */
export function transitionBackgroundTaskStatus(
  status: BackgroundTaskStatus,
  event: BackgroundTaskTransitionEvent,
): BackgroundTaskStatus {
  const next = NEXT.get(`${status} ${event}`);
  if (next !== undefined) return next;
  throw illegalTransition(status, event);
}

function illegalTransition(status: BackgroundTaskStatus, event: string): BackgroundTaskError {
  const reason = isTerminalBackgroundTaskStatus(status) ? 'terminal status' : 'unsupported event';
  const allowed = TRANSITIONS.filter((row) => row.from === status).map((row) => row.event);
  return new BackgroundTaskError('validation', `Invalid background task transition: ${status} + ${event} (${reason})`, {
    code: 'TASK_ILLEGAL_TRANSITION',
    hint:
      allowed.length === 0
        ? `A ${status} task does not change any more.`
        : `From ${status} the task can take: ${allowed.join(', ')}.`,
    details: { status, event, allowed },
  });
}
