/**
 * What a subagent manager can be told: who carries out its jobs, what is kept of them, its limits, and the settings of
 * its task manager.
 */
import type { InspectionEvent } from 'xstate';
import { checkedSubagentLimits } from '../../machines/subagent/subagent-limits.ts';
import type { SubagentLimits, SubagentLimitsInput } from '../../machines/subagent/subagent-limits.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { AgentTaskRequest } from '../../machines/task/task-request.ts';
import type { TaskSettingsInput } from '../../machines/task/task-settings.ts';
import type { Clock } from '../clock/clock.ts';
import type { IdSource } from '../session/id-source.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import type { BackgroundTaskManager } from '../task/background-task-manager.ts';
import type { BackgroundTaskListener } from '../task/task-event-hub.ts';
import type { BackgroundTaskRunnerList, BackgroundTaskRunners } from '../task/task-runner.ts';
import type { JobRecords } from './job-records.ts';
import type { SubagentLog } from './subagent-log.ts';
import type { SubagentRunner } from './subagent-runner.ts';
import type { WorktreeStore } from './worktree-adapter.ts';

interface SharedOptions {
  /** What is kept of jobs beyond this process. Default: nothing. */
  readonly records?: JobRecords | undefined;
  /** What hears of the start and the end of jobs. Default: nothing. */
  readonly log?: SubagentLog | undefined;
  /** Throws for a request that is not to be taken on. Asked before anything is recorded. Default: every one may be. */
  readonly admit?: ((request: AgentTaskRequest) => Promise<void>) | undefined;
  /** Where `reconcile` searches for the worktrees of jobs whose process is gone. */
  readonly worktrees?: Pick<WorktreeStore, 'list'> | undefined;
  readonly limits?: SubagentLimitsInput | undefined;
  /** Makes the ids of the jobs' sessions. Default: one over the clock. */
  readonly ids?: IdSource | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
  /**
   * Told what listeners throw, and what goes wrong with storing and telling the ends of jobs. Default: writes to the
   * console.
   */
  readonly onListenerError?: OnListenerError | undefined;
}

/** With a runner: a task manager is made for it. The settings of that may be given too. */
export interface ManagedRunnerOptions extends SharedOptions, Omit<TaskSettingsInput, 'maxDepth'> {
  readonly runner: SubagentRunner;
  readonly backgroundTaskManager?: undefined;
  /** Runners for tasks of other kinds that are to have the same slots. */
  readonly backgroundTaskRunners?: Omit<BackgroundTaskRunners, 'agent'> | BackgroundTaskRunnerList | undefined;
  readonly maxDepth?: number | undefined;
  readonly now?: (() => number | Date | string) | undefined;
  readonly eventSink?: BackgroundTaskListener | undefined;
  readonly inspect?: ((event: InspectionEvent) => void) | undefined;
}

/**
 * With a task manager that is there: its own runner for agent tasks carries out the jobs, and it is not shut down with
 * the jobs.
 */
interface ManagedTasksOptions extends SharedOptions {
  readonly backgroundTaskManager: BackgroundTaskManager;
  readonly runner?: undefined;
}

export type SubagentManagerOptions = ManagedRunnerOptions | ManagedTasksOptions;

/** How long a stop may take: a worker is asked, told and killed, and its worktree checked, before its job ends. */
const CANCEL_DEADLINE_MS = 120_000;

const OWN = [
  'runner',
  'backgroundTaskManager',
  'backgroundTaskRunners',
  'records',
  'log',
  'admit',
  'worktrees',
  'limits',
  'ids',
  'clock',
  'onListenerError',
];
const LIMITS = ['maxDepth', 'maxConcurrent', 'maxPending'] as const;

export interface CheckedOptions {
  readonly limits: SubagentLimits;
  /** For the task manager that is made: settings, and the ports that are only its own. */
  readonly forTasks: Readonly<Record<string, unknown>>;
}

/** @throws BackgroundTaskError category `validation` when an option makes no sense */
export function checkedManagerOptions(options: SubagentManagerOptions): CheckedOptions {
  if ((options.runner === undefined) === (options.backgroundTaskManager === undefined)) {
    throw refused('exactly one of `runner` and `backgroundTaskManager` is needed');
  }
  if (options.runner !== undefined && typeof (options.runner as Partial<SubagentRunner> | null)?.start !== 'function') {
    throw refused('`runner` must be an object with a start function');
  }
  const rest = Object.fromEntries(
    Object.entries(options).filter(([name, value]) => !OWN.includes(name) && value !== undefined),
  );
  if (options.backgroundTaskManager !== undefined) {
    const [stray] = Object.keys(rest);
    if (stray !== undefined)
      throw refused(
        `\`${stray}\` is for the task manager that is made with \`runner\`; the one that was passed in has its own`,
      );
  }
  const given = Object.fromEntries(LIMITS.filter((name) => rest[name] !== undefined).map((name) => [name, rest[name]]));
  const twice = LIMITS.find(
    (name) => given[name] !== undefined && options.limits?.[name] !== undefined && given[name] !== options.limits[name],
  );
  if (twice !== undefined)
    throw refused(
      `\`${twice}\` is given twice, as ${String(given[twice])} and in \`limits\` as ${String(options.limits?.[twice])}`,
    );
  const limits = checkedSubagentLimits({ ...options.limits, ...given });
  const { maxConcurrent, maxPending } = limits;
  // Depth is counted in jobs, and checked before the task manager is asked.
  return {
    limits,
    forTasks: { cancelDeadlineMs: CANCEL_DEADLINE_MS, ...rest, maxConcurrent, maxPending, maxDepth: Infinity },
  };
}

function refused(what: string): BackgroundTaskError {
  return new BackgroundTaskError('validation', `invalid subagent manager options: ${what}`, {
    code: 'SUBAGENT_OPTIONS_INVALID',
  });
}
