/** `wakechart task logs`: what a task has put out, and with --follow what comes until it ends. */
import type { TaskElsewhere } from '../../actors/task/task-elsewhere.ts';
import type { TasksElsewhere } from '../../actors/task/tasks-elsewhere.ts';
import type { TaskLogLines } from '../../actors/task/task-logs.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_FAILURE, EXIT_SUCCESS } from '../failure.ts';
import { exitCodeOfSignal } from '../interruption.ts';
import { counted, oneLine, printable } from '../terminal/text.ts';
import { endingText, hasEnded, statusText, taskNamed, withTasks } from './tasks.ts';

export interface LogsOptions {
  readonly id: string;
  readonly follow: boolean;
  readonly from: number | undefined;
  /** Begins so many lines before the newest. */
  readonly last: number | undefined;
}

export function showLogs(context: CommandContext, { id, follow, from = 0, last }: LogsOptions): Promise<number> {
  return withTasks(context, async (tasks) => {
    const task = await taskNamed(context, tasks, id);
    await requireLog(tasks, task);
    const view = new LogView(context);
    const next = last === undefined ? from : await showLast(tasks, task, { last, view });
    if (follow) return followLog(context, tasks, task, { from: next, view });
    if (last === undefined)
      for await (const news of tasks.follow(task.id, { from, untilEnd: false }))
        if (news.type === 'lines') await view.show(news);
    if (task.process.reach === 'lost' && task.error !== undefined)
      await context.err.line(`${context.err.styles.yellow('note:')} ${oneLine(task.error.message)}`);
    return EXIT_SUCCESS;
  });
}

/** @throws BackgroundTaskError TASK_LOG_UNSUPPORTED */
export async function requireLog(tasks: Pick<TasksElsewhere, 'readLog'>, task: TaskElsewhere): Promise<void> {
  if (task.logPath === undefined && task.process.reach === 'answers') await tasks.readLog(task.id);
}

interface Shown {
  readonly view: LogView;
}

/** @returns which line comes next */
export async function showLast(
  tasks: Pick<TasksElsewhere, 'follow'>,
  { id }: TaskElsewhere,
  { last, view }: Shown & { readonly last: number },
): Promise<number> {
  const kept: TaskLogLines[] = [];
  let next = 0;
  let count = 0;
  for await (const news of tasks.follow(id, { untilEnd: false })) {
    if (news.type !== 'lines') continue;
    kept.push(news);
    next = news.offset + news.lines.length;
    count += news.lines.length;
    // Whole pieces that are too early are not kept: a log may be long.
    for (let first = kept[0]; first !== undefined && count - first.lines.length >= last; first = kept[0]) {
      count -= first.lines.length;
      kept.shift();
    }
  }
  let early = Math.max(0, count - last);
  for (const { offset, lines } of kept) {
    await view.show({ offset: offset + early, lines: lines.slice(early) });
    early = 0;
  }
  return next;
}

/** Until the task has ended, whose exit code is ours then. An abort of `signal` leaves it running. */
export async function followLog(
  { out, json, err }: CommandContext,
  tasks: Pick<TasksElsewhere, 'follow'>,
  { id }: TaskElsewhere,
  { from, view, signal }: Shown & { readonly from: number; readonly signal?: AbortSignal },
): Promise<number> {
  const unread = new AbortController();
  out.onClosed(() => unread.abort());
  const either = signal === undefined ? unread.signal : AbortSignal.any([unread.signal, signal]);
  for await (const news of tasks.follow(id, { from, signal: either })) {
    if (news.type === 'lines') await view.show(news);
    else {
      const { task } = news;
      if (json) await out.record({ task });
      if (task.status === 'failed' && task.error !== undefined) throw BackgroundTaskError.fromRecord(task.error);
      if (!json) await err.line(err.styles.dim(`task ${id}: ${endedText(task)}`));
      return exitCodeOf(task);
    }
  }
  return EXIT_SUCCESS;
}

export function endedText(task: TaskElsewhere): string {
  if (task.status === 'completed') return endingText(task);
  if (task.process.reach === 'lost') return statusText(task);
  return task.error === undefined ? task.status : `${task.status}: ${oneLine(task.error.message)}`;
}

/** As `task run` exits. */
function exitCodeOf(task: TaskElsewhere): number {
  if (!hasEnded(task) || task.status !== 'completed') return EXIT_FAILURE;
  const { exitCode, signalCode } = task.result ?? {};
  return exitCode ?? (signalCode === undefined ? EXIT_SUCCESS : exitCodeOfSignal(signalCode));
}

const PREFIXED = /^\[(?<stream>stdout|stderr|system)\] (?<text>[^]*)$/;

/** Each line goes where its program wrote it. What is no line of a program stands among the errors. */
export class LogView {
  readonly #context: Pick<CommandContext, 'out' | 'err' | 'json'>;
  #next: number | undefined;

  constructor(context: Pick<CommandContext, 'out' | 'err' | 'json'>) {
    this.#context = context;
  }

  async show({ offset, lines }: TaskLogLines): Promise<void> {
    const missing = this.#next === undefined ? 0 : offset - this.#next;
    this.#next = offset + lines.length;
    const { out, err, json } = this.#context;
    if (missing > 0 && !json) await err.line(err.styles.dim(`${counted(missing, 'line')} were not kept`));
    let line = offset;
    for (const each of lines) {
      const { stream = 'system', text = each } = PREFIXED.exec(each)?.groups ?? {};
      if (json) await out.record({ offset: line, stream, text });
      else await this.#print(stream, text);
      line += 1;
    }
  }

  async #print(stream: string, text: string): Promise<void> {
    const { out, err } = this.#context;
    const to = stream === 'stdout' ? out : err;
    const shown = to.isTerminal ? printable(text) : text;
    await to.line(stream === 'system' ? to.styles.dim(shown) : shown);
  }
}
