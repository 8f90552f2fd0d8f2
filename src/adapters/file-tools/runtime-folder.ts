/** The folder of a workspace in which the runtime keeps what is for the agent to read, and for nobody to commit. */
import { Buffer } from 'node:buffer';
import { lstat } from 'node:fs/promises';
import type { OpenFolder } from './open-folder.ts';
import { putWholeFile } from './whole-file.ts';

export const RUNTIME_FOLDER = '.wakechart-runtime';

const IGNORE_FILE = '.gitignore';
/** This file too: nothing of the folder shows in the repository of the workspace. */
const EVERYTHING = Buffer.from('*\n');

/** Sees to it that git passes over the runtime folder, which is open. What somebody put there themselves stays. */
export async function keepOutOfGit(runtimeFolder: OpenFolder): Promise<void> {
  const present = await lstat(runtimeFolder.at(IGNORE_FILE)).catch(() => undefined);
  if (present !== undefined) return;
  // An output that could be committed by mistake is better than none.
  await putWholeFile(runtimeFolder, { name: IGNORE_FILE, content: EVERYTHING, as: 'create' }).catch(() => undefined);
}
