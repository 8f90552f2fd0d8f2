/**
 * The public face of subagents: each job is a task of kind `agent` in a pool of its own, with a record that survives
 * this process.
 *
 * A job that was accepted is on record, and so is its end before any listener hears of it. Stopping a job stops every
 * job below it.
 */
import { map } from 'rxjs';
import type { Observable } from 'rxjs';
import { RuntimeError } from '../../machines/errors.ts';
import { jobOf } from '../../machines/subagent/subagent-job.ts';
import type { SubagentJobState } from '../../machines/subagent/subagent-job.ts';
import { checkedSpawnRequest, sessionOf, taskRequestOf } from '../../machines/subagent/subagent-request.ts';
import type { SubagentSpawnRequest } from '../../machines/subagent/subagent-request.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import { isTerminalBackgroundTaskStatus } from '../../machines/task/task-lifecycle.ts';
import type { AgentTaskRequest } from '../../machines/task/task-request.ts';
import type {
  BackgroundTaskEvent,
  BackgroundTaskLogCursor,
  BackgroundTaskLogPage,
  BackgroundTaskState,
} from '../../machines/task/task-state.ts';
import type { Clock } from '../clock/clock.ts';
import { createSystemClock } from '../clock/system-clock.ts';
import { createStamp } from '../clock/iso-time.ts';
import { createIdSource } from '../session/id-source.ts';
import type { IdSource } from '../session/id-source.ts';
import { reportToConsole, safely } from '../streams/listener-errors.ts';
import { checkedRunners } from '../task/runner-boundary.ts';
import { BackgroundTaskManager } from '../task/background-task-manager.ts';
import { completeRequest } from '../task/task-admission.ts';
import type { BackgroundTaskEventFilter, BackgroundTaskListener } from '../task/task-event-hub.ts';
import { TaskRecord } from '../task/task-record.ts';
import { matchesFilter } from '../task/task-queries.ts';
import { JobAdmission, parentEnded } from './job-admission.ts';
import type { AdmittedJob, JobAbove } from './job-admission.ts';
import { endedTask, withHandoffDetails } from './job-end.ts';
import type { JobEnd } from './job-end.ts';
import { JobLedger } from './job-ledger.ts';
import { recoverJobs } from './job-recovery.ts';
import type { ReconciledJob } from './job-recovery.ts';
import { handedAround } from './large-output.ts';
import { checkedManagerOptions } from './subagent-manager-options.ts';
import type { SubagentManagerOptions } from './subagent-manager-options.ts';
import type { SubagentJobResult } from './subagent-runner.ts';
import { subagentTaskRunner } from './subagent-run.ts';
import { waitForJob } from './wait-for-job.ts';
import type { SubagentWaitOptions } from './wait-for-job.ts';
import { withDetails } from './worktree-handoff.ts';

interface SubagentJobFilter {
  readonly status?: SubagentJobState['status'] | readonly SubagentJobState['status'][] | undefined;
  readonly mode?: SubagentJobState['mode'] | undefined;
  readonly parentSessionId?: string | undefined;
  readonly parentJobId?: string | undefined;
}

export class SubagentManager {
  readonly #options: SubagentManagerOptions;
  readonly #clock: Clock;
  readonly #ids: IdSource;
  readonly #now: () => string;
  readonly #admission: JobAdmission;
  readonly #ledger: JobLedger;
  readonly #tasks: BackgroundTaskManager;
  readonly #admitted = new Map<string, AdmittedJob>();
  /** Jobs of other processes that have ended. */
  readonly #kept = new Map<string, BackgroundTaskState>();
  /** What still happens after the end of jobs. */
  readonly #endings = new Set<Promise<unknown>>();
  readonly #unsubscribe: () => void;
  #lastId = 0;
  #shutdown: Promise<void> | undefined;

  /** @throws BackgroundTaskError category `validation` when an option makes no sense; nothing is started then */
  constructor(options: SubagentManagerOptions) {
    const { limits, forTasks } = checkedManagerOptions(options);
    const report = safely(options.onListenerError ?? reportToConsole);
    this.#options = options;
    this.#clock = options.clock ?? createSystemClock();
    this.#ids = options.ids ?? createIdSource({ clock: this.#clock });
    this.#now = createStamp(this.#clock, 'now' in options ? options.now : undefined, (error) => report(error, 'clock'));
    this.#admission = new JobAdmission(limits);
    this.#ledger = new JobLedger({
      records: options.records,
      log: options.log,
      nextId: () => `agent_${(this.#lastId += 1)}`,
      report,
    });
    if (options.runner === undefined) this.#tasks = options.backgroundTaskManager;
    else {
      const agent = subagentTaskRunner({
        runner: options.runner,
        onProgress: (jobId, event) => {
          if (event.type === 'background_task_progress' && event.progress.worktreePath !== undefined)
            void this.#ledger.note(jobId, event.progress);
        },
        settle: (jobId, end) => this.#settle(jobId, end),
      });
      const runners = { ...checkedRunners(options.backgroundTaskRunners), agent };
      this.#tasks = new BackgroundTaskManager({ ...forTasks, clock: this.#clock, onListenerError: report, runners });
    }
    this.#unsubscribe = this.#tasks.subscribe((event) => this.#hear(event));
  }

  /** The manager of the tasks that the jobs are. */
  getBackgroundTaskManager(): BackgroundTaskManager {
    return this.#tasks;
  }

  /**
   * Takes a job on. Resolves once it is on record, with its state: `running` when a slot was free, else `queued`.
   * @throws BackgroundTaskError `validation` for a bad request, a parent that has ended or a manager that is shut down,
   * `capacity` beyond a limit; and what storing it throws. Nothing of it is left then.
   */
  async spawn(request: SubagentSpawnRequest): Promise<SubagentJobState> {
    try {
      return await this.#spawn(request);
    } catch (thrown) {
      throw BackgroundTaskError.from(thrown, 'runner');
    }
  }

  /**
   * Resolves with the result of a job that completes; rejects with the job's own error otherwise. Giving up on it
   * leaves the job alone.
   * @throws BackgroundTaskError SUBAGENT_WAIT_TIMEOUT, SUBAGENT_WAIT_ABORTED when the waiting ended first
   */
  async wait(jobId: string, options: SubagentWaitOptions = {}): Promise<SubagentJobResult> {
    this.#require(jobId);
    return waitForJob(
      this.#outcome(jobId),
      { jobId, status: () => this.get(jobId)?.status ?? 'closed' },
      options,
      this.#clock,
    );
  }

  /**
   * Jobs that were not closed, oldest first: those of earlier processes as `reconcile` found them, then those of this
   * one.
   */
  list(filter: SubagentJobFilter = {}): SubagentJobState[] {
    const { parentJobId, ...rest } = filter;
    const tasks = [...this.#kept.values(), ...this.#tasks.list({ kind: 'agent' }).map((task) => this.#shown(task))];
    return tasks.filter((task) => matchesFilter(task, { ...rest, parentTaskId: parentJobId })).map(jobOf);
  }

  get(jobId: string): SubagentJobState | undefined {
    const task = this.#find(jobId);
    return task === undefined ? undefined : jobOf(task);
  }

  /**
   * Stops the job and every job below it. Resolves when they have ended, with nothing of them left. One that has ended
   * stays as it is.
   */
  async cancel(jobId: string, reason = 'cancelled by the caller'): Promise<void> {
    const task = this.#require(jobId);
    if (this.#kept.has(jobId)) return;
    if (isTerminalBackgroundTaskStatus(task.status)) return this.#ledger.whenSettled(jobId);
    const above = { jobId, sessionId: sessionOf(task) };
    this.#admission.close(above);
    // Those below first: a slot that becomes free must not start one of them.
    const below = this.#cancelBelow(above, `its parent job ${jobId} was cancelled: ${reason}`);
    await Promise.all([below, this.#stop(jobId, reason)]);
  }

  /** The same for all jobs of a session, those included that are just being spawned. */
  async cancelOf(parentSessionId: string, reason = 'the session it works for was stopped'): Promise<void> {
    await this.#cancelBelow({ sessionId: parentSessionId }, reason);
  }

  /**
   * Forgets a job that has ended, with everything kept of it. @throws BackgroundTaskError `validation` while it lives
   */
  async close(jobId: string): Promise<void> {
    const task = this.#require(jobId);
    if (this.#kept.has(jobId)) {
      await this.#options.records?.remove(jobId);
      this.#kept.delete(jobId);
      return;
    }
    if (isTerminalBackgroundTaskStatus(task.status)) await this.#ledger.close(jobId);
    if (this.#tasks.get(jobId) !== undefined) await this.#tasks.close(jobId);
  }

  /** Gives a running job a follow-up. @throws BackgroundTaskError `runner` when it cannot take it */
  async send(jobId: string, input: string | { readonly prompt: string }): Promise<void> {
    this.#requireLive(jobId, 'take input');
    await this.#tasks.send(jobId, typeof input === 'string' ? { prompt: input } : input);
  }

  /**
   * Answers a permission request. A denial goes to the agent, which goes on without; where its runner takes no answers,
   * it ends the job.
   */
  async answerPermission(jobId: string, requestId: string, allowed: boolean): Promise<void> {
    this.#requireLive(jobId, 'take answers');
    await this.#tasks.send(jobId, { permission: { requestId, allowed } });
  }

  /** One page of the job's log, 200 lines at most. */
  async readLog(jobId: string, cursor?: BackgroundTaskLogCursor): Promise<BackgroundTaskLogPage> {
    const task = this.#require(jobId);
    if (!this.#kept.has(jobId)) return this.#tasks.readLog(jobId, cursor);
    const where = task.transcriptPath ?? task.logPath;
    throw new BackgroundTaskError('runner', `the log of job ${jobId} was kept by the process that ran it`, {
      code: 'SUBAGENT_LOG_NOT_HERE',
      ...(where === undefined ? {} : { hint: `It lies in ${where}.` }),
    });
  }

  /**
   * Events of jobs from now on. A stream of one job completes when that is closed, every stream when the manager has
   * shut down.
   */
  events$(filter: BackgroundTaskEventFilter = {}): Observable<BackgroundTaskEvent> {
    return this.#tasks.events$({ kind: 'agent', ...filter }).pipe(map((event) => this.#announced(event)));
  }

  /** Calls `listener` with every event of jobs from now on. A listener that throws is reported and goes on hearing. */
  subscribe(listener: BackgroundTaskListener): () => void {
    const subscription = this.events$().subscribe(listener);
    return () => subscription.unsubscribe();
  }

  /**
   * Deals with the jobs that processes which are gone left behind: each gets an end, which the session it worked for
   * hears of once. Several processes may do it at once. Also does again what could not be stored of the ends of this
   * manager's own jobs.
   */
  async reconcile(): Promise<readonly ReconciledJob[]> {
    const finished = (await this.#ledger.retry()).map((jobId): ReconciledJob => ({ jobId, action: 'finished' }));
    const { records, log, worktrees } = this.#options;
    if (records === undefined) return finished;
    const isOwn = (jobId: string): boolean => this.#ledger.has(jobId);
    const found = await recoverJobs({
      records,
      log,
      worktrees,
      now: this.#now,
      isOwn,
      keep: (task) => this.#kept.set(task.id, task),
    });
    return [...finished, ...found];
  }

  /**
   * Refuses new jobs, stops every job, and resolves when all have ended, with nothing of them left. Their records stay.
   * Idempotent.
   */
  shutdown(reason = 'the subagent manager is shutting down'): Promise<void> {
    // A listener that hears of the first job that ends may ask for the same again.
    this.#shutdown ??= Promise.resolve().then(() => this.#shutDown(reason));
    return this.#shutdown;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutdown();
  }

  async #spawn(given: SubagentSpawnRequest): Promise<SubagentJobState> {
    const checked = checkedSpawnRequest(given);
    if (this.#shutdown !== undefined) throw shutDown();
    const { parentJobId } = checked;
    const sessionId = checked.sessionId ?? this.#ids.next();
    const depth = this.#depthOf(checked);
    const parentSessionId = checked.parentSessionId ?? this.#sessionOfJob(parentJobId);
    const parent = parentSessionId === undefined ? {} : { parentSessionId };
    const request = completeAgentRequest(
      { ...checked, ...parent, sessionId, depth },
      { continues: checked.sessionId !== undefined },
    );
    await this.#requireAdmitted(request);
    const admitted = this.#admission.admit({ sessionId, parentJobId, parentSessionId, depth });
    try {
      admitted.jobId = await this.#ledger.open(request, (jobId) => new TaskRecord(jobId, request, this.#now()).view());
      this.#admitted.set(admitted.jobId, admitted);
      if (this.#shutdown !== undefined) admitted.refusal ??= shutDown();
      if (admitted.refusal !== undefined) throw admitted.refusal;
      return jobOf(this.#shown(await this.#tasks.spawn(request, { taskId: admitted.jobId })));
    } catch (thrown) {
      admitted.release();
      if (admitted.jobId !== undefined) {
        this.#admitted.delete(admitted.jobId);
        await this.#ledger.withdraw(admitted.jobId, thrown);
      }
      throw thrown;
    } finally {
      admitted.onSpawned();
    }
  }

  /** @throws what `admit` of the options says against it; and what may have come meanwhile */
  async #requireAdmitted(request: AgentTaskRequest): Promise<void> {
    if (this.#options.admit === undefined) return;
    await this.#options.admit(request);
    if (this.#shutdown !== undefined) throw shutDown();
    this.#depthOf({ parentJobId: request.parentTaskId });
  }

  /** A job that works for a job works for the session that does its work, and within its bounds. */
  #sessionOfJob(jobId: string | undefined): string | undefined {
    const task = jobId === undefined ? undefined : this.#find(jobId);
    return task === undefined || this.#options.log === undefined ? undefined : sessionOf(task);
  }

  /** One deeper than its parent at least. @throws BackgroundTaskError when the parent has ended */
  #depthOf({ parentJobId, depth = 0 }: Pick<SubagentSpawnRequest, 'parentJobId' | 'depth'>): number {
    if (parentJobId === undefined) return depth;
    const parent = this.#require(parentJobId);
    if (isTerminalBackgroundTaskStatus(parent.status)) throw parentEnded(parentJobId);
    return Math.max(depth, parent.depth + 1);
  }

  /** What is done once nothing of a job runs any more, before its task ends. @returns the end as it is shown */
  async #settle(jobId: string, end: JobEnd): Promise<JobEnd> {
    const sessionId = this.#admitted.get(jobId)?.sessionId;
    this.#admission.close({ jobId, sessionId });
    await this.#cancelBelow({ jobId, sessionId }, `its parent job ${jobId} has ended`);
    const { records } = this.#options;
    const shown =
      end.kind === 'completed'
        ? { ...end, result: await handedAround(end.result, this.#ledger.has(jobId) ? records : undefined) }
        : end;
    const view = this.#tasks.get(jobId);
    if (view === undefined) return shown;
    const problems = await this.#ledger.settle(jobId, endedTask(view, shown, this.#now()));
    if (problems.length === 0 || shown.kind !== 'completed') return shown;
    return {
      ...shown,
      result: { ...shown.result, metadata: { ...shown.result.metadata, settlementProblems: problems } },
    };
  }

  #hear(event: BackgroundTaskEvent): void {
    if (!('task' in event) || !isTerminalBackgroundTaskStatus(event.task.status)) return;
    const { task } = event;
    const admitted = this.#admitted.get(task.id);
    if (admitted === undefined) return;
    this.#admitted.delete(task.id);
    admitted.release();
    const above = { jobId: task.id, sessionId: admitted.sessionId };
    this.#admission.reopen(above);
    if (this.#ledger.isSettling(task.id)) return;
    // It ended without being carried out, or before it could be proven that nothing of it is left.
    void this.#ledger.settle(task.id, withHandoffDetails(task));
    const ending = this.#cancelBelow(above, `its parent job ${task.id} has ended`).finally(() =>
      this.#endings.delete(ending),
    );
    this.#endings.add(ending);
  }

  /** Stops every job below, those included whose spawn is under way. Resolves when they have ended. Never rejects. */
  async #cancelBelow(above: JobAbove, reason: string): Promise<void> {
    const refusal = new BackgroundTaskError('runner', `the job was not started: ${reason}`, {
      code: 'SUBAGENT_CANCELLED',
    });
    await Promise.all(
      this.#admission.below(above).map(async (job) => {
        job.refusal ??= refusal;
        if (job.jobId !== undefined) this.#admission.close({ jobId: job.jobId, sessionId: job.sessionId });
        if (job.jobId === undefined || this.#tasks.get(job.jobId) === undefined) await job.spawned;
        if (job.jobId !== undefined) await this.#stop(job.jobId, reason);
      }),
    );
  }

  async #stop(jobId: string, reason: string): Promise<void> {
    if (this.#tasks.get(jobId) !== undefined) await this.#tasks.cancel(jobId, reason);
    await this.#ledger.whenSettled(jobId);
  }

  async #shutDown(reason: string): Promise<void> {
    const living = this.#admission.all();
    for (const job of living) job.refusal ??= shutDown();
    if (this.#options.runner !== undefined) await this.#tasks.shutdown(reason);
    await Promise.all(living.map(({ spawned }) => spawned));
    await Promise.all(this.#admission.all().map(async ({ jobId = '' }) => this.#stop(jobId, reason)));
    await this.#ledger.whenAllSettled();
    await Promise.all(this.#endings);
    this.#unsubscribe();
  }

  async #outcome(jobId: string): Promise<SubagentJobResult> {
    const kept = this.#kept.get(jobId);
    if (kept !== undefined) return resultOf(kept, undefined);
    let failure: unknown;
    try {
      await this.#tasks.wait(jobId);
    } catch (thrown) {
      failure = thrown;
    }
    await this.#ledger.whenSettled(jobId);
    return resultOf(this.#find(jobId), failure);
  }

  #find(jobId: string): BackgroundTaskState | undefined {
    const task = this.#kept.get(jobId) ?? this.#tasks.get(jobId);
    return task?.kind === 'agent' ? this.#shown(task) : undefined;
  }

  /**
   * The task as it is on record once it has ended: a stop that came while its end was being stored does not change
   * that.
   */
  #shown(task: BackgroundTaskState): BackgroundTaskState {
    if (!isTerminalBackgroundTaskStatus(task.status)) return task;
    const end = this.#ledger.endOf(task.id);
    if (end === undefined) return task;
    return { ...end, unread: task.unread, result: end.status === task.status ? task.result : end.result };
  }

  #announced(event: BackgroundTaskEvent): BackgroundTaskEvent {
    if (!('task' in event)) return event;
    const task = this.#shown(event.task);
    if (task === event.task) return event;
    // A task that has a stored end has one of the three terminal statuses.
    return Object.freeze({
      type: `background_task_${task.status}` as 'background_task_completed',
      task: Object.freeze(task),
    });
  }

  #require(jobId: string): BackgroundTaskState {
    const task = this.#find(jobId);
    if (task !== undefined) return task;
    throw new BackgroundTaskError('validation', `there is no job ${JSON.stringify(jobId)}`, {
      code: 'SUBAGENT_NOT_FOUND',
      hint: 'It was never spawned here, or it was closed.',
    });
  }

  #requireLive(jobId: string, what: string): void {
    const { status } = this.#require(jobId);
    if (!isTerminalBackgroundTaskStatus(status)) return;
    throw new BackgroundTaskError('runner', `job ${jobId} has ended and cannot ${what}`, {
      code: 'TASK_ENDED',
      hint: 'Spawn another one, or go on with its session.',
    });
  }
}

function completeAgentRequest(request: SubagentSpawnRequest, how: { readonly continues: boolean }): AgentTaskRequest {
  const complete = completeRequest(taskRequestOf(request, how));
  if (complete.kind !== 'agent')
    throw new BackgroundTaskError('validation', `a subagent job is a task of kind agent, got ${complete.kind}`);
  return complete;
}

/**
 * @param failure what the task was rejected with, which may hold its cause. @throws the job's own error when it did not
 * complete
 */
function resultOf(task: BackgroundTaskState | undefined, failure: unknown): SubagentJobResult {
  if (task?.status === 'completed' && task.result !== undefined) {
    const { output, metadata } = task.result;
    return { jobId: task.id, output, ...(metadata === undefined ? {} : { metadata }) };
  }
  const error = task?.error;
  if (error === undefined) throw BackgroundTaskError.from(failure, 'runner');
  if (!RuntimeError.is(failure) || failure.code !== error.code) throw BackgroundTaskError.fromRecord(error);
  throw error.details === undefined ? failure : withDetails(failure, error.details);
}

function shutDown(): BackgroundTaskError {
  return new BackgroundTaskError('validation', 'the subagent manager is shut down and takes no new jobs', {
    code: 'SUBAGENT_MANAGER_SHUT_DOWN',
    hint: 'Open a new runtime.',
  });
}
