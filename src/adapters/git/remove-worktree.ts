/**
 * Removes a worktree in which nothing could be lost.
 *
 * Between a check and a deletion a process may write. So the folder is moved aside first, where no process that knows
 * its path writes any more, and where none may have anything of it open. It is checked there, and then exactly the
 * files that were seen are deleted. What comes in even so keeps the folder. Branch and git's own folder go last; the
 * record goes when everything else is gone.
 */
import { randomUUID } from 'node:crypto';
import { cp, lstat, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf, RuntimeError } from '../../machines/errors.ts';
import type { WorktreeFinding, WorktreeInspection } from '../../machines/subagent/worktree-findings.ts';
import type { WorktreeRecord } from '../../machines/subagent/worktree-record.ts';
import { movedRecord } from '../../machines/subagent/worktree-record.ts';
import { hasCode, unlessCode } from '../system/error-codes.ts';
import { makeFolder } from '../system/whole-files.ts';
import { deleteWalked, deleteWhole } from './delete-walked.ts';
import type { FolderWalk } from './folder-walk.ts';
import { walkFolder } from './folder-walk.ts';
import type { WorktreeCheck } from './check.ts';
import { checkWorktree, runtimeFoldersIn } from './check.ts';
import { gitIn } from './private-git.ts';
import { usersOf } from './processes-inside.ts';
import { branchTip, dropBranch, isGitFolderOf } from './undo-creation.ts';
import type { WorktreeContext } from './worktree-context.ts';
import { asideOf, gitDirectoryOf, RUNTIME_FOLDER } from './worktree-context.ts';
import { inUse, notClean, notRemoved } from './worktree-errors.ts';

// Takes what the runtime wrote into a worktree out of it before it goes: outputs and attachments belong to the session,
// not to the checkout.

/** In the runtime's folder: what is laid out for each session, and the page that says so. */
const ARTIFACTS = ['sessions', 'index.md'];

/** @returns where they lie now. @throws when they cannot be taken out: they are all there then */
async function takeRuntimeFiles(record: WorktreeRecord, place: string): Promise<readonly string[]> {
  const kept: string[] = [];
  for (const path of await runtimeFoldersIn(record, place)) {
    const folder = join(place, path);
    await removeArtifacts(folder);
    if (await isEmpty(folder)) {
      await rm(folder, { recursive: true });
    } else {
      const target = await freeName(
        record.keepFilesIn === undefined ? `${record.worktreePath}.files` : join(record.keepFilesIn, RUNTIME_FOLDER),
      );
      await move(folder, target);
      kept.push(target);
    }
  }
  return kept;
}

/** What tells an agent of its session is made anew wherever the session goes on. */
async function removeArtifacts(folder: string): Promise<void> {
  for (const name of ARTIFACTS) await rm(join(folder, name), { recursive: true, force: true });
}

/** Nothing but the line that hides it from git. */
async function isEmpty(folder: string): Promise<boolean> {
  const names = await readdir(folder);
  return (
    names.every((name) => name === '.gitignore') &&
    (names.length === 0 || (await lstat(join(folder, '.gitignore'))).size <= 2)
  );
}

async function freeName(wanted: string): Promise<string> {
  await makeFolder(dirname(wanted));
  const isTaken = (await lstat(wanted).catch(() => undefined)) !== undefined;
  return isTaken ? `${wanted}-${randomUUID().slice(0, 8)}` : wanted;
}

async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error;
    // To another disk: whole under another name first, so that no reader takes half of it for all.
    const partial = `${to}.${randomUUID()}.partial`;
    try {
      await cp(from, partial, {
        recursive: true,
        verbatimSymlinks: true,
        preserveTimestamps: true,
        errorOnExist: true,
        force: false,
      });
      await rename(partial, to);
    } catch (cause) {
      await rm(partial, { recursive: true, force: true });
      throw cause;
    }
    await rm(from, { recursive: true });
  }
}

export interface RemoveOptions {
  /** A person said that what is in it may be lost. */
  readonly mayLose?: boolean | undefined;
  readonly mergedIsFine?: boolean | undefined;
  /** It may well have work in it: it is checked where it lies before it is moved. */
  readonly checksFirst?: boolean | undefined;
}

/**
 * Its owner is this process. @throws RuntimeError WORKTREE_NOT_CLEAN, WORKTREE_IN_USE, WORKTREE_NOT_REMOVED: it is
 * preserved then, with all that is in it
 */
export async function removeWorktree(
  context: WorktreeContext,
  record: WorktreeRecord,
  options: RemoveOptions = {},
): Promise<void> {
  const inspecting = movedRecord(record, 'INSPECT');
  const isThere = (await lstat(record.worktreePath).catch(() => undefined))?.isDirectory() === true;
  if (options.checksFirst === true || !isThere)
    await refuseDirty(context, inspecting, await checkWorktree(context, record, options), options);
  const user = (await usersOf(record.worktreePath))[0];
  if (user !== undefined) {
    await keep(context, movedRecord(inspecting, 'DIRTY'), {
      findings: [{ kind: 'in_use', text: user }],
      nextAction: `End that first, then: wakechart worktree remove ${record.id}`,
    });
    throw inUse(record.id, user);
  }
  await removeAside(context, inspecting, options);
}

/**
 * @throws RuntimeError WORKTREE_NOT_CLEAN, WORKTREE_IN_USE when there is a reason to keep it; that is written down then
 */
async function refuseDirty(
  context: WorktreeContext,
  inspecting: WorktreeRecord,
  { inspection }: WorktreeCheck,
  { mayLose }: RemoveOptions,
): Promise<void> {
  const { findings, nextAction } = inspection;
  const user = findings.find(({ kind }) => kind === 'in_use');
  if (mayLose === true ? user === undefined : inspection.isClean) return;
  await keep(context, movedRecord(inspecting, 'DIRTY'), inspection);
  if (user !== undefined && (mayLose === true || findings.every(({ kind }) => kind === 'in_use')))
    throw inUse(inspecting.id, user.text);
  throw notClean(inspecting.id, findings, nextAction);
}

/** Writes down that it stays, and releases it. */
export async function keep(
  context: WorktreeContext,
  preserved: WorktreeRecord,
  { findings, nextAction }: Pick<WorktreeInspection, 'findings' | 'nextAction'>,
): Promise<void> {
  const { nextAction: _before, ...rest } = preserved;
  const copies = findings.map(({ kind, text, paths }) => ({
    kind,
    text,
    ...(paths === undefined ? {} : { paths: [...paths] }),
  }));
  await context.records.write({ ...rest, findings: copies, ...(nextAction === undefined ? {} : { nextAction }) });
  await context.owners.release(preserved.id);
}

async function removeAside(
  context: WorktreeContext,
  inspecting: WorktreeRecord,
  options: RemoveOptions,
): Promise<void> {
  const mayLose = options.mayLose === true;
  let record: WorktreeRecord = mayLose ? { ...inspecting, mayLose } : inspecting;
  try {
    await moveAside(record);
    const check = await checkWorktree(context, record, { ...options, place: asideOf(record) });
    const user = check.inspection.findings.find(({ kind }) => kind === 'in_use');
    if (user !== undefined) throw inUse(record.id, user.text);
    if (!mayLose && !check.inspection.isClean)
      throw notClean(record.id, check.inspection.findings, check.inspection.nextAction);
    const kept = await takeRuntimeFiles(record, asideOf(record));
    record = movedRecord(
      { ...record, findings: [], isVerified: true, ...(kept.length === 0 ? {} : { filesKeptIn: [...kept] }) },
      'CLEAN',
    );
    await context.records.write(record);
    await deleteAside(record, check.files, mayLose);
    await finishVerified(context, record, check.gitFiles, check.tip);
  } catch (error) {
    await restore(context, record, error);
    throw RuntimeError.is(error) ? error : notRemoved(record.id, error);
  }
}

/** Its files are gone; takes away what git still knows of it, and its record. */
export async function finishVerified(
  context: WorktreeContext,
  record: WorktreeRecord,
  gitFiles: FolderWalk,
  tip: string | undefined,
): Promise<void> {
  if (tip !== undefined && !(await dropBranch(context, record, tip))) {
    const now = await branchTip(context, record);
    throw new Error(`its branch ${record.branchName} was moved to ${now ?? 'nothing'} in the meantime`);
  }
  await deleteGitFolder(record, gitFiles);
  movedRecord(record, 'REMOVED');
  await context.records.forget(record.id);
  await context.owners.release(record.id);
}

async function moveAside(record: WorktreeRecord): Promise<void> {
  const aside = asideOf(record);
  if ((await lstat(aside).catch(() => undefined)) !== undefined)
    throw new Error(`there is something at ${aside} already`);
  await rename(record.worktreePath, aside).catch((error: unknown) => {
    // It was deleted before; only a person may say that this is fine.
    if (!hasCode(error, 'ENOENT') || record.mayLose !== true) throw error;
  });
}

async function deleteAside(record: WorktreeRecord, files: FolderWalk, mayLose: boolean): Promise<void> {
  if (mayLose) await deleteWhole(asideOf(record));
  else await deleteWalked(asideOf(record), files);
}

/** Of all worktrees that git may find missing only this one is its to forget. */
async function deleteGitFolder(record: WorktreeRecord, gitFiles: FolderWalk): Promise<void> {
  const folder = gitDirectoryOf(record);
  if (record.mayLose === true) {
    if (await isGitFolderOf(record)) await deleteWhole(folder);
  } else {
    await deleteWalked(folder, gitFiles).catch((error: unknown) => {
      if (!hasCode(error, 'ENOENT')) throw error;
    });
  }
  // As git does it: the folder of all of them goes with the last.
  await rmdir(dirname(folder)).catch(() => undefined);
}

/**
 * Puts everything back as far as it is there, and writes down that it stays. Never throws: the error that led here says
 * more.
 */
async function restore(context: WorktreeContext, record: WorktreeRecord, error: unknown): Promise<void> {
  const aside = asideOf(record);
  const isRefusal = RuntimeError.is(error) && error.code !== 'WORKTREE_NOT_REMOVED';
  const findings: WorktreeFinding[] = isRefusal
    ? []
    : [{ kind: 'unknown', text: `it could not be removed: ${messageOf(error)}` }];
  let nextAction = `See what stands in the way, then: wakechart worktree remove ${record.id}`;
  try {
    if ((await lstat(aside).catch(() => undefined)) !== undefined) {
      await putBack(record);
      // Files that were deleted are all in the commit.
      if (record.isVerified === true && record.mayLose !== true)
        await gitIn(context, record, ['checkout-index', '--all', '--quiet'], { writes: true });
    }
    const { inspection } = await checkWorktree(context, record);
    findings.push(...inspection.findings);
    nextAction = inspection.nextAction ?? nextAction;
  } catch (cause) {
    findings.push({ kind: 'unknown', text: `its files lie in ${aside}: ${messageOf(cause)}` });
  }
  const { isVerified: _verified, mayLose: _mayLose, ...rest } = record;
  await keep(context, movedRecord(rest, record.status === 'removing' ? 'REMOVE_FAILED' : 'DIRTY'), {
    findings,
    nextAction,
  }).catch(() => undefined);
}

/** Back to its path. @throws Error when something else has come to be there */
export async function putBack(record: WorktreeRecord): Promise<void> {
  const { worktreePath } = record;
  // A rename would replace an empty folder; what is in one that is not empty is not ours.
  if ((await lstat(worktreePath).catch(() => undefined)) !== undefined) await rmdir(worktreePath);
  await rename(asideOf(record), worktreePath);
  // The last file to be deleted: without it nothing in the folder says where it belongs.
  if (record.isVerified === true && record.mayLose !== true) {
    await writeFile(join(worktreePath, '.git'), `gitdir: ${gitDirectoryOf(record)}\n`, { flag: 'wx' }).catch(
      unlessCode('EEXIST'),
    );
  }
}

export function gitFolderWalk(record: WorktreeRecord): Promise<FolderWalk> {
  return walkFolder(gitDirectoryOf(record));
}
