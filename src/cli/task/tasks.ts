/** The tasks of other processes over a home, for commands that name one of them. */
import { createSystemClock } from '../../actors/clock/system-clock.ts';
import type { TaskElsewhere } from '../../actors/task/task-elsewhere.ts';
import type { TasksElsewhere } from '../../actors/task/tasks-elsewhere.ts';
import { closestName } from '../../machines/closest-name.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { isTerminalBackgroundTaskStatus } from '../../machines/task/task-lifecycle.ts';
import { openTasksElsewhere } from '../../node/tasks-elsewhere.ts';
import { homeProcesses } from '../../node/tasks.ts';
import type { CommandContext } from '../context.ts';
import { nextCommand } from '../context.ts';
import { checkHome } from '../home.ts';
import { idNamed } from '../open/short-ids.ts';
import { counted, oneLine } from '../terminal/text.ts';

/** More do not help. */
const MAX_SHOWN = 5;

/** Opens no runtime and leaves nothing behind: what runs is asked where it runs. */
export async function withTasks<Result>(
  { home }: Pick<CommandContext, 'home'>,
  work: (tasks: TasksElsewhere) => Promise<Result>,
): Promise<Result> {
  await checkHome(home);
  const clock = createSystemClock();
  const { hostLife, processTree } = homeProcesses(home, clock);
  try {
    return await work(openTasksElsewhere({ home, clock, hostLife, processTree }));
  } finally {
    await hostLife.close();
  }
}

/**
 * What was typed names it whole, by the first characters of its process, or by its name in its process.
 * @throws RuntimeError TASK_NOT_FOUND, with those that there are; ID_AMBIGUOUS
 */
export async function taskNamed(
  context: CommandContext,
  tasks: Pick<TasksElsewhere, 'list' | 'get'>,
  typed: string,
): Promise<TaskElsewhere> {
  // Of very many tasks a list leaves some out.
  const whole = typed.includes('/') ? await tasks.get(typed) : undefined;
  if (whole !== undefined) return whole;
  const all = await tasks.list();
  const named = all.filter(({ taskId }) => taskId === typed);
  const found = named.length === 1 ? named[0] : begunBy(typed.trim(), all);
  if (found !== undefined) return found;
  if (named.length > 1) throw ambiguous(typed, named);
  throw new RuntimeError('TASK_NOT_FOUND', `no process over ${context.home} has a task ${JSON.stringify(typed)}`, {
    category: 'validation',
    hint: hintFor(context, all, typed),
  });
}

/** What stands after a slash names a task whole: `3f9a/task_1` is none of `task_10`. */
function begunBy(typed: string, all: readonly TaskElsewhere[]): TaskElsewhere | undefined {
  const cut = typed.indexOf('/');
  if (cut < 0) {
    const id = idNamed({ typed, what: 'task', ids: all.map((each) => each.id) });
    return all.find((each) => each.id === id);
  }
  const named = all.filter(({ taskId }) => taskId === typed.slice(cut + 1));
  const ids = named.map(({ process: { name } }) => name);
  const name = idNamed({ typed: typed.slice(0, cut), what: 'process', ids });
  return named.find((each) => each.process.name === name);
}

function ambiguous(typed: string, named: readonly TaskElsewhere[]): RuntimeError {
  return new RuntimeError('ID_AMBIGUOUS', `${named.length} processes have a task ${JSON.stringify(typed)}`, {
    category: 'validation',
    hint: `Type the whole id of the one that you mean:\n${linesOf(named).join('\n')}`,
  });
}

function hintFor(context: CommandContext, all: readonly TaskElsewhere[], typed: string): string {
  const forgotten = 'A task that has ended is forgotten by its process';
  if (all.length === 0) return `${forgotten}; no process over ${context.home} has one now.`;
  const closest = closestName(
    typed,
    all.map(({ label }) => label),
  );
  // Too few characters name none, but mean one.
  const meant = all.find(({ id, label }) => (typed !== '' && id.startsWith(typed)) || label === closest)?.id;
  const question = meant === undefined ? '' : `Did you mean "${meant}"? `;
  const more = all.length - MAX_SHOWN;
  const rest = more > 0 ? [`and ${counted(more, 'task')} more: ${nextCommand(context, 'task', 'list')}`] : [];
  return `${question}${forgotten}. Tasks there are, newest first:\n${[...linesOf(all), ...rest].join('\n')}`;
}

function linesOf(tasks: readonly TaskElsewhere[]): string[] {
  return tasks
    .slice(-MAX_SHOWN)
    .toReversed()
    .map((task) => `${task.id}  ${statusText(task)}  ${oneLine(task.label, 60)}`);
}

export function hasEnded({ status }: Pick<TaskElsewhere, 'status'>): boolean {
  return isTerminalBackgroundTaskStatus(status);
}

/** In a few words. */
export function statusText({ status, process: { reach }, survivors = 0, result, error }: TaskElsewhere): string {
  if (error?.code === 'TASK_END_UNKNOWN') return 'ended';
  if (reach === 'lost') return survivors === 0 ? 'lost' : `lost, ${survivors} left running`;
  if (reach === 'silent') return `${status}, silent`;
  if (status === 'waiting_permission') return 'waits for permission';
  return status === 'completed' ? endingText({ result }) : status;
}

/** How a command ended. */
export function endingText({ result }: Pick<TaskElsewhere, 'result'>): string {
  const { exitCode, signalCode } = result ?? {};
  if (signalCode !== undefined) return `ended by ${signalCode}`;
  return exitCode === undefined ? 'completed' : `exit code ${exitCode}`;
}

export function processesText(count: number): string {
  return count === 1 ? '1 process' : `${count} processes`;
}
