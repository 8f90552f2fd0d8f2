/** Answers other processes over the same home about the tasks of this one. */
import type { RuntimeError } from '../../machines/errors.ts';
import { beginningOf } from '../../machines/cut-text.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import { readTaskQuestion } from '../../machines/task/task-exchange.ts';
import type { TaskAnswer, TaskQuestion } from '../../machines/task/task-exchange.ts';
import { isTerminalBackgroundTaskStatus } from '../../machines/task/task-lifecycle.ts';
import type { BackgroundTaskLogPage, BackgroundTaskState } from '../../machines/task/task-state.ts';
import type { BackgroundTaskManager } from './background-task-manager.ts';
import type { TaskLogLines } from './task-logs.ts';

/** A manager of this process. Ids of its tasks are none of another's. */
export interface AnsweredTasks {
  readonly tasks: BackgroundTaskManager;
  /** What goes in and out is between its tasks and the tools that keep them. */
  readonly isOfTools?: boolean | undefined;
}

/** More tasks than these are not listed: those that run are, and the newest. */
const MAX_LISTED = 2_000;
/** Of the output in a result. It has a bound of its own, which may be any. */
const MAX_OUTPUT_CHARACTERS = 1_048_576;

/** Of a log, told with its end. */
const MAX_REST_LINES = 100_000;

type QuestionOf<Ask extends TaskQuestion['ask']> = Extract<TaskQuestion, { readonly ask: Ask }>;

interface Asked {
  readonly managers: readonly AnsweredTasks[];
  /** Of this process. */
  readonly pid: number;
  /** Aborted when the asker has left. */
  readonly signal: AbortSignal;
}

/** Never rejects: what cannot be done is said. */
export async function answerAboutTasks(text: string, { managers, pid, signal }: Asked): Promise<string> {
  const question = readTaskQuestion(text);
  try {
    if (question === undefined) throw unknownQuestion();
    return JSON.stringify(
      question.ask === 'list' ? listed(question, managers, pid) : await aboutOne(question, { managers, pid, signal }),
    );
  } catch (error) {
    const { name, code, category, message, recoverable, hint } = BackgroundTaskError.from(error, 'runner');
    return JSON.stringify({ is: 'refused', error: { name, code, category, message, recoverable, hint } });
  }
}

function listed({ status }: QuestionOf<'list'>, managers: readonly AnsweredTasks[], pid: number): TaskAnswer {
  const all = managers.flatMap(({ tasks }) => tasks.list(status === undefined ? {} : { status }));
  const told = all.length <= MAX_LISTED ? all : all.toSorted((one, other) => weightOf(one) - weightOf(other));
  return {
    is: 'tasks',
    pid,
    tasks: told.slice(-MAX_LISTED).map(briefly),
    leftOut: Math.max(0, all.length - MAX_LISTED),
  };
}

/** Those that have ended give way first, then those that wait for a slot. */
function weightOf({ status }: BackgroundTaskState): number {
  if (isTerminalBackgroundTaskStatus(status)) return 0;
  return status === 'queued' ? 1 : 2;
}

async function aboutOne(
  question: Exclude<TaskQuestion, QuestionOf<'list'>>,
  { managers, pid, signal }: Asked,
): Promise<TaskAnswer> {
  const id = question.task;
  const { tasks, isOfTools = false } = managers.find((each) => each.tasks.get(id) !== undefined) ?? managers[0] ?? {};
  const state = tasks?.get(id);
  if (tasks === undefined || state === undefined)
    throw new BackgroundTaskError('validation', `there is no task ${JSON.stringify(id)}`, {
      code: 'TASK_NOT_FOUND',
      hint: 'It has ended and was forgotten by the process that ran it.',
    });
  switch (question.ask) {
    case 'get':
      return { is: 'task', pid, task: bounded(state) };
    case 'end':
      return endedAnswer(tasks, {
        state: await endOf(tasks, state, signal),
        pid,
        from: isOfTools ? undefined : question.from,
      });
    case 'cancel': {
      // Asked for before: it may be closed as soon as it has ended.
      const end = endOf(tasks, state, signal);
      end.catch(() => undefined);
      await tasks.cancel(id, question.reason);
      return { is: 'task', pid, task: bounded(await end) };
    }
    case 'log':
      if (isOfTools) throw ofTools(id, 'shows no log', 'TASK_LOG_UNSUPPORTED');
      return { is: 'page', page: await tasks.readLog(id, { offset: question.offset }), logPath: state.logPath };
    case 'send':
      if (isOfTools) throw ofTools(id, 'takes no input', 'TASK_INPUT_UNSUPPORTED');
      await tasks.send(id, question.input);
      return { is: 'done' };
  }
}

/** Its state when it has ended: the event says it, since the task may be closed in the next moment. */
function endOf(
  tasks: BackgroundTaskManager,
  state: BackgroundTaskState,
  signal: AbortSignal,
): Promise<BackgroundTaskState> {
  if (isTerminalBackgroundTaskStatus(state.status)) return Promise.resolve(state);
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new Error('the asker has left'));
    const subscription = tasks.events$({ taskId: state.id }).subscribe({
      next: (event) => {
        if (!('task' in event) || !isTerminalBackgroundTaskStatus(event.task.status)) return;
        subscription.unsubscribe();
        resolve(event.task);
      },
      complete: () => reject(new Error('the task was forgotten')),
    });
    signal.addEventListener('abort', () => {
      subscription.unsubscribe();
      reject(new Error('the asker has left'));
    });
  });
}

/** With the rest of a log that its follower does not read from the disk, and cannot read when this process is gone. */
async function endedAnswer(
  tasks: BackgroundTaskManager,
  {
    state,
    pid,
    from,
  }: { readonly state: BackgroundTaskState; readonly pid: number; readonly from?: number | undefined },
): Promise<TaskAnswer> {
  const rest = from === undefined ? undefined : await restOf(tasks, state.id, from);
  return { is: 'task', pid, task: bounded(state), rest };
}

/** As far as it can be read: a task may keep none, or be closed at once. */
async function restOf(tasks: BackgroundTaskManager, id: string, from: number): Promise<TaskLogLines | undefined> {
  const lines: string[] = [];
  let first = from;
  for (let offset: number | undefined = from; offset !== undefined && lines.length < MAX_REST_LINES;) {
    const page: BackgroundTaskLogPage | undefined = await tasks.readLog(id, { offset }).catch(() => undefined);
    if (lines.length === 0) first = page?.cursor?.offset ?? from;
    lines.push(...(page?.lines ?? []));
    offset = page?.nextCursor?.offset;
  }
  return { offset: first, lines };
}

/** What a list shows: outputs are for who asks for one task. */
function briefly(state: BackgroundTaskState): BackgroundTaskState {
  const { result } = state;
  return result === undefined ? state : { ...state, result: { ...result, output: '', metadata: undefined } };
}

function bounded(state: BackgroundTaskState): BackgroundTaskState {
  const { result } = state;
  if (result === undefined || result.output.length <= MAX_OUTPUT_CHARACTERS) return state;
  return { ...state, result: { ...result, output: beginningOf(result.output, MAX_OUTPUT_CHARACTERS) } };
}

function ofTools(id: string, what: string, code: string): RuntimeError {
  return new BackgroundTaskError('runner', `task ${id} ${what}: an agent works with it through its tools`, {
    code,
    hint: 'What was done with it is in the log of its session; a message to that reaches the agent.',
  });
}

function unknownQuestion(): RuntimeError {
  return new BackgroundTaskError('validation', 'expected a question about tasks, received something else', {
    code: 'TASK_QUESTION_UNKNOWN',
    hint: 'The other process is of another version of Wakechart: update both.',
  });
}
