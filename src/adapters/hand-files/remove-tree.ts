/** Removes a folder with all that is in it: also names that are no text, and what whoever worked in it has made unwritable. */
import { Buffer } from 'node:buffer';
import { chmod, lstat, readdir, rmdir, unlink } from 'node:fs/promises';
import { isMissing } from './hand-errors.ts';

const PRIVATE_FOLDER_MODE = 0o700;

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
  for (const name of await readdir(path, { encoding: 'buffer' })) await remove(Buffer.concat([path, Buffer.from('/'), name]));
  await rmdir(path);
}
