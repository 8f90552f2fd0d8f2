/** The tasks of other processes over a home, and what others are told of the tasks of this one. */
import { join } from 'node:path';
import type { Clock } from '../actors/clock/clock.ts';
import type { HostExchange } from '../actors/host/host-exchange.ts';
import type { HostLife } from '../actors/host/host-life.ts';
import type { BackgroundTaskManager } from '../actors/task/background-task-manager.ts';
import type { ProcessTree } from '../actors/task/process-tree.ts';
import { TasksElsewhere } from '../actors/task/tasks-elsewhere.ts';
import { createTaskLogFiles } from '../adapters/shell/log-reader.ts';
import { TASK_LOGS_FOLDER } from './tasks.ts';

export interface TasksElsewhereParts {
  readonly home: string;
  readonly clock: Clock;
  readonly hostLife: HostLife & HostExchange;
  readonly processTree: Pick<ProcessTree, 'reconcile' | 'lost'>;
}

export function openTasksElsewhere({ home, clock, hostLife, processTree }: TasksElsewhereParts): TasksElsewhere {
  const logs = createTaskLogFiles(join(home, TASK_LOGS_FOLDER));
  return new TasksElsewhere({ hosts: hostLife, processTree, logs, clock });
}

/** @param toolTasks those among them that tools keep for agents */
export function tellOfTasks(
  hostLife: HostExchange,
  tasks: readonly BackgroundTaskManager[],
  toolTasks: readonly BackgroundTaskManager[] = [],
): void {
  const managers = tasks.map((each) => ({ tasks: each, isOfTools: toolTasks.includes(each) }));
  hostLife.answerWith(async (question, signal) => {
    // Most processes are never asked.
    const { answerAboutTasks } = await import('../actors/task/task-answers.ts');
    return answerAboutTasks(question, { managers, pid: process.pid, signal });
  });
}
