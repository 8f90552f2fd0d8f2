/**
 * Runs jobs that ask for it each in a git worktree of its own. A decorator: the runner inside does the work and knows
 * nothing of it.
 *
 * A worktree in which nothing could be lost is removed, once, when nothing of the job runs any more: after success,
 * failure, a start that failed or a stop. Any other is kept and handed over: in the state of the task from the moment
 * it exists, beside the result, and in the details of the error. A cleanup that fails never turns a good result into a
 * failure.
 */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { WorktreeHooks } from '../../machines/subagent/hook-config.ts';
import { checkedWorktreeLimits } from '../../machines/subagent/subagent-limits.ts';
import type { Clock } from '../clock/clock.ts';
import { createSystemClock } from '../clock/system-clock.ts';
import { AdapterAccess } from './adapter-access.ts';
import { RUNNER_HANDLE, checkedJobHandle, checkedJobResult } from './job-boundary.ts';
import type { SubagentJobHandle, SubagentJobResult, SubagentJobStart, SubagentRunner } from './subagent-runner.ts';
import type { SubagentWorktreeAdapter } from './worktree-adapter.ts';
import { withDetails } from './worktree-handoff.ts';
import { WorktreeHookRunner } from './worktree-hooks.ts';
import type { HookTypeExecutor } from './worktree-hooks.ts';
import { WorktreeRun } from './worktree-run.ts';
import type { WorktreeRunPorts } from './worktree-run.ts';

export interface WorktreeSubagentRunnerOptions {
  /** Does the work. */
  readonly runner: SubagentRunner;
  readonly worktreeAdapter: SubagentWorktreeAdapter;
  /** Run when a worktree has been made, which a failing one undoes, and when it has been removed. */
  readonly hooks?: WorktreeHooks | undefined;
  /** Who executes hooks of which type. Functions need none. */
  readonly hookTypeExecutors?: Readonly<Record<string, HookTypeExecutor>> | undefined;
  /** How long one hook may take that does not say itself. Default 60,000. */
  readonly hookTimeoutMs?: number | undefined;
  /**
   * How long the adapter may take to answer once there is a worktree. What takes longer counts as failed. Default
   * 300,000.
   */
  readonly adapterTimeoutMs?: number | undefined;
  /**
   * The folder that takes what the runtime itself wrote into the worktree of a job when that goes. Default: the
   * adapter's own.
   */
  readonly keepFilesIn?: ((start: SubagentJobStart) => string | undefined) | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
}

export class WorktreeSubagentRunner implements SubagentRunner {
  readonly #runner: SubagentRunner;
  readonly #ports: WorktreeRunPorts;

  /** @throws BackgroundTaskError category `validation` for options and hooks that make no sense */
  constructor(options: WorktreeSubagentRunnerOptions) {
    const {
      runner,
      worktreeAdapter,
      hooks = {},
      hookTypeExecutors = {},
      hookTimeoutMs,
      adapterTimeoutMs,
      keepFilesIn = () => undefined,
    } = options;
    const clock = options.clock ?? createSystemClock();
    const limits = checkedWorktreeLimits({ hookTimeoutMs, adapterTimeoutMs });
    this.#runner = runner;
    this.#ports = {
      access: new AdapterAccess(worktreeAdapter, clock, limits.adapterTimeoutMs),
      hooks: new WorktreeHookRunner({ hooks, executors: hookTypeExecutors, timeoutMs: limits.hookTimeoutMs, clock }),
      keepFilesIn,
    };
  }

  start(start: SubagentJobStart): SubagentJobHandle | Promise<SubagentJobHandle> {
    return start.request.isolation === 'worktree' ? this.#startInWorktree(start) : this.#runner.start(start);
  }

  async #startInWorktree(start: SubagentJobStart): Promise<SubagentJobHandle> {
    const run = new WorktreeRun(start, this.#ports);
    try {
      const request = await run.prepare();
      // What a start makes of its parts may depend on who it is: each is read from it.
      const { jobId, emit, signal, parent } = start;
      return new WorktreeJobHandle(
        start.jobId,
        checkedJobHandle(await this.#runner.start({ jobId, request, emit, signal, parent })),
        run,
      );
    } catch (thrown) {
      // Nothing runs after a start that failed, unless what it gave back is nothing that could be stopped.
      if (RuntimeError.is(thrown) && thrown.code === RUNNER_HANDLE) await run.keep(thrown.message);
      else await run.settle();
      throw withDetails(thrown, run.metadata);
    }
  }
}

export function createWorktreeSubagentRunner(options: WorktreeSubagentRunnerOptions): WorktreeSubagentRunner {
  return new WorktreeSubagentRunner(options);
}

/** The inner handle, whole, whose end waits for the worktree. */
class WorktreeJobHandle implements SubagentJobHandle {
  readonly jobId: string;
  readonly work: Promise<SubagentJobResult>;
  readonly result: Promise<SubagentJobResult>;
  readonly send?: NonNullable<SubagentJobHandle['send']>;
  readonly answerPermission?: NonNullable<SubagentJobHandle['answerPermission']>;
  readonly readLog?: NonNullable<SubagentJobHandle['readLog']>;
  readonly #inner: SubagentJobHandle;
  readonly #run: WorktreeRun;
  #isWorkOver = false;

  constructor(jobId: string, inner: SubagentJobHandle, run: WorktreeRun) {
    this.jobId = jobId;
    this.#inner = inner;
    this.#run = run;
    this.work = inner.work ?? inner.result;
    this.result = this.#settled();
    this.result.catch(() => undefined);
    if (inner.send !== undefined) this.send = inner.send.bind(inner);
    if (inner.answerPermission !== undefined) this.answerPermission = inner.answerPermission.bind(inner);
    if (inner.readLog !== undefined) this.readLog = inner.readLog.bind(inner);
  }

  get pid(): number | undefined {
    return this.#inner.pid;
  }

  get logPath(): string | undefined {
    return this.#inner.logPath;
  }

  get transcriptPath(): string | undefined {
    return this.#inner.transcriptPath;
  }

  async cancel(reason?: string): Promise<void> {
    try {
      await this.#inner.cancel(reason);
    } catch (error) {
      // Work that has ended by itself is gone, whatever became of the cancel.
      if (this.#isWorkOver) return this.#run.settle();
      await this.#run.keep(`its work could not be proven gone: ${messageOf(error)}`);
      throw error;
    }
    await this.#run.settle();
  }

  async #settled(): Promise<SubagentJobResult> {
    let result: SubagentJobResult;
    // A listener of `work` hears of its end before anything else is done.
    await this.work.then(nothing, nothing);
    try {
      result = checkedJobResult(await this.#inner.result, this.jobId);
    } catch (thrown) {
      this.#isWorkOver = true;
      await this.#run.settle();
      throw withDetails(thrown, this.#run.metadata);
    }
    this.#isWorkOver = true;
    await this.#run.settle();
    return { ...result, metadata: { ...result.metadata, ...this.#run.metadata } };
  }
}

function nothing(): void {}
