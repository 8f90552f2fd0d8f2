/**
 * All that has to do with subagents in one runtime: its jobs, the wakes that have processes of their own, the worktrees
 * of children.
 */
import type { InspectionEvent } from 'xstate';
import { runOf, sessionOf } from '../../machines/subagent/subagent-request.ts';
import type { SubagentLimitsInput } from '../../machines/subagent/subagent-limits.ts';
import type { WorktreeHooks } from '../../machines/subagent/hook-config.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { Clock } from '../clock/clock.ts';
import type { PlaceGuard } from '../permission/permission-ports.ts';
import type { IdSource } from '../session/id-source.ts';
import type { SessionIdentity } from '../session/event-store.ts';
import type { SessionDirectories } from '../session/session-directories.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import { countedIds } from '../task/task-admission.ts';
import { BackgroundTaskManager } from '../task/background-task-manager.ts';
import type { WakeElsewhere } from '../wake/wake-ports.ts';
import { createInProcessSubagentRunner } from './in-process-runner.ts';
import { requireAcceptable } from './job-acceptance.ts';
import type { JobRecords } from './job-records.ts';
import type { SessionWorkPorts } from './session-work.ts';
import { createSubagentLog } from './subagent-log.ts';
import { SubagentManager } from './subagent-manager.ts';
import type { SubagentJobRequest, SubagentJobStart, SubagentRunner } from './subagent-runner.ts';
import { subagentTaskRunner } from './subagent-run.ts';
import { createSubflowWorktrees } from './subflow-worktrees.ts';
import type { SubflowWorktrees } from './subflow-worktrees.ts';
import { createWakesElsewhere } from './wakes-elsewhere.ts';
import type { ReconciledWorktree, WorktreeStore } from './worktree-adapter.ts';
import { createWorktreeSubagentRunner } from './worktree-subagent-runner.ts';
import type { WorktreeSubagentRunnerOptions } from './worktree-subagent-runner.ts';

/**
 * What a composition root brings for subagents. Without any of it, jobs run in this process, where they were asked for.
 */
export interface SubagentPorts {
  /** Runs jobs and wakes in processes of their own. */
  readonly processRunner?: SubagentRunner | undefined;
  /** Jobs that do not say run in this process all the same. Default false. */
  readonly isInProcessByDefault?: boolean | undefined;
  /** Makes worktrees, and keeps what is left in them. */
  readonly worktrees?: WorktreeStore | undefined;
  readonly records?: JobRecords | undefined;
  /** Run when a worktree has been made for a job, and when it has been removed. */
  readonly hooks?: WorktreeHooks | undefined;
  readonly hookTypeExecutors?: WorktreeSubagentRunnerOptions['hookTypeExecutors'];
  readonly hookTimeoutMs?: number | undefined;
  readonly limits?: SubagentLimitsInput | undefined;
  /** The folder that takes what the runtime itself wrote for a session into a worktree that goes. */
  readonly filesOf?: ((session: SessionIdentity) => string) | undefined;
  /** Releases what the process runner keeps. */
  readonly close?: (() => Promise<void>) | undefined;
  readonly inspect?: ((event: InspectionEvent) => void) | undefined;
}

export interface SubagentServicesOptions extends SessionWorkPorts {
  readonly ports: SubagentPorts;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly directories: SessionDirectories;
  /** Knows the folders in which no job works. */
  readonly guard: PlaceGuard | undefined;
  readonly humans: 'reachable' | 'none';
  readonly closeSession: (sessionId: string) => Promise<void>;
  readonly onListenerError: OnListenerError;
}

export interface SubagentServices {
  readonly jobs: SubagentManager;
  readonly local: SubagentRunner;
  readonly worktrees: WorktreeStore | undefined;
  readonly subflowWorktrees: SubflowWorktrees | undefined;
  readonly elsewhere: WakeElsewhere | undefined;
  /** The systems of actors in which its jobs and the wakes elsewhere live. */
  readonly systems: readonly { readonly label: string; readonly tasks: BackgroundTaskManager }[];
  /** Ends all that works for a session which is over, and resolves when it is gone. */
  endSession(sessionId: string, reason: string): Promise<void>;
  /** Settles what processes that are gone left. */
  reconcile(): Promise<ReconciledSubagents>;
  shutdown(reason: string): Promise<void>;
}

interface ReconciledSubagents {
  readonly jobs: Awaited<ReturnType<SubagentManager['reconcile']>>;
  readonly worktrees: readonly ReconciledWorktree[];
}

/**
 * Wakes that have processes of their own at the same time. Each belongs to a call, and those are bounded for each
 * session.
 */
const MAX_WAKES_ELSEWHERE = 64;

/** A wake is bounded by the budget of its agent, not by what a task may say. */
const UNWATCHED = {
  agentIdleTimeoutMs: 0,
  agentOutputLimitBytes: 0,
  agentMaxTextDeltas: 0,
  repetitionThreshold: 0,
} as const;

/** How long a worker that is asked, told and killed may take to be gone. */
const CANCEL_DEADLINE_MS = 120_000;

export function createSubagentServices(options: SubagentServicesOptions): SubagentServices {
  const { ports, onListenerError, closeSession } = options;
  const { processRunner, worktrees: keeper } = ports;
  const local = createInProcessSubagentRunner(options);
  const jobs = jobsOver(local, options);
  const wakes = processRunner === undefined ? undefined : wakeTasks(processRunner, options);
  const subflowWorktrees =
    keeper === undefined
      ? undefined
      : createSubflowWorktrees({
          keeper,
          filesOf: filesOfSessions(options),
          closeSession,
          journals: options.journals,
          parent: jobs.getBackgroundTaskManager().supervisor,
          onListenerError,
        });
  return {
    jobs,
    local,
    worktrees: keeper,
    subflowWorktrees,
    elsewhere: wakes === undefined ? undefined : createWakesElsewhere({ ...options, tasks: wakes }),
    systems: [
      { label: 'subagent jobs', tasks: jobs.getBackgroundTaskManager() },
      ...(wakes === undefined ? [] : [{ label: 'wakes in processes of their own', tasks: wakes }]),
    ],
    async endSession(sessionId, reason) {
      await jobs.cancelOf(sessionId, reason);
      await subflowWorktrees?.settleAll(sessionId);
    },
    async reconcile() {
      // First, so that the end of a job says what became of its worktree: removed, or kept with what was found in it.
      const settled =
        (await keeper?.reconcile({ isAwaited: async (key) => (await subflowWorktrees?.isAwaited(key)) ?? false })) ??
        [];
      return { jobs: await jobs.reconcile(), worktrees: settled };
    },
    async shutdown(reason) {
      await Promise.all([jobs.shutdown(reason), wakes?.shutdown(reason)]);
      await ports.close?.();
    },
  };
}

function jobsOver(local: SubagentRunner, options: SubagentServicesOptions): SubagentManager {
  const { ports, clock, ids, onListenerError } = options;
  return new SubagentManager({
    runner: isolating(
      createChoosingSubagentRunner({
        process: ports.processRunner,
        inProcess: local,
        preferred: ports.isInProcessByDefault === true ? 'in-process' : 'process',
      }),
      options,
    ),
    log: createSubagentLog(options),
    admit: (request) => requireAcceptable(request, options),
    clock,
    ids,
    onListenerError,
    ...(ports.records === undefined ? {} : { records: ports.records }),
    ...(ports.limits === undefined ? {} : { limits: ports.limits }),
    ...(ports.worktrees === undefined ? {} : { worktrees: ports.worktrees }),
    ...(ports.inspect === undefined ? {} : { inspect: ports.inspect }),
  });
}

function isolating(runner: SubagentRunner, options: SubagentServicesOptions): SubagentRunner {
  const { clock, ports } = options;
  const { worktrees, hooks, hookTypeExecutors, hookTimeoutMs } = ports;
  if (worktrees === undefined) return runner;
  return createWorktreeSubagentRunner({
    runner,
    worktreeAdapter: worktrees,
    clock,
    keepFilesIn: ({ request }) => filesOfJob(request, ports),
    ...(hooks === undefined ? {} : { hooks }),
    ...(hookTypeExecutors === undefined ? {} : { hookTypeExecutors }),
    ...(hookTimeoutMs === undefined ? {} : { hookTimeoutMs }),
  });
}

function wakeTasks(
  runner: SubagentRunner,
  { ports: { inspect }, clock, onListenerError }: SubagentServicesOptions,
): BackgroundTaskManager {
  return new BackgroundTaskManager({
    runners: { agent: subagentTaskRunner({ runner }) },
    clock,
    onListenerError,
    maxConcurrent: MAX_WAKES_ELSEWHERE,
    // Those of all managers of a runtime are told apart.
    idFactory: countedIds('wake'),
    cancelDeadlineMs: CANCEL_DEADLINE_MS,
    ...UNWATCHED,
    ...(inspect === undefined ? {} : { inspect }),
  });
}

function filesOfJob(request: SubagentJobRequest, { filesOf }: SubagentPorts): string | undefined {
  const sessionId = sessionOf(request);
  return sessionId === undefined ? undefined : filesOf?.({ sessionId, agentId: request.agentType });
}

/** By default it lies beside the worktree. */
function filesOfSessions({ ports }: SubagentServicesOptions): (session: SessionIdentity) => string | undefined {
  return (session) => ports.filesOf?.(session);
}

interface ChoosingRunnerOptions {
  readonly process?: SubagentRunner | undefined;
  readonly inProcess?: SubagentRunner | undefined;
  /** For a job that does not say, where there is such a runner. Default `process`. */
  readonly preferred?: 'process' | 'in-process' | undefined;
}

/**
 * One runner out of two: each job runs in a process of its own, or in this one, as its request says; one that asked
 * for a worktree only in a worktree.
 */
function createChoosingSubagentRunner({
  process,
  inProcess,
  preferred = 'process',
}: ChoosingRunnerOptions): SubagentRunner {
  const usual = preferred === 'process' ? (process ?? inProcess) : (inProcess ?? process);
  return {
    start(start) {
      requireWorktree(start);
      const wanted = runOf(start.request);
      const runner = wanted === 'in-process' ? inProcess : wanted === 'process' ? process : usual;
      if (runner !== undefined) return runner.start(start);
      throw new BackgroundTaskError(
        'validation',
        `job ${start.jobId} is to run ${wanted === 'in-process' ? 'in this process' : 'in a process of its own'}, and there is no runner for that`,
        {
          code: 'SUBAGENT_NO_RUNNER',
          hint: 'Leave `run` out, or give the runtime such a runner.',
        },
      );
    },
  };
}

/** A job that asked for a worktree must not work in the folder of its caller. */
function requireWorktree({ jobId, request }: SubagentJobStart): void {
  if (request.isolation !== 'worktree' || request.worktreePath !== undefined) return;
  throw new BackgroundTaskError('validation', `job ${jobId} is to work in a git worktree, and there are none here`, {
    code: 'SUBAGENT_NO_WORKTREES',
    hint: 'Give the runtime a keeper of worktrees (`subagents.worktrees`), or leave `isolation` out.',
  });
}
