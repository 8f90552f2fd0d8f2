/** Deletes a folder by the list of what was seen in it, and nothing else: what has come since stays, and the folder with it. */
import { Buffer } from 'node:buffer';
import { rmdirSync, unlinkSync } from 'node:fs';
import { codeOf } from './folder-walk.ts';
import type { FolderWalk } from './folder-walk.ts';
import { bytesOf } from './git-command.ts';

const SLICE_MS = 3;
const FILES_PER_LOOK = 16;

/** Deleted after everything else: it says what the folder is, should the rest be interrupted. */
const LAST = '.git';

/** @throws Error of the system: ENOTEMPTY where something has come in since the walk */
export async function deleteWalked(root: string, { entries }: FolderWalk): Promise<void> {
  const base = bytesOf(root);
  const files = [...entries].flatMap(([path, { kind }]) => (kind === 'folder' || path === LAST ? [] : [path]));
  // Folders were seen before what is in them.
  const folders = [...entries].flatMap(([path, { kind }]) => (kind === 'folder' ? [path] : [])).reverse();
  await inSlices(files, (path) => unlinkSync(Buffer.from(`${base}/${path}`, 'latin1')));
  await inSlices(folders, (path) => rmdirSync(Buffer.from(`${base}/${path}`, 'latin1')));
  if (entries.has(LAST)) unlinkIfThere(Buffer.from(`${base}/${LAST}`, 'latin1'));
  rmdirSync(root);
}

function unlinkIfThere(path: Buffer): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

/** Synchronous, as the walk is, and as seldom in the way of the event loop. What is gone already is fine. */
async function inSlices(paths: readonly string[], remove: (path: string) => void): Promise<void> {
  let sliceEnd = performance.now() + SLICE_MS;
  let left = FILES_PER_LOOK;
  for (const path of paths) {
    try {
      remove(path);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
    }
    left -= 1;
    if (left > 0) continue;
    left = FILES_PER_LOOK;
    if (performance.now() < sliceEnd) continue;
    await new Promise((resolve) => setImmediate(resolve));
    sliceEnd = performance.now() + SLICE_MS;
  }
}
