/** Deletes a folder by the list of what was seen in it, and nothing else: what has come since stays, and the folder with it. */
import { Buffer } from 'node:buffer';
import { readdir, rmdir, unlink } from 'node:fs/promises';
import { codeOf } from './folder-walk.ts';
import type { FolderWalk } from './folder-walk.ts';
import { bytesOf } from './git-command.ts';

/** Enough to keep the thread pool busy. */
const MAX_DELETIONS = 16;

/** Deleted after everything else: it says what the folder is, should the rest be interrupted. */
const LAST = '.git';

/** @throws Error of the system, or one that says what has come in since the walk */
export async function deleteWalked(root: string, { entries }: FolderWalk): Promise<void> {
  const base = bytesOf(root);
  const at = (path: string): Buffer => Buffer.from(`${base}/${path}`, 'latin1');
  const files = [...entries].flatMap(([path, { kind }]) => (kind === 'folder' || path === LAST ? [] : [path]));
  await deleteEach(files, (path) => unlink(at(path)));
  for (const folders of deepestFirst(entries)) await deleteEach(folders, (path) => rmdir(at(path)));
  const left = (await readdir(root)).find((name) => name !== LAST);
  if (left !== undefined) throw new Error(`${JSON.stringify(left)} has come into it while it was being removed`);
  if (entries.has(LAST)) await deleteEach([LAST], (path) => unlink(at(path)));
  await rmdir(root);
}

function deepestFirst(entries: FolderWalk['entries']): string[][] {
  const levels: string[][] = [];
  for (const [path, { kind }] of entries) if (kind === 'folder') (levels[path.split('/').length] ??= []).push(path);
  // A level that no folder is on is a hole in the list.
  return levels.filter((level) => level !== undefined).reverse();
}

/** What is gone already is fine. After a failure nothing more is begun. */
async function deleteEach(paths: readonly string[], remove: (path: string) => Promise<void>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    for (let path = paths[next++]; path !== undefined; path = paths[next++]) {
      try {
        await remove(path);
      } catch (error) {
        if (codeOf(error) === 'ENOENT') continue;
        next = paths.length;
        throw error;
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: MAX_DELETIONS }, work));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
