/** The ports: what to implement to run Wakechart on another technology. */
export type { Clock, TimerHandle } from './actors/clock/clock.ts';
export type {
  BackgroundTaskHandle,
  BackgroundTaskRunner,
  BackgroundTaskRunners,
  BackgroundTaskStart,
  ChildTasks,
  ScheduleChanges,
} from './actors/task/task-runner.ts';
