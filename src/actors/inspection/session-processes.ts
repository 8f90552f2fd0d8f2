/**
 * The processes that work for a session and for what it has started: those of the tasks of this runtime, and those on
 * record in its home, whichever process started them.
 */
import { sessionOf } from '../../machines/subagent/subagent-request.ts';
import type { BackgroundTaskState } from '../../machines/task/task-state.ts';
import { isTerminalBackgroundTaskStatus } from '../../machines/task/task-lifecycle.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { BackgroundTaskManager } from '../task/background-task-manager.ts';
import type { LivingProcess, ProcessTree, ReconciledProcessTree } from '../task/process-tree.ts';
import type { TasksElsewhere } from '../task/tasks-elsewhere.ts';
import type { RecordedTask } from '../task/task-logs.ts';
import type { ProcessReports } from './process-reports.ts';
import type { InspectedText } from './inspected-text.ts';
import type { InspectedProcess } from './inspection-source.ts';
import { inspectedCommand } from './session-wakers.ts';

/** The newest lines, and when the last of them was written, ISO-8601. */
export interface TaskOutput {
  readonly lines: readonly string[];
  readonly writtenAt: string;
}

/** The port of what tasks put out, of whichever process. */
export interface TaskOutputs {
  /** Undefined: there is no log of it. */
  newest(task: RecordedTask): Promise<TaskOutput | undefined>;
}

export interface SessionProcessesOptions {
  readonly text: InspectedText;
  /** Of the runtime: its tasks, and those that its jobs and the wakes elsewhere are. */
  readonly tasks: readonly Pick<BackgroundTaskManager, 'list' | 'cancel'>[];
  /** Of other processes over the home. Absent: they are not ended from here. */
  readonly tasksElsewhere?: Pick<TasksElsewhere, 'cancel'> | undefined;
  /** Knows the processes of all hosts of the home, dead ones too. */
  readonly processTree?: Pick<ProcessTree, 'reconcile' | 'usageOf'> | undefined;
  /** What it says, read for all. */
  readonly reports?: ProcessReports | undefined;
  /** Absent: what they put out is unknown. */
  readonly outputs?: TaskOutputs | undefined;
  readonly onProblem: (error: unknown) => void;
}

const MAX_PROCESSES = 1_000;
const MAX_SHOWN_CHARACTERS = 500;
const MAX_OUTPUT_CHARACTERS = 3_000;
/** Of a tree with more processes, the others have the names of their programs. */
const MAX_COMMANDS = 50;
/** Below it whatever a session has started is checked. */
const MAX_SESSIONS = 1_000;

/** When one of its calls that run told something last: in its log, or in what it put out. Undefined: none runs. */
export async function lastActivityOf(
  state: SessionState,
  options: Pick<SessionProcessesOptions, 'reports' | 'outputs' | 'onProblem'>,
): Promise<string | undefined> {
  const { sessionId, updatedAt = '', openToolCalls } = state;
  if (!openToolCalls.some(({ phase }) => phase === 'started')) return undefined;
  const trees = await treesOf(state, new Set([sessionId]), options);
  const written = await Promise.all(
    trees.map(async ({ tag, taskId = '', startedAt, hasLogFile }) => {
      const output = await options.outputs?.newest({ taskId, tag, startedAt, hasLogFile }).catch((error: unknown) => {
        options.onProblem(error);
        return undefined;
      });
      return output === undefined ? [] : [output.writtenAt];
    }),
  );
  const times = [updatedAt, ...written.flat()].map((iso) => Date.parse(iso)).filter(Number.isFinite);
  return times.length === 0 ? undefined : new Date(Math.max(...times)).toISOString();
}

/** Those of this runtime first. Where the records of others cannot be read, nothing is said of them. */
export async function processesOf(
  state: SessionState,
  options: SessionProcessesOptions,
): Promise<readonly InspectedProcess[]> {
  const { tasks, sessions } = workBelow(
    state,
    options.tasks.flatMap((manager) => manager.list()),
  );
  const trees = await treesOf(state, sessions, options);
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
  const ownPids = new Set(own.map(({ pid }) => pid));
  const members = await Promise.all(trees.map((tree) => membersOf(tree, state, { ...options, ownPids })));
  return merged(own, members.flat()).slice(0, MAX_PROCESSES);
}

function processOf(
  { id, label, commandPreview, status, startedAt, lastActivityAt }: BackgroundTaskState,
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
    host: 'this',
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(lastActivityAt === undefined ? {} : { lastActivityAt }),
    taskId: text.cut(id, MAX_SHOWN_CHARACTERS),
  };
}

interface WorkBelow {
  readonly tasks: readonly BackgroundTaskState[];
  readonly sessions: ReadonlySet<string>;
}

/** Of the session, of the sessions of its jobs and children, and so on. */
export function workBelow(state: SessionState, all: readonly BackgroundTaskState[]): WorkBelow {
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
  return { tasks: [...found], sessions };
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

/** What is on record of these sessions and of the jobs of the first. */
export async function treesOf(
  { jobs }: SessionState,
  sessions: ReadonlySet<string>,
  { reports, onProblem }: Pick<SessionProcessesOptions, 'reports' | 'onProblem'>,
): Promise<readonly ReconciledProcessTree[]> {
  if (reports === undefined) return [];
  const jobIds = new Set(jobs.map(({ jobId }) => jobId));
  try {
    return (await reports.read()).filter(
      ({ sessionId, taskId }) => sessions.has(sessionId ?? '') || jobIds.has(taskId ?? ''),
    );
  } catch (error) {
    onProblem(error);
    return [];
  }
}

/** The root, though it is gone, and the others below it. What the tree puts out is told of the root. */
async function membersOf(
  tree: ReconciledProcessTree,
  { jobs }: SessionState,
  options: SessionProcessesOptions & { readonly ownPids: ReadonlySet<number> },
): Promise<readonly InspectedProcess[]> {
  const { text, outputs, onProblem, ownPids } = options;
  const { tag, taskId = '', pid: root, reason, survivors, commandPreview = '', startedAt, limitMs, hasLogFile } = tree;
  const job = jobs.find(({ jobId }) => jobId === taskId);
  const title = text.cut(job === undefined ? commandPreview : `job ${job.label ?? job.agentId}`, MAX_SHOWN_CHARACTERS);
  // Pids of another namespace mean others here.
  const isOwn = reason === 'host_alive' && root !== undefined && ownPids.has(root);
  const host = reason === 'host_dead' ? 'dead' : isOwn ? 'this' : 'other';
  const common = { host, taskId: text.cut(taskId, MAX_SHOWN_CHARACTERS) } as const;
  const output = await outputs?.newest({ taskId, tag, startedAt, hasLogFile }).catch((error: unknown) => {
    onProblem(error);
    return undefined;
  });
  const first = {
    ...common,
    title,
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(limitMs === undefined ? {} : { limitMs }),
    ...(output === undefined
      ? {}
      : {
          lastActivityAt: output.writtenAt,
          // As one text: a secret may stand in several lines.
          output: text.cut(output.lines.join('\n'), MAX_OUTPUT_CHARACTERS).split('\n'),
        }),
  };
  const commands = await commandsOf(survivors, options);
  const living = survivors.map((member): InspectedProcess => {
    const {
      pid,
      parentPid,
      name,
      processorMs,
      residentBytes,
      isSuspended,
    }: Partial<LivingProcess> & (typeof survivors)[number] = member;
    const within = survivors.some((other) => other.pid === parentPid)
      ? parentPid
      : reason === 'elsewhere'
        ? undefined
        : root;
    const command = commands.get(pid);
    return {
      ...(pid === root
        ? { ...first, ...(job === undefined || command === undefined ? {} : { commandLine: command }) }
        : { ...common, title: command ?? (name === undefined ? title : text.cut(name, MAX_SHOWN_CHARACTERS)) }),
      pid,
      ...(within === undefined || pid === root ? {} : { parentPid: within }),
      state: 'running',
      ...(processorMs === undefined ? {} : { processorMs }),
      ...(residentBytes === undefined ? {} : { residentBytes }),
      ...(isSuspended === true ? { isSuspended } : {}),
    };
  });
  // Where it runs in another namespace its root has another pid here, and is among the living by that.
  if (root === undefined || reason === 'elsewhere' || living.some(({ pid }) => pid === root)) return living;
  return [{ ...first, pid: root, state: host === 'dead' ? 'gone' : 'unknown' }, ...living];
}

/** As far as the system tells: one that has told none of the first is asked for no other, since each may cost a `ps`. */
async function commandsOf(
  survivors: ReconciledProcessTree['survivors'],
  { text, processTree, onProblem }: Pick<SessionProcessesOptions, 'text' | 'processTree' | 'onProblem'>,
): Promise<ReadonlyMap<number, string>> {
  const commands = new Map<number, string>();
  for (const { pid } of survivors.slice(0, MAX_COMMANDS)) {
    const use = await processTree?.usageOf?.(pid).catch(onProblem);
    if (use?.commandLine !== undefined) commands.set(pid, inspectedCommand(use.commandLine, text));
    else if (use !== undefined && commands.size === 0) break;
  }
  return commands;
}

/** What is known of one process from both: the runtime knows its task, the system what it uses. */
function merged(own: readonly InspectedProcess[], found: readonly InspectedProcess[]): readonly InspectedProcess[] {
  const seen = new Map(found.map((process) => [process.pid, process]));
  const known = new Set(own.map(({ pid }) => pid));
  return [
    ...own.map((process) => (process.state === 'running' ? { ...seen.get(process.pid), ...process } : process)),
    ...found.filter(({ pid }) => !known.has(pid)),
  ];
}
