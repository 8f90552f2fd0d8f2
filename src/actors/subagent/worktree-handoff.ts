/**
 * The handoff of a worktree in the forms in which it is handed over: as progress, beside a result, and in the details
 * of an error.
 */
import type { WorktreeHandoff, WorktreeInspection } from '../../machines/subagent/worktree-findings.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { BackgroundTaskProgress } from '../../machines/task/task-state.ts';
import type { PreparedSubagentWorktree } from './worktree-adapter.ts';

/** What goes beside a result or into the details of an error. */
export function handoffMetadata(handoff: WorktreeHandoff): Readonly<Record<string, unknown>> {
  const { worktreePath, branchName, worktreeStatus, worktreeNextAction, baseRevision, parentStatus } = handoff;
  return {
    worktreePath,
    branchName,
    worktreeStatus,
    ...(worktreeNextAction === undefined ? {} : { worktreeNextAction }),
    ...(baseRevision === undefined ? {} : { baseRevision }),
    ...(parentStatus === undefined ? {} : { parentStatus }),
  };
}

/** What the state of the task shows. A next action that is not there is taken back. */
export function handoffProgress({
  worktreePath,
  branchName,
  worktreeStatus,
  worktreeNextAction,
  baseRevision,
  parentStatus,
}: WorktreeHandoff): BackgroundTaskProgress {
  return {
    worktreePath,
    branchName,
    worktreeStatus,
    worktreeNextAction,
    worktreeBaseRevision: baseRevision,
    parentWorktreeStatus: parentStatus,
  };
}

export function handoffOfWorktree(
  { worktreePath, branchName, baseRevision, parentStatus }: PreparedSubagentWorktree,
  worktreeStatus: WorktreeHandoff['worktreeStatus'],
  worktreeNextAction: string | undefined,
): WorktreeHandoff {
  return {
    worktreePath,
    branchName,
    ...(baseRevision === undefined ? {} : { baseRevision }),
    ...(parentStatus === undefined ? {} : { parentStatus }),
    worktreeStatus,
    ...(worktreeNextAction === undefined ? {} : { worktreeNextAction }),
  };
}

/** What to do with a worktree that stays, where its adapter does not say. */
export function nextActionOf(
  { worktreePath, branchName, repoRoot }: PreparedSubagentWorktree,
  { nextAction }: Pick<WorktreeInspection, 'nextAction'>,
): string {
  return (
    nextAction ??
    `Check it with: git -C ${quoted(worktreePath)} status. What is committed there comes home with: git -C ${quoted(repoRoot)} merge ${quoted(branchName)}`
  );
}

/** The error with more in its details; its category and code stay what they are. */
export function withDetails(thrown: unknown, more: Readonly<Record<string, unknown>>): BackgroundTaskError {
  const { category, message, code, hint, details, recoverable } = BackgroundTaskError.from(thrown, 'runner');
  return new BackgroundTaskError(category, message, {
    code,
    hint,
    details: { ...details, ...more },
    recoverable,
    cause: thrown,
  });
}

/** As one word of a POSIX shell. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
