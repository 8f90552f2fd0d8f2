/** Jobs as the logs of the sessions that they work for are told of them. */
import type { JobRecord } from '../../machines/subagent/job-record.ts';
import { continuesSession, sessionOf } from '../../machines/subagent/subagent-request.ts';
import type { WorktreeHandoff } from '../../machines/subagent/worktree-findings.ts';
import type { BackgroundTaskState } from '../../machines/task/task-state.ts';
import type { EndedJob, StartedJob } from './subagent-log.ts';

export function startedJobOf({ request, task }: JobRecord): StartedJob {
  const { prompt } = request;
  return {
    jobId: task.id,
    sessionId: sessionOf(task) ?? '',
    parentSessionId: task.parentSessionId,
    agentType: task.agentType ?? task.label,
    label: task.label,
    prompt: typeof prompt === 'string' ? prompt : '',
    isolation: task.isolation,
  };
}

/** @param task terminal */
export function endedJobOf(task: BackgroundTaskState): EndedJob {
  const { id, status, result, error, timeoutReason, parentSessionId, agentType, label } = task;
  const outputPath = result?.metadata?.['outputPath'];
  return {
    jobId: id,
    sessionId: sessionOf(task) ?? '',
    parentSessionId,
    agentType: agentType ?? label,
    status: status === 'completed' || status === 'cancelled' ? status : 'failed',
    output: result?.output,
    outputPath: typeof outputPath === 'string' ? outputPath : undefined,
    error,
    timeoutReason,
    worktree: handoffOf(task),
    ...(continuesSession(task) ? { continues: true } : {}),
  };
}

const STATUSES: readonly WorktreeHandoff['worktreeStatus'][] = [
  'creating',
  'ready',
  'inspecting',
  'removing',
  'removed',
  'preserved',
  'orphaned',
];

/** Where the work of a job lies; undefined when it had no worktree. */
export function handoffOf(task: BackgroundTaskState): WorktreeHandoff | undefined {
  const { worktreePath, branchName, worktreeBaseRevision, parentWorktreeStatus, worktreeNextAction } = task;
  if (worktreePath === undefined || branchName === undefined) return undefined;
  return {
    worktreePath,
    branchName,
    ...(worktreeBaseRevision === undefined ? {} : { baseRevision: worktreeBaseRevision }),
    ...(parentWorktreeStatus === undefined ? {} : { parentStatus: parentWorktreeStatus }),
    // What no record speaks of is there, as far as is known.
    worktreeStatus: STATUSES.find((status) => status === task.worktreeStatus) ?? 'preserved',
    ...(worktreeNextAction === undefined ? {} : { worktreeNextAction }),
  };
}
