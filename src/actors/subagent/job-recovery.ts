/**
 * Deals with the jobs of processes that are gone: each gets an end, says where its work lies, and the session it worked
 * for hears of it once.
 */
import { messageOf } from '../../machines/errors.ts';
import type { JobRecord } from '../../machines/subagent/job-record.ts';
import { sessionOf } from '../../machines/subagent/subagent-request.ts';
import type { BackgroundTaskState } from '../../machines/task/task-state.ts';
import { watchdogError } from '../../machines/task/watchdog.ts';
import { endedTask } from './job-end.ts';
import type { FoundJobRecord, JobRecords } from './job-records.ts';
import { endedJobOf } from './job-words.ts';
import type { SubagentLog } from './subagent-log.ts';
import type { KeptWorktree, WorktreeStore } from './worktree-adapter.ts';

/** What became of one record: plain data. */
export interface ReconciledJob {
  readonly jobId: string;
  /**
   * `settled`: it had no end; it has failed now. `finished`: its end was known, and is heard of now. `left`: its
   * process lives, or another one deals with it. `unreadable`: it stays for people to check. `failed`: the next
   * `reconcile` tries again.
   */
  readonly action: 'settled' | 'finished' | 'left' | 'unreadable' | 'failed';
  readonly reason?: string | undefined;
  readonly worktreePath?: string | undefined;
  readonly branchName?: string | undefined;
  readonly nextAction?: string | undefined;
}

export interface JobRecoveryOptions {
  readonly records: JobRecords;
  readonly log?: SubagentLog | undefined;
  readonly worktrees?: Pick<WorktreeStore, 'list'> | undefined;
  readonly now: () => string;
  /** Whether this manager runs the job itself. */
  readonly isOwn: (jobId: string) => boolean;
  /** Takes a job that has ended. */
  readonly keep: (task: BackgroundTaskState) => void;
}

type Worktrees = () => Promise<readonly KeptWorktree[]>;

/** One report for each job that was not whole. @throws what listing the records throws */
export async function recoverJobs(options: JobRecoveryOptions): Promise<readonly ReconciledJob[]> {
  const found = await options.records.list();
  // Looked up once for all, and only when it is needed.
  let worktrees: Promise<readonly KeptWorktree[]> | undefined;
  const kept: Worktrees | undefined =
    options.worktrees === undefined
      ? undefined
      : () => (worktrees ??= options.worktrees?.list() ?? Promise.resolve([]));
  const reports: ReconciledJob[] = [];
  for (const each of found) {
    const report = await recover(each, kept, options);
    if (report !== undefined) reports.push(report);
  }
  return reports;
}

async function recover(
  found: FoundJobRecord,
  worktrees: Worktrees | undefined,
  options: JobRecoveryOptions,
): Promise<ReconciledJob | undefined> {
  if (found.kind === 'unreadable') {
    // Reported once, and set aside for people; one that cannot be is reported again.
    await options.records.takeOver(found.jobId).catch(() => undefined);
    return { jobId: found.jobId, action: 'unreadable', reason: found.reason };
  }
  const { record, owner, elsewhere } = found;
  const { jobId } = record;
  if (options.isOwn(jobId)) return undefined;
  if (record.stage === 'ended') {
    options.keep(record.task);
    return undefined;
  }
  if (owner !== 'gone') return { jobId, action: 'left', reason: 'the process that runs it lives' };
  if (record.stage === 'accepted' && elsewhere === undefined && (await isWorktreeInHand(record.task, worktrees)))
    return { jobId, action: 'left', reason: 'another process deals with its worktree, and says then how it ended' };
  try {
    const own = await options.records.takeOver(jobId);
    if (own === undefined) return { jobId, action: 'left', reason: 'another process deals with it' };
    return await ended(
      own,
      elsewhere === undefined ? (task) => withWorktree(task, worktrees) : (task) => lyingElsewhere(task, elsewhere),
      options,
    );
  } catch (error) {
    return { jobId, action: 'failed', reason: messageOf(error) };
  }
}

async function ended(
  record: JobRecord,
  withPlace: (task: BackgroundTaskState) => BackgroundTaskState | Promise<BackgroundTaskState>,
  { records, log, now, keep }: JobRecoveryOptions,
): Promise<ReconciledJob> {
  const isKnown = record.stage !== 'accepted';
  const task = isKnown ? record.task : staleTask(await withPlace(record.task), now());
  const ending: JobRecord = { ...record, stage: 'ending', task };
  if (record.stage !== 'ended') {
    if (!isKnown) await records.write(ending);
    await log?.ended(endedJobOf(task));
    await records.write({ ...ending, stage: 'ended' });
  }
  keep(task);
  const { worktreePath, branchName, worktreeNextAction: nextAction } = task;
  return { jobId: record.jobId, action: isKnown ? 'finished' : 'settled', worktreePath, branchName, nextAction };
}

function staleTask(task: BackgroundTaskState, now: string): BackgroundTaskState {
  // The record is written before the work begins: only what was noted since tells that it had.
  const hasRun = task.status !== 'queued' || task.startedAt !== undefined || task.worktreePath !== undefined;
  const what = hasRun
    ? 'its process died while it ran'
    : 'its process died while it ran, or while it waited for its turn';
  return endedTask(task, { kind: 'failed', error: watchdogError('stale_worker', what) }, now);
}

/** What becomes of it cannot be told before it has. The process that deals with it sees to its job next. */
async function isWorktreeInHand(task: BackgroundTaskState, worktrees: Worktrees | undefined): Promise<boolean> {
  if (task.isolation !== 'worktree' || worktrees === undefined) return false;
  // What cannot be listed keeps no job from its end.
  const found = worktreeOf(task, await worktrees().catch(() => []));
  return found !== undefined && found.isOwned && found.status !== 'preserved';
}

function worktreeOf(task: BackgroundTaskState, kept: readonly KeptWorktree[]): KeptWorktree | undefined {
  const key = sessionOf(task);
  return (
    kept.find((each) => each.worktreePath === task.worktreePath) ??
    kept.find((each) => key !== undefined && each.key === key && each.jobId === task.id)
  );
}

/** What becomes of its worktree is seen to on its own machine, should that come back. */
function lyingElsewhere(task: BackgroundTaskState, machine: string): BackgroundTaskState {
  if (task.worktreePath === undefined) return task;
  return {
    ...task,
    worktreeStatus: 'orphaned',
    worktreeNextAction: `Its worktree lies on ${machine}; run wakechart worktree list there.`,
  };
}

/** The task with what the keeper of worktrees knows of its worktree. */
async function withWorktree(task: BackgroundTaskState, worktrees: Worktrees | undefined): Promise<BackgroundTaskState> {
  if (task.isolation !== 'worktree') return task;
  if (worktrees === undefined) return task.worktreePath === undefined ? task : { ...task, worktreeStatus: 'orphaned' };
  let kept: readonly KeptWorktree[];
  try {
    kept = await worktrees();
  } catch (error) {
    // Better an end that does not know than none. What was on record stays said.
    return {
      ...task,
      worktreeStatus: 'orphaned',
      worktreeNextAction: `Run wakechart worktree list, which could not be done here: ${messageOf(error)}`,
    };
  }
  const found = worktreeOf(task, kept);
  if (found === undefined)
    return task.worktreePath === undefined
      ? task
      : { ...task, worktreeStatus: 'removed', worktreeNextAction: undefined };
  return {
    ...task,
    worktreePath: found.worktreePath,
    branchName: found.branchName,
    worktreeStatus: found.status,
    ...(found.nextAction === undefined ? {} : { worktreeNextAction: found.nextAction }),
    ...(found.baseRevision === undefined ? {} : { worktreeBaseRevision: found.baseRevision }),
    ...(found.parentStatus === undefined ? {} : { parentWorktreeStatus: found.parentStatus }),
  };
}
