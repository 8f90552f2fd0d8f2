/** Where runners, written by anybody, meet the manager: what they are given, and checks of what they give back. */
import type { AnyActorRef } from 'xstate';
import { plainCopy } from '../../machines/plain-copy.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { BackgroundTaskRequest } from '../../machines/task/task-request.ts';
import type { BackgroundTaskResult, BackgroundTaskRunnerEvent } from '../../machines/task/task-state.ts';
import type { BackgroundTaskHandle, BackgroundTaskStart, ChildTasks } from './task-runner.ts';
import type { TaskHost } from './task-host.ts';
import type { TaskRecord } from './task-record.ts';

/** What a runner gets. The signal and the children exist only for those who ask. */
export class RunnerStart implements BackgroundTaskStart {
  readonly taskId: string;
  readonly request: BackgroundTaskRequest;
  readonly emit: (event: BackgroundTaskRunnerEvent) => void;
  readonly #record: TaskRecord;
  readonly #owner: { readonly signal: AbortSignal };
  readonly #host: Pick<TaskHost, 'childTasksOf' | 'actor'>;

  constructor(
    record: TaskRecord,
    emit: (event: BackgroundTaskRunnerEvent) => void,
    owner: { readonly signal: AbortSignal },
    host: Pick<TaskHost, 'childTasksOf' | 'actor'>,
  ) {
    this.taskId = record.id;
    this.request = record.request;
    this.emit = emit;
    this.#record = record;
    this.#owner = owner;
    this.#host = host;
  }

  get signal(): AbortSignal {
    return this.#owner.signal;
  }

  get children(): ChildTasks {
    return this.#host.childTasksOf(this.#record);
  }

  get parent(): AnyActorRef {
    return this.#host.actor;
  }
}

export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** @throws BackgroundTaskError category `runner` when it is no handle */
export function checkedHandle(value: unknown, kind: string): BackgroundTaskHandle {
  if (typeof value === 'object' && value !== null && 'result' in value && isPromiseLike(value.result) && 'cancel' in value && typeof value.cancel === 'function') {
    return value as BackgroundTaskHandle;
  }
  // Something may run behind it all the same.
  if (typeof value === 'object' && value !== null && 'cancel' in value && typeof value.cancel === 'function') {
    const half = value as Pick<BackgroundTaskHandle, 'cancel'>;
    void Promise.resolve()
      .then(() => half.cancel('its handle has no result'))
      .catch(() => undefined);
  }
  throw new BackgroundTaskError('runner', `the ${kind} runner must return a handle with a result promise and a cancel function, got ${describe(value)}`, {
    code: 'TASK_RUNNER_HANDLE',
    hint: 'Return { taskId, result, cancel } from start(), or a promise of it.',
  });
}

/** A frozen copy with the public fields only. @throws BackgroundTaskError category `runner` when it is no result */
export function checkedResult(value: BackgroundTaskResult, taskId: string): BackgroundTaskResult {
  // Typed, and still from outside: a runner in plain JavaScript may resolve with anything.
  const output: unknown = (value as Partial<BackgroundTaskResult> | undefined | null)?.output;
  if (typeof output !== 'string') {
    throw new BackgroundTaskError('runner', `the runner of task ${taskId} must resolve with { output: string }, got ${describe(value)}`, {
      code: 'TASK_RUNNER_RESULT',
    });
  }
  const { exitCode, signalCode, logPath, transcriptPath, metadata } = value;
  const copied = metadata === undefined ? undefined : (plainCopy(metadata) as Readonly<Record<string, unknown>>);
  return Object.freeze({ taskId, output, exitCode, signalCode, logPath, transcriptPath, metadata: copied });
}

function describe(value: unknown): string {
  if (value === null || typeof value !== 'object') return String(value);
  return `an object with ${Object.keys(value).join(', ') || 'no fields'}`;
}
