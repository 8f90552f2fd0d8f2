/** Takes back what was made of a worktree in which no agent has worked yet. */
import { lstat, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { movedRecord } from '../../machines/subagent/worktree-record.ts';
import type { WorktreeRecord } from '../../machines/subagent/worktree-record.ts';
import { deleteWhole } from './delete-walked.ts';
import { gitBeside, gitDirectoryOf } from './worktree-context.ts';
import type { WorktreeContext } from './worktree-context.ts';
import { commandNaming, usersOf } from './processes-inside.ts';
import { GitFailure } from './worktree-errors.ts';

export interface UndoOptions {
  /** Folder or branch were there before, and are not ours. */
  readonly isForeign: boolean;
  /** The same is tried again at once. */
  readonly keepsRecord?: boolean | undefined;
}

/** Never throws: what cannot be taken back stays in its record, for the next start to check. */
export async function undoCreation(
  context: WorktreeContext,
  record: WorktreeRecord,
  { isForeign, keepsRecord }: UndoOptions,
): Promise<void> {
  try {
    if (!isForeign) await takeBack(context, record);
    if (keepsRecord === true) return;
    await context.records.forget(record.id);
  } catch {
    await context.records.write(movedRecord(record, 'CREATE_UNKNOWN')).catch(() => undefined);
  }
  if (keepsRecord !== true) await context.owners.release(record.id).catch(() => undefined);
}

async function takeBack(context: WorktreeContext, record: WorktreeRecord): Promise<void> {
  await deleteWhole(record.worktreePath);
  if (await isGitFolderOf(record)) await deleteWhole(gitDirectoryOf(record));
  await dropBranch(context, record, record.baseRevision);
}

/**
 * Removes the lock that a killed git left on the branch of a worktree whose owner is gone: with it no commit could be
 * made there any more. No other worktree has a branch of this name, so no git but one that still works for this one can
 * hold it; where a process lives in there, it stays.
 */
export async function removeBranchLock({ commonDirectory, branchName, worktreePath }: WorktreeRecord): Promise<void> {
  const lock = join(commonDirectory, 'refs/heads', `${branchName}.lock`);
  const isLocked = (await lstat(lock).catch(() => undefined)) !== undefined;
  if (!isLocked || commandNaming(worktreePath) !== undefined || (await usersOf(worktreePath)).length > 0) return;
  await rm(lock, { force: true });
}

/** Whether git's folder for it is its own: git may have given the name to another. */
export async function isGitFolderOf(record: WorktreeRecord): Promise<boolean> {
  const path = await readFile(join(gitDirectoryOf(record), 'gitdir'), 'utf8').catch(() => undefined);
  return path?.replace(/\n$/, '') === join(record.worktreePath, '.git');
}

/** Deletes its branch if it is at `tip`; one that is not there is fine. @returns whether it is gone */
export async function dropBranch(context: WorktreeContext, record: WorktreeRecord, tip: string): Promise<boolean> {
  try {
    await gitBeside(context, record, ['update-ref', '-d', `refs/heads/${record.branchName}`, tip], { writes: true });
    return true;
  } catch (error) {
    if (!(error instanceof GitFailure) || error.kind !== 'failed') throw error;
    const found = await branchTip(context, record);
    if (found === tip) throw error;
    return found === undefined;
  }
}

/** The commit of its branch; undefined when there is no such branch. */
export async function branchTip(
  context: WorktreeContext,
  record: Pick<WorktreeRecord, 'commonDirectory' | 'branchName'>,
): Promise<string | undefined> {
  const output = await gitBeside(context, record, [
    'for-each-ref',
    '--format=%(objectname) %(refname)',
    `refs/heads/${record.branchName}`,
  ]);
  const line = output.split('\n').find((each) => each.endsWith(` refs/heads/${record.branchName}`));
  return line?.split(' ')[0];
}
