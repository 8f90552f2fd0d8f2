/** The folder of a workspace in which the runtime keeps what the agent is to read, and what is not to be committed. */
import { Buffer } from 'node:buffer';
import { lstat } from 'node:fs/promises';
import type { HeldFolder } from '../system/held-folder.ts';
import type { Places } from './places.ts';
import { putWholeFile } from '../system/held-file.ts';

export const RUNTIME_FOLDER = '.wakechart-runtime';

const IGNORE_FILE = '.gitignore';
/** This file too: nothing of the folder shows in the repository of the workspace. */
const EVERYTHING = Buffer.from('*\n');

/** Sees to it that git passes over the runtime folder, which is open. What a user put there stays. */
async function keepOutOfGit(runtimeFolder: HeldFolder): Promise<void> {
  const present = await lstat(runtimeFolder.at(IGNORE_FILE)).catch(() => undefined);
  if (present !== undefined) return;
  // An output that could be committed by mistake is better than none.
  await putWholeFile(runtimeFolder, { name: IGNORE_FILE, content: EVERYTHING, as: 'create' }).catch(() => undefined);
}

/** For its owner only; what is in it comes again. */
const MADE = { durability: 'os' } as const;

/** The folder itself, or one in it, made when it is not there; never one that a link leads to. The caller closes it. */
export async function openRuntimeFolder(places: Places, names: readonly string[] = []): Promise<HeldFolder> {
  const workspace = await places.openFolderAt(places.workspace, 'write');
  const folder = await workspace.into([RUNTIME_FOLDER], MADE);
  await keepOutOfGit(folder);
  return folder.into(names, MADE);
}
