/**
 * The tasks of other processes over the same home, on this machine. Each process is asked when something is to be known
 * of its tasks, and says it itself; of one that died there is what it left on the disk: records of what it ran, and
 * logs. Nothing is kept here, and a process that is not asked pays nothing.
 */
import { RuntimeError } from '../../machines/errors.ts';
import type { ErrorRecord } from '../../machines/errors.ts';
import { isTerminalBackgroundTaskStatus } from '../../machines/task/task-lifecycle.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { TaskAnswer, TaskQuestion } from '../../machines/task/task-exchange.ts';
import { readTaskAnswer } from '../../machines/task/task-exchange.ts';
import { checkFilter, checkedCursor, checkedInput } from '../../machines/task/task-input.ts';
import type {
  BackgroundTaskFilter,
  BackgroundTaskInput,
  BackgroundTaskLogCursor,
  BackgroundTaskLogPage,
  BackgroundTaskResult,
} from '../../machines/task/task-state.ts';
import { DEFAULT_LOG_PAGE_LINES } from '../../machines/task/log-pages.ts';
import type { Clock } from '../clock/clock.ts';
import { pause } from '../clock/waiting.ts';
import type { AskOptions, HostExchange } from '../host/host-exchange.ts';
import type { HostLife } from '../host/host-life.ts';
import { followTask } from './followed-task.ts';
import type { EndElsewhere, FollowTaskOptions, FollowedTaskNews, TaskLiveness } from './followed-task.ts';
import type { ProcessTree } from './process-tree.ts';
import { elsewhereId, endUnknown, lostState, nameOfToken, placeOfId, recordedTask } from './task-elsewhere.ts';
import type { FoundRecord, TaskElsewhere } from './task-elsewhere.ts';
import type { TaskLogFiles } from './task-logs.ts';
import { matchesFilter, resultOf } from './task-queries.ts';

export interface TasksElsewherePorts {
  readonly hosts: HostExchange & Pick<HostLife, 'isAlive'>;
  /** Knows what all hosts of the home have on record, dead ones too. */
  readonly processTree: Pick<ProcessTree, 'reconcile' | 'lost'>;
  readonly logs: TaskLogFiles;
  readonly clock: Clock;
}

/** Who does not answer within it is told of as silent. */
const PATIENCE_MS = 2_000;
/** How long until one is asked again that hung up. */
const RETRY_MS = 500;
/** Of one input, in characters. */
const MAX_INPUT_CHARACTERS = 1_048_576;

export class TasksElsewhere {
  readonly #ports: TasksElsewherePorts;

  constructor(ports: TasksElsewherePorts) {
    this.#ports = ports;
  }

  /**
   * Oldest first. Those that a process left which died are `failed` with TASK_LOST.
   * @throws BackgroundTaskError TASK_FILTER_INVALID
   */
  async list(filter: BackgroundTaskFilter = {}): Promise<TaskElsewhere[]> {
    return (await this.survey(filter)).tasks;
  }

  /** The same, and how many tasks were not told, of processes that have more than 2,000: those that run come first. */
  async survey(
    filter: BackgroundTaskFilter = {},
  ): Promise<{ readonly tasks: TaskElsewhere[]; readonly leftOut: number }> {
    checkFilter(filter);
    const { tokens } = await this.#ports.hosts.others();
    const answers = new Map(
      await Promise.all(tokens.map(async (token) => [token, await this.#listed(token, filter)] as const)),
    );
    const told = [...answers.values()].flatMap((answer) => answer?.tasks ?? []);
    const leftOut = [...answers.values()].reduce((sum, answer) => sum + (answer?.leftOut ?? 0), 0);
    const left = (await this.#records()).filter(({ token = '' }) => answers.get(token) === undefined);
    const tasks = [...told, ...left.map(({ task }) => task)]
      .filter((task) => matchesFilter(task, filter))
      .toSorted((one, other) => startOf(one) - startOf(other));
    return { tasks, leftOut };
  }

  /** How many processes over the home live, or may live, on other machines: their tasks are out of reach. */
  async beyond(): Promise<number> {
    return (await this.#ports.hosts.others()).beyond;
  }

  /** Undefined: there is none, or it has ended and was forgotten. */
  async get(id: string): Promise<TaskElsewhere | undefined> {
    try {
      const question = { ask: 'get', task: placeOfId(id).taskId } as const;
      return await this.#shown(id, await this.#asked(id, question, { timeoutMs: PATIENCE_MS }));
    } catch (error) {
      if (isCode(error, 'TASK_NOT_FOUND')) return undefined;
      // What is on record is known all the same.
      const found = isCode(error, 'TASK_PROCESS_SILENT') ? await this.#record(id) : undefined;
      if (found === undefined) throw error;
      return found.task;
    }
  }

  /** As the manager's own: resolves with the result of a task that completes, rejects with its error otherwise. */
  async wait(id: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<BackgroundTaskResult> {
    const { task } = await this.#end(await this.#found(id), { signal: signal && AbortSignal.any([signal]) });
    return resultOf(task);
  }

  /**
   * Its log from line `from` on, as it grows, and then how it ended. What a process that died has left on the disk is
   * told to its end; the task is `failed` with TASK_LOST then. An abort of `signal` ends it without a word.
   * @throws BackgroundTaskError TASK_NOT_FOUND, TASK_PROCESS_SILENT, TASK_LOG_REMOVED
   */
  async *follow(id: string, options: FollowTaskOptions = {}): AsyncGenerator<FollowedTaskNews, void, undefined> {
    const task = await this.#found(id);
    yield* followTask(task, options, {
      ...this.#ports,
      end: (signal, from) => this.#end(task, { signal, from }),
      page: (offset) => this.#page(id, offset),
      liveness: (signal) => this.#livenessOf(id, signal),
    });
  }

  /** One page of its log, 200 lines at most. */
  async readLog(id: string, cursor?: BackgroundTaskLogCursor): Promise<BackgroundTaskLogPage> {
    const offset = Math.max(0, Math.floor(checkedCursor(cursor)?.offset ?? 0) || 0);
    const { page } = await this.#page(id, Math.min(offset, Number.MAX_SAFE_INTEGER));
    return { ...page, taskId: id };
  }

  /** @throws BackgroundTaskError as `send` of its manager does; TASK_INPUT_TOO_LONG, TASK_LOST, TASK_PROCESS_SILENT */
  async send(id: string, given: BackgroundTaskInput): Promise<void> {
    const input = checkedInput(given);
    const characters = (input.stdin ?? '').length + (input.prompt ?? '').length;
    if (characters > MAX_INPUT_CHARACTERS)
      throw new BackgroundTaskError(
        'capacity',
        `expected at most ${MAX_INPUT_CHARACTERS} characters of input at once`,
        {
          code: 'TASK_INPUT_TOO_LONG',
          hint: 'Send it in pieces: { stdin, end: false } for all but the last.',
          details: { characters, limit: MAX_INPUT_CHARACTERS },
        },
      );
    const { taskId } = placeOfId(id);
    const answer = await this.#begun(id, { ask: 'send', task: taskId, input });
    if (answer === 'lost') throw BackgroundTaskError.fromRecord(lostError(await this.#lost(id)));
  }

  /**
   * Stops it and resolves with how it has ended, which may be by itself. Of one whose process died it ends what is left
   * running. @throws BackgroundTaskError TASK_NOT_FOUND, TASK_PROCESS_SILENT; TASK_LEFT_RUNNING
   */
  async cancel(id: string, reason = 'cancelled by another process'): Promise<TaskElsewhere> {
    const { taskId } = placeOfId(id);
    const task = await this.#shown(id, await this.#begun(id, { ask: 'cancel', task: taskId, reason }));
    // One that may live where it cannot be asked, as on another machine over the same disk, goes on.
    if (task.process.reach === 'silent') throw silent(id);
    if (task.process.reach !== 'lost' || (task.survivors ?? 0) === 0) return task;
    const found = await this.#record(id);
    if (found === undefined) return task;
    const reports = await this.#ports.processTree.reconcile({ tag: found.tag });
    if (reports.some(({ action }) => action === 'left')) throw leftRunning(id);
    return { ...task, survivors: 0 };
  }

  /** Undefined: the process does not tell. */
  async #listed(
    token: string,
    { status }: BackgroundTaskFilter,
  ): Promise<{ readonly tasks: TaskElsewhere[]; readonly leftOut: number } | undefined> {
    const question = { ask: 'list', ...(status === undefined ? {} : { status: [status].flat() }) } as const;
    const answer = await this.#answer(token, question, { timeoutMs: PATIENCE_MS });
    if (typeof answer === 'string' || answer.is !== 'tasks') return undefined;
    const { pid, leftOut } = answer;
    const tasks = answer.tasks.map((state): TaskElsewhere => ({
      ...state,
      id: elsewhereId(nameOfToken(token), state.id),
      taskId: state.id,
      process: { name: nameOfToken(token), pid, reach: 'answers' },
    }));
    return { tasks, leftOut };
  }

  async #found(id: string): Promise<TaskElsewhere> {
    const found = await this.get(id);
    if (found === undefined) throw notFound(id);
    return found;
  }

  /** How it has ended, when it has. */
  async #end(
    known: TaskElsewhere,
    { signal, from }: { readonly signal?: AbortSignal | undefined; readonly from?: () => number | undefined },
  ): Promise<EndElsewhere> {
    const { id, taskId } = known;
    while (!isTerminalBackgroundTaskStatus(known.status)) {
      try {
        const answer = await this.#asked(id, { ask: 'end', task: taskId, from: from?.() }, { signal });
        const task = await this.#shown(id, answer, known);
        const rest = answer !== 'lost' && answer.is === 'task' ? answer.rest : undefined;
        if (isTerminalBackgroundTaskStatus(task.status)) return { task, rest };
      } catch (error) {
        // It was forgotten between two questions.
        if (isCode(error, 'TASK_NOT_FOUND')) return { task: endUnknown(known) };
        if (!isCode(error, 'TASK_PROCESS_SILENT')) throw error;
      }
      signal?.throwIfAborted();
      // It hung up, and lives: it may be about to end.
      await pause({ clock: this.#ports.clock, timeoutMs: RETRY_MS, signal });
    }
    return { task: known };
  }

  async #page(
    id: string,
    offset: number,
  ): Promise<{ readonly page: BackgroundTaskLogPage; readonly logPath?: string | undefined }> {
    const question = { ask: 'log', task: placeOfId(id).taskId, offset } as const;
    const answer = await this.#asked(id, question, { timeoutMs: PATIENCE_MS }).catch((error: unknown) => {
      if (isCode(error, 'TASK_PROCESS_SILENT')) return 'lost' as const;
      throw error;
    });
    if (answer !== 'lost' && answer.is !== 'page') throw silent(id);
    if (answer !== 'lost') return answer;
    const { logPath } = await this.#lost(id);
    const reader = logPath === undefined ? undefined : await this.#ports.logs.open(logPath, offset);
    const found = await reader?.next();
    const lines = found?.lines.slice(0, DEFAULT_LOG_PAGE_LINES) ?? [];
    const first = found?.offset ?? offset;
    const next = lines.length === 0 ? {} : { nextCursor: { offset: first + lines.length } };
    return { page: { taskId: id, cursor: { offset: first }, lines, ...next }, logPath };
  }

  async #livenessOf(id: string, signal: AbortSignal): Promise<TaskLiveness> {
    const question = { ask: 'log', task: placeOfId(id).taskId, offset: Number.MAX_SAFE_INTEGER } as const;
    try {
      const answer = await this.#asked(id, question, { timeoutMs: PATIENCE_MS, signal });
      return { isSilent: false, page: answer !== 'lost' && answer.is === 'page' ? answer.page : undefined };
    } catch (error) {
      if (!RuntimeError.is(error)) throw error;
      return { isSilent: isCode(error, 'TASK_PROCESS_SILENT') };
    }
  }

  /** The answer about one task; of one whose process died what is on record, or `known` when nothing is. */
  async #shown(id: string, answer: TaskAnswer | 'lost', known?: TaskElsewhere): Promise<TaskElsewhere> {
    if (answer === 'lost') return this.#lost(id, known);
    if (answer.is !== 'task') throw silent(id);
    const { name, taskId } = placeOfId(id);
    return { ...answer.task, id, taskId, process: { name, pid: answer.pid, reach: 'answers' } };
  }

  /** What may take long is asked only of a process that answers at once. */
  async #begun(id: string, question: TaskQuestion): Promise<TaskAnswer | 'lost'> {
    const { taskId } = placeOfId(id);
    const isThere = await this.#asked(id, { ask: 'get', task: taskId }, { timeoutMs: PATIENCE_MS });
    return isThere === 'lost' ? isThere : this.#asked(id, question);
  }

  /** `lost`: its process is dead. @throws BackgroundTaskError what it refuses, TASK_PROCESS_SILENT */
  async #asked(id: string, question: TaskQuestion, options: AskOptions = {}): Promise<TaskAnswer | 'lost'> {
    const { name } = placeOfId(id);
    const token = (await this.#ports.hosts.others()).tokens.find((each) => nameOfToken(each) === name);
    const answer = token === undefined ? 'lost' : await this.#answer(token, question, options);
    if (answer === 'silent') throw silent(id);
    if (answer === 'lost' || answer.is !== 'refused') return answer;
    throw BackgroundTaskError.fromRecord(namedWhole(answer.error, id));
  }

  async #answer(token: string, question: TaskQuestion, options: AskOptions): Promise<TaskAnswer | 'lost' | 'silent'> {
    const answer = await this.#ports.hosts.ask(token, JSON.stringify(question), options);
    if (answer.is === 'gone') return 'lost';
    return answer.is === 'told' ? (readTaskAnswer(answer.text) ?? 'silent') : 'silent';
  }

  /** What is known of a task whose process does not say. @throws BackgroundTaskError TASK_NOT_FOUND */
  async #lost(id: string, known?: TaskElsewhere): Promise<TaskElsewhere> {
    const found = await this.#record(id);
    if (found !== undefined) return known === undefined ? found.task : { ...known, ...found.task };
    if (known === undefined) throw notFound(id);
    // The record of a command is there until nothing of that runs.
    return known.kind === 'process' && known.startedAt !== undefined ? endUnknown(known) : lostState(known);
  }

  async #record(id: string): Promise<FoundRecord | undefined> {
    return (await this.#records()).find(({ task }) => task.id === id);
  }

  async #records(): Promise<readonly FoundRecord[]> {
    const { processTree } = this.#ports;
    // In this order: one that is dealt with meanwhile is in both.
    const left = await processTree.reconcile({ policy: 'report' });
    const tags = new Set(left.map(({ tag }) => tag));
    const lost = ((await processTree.lost?.()) ?? []).filter(({ tag }) => !tags.has(tag));
    const found = await Promise.all([...lost, ...left].map((report) => recordedTask(report, this.#ports)));
    return found.filter((each) => each !== undefined);
  }
}

/** One that waits for a slot comes last. */
function startOf({ startedAt }: TaskElsewhere): number {
  return startedAt === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(startedAt);
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof BackgroundTaskError && error.code === code;
}

/** A process calls its tasks by their names in it; here others have the same. */
function namedWhole(error: ErrorRecord, id: string): ErrorRecord {
  const { taskId } = placeOfId(id);
  const whole = (text: string): string =>
    text.replaceAll(`task ${taskId} `, `task ${id} `).replaceAll(JSON.stringify(taskId), JSON.stringify(id));
  return {
    ...error,
    message: whole(error.message),
    ...(error.hint === undefined ? {} : { hint: whole(error.hint) }),
  };
}

function lostError({ id, error }: TaskElsewhere): NonNullable<TaskElsewhere['error']> {
  return error ?? silent(id).toJSON();
}

function notFound(id: string): BackgroundTaskError {
  return new BackgroundTaskError('validation', `no process over this home has a task ${JSON.stringify(id)}`, {
    code: 'TASK_NOT_FOUND',
    hint: 'It has ended and was forgotten by the process that ran it, or never was: wakechart task list',
  });
}

function silent(id: string): BackgroundTaskError {
  return new BackgroundTaskError('timeout', `the process of task ${id} lives and gives no answer`, {
    code: 'TASK_PROCESS_SILENT',
    hint: 'It was stopped, hangs, is on another machine, or of another version of Wakechart. Try again, or end that process.',
  });
}

function leftRunning(id: string): BackgroundTaskError {
  return new BackgroundTaskError('process', `what task ${id} left running could not be ended`, {
    code: 'TASK_LEFT_RUNNING',
    hint: 'It may belong to another user, or hang in the kernel. See it with wakechart doctor.',
  });
}
