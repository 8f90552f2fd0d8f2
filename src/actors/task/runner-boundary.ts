/** Where runners, which are foreign code, meet the manager: what they are given, and checks of what they give back. */
import type { AnyActorRef } from 'xstate';
import { plainCopy } from '../../machines/plain-copy.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import { BACKGROUND_TASK_KINDS } from '../../machines/task/task-request.ts';
import type { BackgroundTaskRequest } from '../../machines/task/task-request.ts';
import type { BackgroundTaskResult, BackgroundTaskRunnerEvent } from '../../machines/task/task-state.ts';
import type {
  BackgroundTaskHandle,
  BackgroundTaskRunner,
  BackgroundTaskRunners,
  BackgroundTaskStart,
  ChildTasks,
} from './task-runner.ts';
import type { TaskHost } from './task-host.ts';
import type { TaskRecord } from './task-record.ts';

/** What a runner is started for. */
interface StartedWork extends Pick<BackgroundTaskStart, 'emit' | 'signal'> {
  readonly record: TaskRecord;
  readonly host: TaskHost;
}

/** What a runner gets. Everything but the id and the request exists only for those who ask. */
export class RunnerStart implements BackgroundTaskStart {
  readonly taskId: string;
  readonly request: BackgroundTaskRequest;
  readonly #work: StartedWork;

  constructor(work: StartedWork) {
    this.taskId = work.record.id;
    this.request = work.record.request;
    this.#work = work;
  }

  get emit(): (event: BackgroundTaskRunnerEvent) => void {
    return this.#work.emit;
  }

  get signal(): AbortSignal {
    return this.#work.signal;
  }

  get children(): ChildTasks {
    return this.#work.host.childTasksOf(this.#work.record);
  }

  get parent(): AnyActorRef {
    return this.#work.host.actor;
  }
}

/**
 * The runners by kind, from a record or a list of them.
 * @throws BackgroundTaskError category `validation`, TASK_RUNNERS_INVALID, naming what came
 */
export function checkedRunners(given: unknown = {}): BackgroundTaskRunners {
  if (Array.isArray(given)) {
    const list = given.map((runner: unknown, index) => checkedRunner(runner, `runners[${index}]`));
    const twice = list.find(({ kind }, index) => list.findIndex((other) => other.kind === kind) < index);
    if (twice !== undefined) throw invalidRunners(`runners has two for tasks of kind "${twice.kind}"`);
    return Object.fromEntries(list.map((runner) => [runner.kind, runner]));
  }
  if (!isPlainRecord(given)) throw invalidRunners(`runners is ${describe(given)}`);
  const entries = Object.entries(given).filter(([, runner]) => runner !== undefined);
  for (const [kind, runner] of entries) {
    if (!isKind(kind)) throw invalidRunners(`runners names the kind "${kind}"`);
    const own = checkedRunner(runner, `runners.${kind}`);
    if (own.kind !== kind) throw invalidRunners(`runners.${kind} is a runner for tasks of kind "${own.kind}"`);
  }
  return Object.fromEntries(entries);
}

function checkedRunner(runner: unknown, place: string): BackgroundTaskRunner {
  if (typeof runner !== 'object' || runner === null) throw invalidRunners(`${place} is ${describe(runner)}`);
  const { kind, start, check } = runner as Readonly<Record<string, unknown>>;
  if (typeof kind !== 'string' || !isKind(kind))
    throw invalidRunners(`${place} has the kind ${JSON.stringify(kind) ?? 'undefined'}`);
  if (typeof start !== 'function') throw invalidRunners(`${place} has no start function`);
  if (check !== undefined && typeof check !== 'function')
    throw invalidRunners(`${place} has a check that is no function`);
  return runner as BackgroundTaskRunner;
}

/** A `Map` or a `Date` has no entries that can be seen, and would count as no runner at all. */
function isPlainRecord(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function isKind(kind: string): boolean {
  return (BACKGROUND_TASK_KINDS as readonly string[]).includes(kind);
}

function invalidRunners(came: string): BackgroundTaskError {
  return new BackgroundTaskError(
    'validation',
    `expected one runner { kind, start } for each kind of task, and ${came}`,
    {
      code: 'TASK_RUNNERS_INVALID',
      hint: `Pass a list, or a record by kind: { process: runner }. The kinds are ${BACKGROUND_TASK_KINDS.join(', ')}.`,
    },
  );
}

export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** @throws BackgroundTaskError category `runner` when it is no handle */
export function checkedHandle(value: unknown, kind: string): BackgroundTaskHandle {
  if (
    typeof value === 'object' &&
    value !== null &&
    'result' in value &&
    isPromiseLike(value.result) &&
    'cancel' in value &&
    typeof value.cancel === 'function'
  ) {
    return value as BackgroundTaskHandle;
  }
  // Something may run behind it all the same.
  if (typeof value === 'object' && value !== null && 'cancel' in value && typeof value.cancel === 'function') {
    const half = value as Pick<BackgroundTaskHandle, 'cancel'>;
    void Promise.resolve()
      .then(() => half.cancel('its handle has no result'))
      .catch(() => undefined);
  }
  throw new BackgroundTaskError(
    'runner',
    `the ${kind} runner must return a handle with a result promise and a cancel function, got ${describe(value)}`,
    {
      code: 'TASK_RUNNER_HANDLE',
      hint: 'Return { taskId, result, cancel } from start(), or a promise of it.',
    },
  );
}

/** A frozen copy with the public fields only. @throws BackgroundTaskError category `runner` when it is no result */
export function checkedResult(value: BackgroundTaskResult, taskId: string): BackgroundTaskResult {
  // Typed, and still from outside: a runner in plain JavaScript may resolve with anything.
  const output: unknown = (value as Partial<BackgroundTaskResult> | undefined | null)?.output;
  if (typeof output !== 'string') {
    throw new BackgroundTaskError(
      'runner',
      `the runner of task ${taskId} must resolve with { output: string }, got ${describe(value)}`,
      {
        code: 'TASK_RUNNER_RESULT',
        hint: 'Let the promise of the handle resolve with { output }; where there is none, with an empty text.',
      },
    );
  }
  const { exitCode, signalCode, logPath, transcriptPath, metadata } = value;
  const copied = metadata === undefined ? undefined : (plainCopy(metadata) as Readonly<Record<string, unknown>>);
  return Object.freeze({ taskId, output, exitCode, signalCode, logPath, transcriptPath, metadata: copied });
}

function describe(value: unknown): string {
  if (value === null || typeof value !== 'object') return String(value);
  return `an object with ${Object.keys(value).join(', ') || 'no fields'}`;
}
