/** A task of another process, as that says it or as its records do: under an id that no other task of the home has. */
import type { ErrorRecord } from '../../machines/errors.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { BackgroundTaskState } from '../../machines/task/task-state.ts';
import type { HostExchange } from '../host/host-exchange.ts';
import type { HostLife } from '../host/host-life.ts';
import type { ReconciledProcessTree } from './process-tree.ts';
import type { TaskLogFiles } from './task-logs.ts';

/** The process that runs a task, or ran it. */
export interface TaskProcess {
  /** Unique among the processes of the home. */
  readonly name: string;
  readonly pid?: number | undefined;
  /** `silent`: it lives, and does not answer. `lost`: it died, and the task with it. */
  readonly reach: 'answers' | 'silent' | 'lost';
}

type Said = Omit<BackgroundTaskState, 'id' | 'kind' | 'label' | 'status'>;

/** Of a process that does not answer there is only what is on record. */
export interface TaskElsewhere
  extends
    Pick<BackgroundTaskState, 'kind' | 'label' | 'status'>,
    Readonly<{ [Field in keyof Said]?: Said[Field] | undefined }> {
  /** `<process>/<task>`. */
  readonly id: string;
  /** In its process. */
  readonly taskId: string;
  readonly process: TaskProcess;
  /** Of one whose process died: how many processes of it still run. */
  readonly survivors?: number | undefined;
}

export interface FoundRecord {
  readonly task: TaskElsewhere;
  readonly tag: string;
  /** Of its process. */
  readonly token: string | undefined;
}

const NAME_CHARACTERS = 8;

/** The last part of a token is what no other process has. */
export function nameOfToken(token: string): string {
  return token.slice(token.lastIndexOf('-') + 1).slice(0, NAME_CHARACTERS);
}

export function elsewhereId(name: string, taskId: string): string {
  return `${name}/${taskId}`;
}

/** @throws BackgroundTaskError TASK_NOT_FOUND for what is no such id */
export function placeOfId(id: string): { readonly name: string; readonly taskId: string } {
  const cut = typeof id === 'string' ? id.indexOf('/') : 0;
  if (cut > 0 && cut < id.length - 1) return { name: id.slice(0, cut), taskId: id.slice(cut + 1) };
  throw new BackgroundTaskError('validation', `expected the id of a task as a list shows it, received ${quoted(id)}`, {
    code: 'TASK_NOT_FOUND',
    hint: 'Such an id names the process and the task, as 3f9ac2d1/task_1 does: wakechart task list',
  });
}

interface RecordPorts {
  readonly hosts: Pick<HostExchange, 'isOwn'> & Pick<HostLife, 'isAlive'>;
  readonly logs: Pick<TaskLogFiles, 'find'>;
}

/** Undefined: it is no task, one of this process, or cannot be read. */
export async function recordedTask(
  report: ReconciledProcessTree,
  { hosts, logs }: RecordPorts,
): Promise<FoundRecord | undefined> {
  const { tag, taskId, host, sessionId, commandPreview = '', startedAt, pid, survivors, hasLogFile } = report;
  const token = host?.token;
  if (taskId === undefined || isProgram(taskId) || (token !== undefined && hosts.isOwn(token))) return undefined;
  const isLost = await isHostLost(report, hosts);
  const name = token === undefined ? tag.slice(0, NAME_CHARACTERS) : nameOfToken(token);
  const task: TaskElsewhere = {
    id: elsewhereId(name, taskId),
    taskId,
    process: { name, pid: host?.pid, reach: isLost ? 'lost' : 'silent' },
    kind: 'process',
    label: commandPreview,
    commandPreview,
    status: 'running',
    parentSessionId: sessionId,
    startedAt,
    pid,
    logPath: await logs.find({ taskId, tag, startedAt, hasLogFile }),
  };
  return { task: isLost ? { ...lostState(task), survivors: survivors.length } : task, tag, token };
}

/** What it was when its process died says nothing: it has failed with that. */
export function lostState(task: TaskElsewhere): TaskElsewhere {
  return {
    ...task,
    process: { ...task.process, reach: 'lost' },
    status: 'failed',
    timeoutReason: 'stale_worker',
    result: undefined,
    error: lostRecord(task),
  };
}

/** It has ended, and its process left, or forgot it, before it said how. */
export function endUnknown(task: TaskElsewhere): TaskElsewhere {
  const error = new BackgroundTaskError('process', `task ${task.id} ended, and its process left before it said how`, {
    code: 'TASK_END_UNKNOWN',
    hint: `A process that shuts its runtime down before it exits says how its tasks ended.${logHint(task)}`,
  });
  return { ...lostState(task), timeoutReason: undefined, error: error.toJSON() };
}

function logHint({ id, logPath }: TaskElsewhere): string {
  return logPath === undefined ? '' : ` How far it came is in its log: wakechart task logs ${id}.`;
}

function lostRecord(task: TaskElsewhere): ErrorRecord {
  const {
    id,
    process: { pid },
  } = task;
  const which = pid === undefined ? '' : ` ${pid}`;
  return new BackgroundTaskError('crash', `task ${id} was lost: process${which}, which ran it, died`, {
    code: 'TASK_LOST',
    hint: `The next runtime over the home ends what it left running, and forgets the task a day later.${logHint(task)}`,
    recoverable: true,
  }).toJSON();
}

async function isHostLost({ reason, host }: ReconciledProcessTree, hosts: Pick<HostLife, 'isAlive'>): Promise<boolean> {
  if (reason === 'elsewhere') return host?.token !== undefined && (await hosts.isAlive(host.token)) === false;
  return reason !== 'host_alive' && reason !== 'around_this_host' && reason !== 'unreadable';
}

/** Programs that are no task are on record under what they are, in words: `run 0192…`, `mcp server search`. */
export function isProgram(taskId: string): boolean {
  return taskId.includes(' ');
}

function quoted(id: unknown): string {
  return typeof id === 'string' ? JSON.stringify(id.slice(0, 100)) : typeof id;
}
