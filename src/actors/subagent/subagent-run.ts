/**
 * One job while it is carried out: what its runner started, how it is stopped, and how its end is settled before any
 * listener hears of it.
 */
import type { StateValueFrom } from 'xstate';
import { messageOf } from '../../machines/errors.ts';
import { subagentLifecycle } from '../../machines/subagent/subagent-machine.ts';
import type { SubagentChartEvent, subagentMachine } from '../../machines/subagent/subagent-machine.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { AgentTaskRequest } from '../../machines/task/task-request.ts';
import type {
  BackgroundTaskInput,
  BackgroundTaskLogCursor,
  BackgroundTaskLogPage,
  BackgroundTaskResult,
  BackgroundTaskRunnerEvent,
} from '../../machines/task/task-state.ts';
import { cancelledRecord } from '../task/stop-cause.ts';
import { isPromiseLike } from '../task/runner-boundary.ts';
import type { BackgroundTaskHandle, BackgroundTaskRunner, BackgroundTaskStart } from '../task/task-runner.ts';
import { ChartedLife } from '../charted-life.ts';
import { deferred } from '../concurrency/deferred.ts';
import { forwardAbort } from '../concurrency/forward-abort.ts';
import { checkedJobHandle, checkedJobResult } from './job-boundary.ts';
import type { JobEnd } from './job-end.ts';
import type { SubagentJobHandle, SubagentJobResult, SubagentRunner } from './subagent-runner.ts';

export interface SubagentRunPorts {
  readonly runner: SubagentRunner;
  /** Hears what the work says, as where it lies. */
  readonly onProgress?: (jobId: string, event: BackgroundTaskRunnerEvent) => void;
  /** Does all that is to be done once nothing of the agent runs any more. @returns the end as it is shown */
  readonly settle?: (jobId: string, end: JobEnd) => Promise<JobEnd>;
}

/** Carries out agent tasks with a subagent runner. */
export function subagentTaskRunner(ports: SubagentRunPorts): BackgroundTaskRunner<AgentTaskRequest> {
  return {
    kind: 'agent',
    start(start) {
      const run = new SubagentRun(start, ports);
      run.begin();
      return run;
    },
  };
}

class SubagentRun implements BackgroundTaskHandle {
  readonly taskId: string;
  readonly result: Promise<BackgroundTaskResult>;
  readonly #start: BackgroundTaskStart<AgentTaskRequest>;
  readonly #ports: SubagentRunPorts;
  readonly #life: ChartedLife<StateValueFrom<typeof subagentMachine>, SubagentChartEvent>;
  /** Aborted with the first reason to stop. */
  readonly #abort = new AbortController();
  readonly #prepared = deferred<SubagentJobHandle | undefined>();
  readonly #outcome = deferred<BackgroundTaskResult>();
  /** How it ended does not matter here. */
  readonly #settled: Promise<void>;
  #handle: SubagentJobHandle | undefined = undefined;
  #stopped: Promise<void> | undefined = undefined;

  constructor(start: BackgroundTaskStart<AgentTaskRequest>, ports: SubagentRunPorts) {
    this.taskId = start.taskId;
    this.#start = start;
    this.#ports = ports;
    this.#life = new ChartedLife({
      lifecycle: subagentLifecycle,
      id: `${start.taskId}.subagent`,
      parent: start.parent,
    });
    this.result = this.#outcome.promise;
    // Its caller may only be interested in its stop.
    this.#settled = this.result.then(nothing, nothing);
    forwardAbort(this.#abort, start.signal);
  }

  get pid(): number | undefined {
    return this.#handle?.pid;
  }

  get logPath(): string | undefined {
    return this.#handle?.logPath;
  }

  get transcriptPath(): string | undefined {
    return this.#handle?.transcriptPath;
  }

  get takesDenials(): boolean {
    // One whose runner still starts may turn out to: what is sent to it waits for that.
    return this.#handle === undefined || this.#handle.answerPermission !== undefined;
  }

  begin(): void {
    const { request, parent } = this.#start;
    try {
      const emit = (event: BackgroundTaskRunnerEvent): void => this.#relay(event);
      const started: unknown = this.#ports.runner.start({
        jobId: this.taskId,
        request,
        emit,
        signal: this.#abort.signal,
        parent,
      });
      if (!isPromiseLike(started)) return this.#attach(started);
      started.then(
        (handle) => this.#attachLater(handle),
        (thrown: unknown) => this.#prepareFailed(thrown),
      );
    } catch (thrown) {
      this.#prepareFailed(thrown);
    }
  }

  /** Resolves when nothing of the job runs any more and its end is stored; rejects when it cannot be proven gone. */
  cancel(reason = 'the job is to stop'): Promise<void> {
    this.#stopped ??= this.#stop(reason).catch((thrown: unknown) => {
      // A caller may try again.
      this.#stopped = undefined;
      throw thrown;
    });
    return this.#stopped;
  }

  async send({ prompt, permission }: BackgroundTaskInput): Promise<void> {
    const handle = await this.#handleOrEnd();
    if (permission !== undefined && handle.answerPermission !== undefined)
      return handle.answerPermission(permission.requestId, permission.allowed);
    if (permission === undefined && prompt !== undefined && handle.send !== undefined) return handle.send(prompt);
    throw new BackgroundTaskError(
      'runner',
      `job ${this.taskId} takes ${prompt === undefined && permission === undefined ? 'prompts and answers, and no other input' : 'no such input: its runner has no send or no answerPermission'}`,
      {
        code: 'TASK_INPUT_UNSUPPORTED',
        hint: 'Let the handle of its runner have send() and answerPermission(), or spawn another job.',
      },
    );
  }

  async readLog(cursor?: BackgroundTaskLogCursor): Promise<BackgroundTaskLogPage> {
    if (this.#handle === undefined) return { taskId: this.taskId, cursor, lines: [] };
    if (this.#handle.readLog === undefined)
      throw new BackgroundTaskError('runner', `the runner of job ${this.taskId} does not keep a log`, {
        code: 'TASK_LOG_UNSUPPORTED',
        hint: 'Only a runner whose handle has readLog() keeps one.',
      });
    return this.#handle.readLog(cursor);
  }

  #relay(event: BackgroundTaskRunnerEvent): void {
    this.#ports.onProgress?.(this.taskId, event);
    this.#start.emit({ ...event, taskId: this.taskId });
  }

  #attachLater(started: unknown): void {
    try {
      this.#attach(started);
    } catch (thrown) {
      return this.#prepareFailed(thrown);
    }
    const { pid, logPath, transcriptPath } = this;
    const known = Object.fromEntries(
      Object.entries({ pid, logPath, transcriptPath }).filter(([, value]) => value !== undefined),
    );
    if (Object.keys(known).length > 0)
      this.#start.emit({ type: 'background_task_progress', taskId: this.taskId, progress: known });
  }

  #attach(started: unknown): void {
    const handle = checkedJobHandle(started);
    this.#handle = handle;
    this.#life.move('PREPARED');
    this.#prepared.resolve(handle);
    // Its rejection is dealt with when the work has ended.
    handle.result.catch(() => undefined);
    (handle.work ?? handle.result).then(
      (result) => this.#workDone(result, handle),
      (thrown: unknown) => this.#ended('WORK_FAILED', failure(thrown), handle),
    );
  }

  #prepareFailed(thrown: unknown): void {
    this.#prepared.resolve(undefined);
    this.#ended('PREPARE_FAILED', failure(thrown));
  }

  #workDone(result: SubagentJobResult, handle: SubagentJobHandle): void {
    try {
      this.#ended('WORK_DONE', { kind: 'completed', result: checkedJobResult(result, this.taskId) }, handle);
    } catch (thrown) {
      this.#ended('WORK_FAILED', failure(thrown), handle);
    }
  }

  async #stop(reason: string): Promise<void> {
    this.#life.move('STOP');
    this.#abort.abort(reason);
    const handle = await this.#prepared.promise;
    try {
      // What has ended by itself needs no stop.
      if (handle !== undefined && this.#life.matches('running')) await this.#orSettled(handle.cancel(reason));
      this.#ended('WORK_GONE', undefined);
    } catch (thrown) {
      // It may have ended meanwhile: then nothing is left, whatever became of the cancel.
      if (this.#life.matches('running')) throw thrown;
    }
    await this.#settled;
  }

  /** Work that ends by itself while it is being stopped has no more to wait for. */
  async #orSettled(cancelled: Promise<void> | void): Promise<void> {
    const stopping = Promise.resolve(cancelled);
    stopping.catch(() => undefined);
    await Promise.race([stopping, this.#settled]);
  }

  /**
   * The first of all that says that the work has ended.
   * @param end what it was, unless it was stopped before
   * @param handle where the runner may have more to do
   */
  #ended(
    event: 'PREPARE_FAILED' | 'WORK_DONE' | 'WORK_FAILED' | 'WORK_GONE',
    end: JobEnd | undefined,
    handle?: SubagentJobHandle,
  ): void {
    if (!this.#life.move(event)) return;
    const isStopped = end === undefined || this.#life.matches({ settling: 'stopped' });
    void this.#settle(isStopped ? stopped(this.#abort.signal.reason) : end, handle);
  }

  async #settle(ended: JobEnd, handle: SubagentJobHandle | undefined): Promise<void> {
    const end = handle === undefined ? ended : await this.#withLastWords(ended, handle);
    // How the work ended does not change with what becomes of it.
    const settled = (await this.#ports.settle?.(this.taskId, end).catch(() => undefined)) ?? end;
    this.#life.move('SETTLED');
    if (settled.kind === 'completed')
      this.#outcome.resolve({
        ...settled.result,
        taskId: this.taskId,
        logPath: this.logPath,
        transcriptPath: this.transcriptPath,
      });
    else
      this.#outcome.reject(
        settled.kind === 'failed' ? settled.error : BackgroundTaskError.fromRecord(cancelledRecord(settled.reason)),
      );
  }

  /** The end as the runner puts it when it has done what comes after the work. How the work ended stays. */
  async #withLastWords(end: JobEnd, { result }: SubagentJobHandle): Promise<JobEnd> {
    try {
      const last = checkedJobResult(await result, this.taskId);
      return end.kind === 'completed' ? { ...end, result: last } : end;
    } catch (thrown) {
      return this.#life.matches({ settling: 'failed' }) ? failure(thrown) : end;
    }
  }

  async #handleOrEnd(): Promise<SubagentJobHandle> {
    const handle = await this.#prepared.promise;
    if (handle !== undefined && this.#life.matches({ running: 'active' })) return handle;
    throw new BackgroundTaskError('runner', `job ${this.taskId} is ${this.#life.state} and takes no input`, {
      code: 'TASK_STOPPING',
      hint: 'Wait until it has ended, then spawn another, or go on with its session.',
    });
  }
}

/** @param reason a caller's words, or the error that the task will end with */
function stopped(reason: unknown): JobEnd {
  return reason instanceof BackgroundTaskError ? failure(reason) : { kind: 'stopped', reason: messageOf(reason) };
}

function nothing(): void {}

function failure(thrown: unknown): JobEnd {
  return { kind: 'failed', error: BackgroundTaskError.from(thrown, 'runner') };
}
