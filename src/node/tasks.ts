/** The tasks of a home: shell commands and cron schedules, what runs them, and where they leave their records and logs. */
import { join, resolve } from 'node:path';
import type { Clock } from '../actors/clock/clock.ts';
import { createSystemClock } from '../actors/clock/system-clock.ts';
import { createDurableScheduleRunner } from '../actors/schedule/durable-runner.ts';
import type { ScheduleStore } from '../actors/schedule/schedule-store.ts';
import { createScheduledTaskRunner as createRunnerOfSchedules } from '../actors/schedule/scheduled-task-runner.ts';
import type { ScheduledTaskRunnerOptions } from '../actors/schedule/scheduled-task-runner.ts';
import type { SlotOwners } from '../actors/schedule/slot-owners.ts';
import { BackgroundTaskManager } from '../actors/task/background-task-manager.ts';
import type { ProcessTree } from '../actors/task/process-tree.ts';
import type { BackgroundTaskRunner, BackgroundTaskRunners } from '../actors/task/task-runner.ts';
import { createCronerPlan } from '../adapters/cron/croner-plan.ts';
import { HOSTS_FOLDER, createHostLife } from '../adapters/host-life/socket-host-life.ts';
import { createProcessTree } from '../adapters/process-tree/process-tree.ts';
import { createManagedShellProcessRunner } from '../adapters/shell/shell-runner.ts';
import type { ManagedShellProcessRunnerOptions } from '../adapters/shell/shell-runner.ts';
import type { ScheduledTaskRequest } from '../machines/task/task-request.ts';
import type { NodeRuntimeOptions } from './runtime-options.ts';
import { schedulesOfHome } from './stores.ts';

/** Folders of a home beside `agents`. */
export const PROCESSES_FOLDER = 'processes';
export const TASK_LOGS_FOLDER = 'task-logs';
const LOST_TASKS_FOLDER = 'lost-tasks';

/** The processes of a home, and by what they and others of it are seen to live. */
export function homeProcesses(
  home: string,
  clock: Clock,
): { readonly hostLife: ReturnType<typeof createHostLife>; readonly processTree: ProcessTree } {
  const hostLife = createHostLife({ directory: join(home, HOSTS_FOLDER) });
  const processTree = createProcessTree({
    clock,
    directory: join(home, PROCESSES_FOLDER),
    lostDirectory: join(home, LOST_TASKS_FOLDER),
    hostLife,
  });
  return { hostLife, processTree };
}

interface DefaultRunnersOptions {
  /** The home directory; process records, task logs and schedules lie in it. */
  readonly home: string;
  readonly clock?: Clock | undefined;
  /** Default: one that keeps its records in the home. */
  readonly processTree?: ProcessTree | undefined;
  /** Takes secrets out of what commands put out. */
  readonly redactionOf?: ManagedShellProcessRunnerOptions['redactionOf'];
  /** Keeps which slots of schedules were fired. Default: files in the home. */
  readonly slots?: ScheduleStore | undefined;
  /**
   * Names runs of schedules, and tells whether others live. Default: one that is silent for a minute is taken for dead.
   */
  readonly owners?: SlotOwners | undefined;
}

/** The runners that come with Wakechart: shell commands as `process` tasks, cron schedules as `scheduled` tasks. */
export function createDefaultBackgroundTaskRunners(
  options: DefaultRunnersOptions,
): Required<Pick<BackgroundTaskRunners, 'process' | 'scheduled'>> {
  const { clock = createSystemClock() } = options;
  const home = resolve(options.home);
  const processTree = options.processTree ?? createProcessTree({ clock, directory: join(home, PROCESSES_FOLDER) });
  return {
    process: createManagedShellProcessRunner({
      processTree,
      clock,
      logDirectory: join(home, TASK_LOGS_FOLDER),
      redactionOf: options.redactionOf,
    }),
    scheduled: createScheduledTaskRunner({
      clock,
      store: options.slots ?? schedulesOfHome(home).slots,
      owners: options.owners,
    }),
  };
}

/** Cron schedules as `scheduled` tasks; read by croner and fired by the system clock unless told otherwise. */
export function createScheduledTaskRunner(
  options: Partial<ScheduledTaskRunnerOptions> = {},
): BackgroundTaskRunner<ScheduledTaskRequest> {
  const { clock = createSystemClock(), cron = createCronerPlan(), ...rest } = options;
  return createRunnerOfSchedules({ ...rest, clock, cron });
}

export interface HomeTasks {
  readonly tasks: BackgroundTaskManager;
  readonly scheduled: ReturnType<typeof createDurableScheduleRunner>;
}

export function homeTasks(
  runnerOptions: DefaultRunnersOptions,
  {
    maxConcurrent,
    ...heard
  }: Pick<NodeRuntimeOptions, 'inspect' | 'onListenerError'> & { readonly maxConcurrent: number | undefined },
): HomeTasks {
  const runners = createDefaultBackgroundTaskRunners(runnerOptions);
  const scheduled = createDurableScheduleRunner(runners.scheduled);
  const tasks = new BackgroundTaskManager({
    runners: { ...runners, scheduled },
    clock: runnerOptions.clock,
    ...heard,
    ...(maxConcurrent === undefined ? {} : { maxConcurrent }),
  });
  return { tasks, scheduled };
}
