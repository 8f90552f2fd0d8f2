/**
 * Takes what the runtime wrote into a worktree out of it before it goes: outputs and attachments belong to the session,
 * not to the checkout.
 */
import { randomUUID } from 'node:crypto';
import { cp, lstat, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { WorktreeRecord } from '../../machines/subagent/worktree-record.ts';
import { hasCode } from '../system/error-codes.ts';
import { makeFolder } from '../system/whole-files.ts';
import { RUNTIME_FOLDER } from './worktree-context.ts';
import { runtimeFoldersIn } from './look.ts';

/** In the runtime's folder: what is laid out for each session, and the page that says so. */
const ARTIFACTS = ['sessions', 'index.md'];

/** @returns where they lie now. @throws when they cannot be taken out: they are all there then */
export async function takeRuntimeFiles(record: WorktreeRecord, place: string): Promise<readonly string[]> {
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
