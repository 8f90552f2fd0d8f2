/** The gate for new tasks: requests are checked and frozen, ids are unique. */
import { deepFrozen } from '../../machines/plain-copy.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import { quickRequest } from '../../machines/task/quick-request.ts';
import { checkedTaskRequest } from '../../machines/task/task-request.ts';
import type { BackgroundTaskRequest, BackgroundTaskRequestInput } from '../../machines/task/task-request.ts';
import type { BackgroundTaskRunner, BackgroundTaskRunners } from './task-runner.ts';

/**
 * A complete, deeply frozen copy of the request. @throws BackgroundTaskError category `validation` saying what came and
 * what is missing
 */
export function completeRequest(request: BackgroundTaskRequestInput): BackgroundTaskRequest {
  return frozen(quickRequest(request) ?? checkedTaskRequest(request));
}

/**
 * The same for a request that is to be carried out now. @throws BackgroundTaskError `validation` also when it is too
 * deep, no runner has its kind or the runner refuses it
 */
export function checkedRequest(
  request: BackgroundTaskRequestInput,
  maxDepth: number,
  runners: BackgroundTaskRunners,
): BackgroundTaskRequest {
  const data = quickRequest(request) ?? checkedTaskRequest(request);
  if (data.depth > maxDepth) {
    throw new BackgroundTaskError('validation', `task depth ${data.depth} is beyond the limit of ${maxDepth}`, {
      code: 'TASK_TOO_DEEP',
      hint: 'Raise maxDepth, or let the parent do the work.',
      details: { depth: data.depth, maxDepth },
    });
  }
  const runner: BackgroundTaskRunner | undefined = runners[data.kind];
  if (runner === undefined) {
    throw new BackgroundTaskError(
      'validation',
      `no runner for tasks of kind "${data.kind}"; there are runners for: ${Object.keys(runners).join(', ') || 'none'}`,
      {
        code: 'TASK_NO_RUNNER',
        hint: "Pass one in the manager's `runners`.",
      },
    );
  }
  const complete = frozen(data);
  runner.check?.(complete);
  return complete;
}

function frozen(request: BackgroundTaskRequest): BackgroundTaskRequest {
  // Parsing copied every object of the schema; only opaque values are still the caller's.
  const metadata = request.metadata === undefined ? undefined : deepFrozen(cloned(request.metadata));
  const own: BackgroundTaskRequest = metadata === undefined ? request : { ...request, metadata };
  if (own.kind === 'agent') {
    for (const value of [own.allowedTools, own.disallowedTools, own.providerProfile])
      if (typeof value === 'object') deepFrozen(value);
  } else if (own.env !== undefined) Object.freeze(own.env);
  return Object.freeze(own);
}

function cloned<Value>(value: Value): Value {
  try {
    return structuredClone(value);
  } catch (cause) {
    throw new BackgroundTaskError('validation', 'task metadata must be plain data: something in it cannot be cloned', {
      code: 'TASK_METADATA_NOT_DATA',
      hint: 'Leave out functions, class instances with private state, and handles.',
      cause,
    });
  }
}

/** Safe as a file name and in an environment variable. */
const FIT_ID = /^[A-Za-z0-9][\w.:-]{0,127}$/;

export class TaskIds {
  readonly #make: (() => string) | undefined;
  #last = 0;
  /** A caller chose an id, which may be one that is counted up to later. */
  #hasWanted = false;

  constructor(factory: (() => string) | undefined) {
    this.#make = factory;
  }

  /**
   * @param wanted the id that the task is to have. Default: the next one
   * @throws BackgroundTaskError category `validation` for an id that is taken or unfit
   */
  next(taken: ReadonlyMap<string, unknown>, wanted?: string): string {
    if (wanted !== undefined) {
      this.#hasWanted = true;
      return fitId(wanted, taken, 'the task was to have the id');
    }
    if (this.#make !== undefined) return fitId(this.#make(), taken, 'the id factory returned');
    // Counted ids cannot repeat among themselves; searching for them would cost a miss of the cache per task.
    do this.#last += 1;
    while (this.#hasWanted && taken.has(`task_${this.#last}`));
    return `task_${this.#last}`;
  }
}

/** `shell_1`, `shell_2` and so on, for managers beside that of the tasks. */
export function countedIds(what: string): () => string {
  let last = 0;
  return () => `${what}_${(last += 1)}`;
}

function fitId(id: unknown, taken: ReadonlyMap<string, unknown>, whence: string): string {
  if (typeof id !== 'string' || !FIT_ID.test(id)) {
    throw new BackgroundTaskError(
      'validation',
      `${whence} ${JSON.stringify(id)}; an id is 1 to 128 letters, digits, "_", ".", ":" or "-"`,
      {
        code: 'TASK_ID_INVALID',
        hint: 'Give another id, or none: then one is counted.',
      },
    );
  }
  if (taken.has(id)) {
    throw new BackgroundTaskError('validation', `${whence} "${id}", which another task has`, {
      code: 'TASK_ID_TAKEN',
      hint: 'Give another id, or none: then one is counted.',
    });
  }
  return id;
}
