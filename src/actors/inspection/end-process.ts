/** Ends a process that works for a session, whichever process started it. */
import { RuntimeError } from '../../machines/errors.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { isTerminalBackgroundTaskStatus } from '../../machines/task/task-lifecycle.ts';
import type { ReconciledProcessTree } from '../task/process-tree.ts';
import { elsewhereId, isProgram, nameOfToken } from '../task/task-elsewhere.ts';
import { treesOf, workBelow } from './session-processes.ts';
import type { SessionProcessesOptions } from './session-processes.ts';

const ENDED_HERE = 'a person ended it in the inspector';

/**
 * Ends what the process belongs to: a task of this runtime or of another process over the home is cancelled, as its log
 * then says; the tree that a host which died has left is ended as the next start over the home would. @throws
 * RuntimeError for what is no task of another living process, or is not there
 */
export async function endProcess(state: SessionState, pid: number, options: SessionProcessesOptions): Promise<void> {
  const all = options.tasks.flatMap((manager) => manager.list().map((task) => ({ manager, task })));
  const { tasks, sessions } = workBelow(
    state,
    all.map(({ task }) => task),
  );
  // What is ended is what is there now.
  options.reports?.forget();
  const trees = await treesOf(state, sessions, options);
  const tree = trees.find((each) => each.survivors.some((member) => member.pid === pid));
  // Ids of tasks are counted from one in each process: the pid of the root tells whose it is.
  const root = tree === undefined ? pid : tree.reason === 'host_alive' ? tree.pid : undefined;
  const own = all.find(
    ({ task }) =>
      root !== undefined && task.pid === root && tasks.includes(task) && !isTerminalBackgroundTaskStatus(task.status),
  );
  if (own !== undefined) return own.manager.cancel(own.task.id, ENDED_HERE);
  if (tree === undefined) throw gone(pid);
  if (tree.reason !== 'host_dead') return endElsewhere(tree, { sessionId: state.sessionId, pid }, options);
  const reports = (await options.processTree?.reconcile({ tag: tree.tag })) ?? [];
  if (reports.some(({ action }) => action === 'left')) throw left(pid);
}

/** Its process is asked to, as by `wakechart task cancel`. */
async function endElsewhere(
  { taskId = '', host }: ReconciledProcessTree,
  { sessionId, pid }: { readonly sessionId: string; readonly pid: number },
  { tasksElsewhere }: Pick<SessionProcessesOptions, 'tasksElsewhere'>,
): Promise<void> {
  const isTask = taskId !== '' && !isProgram(taskId);
  if (tasksElsewhere === undefined || host?.token === undefined || !isTask)
    throw new RuntimeError('INSPECTION_PROCESS_ELSEWHERE', `process ${pid} belongs to another process of this home`, {
      category: 'conflict',
      hint: `Stop the work it does: wakechart session interrupt --session ${sessionId}`,
    });
  await tasksElsewhere.cancel(elsewhereId(nameOfToken(host.token), taskId), ENDED_HERE).catch((error: unknown) => {
    const code = RuntimeError.is(error) ? error.code : undefined;
    // It may have ended since it was found.
    throw code === 'TASK_NOT_FOUND' ? gone(pid) : code === 'TASK_LEFT_RUNNING' ? left(pid) : error;
  });
}

function left(pid: number): RuntimeError {
  return new RuntimeError('INSPECTION_PROCESS_LEFT', `process ${pid} could not be ended`, {
    category: 'conflict',
    hint: 'It may belong to another user, or hang in the kernel. See it with wakechart doctor.',
  });
}

function gone(pid: number): RuntimeError {
  return new RuntimeError('INSPECTION_PROCESS_GONE', `no process ${pid} works for this session any more`, {
    category: 'not_found',
    hint: 'Nothing is left to do.',
  });
}
