/**
 * The live half of a task: its runner's handle, its watchdog, and the way it is stopped. Exists from the moment the
 * task holds a slot until nothing of the work is left.
 */
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import { watchdogError } from '../../machines/task/watchdog.ts';
import type {
  BackgroundTaskInput,
  BackgroundTaskResult,
  BackgroundTaskRunnerEvent,
  BackgroundTaskTimeoutReason,
} from '../../machines/task/task-state.ts';
import type { TimerHandle } from '../clock/clock.ts';
import type { BackgroundTaskHandle } from './task-runner.ts';
import type { TaskHost } from './task-host.ts';
import type { LiveTask, TaskRecord } from './task-record.ts';
import { RunnerStart, checkedHandle, checkedResult, isPromiseLike } from './runner-boundary.ts';
import { abortReasonOf, settlementOf, stopReasonOf } from './stop-cause.ts';
import type { StopCause, SettlingEvent } from './stop-cause.ts';
import { relayRunnerEvent } from './runner-events.ts';
import { TaskWatchdog, watches } from './task-watchdog.ts';
import type { WatchedTask } from './task-watchdog.ts';

interface HandleWaiter {
  readonly resolve: (handle: BackgroundTaskHandle) => void;
  readonly reject: (error: BackgroundTaskError) => void;
}

interface Stop {
  readonly cause: StopCause;
  deadline: TimerHandle | undefined;
}

export class TaskExecution implements LiveTask, WatchedTask {
  readonly record: TaskRecord;
  readonly host: TaskHost;
  readonly watchdog: TaskWatchdog | undefined;
  handle: BackgroundTaskHandle | undefined;
  openPermissions: Map<string, 'open' | 'answering'> | undefined;
  isWorkGone: boolean;
  private onHandle: HandleWaiter[] | undefined;
  private abort: AbortController | undefined;
  /** Why and until when it is being stopped; that it is, the chart says. */
  private stopped: Stop | undefined;
  private onWorkGone: (() => void) | undefined;
  private emitter: ((event: BackgroundTaskRunnerEvent) => void) | undefined;

  constructor(record: TaskRecord, host: TaskHost) {
    this.record = record;
    this.host = host;
    const limits = host.limitsOf(record.request);
    this.watchdog = watches(limits) ? new TaskWatchdog(limits, host.clock, this, host.agentIdleLine) : undefined;
    this.handle = undefined;
    this.openPermissions = undefined;
    this.isWorkGone = false;
    this.onHandle = undefined;
    this.abort = undefined;
    this.stopped = undefined;
    this.onWorkGone = undefined;
    this.emitter = undefined;
  }

  /** What the runner reports through; made when it first asks. */
  get emit(): (event: BackgroundTaskRunnerEvent) => void {
    this.emitter ??= (event) => {
      if (!this.record.isOver) relayRunnerEvent(this.host, this.record, this, event);
    };
    return this.emitter;
  }

  /** Made when a runner first asks: most never do. */
  get signal(): AbortSignal {
    if (this.abort === undefined) {
      this.abort = new AbortController();
      if (this.stopped !== undefined) this.abort.abort(abortReasonOf(this.stopped.cause));
    }
    return this.abort.signal;
  }

  begin(): void {
    // A listener that heard of the start has stopped it: nothing has been started, so nothing has to go.
    if (this.record.isStopping) return this.#finishStop(undefined);
    try {
      const started: unknown = this.host.startRunner(new RunnerStart(this));
      if (isPromiseLike(started)) {
        started.then(
          (handle) => this.#attachChecked(handle),
          (thrown: unknown) => this.#fail(BackgroundTaskError.from(thrown, 'runner')),
        );
      } else {
        this.#attach(checkedHandle(started, this.record.request.kind));
      }
    } catch (thrown) {
      this.#fail(BackgroundTaskError.from(thrown, 'runner'));
    }
  }

  get isAtWork(): boolean {
    return this.record.status === 'running' && !this.record.isStopping;
  }

  trip(timeoutReason: BackgroundTaskTimeoutReason, observed: string): void {
    this.stop({ kind: 'tripped', error: watchdogError(timeoutReason, observed) });
  }

  stop(cause: StopCause): void {
    if (this.record.isOver || this.record.isStopping) return;
    this.#beginStop(cause);
  }

  async whenHandle(): Promise<BackgroundTaskHandle> {
    if (this.handle !== undefined) return this.handle;
    return new Promise((resolve, reject) => (this.onHandle ??= []).push({ resolve, reject }));
  }

  async send(input: BackgroundTaskInput): Promise<void> {
    const handle = await this.whenHandle();
    if (handle.send === undefined) {
      throw new BackgroundTaskError(
        'runner',
        `task ${this.record.id} does not take input: its ${this.record.request.kind} runner has no send`,
        {
          code: 'TASK_INPUT_UNSUPPORTED',
          hint: 'Give it all that it needs in its request, or let the handle of the runner have send().',
        },
      );
    }
    await handle.send(input);
  }

  whenWorkGone(listener: () => void): void {
    if (this.isWorkGone) listener();
    else this.onWorkGone = listener;
  }

  ended(): void {
    this.watchdog?.dispose();
    if (this.stopped?.deadline !== undefined) this.host.clock.clearTimeout(this.stopped.deadline);
    const waiting = this.onHandle;
    this.onHandle = undefined;
    if (waiting !== undefined) for (const { reject } of waiting) reject(this.record.failure());
  }

  #attachChecked(started: unknown): void {
    try {
      this.#attach(checkedHandle(started, this.record.request.kind));
    } catch (thrown) {
      this.#fail(BackgroundTaskError.from(thrown, 'runner'));
    }
  }

  #attach(handle: BackgroundTaskHandle): void {
    this.handle = handle;
    handle.result.then(
      (result) => this.#onResult(result),
      (thrown: unknown) => this.#fail(BackgroundTaskError.from(thrown, 'runner')),
    );
    // The task ran out of patience while the runner was still starting: what arrives now has to go.
    const { isOver } = this.record;
    if (isOver || this.record.isStopping) this.#cancelHandle(handle);
    if (isOver) return;
    this.host.move(this.record, STARTED);
    const { pid, logPath, transcriptPath } = handle;
    if (pid !== undefined || logPath !== undefined || transcriptPath !== undefined) {
      this.host.progress(this.record, { pid, logPath, transcriptPath });
    }
    const waiting = this.onHandle;
    this.onHandle = undefined;
    if (waiting !== undefined) for (const { resolve } of waiting) resolve(handle);
  }

  #onResult(result: BackgroundTaskResult): void {
    if (this.record.isOver) return this.#workGone();
    try {
      this.record.result = checkedResult(result, this.record.id);
      this.#workGone();
      // A stop is under way: its cause decides, once the cancel has answered.
      if (!this.record.isStopping) this.host.settle(this.record, COMPLETE);
    } catch (thrown) {
      this.#fail(BackgroundTaskError.from(thrown, 'runner'));
    }
  }

  #fail(error: BackgroundTaskError): void {
    this.#workGone();
    if (this.record.isOver) return;
    // A stop is under way: its cause decides. Without a handle there is nothing left to stop.
    if (this.record.isStopping) return this.handle === undefined ? this.#finishStop(undefined) : undefined;
    this.host.settle(this.record, { type: 'FAIL', error: Object.freeze(error.toJSON()), failure: error });
  }

  #beginStop(cause: StopCause): void {
    const { cancelDeadlineMs, clock } = this.host;
    const stop: Stop = { cause, deadline: undefined };
    this.stopped = stop;
    this.watchdog?.dispose();
    this.host.move(this.record, { type: 'STOP', reason: stopReasonOf(cause) });
    // A schedule stops the fire that runs, which has a deadline of its own and must be heard first.
    const deadlineMs = this.record.kind === 'scheduled' ? 2 * cancelDeadlineMs : cancelDeadlineMs;
    if (deadlineMs > 0) {
      stop.deadline = clock.setTimeout(() => this.#finishStop(`still not gone after ${deadlineMs} ms`), deadlineMs);
    }
    this.abort?.abort(abortReasonOf(cause));
    if (this.handle !== undefined) this.#cancelHandle(this.handle);
  }

  #cancelHandle(handle: BackgroundTaskHandle): void {
    const reason = this.stopped === undefined ? 'the task has ended' : stopReasonOf(this.stopped.cause);
    const failed = (thrown: unknown): void => this.#finishStop(BackgroundTaskError.from(thrown, 'runner').message);
    try {
      const cancelled = handle.cancel(reason);
      if (isPromiseLike(cancelled)) cancelled.then(() => this.#finishStop(undefined), failed);
      else this.#finishStop(undefined);
    } catch (thrown) {
      failed(thrown);
    }
  }

  /** @param unstopped what could not be stopped, in words; undefined when everything is gone */
  #finishStop(unstopped: string | undefined): void {
    // A result that has settled means that nothing is left, whatever became of the cancel.
    const leftOver = this.isWorkGone ? undefined : unstopped;
    if (leftOver === undefined) this.#workGone();
    if (this.record.isOver || this.stopped === undefined) return;
    const { cause } = this.stopped;
    this.host.settle(this.record, settlementOf(cause, leftOver, this.handle?.pid));
  }

  #workGone(): void {
    this.isWorkGone = true;
    const listener = this.onWorkGone;
    this.onWorkGone = undefined;
    listener?.();
  }
}

const STARTED = Object.freeze({ type: 'STARTED' });
const COMPLETE: SettlingEvent = Object.freeze({ type: 'COMPLETE' });
