/** `wakechart task list | show`: the tasks of every process over the home. */
import type { TaskElsewhere } from '../../actors/task/task-elsewhere.ts';
import type { BackgroundTaskStatus } from '../../machines/task/task-machine.ts';
import type { CommandContext } from '../context.ts';
import { nextCommand, textAsTyped } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { fieldLines, tableLines } from '../terminal/table.ts';
import { counted, localTime, oneLine, printable } from '../terminal/text.ts';
import { hasEnded, processesText, statusText, taskNamed, withTasks } from './tasks.ts';

const HEADINGS = ['TASK', 'STATUS', 'PID', 'STARTED', 'SESSION', 'WHAT'];
/** As much of an id as names it. */
const SESSION_CHARACTERS = 13;

export function listTasks(
  context: CommandContext,
  { status }: { readonly status: BackgroundTaskStatus | undefined },
): Promise<number> {
  const { out, json } = context;
  return withTasks(context, async (tasks) => {
    const [{ tasks: found, leftOut }, beyond] = await Promise.all([
      tasks.survey(status === undefined ? {} : { status }),
      tasks.beyond(),
    ]);
    if (json) await out.document({ tasks: found, tasksLeftOut: leftOut, processesOutOfReach: beyond });
    else if (found.length === 0)
      await out.line(
        `No process over ${context.home} has ${status === undefined ? 'a' : `such a (${status})`} task now.`,
      );
    else for (const line of tableLines(HEADINGS, found.map(rowOf), out)) await out.line(line);
    if (leftOut > 0) await tellLeftOut(context, leftOut);
    await tellReach(context, beyond);
    return EXIT_SUCCESS;
  });
}

async function tellLeftOut({ err }: CommandContext, count: number): Promise<void> {
  await err.line(`${err.styles.yellow('note:')} ${counted(count, 'task')} more that wait or have ended: see --status`);
}

/** Whose tasks cannot be seen from here. */
async function tellReach({ err, store, home }: CommandContext, beyond: number): Promise<void> {
  const note = err.styles.yellow('note:');
  if (beyond > 0)
    await err.line(`${note} ${processesText(beyond)} over ${home} on other machines are out of reach: ask there`);
  else if (store !== undefined)
    await err.line(`${note} workers on other machines that share ${store.shown} have tasks of their own: ask there`);
}

function rowOf(task: TaskElsewhere): string[] {
  const { id, process: host, startedAt, parentSessionId, label } = task;
  return [
    ...[id, statusText(task), String(host.pid ?? ''), startedAt === undefined ? '' : localTime(startedAt)],
    ...[sessionText(parentSessionId)?.slice(0, SESSION_CHARACTERS) ?? '', label],
  ];
}

export function showTask(context: CommandContext, typed: string): Promise<number> {
  const { out, json } = context;
  return withTasks(context, async (tasks) => {
    const listed = await taskNamed(context, tasks, typed);
    const task = (await tasks.get(listed.id)) ?? listed;
    if (json) {
      await out.document(task);
      return EXIT_SUCCESS;
    }
    for (const line of fieldLines(fieldsOf(context, task), out)) await out.line(line);
    await out.line(`Next: ${nextOf(context, task)}`);
    return EXIT_SUCCESS;
  });
}

function fieldsOf(context: CommandContext, task: TaskElsewhere): [string, string | undefined][] {
  const { process: host, error, commandPreview } = task;
  const time = (iso: string | undefined): string | undefined => (iso === undefined ? undefined : localTime(iso));
  return [
    ['task', oneLine(task.id)],
    ['what', oneLine(task.label)],
    ['command', commandPreview === undefined || commandPreview === task.label ? undefined : oneLine(commandPreview)],
    ['kind', task.kind],
    ['status', statusText(task)],
    ['session', sessionText(oneLine(task.parentSessionId ?? 'local'))],
    ['folder', task.cwd === undefined ? undefined : printable(task.cwd)],
    [
      'run by',
      host.pid === undefined ? undefined : `process ${host.pid}${host.reach === 'lost' ? ', which died' : ''}`,
    ],
    ['runs as', task.pid === undefined || hasEnded(task) ? undefined : `process ${task.pid}`],
    ['does', task.currentAction === undefined ? undefined : oneLine(task.currentAction)],
    ['fires', time(task.nextFireAt)],
    ['started', time(task.startedAt)],
    ['ended', time(task.completedAt)],
    ['error', error === undefined ? undefined : `${oneLine(error.message)} [${error.code}]`],
    ['hint', error?.hint === undefined ? undefined : oneLine(textAsTyped(context, error.hint))],
    ['log', task.logPath === undefined ? undefined : printable(task.logPath)],
  ];
}

/** What is not of a session has the name of none. */
function sessionText(parentSessionId: string | undefined): string | undefined {
  return parentSessionId === 'local' ? undefined : parentSessionId;
}

function nextOf(context: CommandContext, task: TaskElsewhere): string {
  // An agent keeps it by its tools, and no log of it can be read.
  if (task.logPath === undefined && task.taskId.startsWith('shell_') && !hasEnded(task))
    return nextCommand(context, 'task', 'cancel', task.id);
  return hasEnded(task)
    ? nextCommand(context, 'task', 'logs', task.id)
    : nextCommand(context, 'task', 'logs', task.id, '--follow');
}
