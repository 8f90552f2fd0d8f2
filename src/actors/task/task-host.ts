/** What the live half of a task needs from its supervisor. */
import type { AnyActorRef, AnyEventObject } from 'xstate';
import type { WatchdogLimits } from '../../machines/task/watchdog.ts';
import type { BackgroundTaskRequest } from '../../machines/task/task-request.ts';
import type { BackgroundTaskEvent, BackgroundTaskProgress } from '../../machines/task/task-state.ts';
import type { Clock } from '../clock/clock.ts';
import type { IdleLine } from './idle-line.ts';
import type { BackgroundTaskStart, ChildTasks } from './task-runner.ts';
import type { SettlingEvent } from './stop-cause.ts';
import type { TaskRecord } from './task-record.ts';

export interface TaskHost {
  /** The supervisor's own actor. */
  readonly actor: AnyActorRef;
  readonly clock: Clock;
  /** 0: a stop may take for ever. */
  readonly cancelDeadlineMs: number;
  /** For tasks with the manager's own idle limit. */
  readonly agentIdleLine: IdleLine;
  limitsOf(request: BackgroundTaskRequest): WatchdogLimits;
  /** @returns what the runner of that kind returned, unchecked */
  startRunner(start: BackgroundTaskStart): unknown;
  childTasksOf(record: TaskRecord): ChildTasks;
  /** Wall-clock time for stamps, ISO-8601. */
  now(): string;
  /** Sends the event to the task's actor; false when the chart ignores it here. */
  move(record: TaskRecord, event: AnyEventObject): boolean;
  /** Ends the task, through the edge that the event implies when it waits or sleeps. */
  settle(record: TaskRecord, event: SettlingEvent): void;
  /** Merges what a runner reported and announces it as `updated`. @param now the time, where it is known already */
  progress(record: TaskRecord, progress: BackgroundTaskProgress, now?: string): void;
  announceUpdated(record: TaskRecord): void;
  announce(record: TaskRecord, event: BackgroundTaskEvent): void;
  hasAudience(taskId: string): boolean;
  takeSlot(record: TaskRecord): void;
  releaseSlot(record: TaskRecord): void;
}
