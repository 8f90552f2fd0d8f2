/**
 * The processes that work for a session and for what it has started, as far as this runtime and the records of its home
 * know.
 */
import { sessionOf } from '../../machines/subagent/subagent-request.ts';
import type { BackgroundTaskState } from '../../machines/task/task-state.ts';
import { isTerminalBackgroundTaskStatus } from '../../machines/task/task-lifecycle.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { BackgroundTaskManager } from '../task/background-task-manager.ts';
import type { ProcessTree, ReconciledProcessTree } from '../task/process-tree.ts';
import type { InspectedText } from './inspected-text.ts';
import type { InspectedProcess } from './inspection-source.ts';

export interface SessionProcessesOptions {
  readonly text: InspectedText;
  /** Of the runtime: its tasks, and those that its jobs and the wakes elsewhere are. */
  readonly tasks: readonly Pick<BackgroundTaskManager, 'list'>[];
  /** Knows the processes of hosts that died. */
  readonly processTree?: Pick<ProcessTree, 'reconcile'> | undefined;
  readonly onProblem: (error: unknown) => void;
}

const MAX_PROCESSES = 1_000;
const MAX_SHOWN_CHARACTERS = 500;
/** Below it whatever a session has started is looked at. */
const MAX_SESSIONS = 1_000;

/** Those of this runtime first. Where the records of others cannot be read, nothing is said of them. */
export async function processesOf(
  state: SessionState,
  options: SessionProcessesOptions,
): Promise<readonly InspectedProcess[]> {
  const tasks = tasksBelow(
    state,
    options.tasks.flatMap((manager) => manager.list()),
  );
  const pids = new Map(tasks.flatMap(({ id, pid }) => (pid === undefined ? [] : [[id, pid] as const])));
  const hosts = new Map(
    tasks.flatMap((task) =>
      task.pid === undefined ? [] : sessionsOf(task).map((sessionId) => [sessionId, task.pid] as const),
    ),
  );
  const own = tasks.flatMap((task): InspectedProcess[] => {
    if (task.pid === undefined) return [];
    const parentPid = pids.get(task.parentTaskId ?? '') ?? hosts.get(task.parentSessionId);
    return [processOf(task, task.pid, parentPid === task.pid ? undefined : parentPid, options.text)];
  });
  const left = await leftBy(state, new Set(own.map(({ pid }) => pid)), options);
  return [...own, ...left].slice(0, MAX_PROCESSES);
}

function processOf(
  { id, label, commandPreview, status, startedAt }: BackgroundTaskState,
  pid: number,
  parentPid: number | undefined,
  text: InspectedText,
): InspectedProcess {
  return {
    pid,
    ...(parentPid === undefined ? {} : { parentPid }),
    title: text.cut(commandPreview ?? label, MAX_SHOWN_CHARACTERS),
    // A task ends only when what it ran is gone.
    state: isTerminalBackgroundTaskStatus(status) ? 'gone' : 'running',
    ...(startedAt === undefined ? {} : { startedAt }),
    taskId: text.cut(id, MAX_SHOWN_CHARACTERS),
  };
}

/** Those of the session, of the sessions of its jobs and children, and so on. */
function tasksBelow(state: SessionState, all: readonly BackgroundTaskState[]): readonly BackgroundTaskState[] {
  const sessions = new Set([
    state.sessionId,
    ...state.jobs.map(({ childSessionId }) => childSessionId),
    ...state.children.map(({ sessionId }) => sessionId),
  ]);
  const bySession = grouped(all);
  const found = new Set<BackgroundTaskState>();
  for (const sessionId of sessions) {
    for (const task of bySession.get(sessionId) ?? []) {
      found.add(task);
      for (const below of sessionsOf(task)) if (sessions.size < MAX_SESSIONS) sessions.add(below);
    }
  }
  return [...found];
}

function grouped(tasks: readonly BackgroundTaskState[]): ReadonlyMap<string, readonly BackgroundTaskState[]> {
  const groups = new Map<string, BackgroundTaskState[]>();
  for (const task of tasks) {
    const group = groups.get(task.parentSessionId);
    if (group === undefined) groups.set(task.parentSessionId, [task]);
    else group.push(task);
  }
  return groups;
}

/** The session whose work a task is. */
function sessionsOf(task: BackgroundTaskState): readonly string[] {
  const sessionId = sessionOf(task);
  return sessionId === undefined ? [] : [sessionId];
}

/**
 * What other hosts have, or had when they died, of the jobs of the session. Ids of other tasks mean something within
 * their host only.
 */
async function leftBy(
  { jobs }: SessionState,
  known: ReadonlySet<number>,
  { processTree, text, onProblem }: SessionProcessesOptions,
): Promise<readonly InspectedProcess[]> {
  const labels = new Map(jobs.map(({ jobId, label, agentId }) => [jobId, label ?? agentId]));
  if (processTree === undefined || labels.size === 0) return [];
  try {
    const reports = await processTree.reconcile({ policy: 'look' });
    return reports.flatMap((report) => {
      const label = labels.get(report.taskId ?? '');
      return label === undefined
        ? []
        : treeOf(report, text.cut(`job ${label}`, MAX_SHOWN_CHARACTERS)).filter(({ pid }) => !known.has(pid));
    });
  } catch (error) {
    onProblem(error);
    return [];
  }
}

function treeOf(
  { taskId = '', pid: root, reason, survivors }: ReconciledProcessTree,
  title: string,
): InspectedProcess[] {
  const living = survivors.map(({ pid }) => pid);
  const isLooked = reason === 'host_dead' || reason === 'not_ended';
  const first =
    root === undefined || living.includes(root)
      ? []
      : [{ pid: root, title, state: isLooked ? ('gone' as const) : ('unknown' as const), taskId }];
  return [
    ...first,
    ...living.map((pid): InspectedProcess => ({
      pid,
      ...(root === undefined || root === pid ? {} : { parentPid: root }),
      title,
      state: 'running',
      taskId,
    })),
  ];
}
