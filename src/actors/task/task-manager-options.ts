/** What a task manager can be told: its settings, its ports and its listeners. */
import type { InspectionEvent } from 'xstate';
import type { TaskSettings, TaskSettingsInput } from '../../machines/task/task-settings.ts';
import type { Clock } from '../clock/clock.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import type { BackgroundTaskListener } from './task-event-hub.ts';
import type { BackgroundTaskRunnerList, BackgroundTaskRunners } from './task-runner.ts';

export interface BackgroundTaskManagerOptions extends TaskSettingsInput {
  /** One runner for each kind of task that may be spawned, by kind or as a list. */
  readonly runners?: BackgroundTaskRunners | BackgroundTaskRunnerList | undefined;
  /** Wall-clock time for stamps: milliseconds since the epoch, a Date, or an ISO string. Default: the clock's. */
  readonly now?: (() => number | Date | string) | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** Default: `task_<n>`. Ids are unique as long as their record is kept, and safe as file names. */
  readonly idFactory?: (() => string) | undefined;
  /** Hears every event before any listener. */
  readonly eventSink?: BackgroundTaskListener | undefined;
  /** Hears XState's inspection events of the supervisor and of every task. */
  readonly inspect?: ((event: InspectionEvent) => void) | undefined;
  /** Told what listeners, subscribers, the event sink and the inspector throw. Default: writes to the console. */
  readonly onListenerError?: OnListenerError | undefined;
}

export interface SupervisorSettings extends TaskSettings {
  readonly inspect: ((event: InspectionEvent) => void) | undefined;
}

/** Everything among the options that is not a setting. */
const PORTS = {
  runners: true,
  now: true,
  clock: true,
  idFactory: true,
  eventSink: true,
  inspect: true,
  onListenerError: true,
} as const satisfies Record<Exclude<keyof BackgroundTaskManagerOptions, keyof TaskSettingsInput>, true>;

/** The settings among the options, misspelt ones included: their reader refuses what it does not know. */
export function settingsAmong(options: BackgroundTaskManagerOptions): TaskSettingsInput {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !Object.hasOwn(PORTS, name)));
}
