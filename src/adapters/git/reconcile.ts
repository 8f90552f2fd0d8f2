/**
 * Deals with the worktrees of processes that are gone: removes what has nothing in it, keeps and reports the rest.
 * Several may do it at once.
 */
import { readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReconcileWorktreesOptions, ReconciledWorktree } from '../../actors/subagent/worktree-adapter.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { movedRecord } from '../../machines/subagent/worktree-record.ts';
import type { WorktreeRecord } from '../../machines/subagent/worktree-record.ts';
import { isThere } from '../system/whole-files.ts';
import { deleteWalked, deleteWhole } from './delete-walked.ts';
import { endHalfMade } from './half-made.ts';
import { asideOf, gitDirectoryOf } from './worktree-context.ts';
import type { WorktreeContext } from './worktree-context.ts';
import { checkWorktree } from './check.ts';
import type { UnreadableRecord } from './record-files.ts';
import { finishVerified, gitFolderWalk, keep, putBack, removeWorktree } from './remove-worktree.ts';
import { branchTip, dropBranch, removeBranchLock } from './undo-creation.ts';

type End = Pick<ReconciledWorktree, 'action' | 'reason'>;

export async function reconcileWorktrees(
  context: WorktreeContext,
  { isAwaited = async () => false }: ReconcileWorktreesOptions = {},
): Promise<readonly ReconciledWorktree[]> {
  const { records, unreadable } = await context.records.list();
  const ends: ReconciledWorktree[] = [];
  for (const bad of unreadable) ends.push(await setAside(context, bad));
  for (const record of records) {
    const isLeft = record.key !== undefined && (await isAwaited(record.key));
    ends.push(
      isLeft
        ? reported(record, { action: 'left', reason: 'the session that works in it is going to go on' })
        : await reconcileOne(context, record),
    );
  }
  await context.owners.sweep(new Set([...records, ...unreadable].map(({ id }) => id)));
  await context.records.sweep(Date.now());
  return ends;
}

async function setAside(context: WorktreeContext, bad: UnreadableRecord): Promise<ReconciledWorktree> {
  const where = await context.records.setAside(bad).then(
    (name) => `it was set aside as ${name}`,
    (error: unknown) => `it could not be set aside: ${messageOf(error)}`,
  );
  const place = {
    id: bad.id,
    jobId: bad.id,
    worktreePath: join(context.worktreesDirectory, bad.id),
    branchName: `${context.branchPrefix}/${bad.id}`,
  };
  return {
    ...place,
    action: 'preserved',
    reason: `${bad.problem}; ${where}`,
    nextAction: `Check the record and at ${place.worktreePath}; nothing of the worktree was changed.`,
  };
}

async function reconcileOne(context: WorktreeContext, listed: WorktreeRecord): Promise<ReconciledWorktree> {
  if (listed.status === 'preserved')
    return reported(listed, { action: 'preserved', reason: listed.findings.map(({ text }) => text).join('; ') });
  const holder = (await context.owners.holder(listed.id)) ?? (await context.owners.take(listed.id));
  if (holder !== undefined) return reported(listed, { action: 'left', reason: holder.by });
  let record: WorktreeRecord | undefined;
  try {
    // Another may have dealt with it since it was listed.
    record = await context.records.read(listed.id);
    if (record === undefined || record.status === 'preserved') {
      await context.owners.release(listed.id);
      return reported(
        record ?? listed,
        record === undefined
          ? { action: 'forgotten', reason: 'another process has dealt with it' }
          : { action: 'preserved' },
      );
    }
    const end = await endOf(context, record);
    return reported((await context.records.read(record.id)) ?? record, end);
  } catch (error) {
    await context.owners.release(listed.id).catch(() => undefined);
    return reported(record ?? listed, { action: 'preserved', reason: messageOf(error) });
  }
}

function reported({ id, jobId, worktreePath, branchName, nextAction }: WorktreeRecord, end: End): ReconciledWorktree {
  const isGone = end.action === 'removed' || end.action === 'forgotten';
  return { id, jobId, worktreePath, branchName, ...end, ...(nextAction === undefined || isGone ? {} : { nextAction }) };
}

/** @param record one that this process owns */
export async function endOf(context: WorktreeContext, record: WorktreeRecord): Promise<End> {
  await removeBranchLock(record);
  if (record.status === 'creating') return endHalfMade(context, record);
  const isAside = await isThere(asideOf(record));
  if (record.isVerified === true && !(await isThere(record.worktreePath))) return endVerified(context, record, isAside);
  if (isAside) await putBack(record);
  const lost = record.status === 'orphaned' ? record : movedRecord(record, 'OWNER_LOST');
  if (!(await isThere(record.worktreePath)) && !(await isThere(gitDirectoryOf(record))))
    return endVanished(context, lost);
  try {
    await removeWorktree(context, withoutMarks(lost), { checksFirst: true });
    return { action: 'removed', reason: 'there was nothing in it' };
  } catch (error) {
    if (!RuntimeError.is(error)) throw error;
    return { action: 'preserved', reason: error.message };
  }
}

function withoutMarks({ isVerified: _verified, mayLose: _mayLose, ...record }: WorktreeRecord): WorktreeRecord {
  return record;
}

/** Its removal was interrupted after everything had been seen to be replaceable. Only what is that still is deleted. */
async function endVerified(context: WorktreeContext, record: WorktreeRecord, isAside: boolean): Promise<End> {
  const aside = asideOf(record);
  if (isAside && record.mayLose === true) await deleteWhole(aside);
  else if (isAside && (await readdir(aside)).length === 0) await rmdir(aside);
  else if (isAside) {
    const check = await checkWorktree(context, record, { place: aside, missingIsFine: true });
    if (!check.inspection.isClean) {
      await putBack(record);
      await keep(context, movedRecord(withoutMarks(record), 'REMOVE_FAILED'), check.inspection);
      return { action: 'preserved', reason: check.inspection.findings.map(({ text }) => text).join('; ') };
    }
    await deleteWalked(aside, check.files);
  }
  const tip = await branchTip(context, record);
  // A branch that was moved since has commits: it stays, as any branch does.
  const removable = tip === record.baseRevision || record.mayLose === true ? tip : undefined;
  await finishVerified(context, record, await gitFolderWalk(record), removable);
  return { action: 'removed', reason: 'its removal was finished' };
}

/** Folder and git's knowledge of it are gone; whether the branch has anything is all that is left to tell. */
async function endVanished(context: WorktreeContext, record: WorktreeRecord): Promise<End> {
  const isRepositoryThere = await isThere(record.commonDirectory);
  if (isRepositoryThere && !(await dropBranch(context, record, record.baseRevision))) {
    const nextAction = `Merge what its branch has: git -C ${JSON.stringify(record.repoRoot)} merge ${record.branchName}`;
    await keep(context, movedRecord(record, 'INSPECT', 'DIRTY'), {
      findings: [{ kind: 'committed', text: 'its folder is gone; its branch has commits' }],
      nextAction,
    });
    return { action: 'preserved', reason: 'its folder is gone; its branch has commits' };
  }
  await context.records.forget(record.id);
  await context.owners.release(record.id);
  return {
    action: 'forgotten',
    reason: isRepositoryThere ? 'its folder was removed from outside' : 'its repository and its folder are gone',
  };
}
