/** Removes a folder with all that is in it: also names that are no text, and what was made unwritable. */
import { Buffer } from 'node:buffer';
import { chmod, lstat, readdir, rmdir, unlink } from 'node:fs/promises';
import { systemCodeOf } from '../system/error-codes.ts';
import { isMissing } from './copy-errors.ts';
import { eachAtMost } from './at-most.ts';

const PRIVATE_FOLDER_MODE = 0o700;
/** Of one folder, at the same time. */
const MAX_REMOVALS = 16;

/** One that is not there is removed already. Links are removed, and not followed. */
export async function removeTree(path: string): Promise<void> {
  try {
    await remove(Buffer.from(path));
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

async function remove(path: Buffer): Promise<void> {
  const stats = await lstat(path);
  if (!stats.isDirectory()) return unlink(path);
  if ((stats.mode & PRIVATE_FOLDER_MODE) !== PRIVATE_FOLDER_MODE) await chmod(path, PRIVATE_FOLDER_MODE);
  const folders: Buffer[] = [];
  await eachAtMost(await readdir(path, { encoding: 'buffer' }), MAX_REMOVALS, async (name) => {
    const each = Buffer.concat([path, Buffer.from('/'), name]);
    await unlink(each).catch((error: unknown) => {
      if (isMissing(error)) return;
      // Which of them it is for a folder, the system decides.
      if (!['EISDIR', 'EPERM', 'EACCES'].includes(systemCodeOf(error) ?? '')) throw error;
      folders.push(each);
    });
  });
  for (const folder of folders) await remove(folder);
  await rmdir(path);
}
