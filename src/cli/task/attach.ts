/** `wakechart task attach`: follows a task and passes it what is typed, until it ends or is left. */
import { createSystemClock } from '../../actors/clock/system-clock.ts';
import { pause } from '../../actors/clock/waiting.ts';
import type { TaskElsewhere } from '../../actors/task/task-elsewhere.ts';
import type { TasksElsewhere } from '../../actors/task/tasks-elsewhere.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { CommandContext } from '../context.ts';
import { nextCommand } from '../context.ts';
import { oneLine } from '../terminal/text.ts';
import { hasPipedInput, passInput } from './input.ts';
import { LogView } from './log-view.ts';
import { followLog, requireLog, showLast } from './logs.ts';
import { hasEnded, statusText, taskNamed, withTasks } from './tasks.ts';

/** One that hangs up at once is not asked more often. */
const RETRY_MS = 500;

export interface AttachOptions {
  readonly id: string;
  readonly last: number;
}

export function attachTask(context: CommandContext, { id, last }: AttachOptions): Promise<number> {
  const { interruption, err } = context;
  return withTasks(context, async (tasks) => {
    const task = await taskNamed(context, tasks, id);
    if (hasEnded(task)) throw ended(context, task);
    await requireLog(tasks, task);
    // A first signal leaves the task, and is how this is meant to end.
    interruption.expectEnd();
    const release = interruption.guard(() => undefined);
    const { signal } = interruption;
    try {
      const stop = await beginInput(context, tasks, task);
      try {
        const view = new LogView(context);
        const from = await showLast(tasks, task, { last, view });
        return await followLog(context, tasks, task, { from, view, unfinished: !context.json, signal });
      } finally {
        stop();
        if (signal.aborted) await err.line(leftText(context, task));
      }
    } finally {
      release();
    }
  });
}

/** Says what becomes of what is typed, and passes it. @returns ends it */
async function beginInput(context: CommandContext, tasks: TasksElsewhere, task: TaskElsewhere): Promise<() => void> {
  const { err } = context;
  const note = (text: string): Promise<void> => err.line(err.styles.dim(text));
  const takesInput = task.kind === 'process' && task.mode !== 'foreground';
  const isTyped = process.stdin.isTTY;
  const isPassed = takesInput && (isTyped || hasPipedInput());
  await note(`attached to task ${task.id}: ${oneLine(task.label, 60)}${takesInput ? '' : '. It takes no input.'}`);
  const input = isPassed ? 'What you type goes to it, Ctrl-D ends its input. ' : '';
  if (isTyped) await note(`${input}Ctrl-C leaves it running.`);
  if (!isPassed) return () => undefined;
  let isOver = false;
  const patient: Pick<TasksElsewhere, 'send'> = {
    send: async (id, given) => {
      await untilItAnswers(tasks, id, () => isOver);
      await tasks.send(id, given);
    },
  };
  passInput(patient, task.id, process.stdin).then(
    (isAll) => (isAll || isOver ? undefined : note('the task takes no more input')),
    // The end of the task, or of its process, is told by its log.
    (error: unknown) => (isOver ? undefined : note(`the input could not be passed: ${oneLine(messageOf(error))}`)),
  );
  return () => {
    isOver = true;
    process.stdin.destroy();
  };
}

/** What is typed while its process is stopped waits for that: it is asked again until it says anything. */
async function untilItAnswers(tasks: Pick<TasksElsewhere, 'get'>, id: string, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    try {
      if ((await tasks.get(id))?.process.reach !== 'silent') return;
    } catch (error) {
      if (!RuntimeError.is(error) || error.code !== 'TASK_PROCESS_SILENT') throw error;
    }
    await pause({ clock: createSystemClock(), timeoutMs: RETRY_MS });
  }
}

function leftText(context: CommandContext, { id }: TaskElsewhere): string {
  return `detached; task ${id} goes on. To stop it: ${nextCommand(context, 'task', 'cancel', id)}`;
}

function ended(context: CommandContext, task: TaskElsewhere): RuntimeError {
  return new RuntimeError('TASK_ENDED', `task ${task.id} has ended: ${statusText(task)}`, {
    category: 'runner',
    hint: `Read what it left: ${nextCommand(context, 'task', 'logs', task.id)}`,
  });
}
