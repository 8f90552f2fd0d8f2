/**
 * Removes a worktree in which nothing could be lost.
 *
 * Between a look and a deletion somebody may write. So the folder is moved aside first, where nobody who knows its path writes any more, and is looked at
 * again there: it must be what it was, file by file. Then exactly the files that were seen are deleted. What comes in even so keeps the folder.
 * Branch and git's own folder go last; the record goes when everything else is gone.
 */
import { lstat, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { WorktreeFinding, WorktreeInspection } from '../../machines/subagent/worktree-findings.ts';
import { movedRecord } from '../../machines/subagent/worktree-record.ts';
import type { WorktreeRecord } from '../../machines/subagent/worktree-record.ts';
import { deleteWalked } from './delete-walked.ts';
import { codeOf, differenceOf, walkFolder } from './folder-walk.ts';
import type { FolderWalk } from './folder-walk.ts';
import { shownPath } from './git-command.ts';
import { asideOf, gitDirectoryOf, gitIn } from './house.ts';
import type { WorktreeHouse } from './house.ts';
import { lookAt } from './look.ts';
import type { WorktreeLook } from './look.ts';
import { readSettings } from './repository.ts';
import { usersOf } from './processes-inside.ts';
import { takeRuntimeFiles } from './runtime-files.ts';
import { branchTip, dropBranch, isGitFolderOf } from './undo-creation.ts';
import { inUse, notClean, notRemoved } from './worktree-errors.ts';

export interface RemoveOptions {
  /** A person said that what is in it may be lost. */
  readonly mayLose?: boolean | undefined;
  readonly mergedIsFine?: boolean | undefined;
}

/** Its owner is this process. @throws RuntimeError WORKTREE_NOT_CLEAN, WORKTREE_IN_USE, WORKTREE_NOT_REMOVED: it is preserved then, with all that is in it */
export async function removeWorktree(house: WorktreeHouse, record: WorktreeRecord, options: RemoveOptions = {}): Promise<void> {
  const inspecting = movedRecord(record, 'INSPECT');
  const look = await lookAt(house, record, options);
  const user = look.inspection.findings.find(({ kind }) => kind === 'in_use');
  if (options.mayLose === true ? user !== undefined : !look.inspection.isClean) {
    await keep(house, movedRecord(inspecting, 'DIRTY'), look.inspection);
    if (user !== undefined && look.inspection.findings.every(({ kind }) => kind === 'in_use' || options.mayLose === true)) throw inUse(record.id, user.text);
    throw notClean(record.id, look.inspection.findings, look.inspection.nextAction);
  }
  const removing = movedRecord({ ...inspecting, findings: [], ...(options.mayLose === true ? { mayLose: true } : {}) }, 'CLEAN');
  await house.records.write(removing);
  await finishRemoval(house, removing, look, options);
}

/** Writes down that it stays, and lets go of it. */
export async function keep(house: WorktreeHouse, preserved: WorktreeRecord, { findings, nextAction }: Pick<WorktreeInspection, 'findings' | 'nextAction'>): Promise<void> {
  const { nextAction: _before, ...rest } = preserved;
  const copies = findings.map(({ kind, text, paths }) => ({ kind, text, ...(paths === undefined ? {} : { paths: [...paths] }) }));
  await house.records.write({ ...rest, findings: copies, ...(nextAction === undefined ? {} : { nextAction }) });
  await house.owners.release(preserved.id);
}

async function finishRemoval(house: WorktreeHouse, removing: WorktreeRecord, look: WorktreeLook, { mayLose }: RemoveOptions): Promise<void> {
  let record = removing;
  try {
    const kept = await takeRuntimeFiles(record, record.worktreePath).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return [];
      throw error;
    });
    await moveAside(record);
    const [files, gitFiles] = await seenAgain(record, look, mayLose === true);
    record = { ...record, isVerified: true, ...(kept.length === 0 ? {} : { filesKeptIn: [...kept] }) };
    await house.records.write(record);
    await deleteAside(record, files, mayLose === true);
    await finishVerified(house, record, gitFiles, look.tip);
  } catch (error) {
    await restore(house, record, error);
    throw RuntimeError.is(error) ? error : notRemoved(record.id, error);
  }
}

/** Its files are gone; takes away what git still knows of it, and its record. */
export async function finishVerified(house: WorktreeHouse, record: WorktreeRecord, gitFiles: FolderWalk, tip: string | undefined): Promise<void> {
  if (tip !== undefined && !(await dropBranch(house, record, tip))) {
    const now = await branchTip(house, record);
    throw new Error(`its branch ${record.branchName} was moved to ${now ?? 'nothing'} in the meantime`);
  }
  await deleteGitFolder(record, gitFiles);
  movedRecord(record, 'REMOVED');
  await house.records.forget(record.id);
  await house.owners.release(record.id);
}

async function moveAside(record: WorktreeRecord): Promise<void> {
  const aside = asideOf(record);
  if ((await lstat(aside).catch(() => undefined)) !== undefined) throw new Error(`there is something at ${aside} already`);
  await rename(record.worktreePath, aside).catch((error: unknown) => {
    // Somebody deleted it before; only a person may say that this is fine.
    if (codeOf(error) !== 'ENOENT' || record.mayLose !== true) throw error;
  });
}

/** @throws Error when anything is not as it was when it was looked at */
async function seenAgain(record: WorktreeRecord, look: WorktreeLook, mayLose: boolean): Promise<readonly [files: FolderWalk, gitFiles: FolderWalk]> {
  const aside = asideOf(record);
  const users = await usersOf(aside);
  if (users[0] !== undefined) throw inUse(record.id, users[0]);
  const [files, gitFiles] = [await walkFolder(aside), await walkFolder(gitDirectoryOf(record))];
  if (mayLose) return [files, gitFiles];
  const changed = differenceOf(look.files, files) ?? differenceOf(look.gitFiles, gitFiles);
  const problem = files.problems[0] ?? gitFiles.problems[0] ?? (changed === undefined ? undefined : `${JSON.stringify(shownPath(changed))} was changed while it was being removed`);
  if (problem !== undefined) throw notClean(record.id, [{ kind: 'unknown', text: problem }]);
  return [files, gitFiles];
}

async function deleteAside(record: WorktreeRecord, files: FolderWalk, mayLose: boolean): Promise<void> {
  if (mayLose) await rm(asideOf(record), { recursive: true, force: true });
  else await deleteWalked(asideOf(record), files);
}

/** Of all worktrees that git may find missing only this one is its to forget. */
async function deleteGitFolder(record: WorktreeRecord, gitFiles: FolderWalk): Promise<void> {
  const folder = gitDirectoryOf(record);
  if (record.mayLose === true) {
    if (await isGitFolderOf(record)) await rm(folder, { recursive: true, force: true });
  } else {
    await deleteWalked(folder, gitFiles).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error;
    });
  }
  // As git does it: the folder of all of them goes with the last.
  await rmdir(dirname(folder)).catch(() => undefined);
}

/** Puts everything back as far as it is there, and writes down that it stays. Never throws: the error that led here says more. */
async function restore(house: WorktreeHouse, record: WorktreeRecord, error: unknown): Promise<void> {
  const aside = asideOf(record);
  const findings: WorktreeFinding[] = [{ kind: 'unknown', text: `it could not be removed: ${messageOf(error)}` }];
  let nextAction = `See what stands in the way, then: wakechart worktree remove ${record.id}`;
  try {
    if ((await lstat(aside).catch(() => undefined)) !== undefined) {
      await putBack(record);
      // Files that were deleted are all in the commit.
      if (record.isVerified === true && record.mayLose !== true) await gitIn(house, record, ['checkout-index', '--all', '--quiet'], { writes: true, filters: await allFilters(house, record) });
    }
    const { inspection } = await lookAt(house, record);
    findings.push(...inspection.findings);
    nextAction = inspection.nextAction ?? nextAction;
  } catch (cause) {
    findings.push({ kind: 'unknown', text: `its files lie in ${aside}: ${messageOf(cause)}` });
  }
  const { isVerified: _verified, mayLose: _mayLose, ...rest } = record;
  await keep(house, movedRecord(rest, 'REMOVE_FAILED'), { findings, nextAction }).catch(() => undefined);
}

/** Back to its path. @throws Error when something else has come to be there */
export async function putBack(record: WorktreeRecord): Promise<void> {
  const { worktreePath } = record;
  // A rename would replace an empty folder; what is in one that is not empty is somebody's.
  if ((await lstat(worktreePath).catch(() => undefined)) !== undefined) await rmdir(worktreePath);
  await rename(asideOf(record), worktreePath);
  // The last file to be deleted: without it nothing in the folder says where it belongs.
  if (record.isVerified === true && record.mayLose !== true) {
    await writeFile(join(worktreePath, '.git'), `gitdir: ${gitDirectoryOf(record)}\n`, { flag: 'wx' }).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error;
    });
  }
}

async function allFilters(house: WorktreeHouse, record: WorktreeRecord): Promise<readonly string[]> {
  return (await readSettings(house.git, dirname(record.worktreePath), undefined, gitDirectoryOf(record))).filters;
}

export function gitFolderWalk(record: WorktreeRecord): Promise<FolderWalk> {
  return walkFolder(gitDirectoryOf(record));
}
