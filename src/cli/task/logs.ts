/** `wakechart task logs`: what a task has put out, and with --follow what comes until it ends. */
import type { TaskElsewhere } from '../../actors/task/task-elsewhere.ts';
import type { TasksElsewhere } from '../../actors/task/tasks-elsewhere.ts';
import type { TaskLogLines } from '../../actors/task/task-logs.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_FAILURE, EXIT_SUCCESS } from '../failure.ts';
import { exitCodeOfSignal } from '../interruption.ts';
import { oneLine } from '../terminal/text.ts';
import { LogView } from './log-view.ts';
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
    const view = new LogView(context, last === undefined ? from : undefined);
    const next = last === undefined ? from : await showLast(tasks, task, { last, view });
    if (follow) return followLog(context, tasks, task, { from: next, view });
    if (last === undefined)
      for await (const news of tasks.follow(task.id, { from, untilEnd: false }))
        if (news.type === 'lines') await view.show(news);
    await view.end();
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

interface FollowedView extends Shown {
  readonly from: number;
  /** Shows what has no line end yet. Default false. */
  readonly unfinished?: boolean;
  readonly signal?: AbortSignal;
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
  context: CommandContext,
  tasks: Pick<TasksElsewhere, 'follow'>,
  task: TaskElsewhere,
  { from, view, unfinished = false, signal }: FollowedView,
): Promise<number> {
  const { out } = context;
  const unread = new AbortController();
  out.onClosed(() => unread.abort());
  const either = signal === undefined ? unread.signal : AbortSignal.any([unread.signal, signal]);
  let hasBeenSilent = false;
  try {
    for await (const news of tasks.follow(task.id, { from, unfinished, signal: either })) {
      if (news.type === 'lines') await view.show(news);
      else if (news.type === 'unfinished') await view.showUnfinished(news.lines);
      else if (news.type === 'ended') return await tellEnd(context, news.task, view);
      else if (!hasBeenSilent) {
        hasBeenSilent = true;
        await view.note(silentText(task));
      }
    }
  } finally {
    await view.end();
  }
  return EXIT_SUCCESS;
}

async function tellEnd({ out, err, json }: CommandContext, task: TaskElsewhere, view: LogView): Promise<number> {
  await view.end();
  if (json) await out.record({ task });
  if (task.status === 'failed' && task.error !== undefined) throw BackgroundTaskError.fromRecord(task.error);
  if (!json) await err.line(err.styles.dim(`task ${task.id}: ${endedText(task)}`));
  return exitCodeOf(task);
}

function silentText({ id, process: { pid } }: TaskElsewhere): string {
  const which = pid === undefined ? 'the process' : `process ${pid}`;
  return `${which} of task ${id} lives and gives no answer, as one that was stopped: this goes on when it does`;
}

export function endedText(task: TaskElsewhere): string {
  if (task.status === 'completed') return endingText(task);
  if (task.process.reach === 'lost') return statusText(task);
  if (task.error === undefined) return task.status;
  const text = oneLine(task.error.message.replace(/^Background task /, ''));
  return text.startsWith(task.status) ? text : `${task.status}: ${text}`;
}

/** As `task run` exits. */
function exitCodeOf(task: TaskElsewhere): number {
  if (!hasEnded(task) || task.status !== 'completed') return EXIT_FAILURE;
  const { exitCode, signalCode } = task.result ?? {};
  return exitCode ?? (signalCode === undefined ? EXIT_SUCCESS : exitCodeOfSignal(signalCode));
}
