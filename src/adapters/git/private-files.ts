/** Small files of our own: written whole or not at all, for their owner only. */
import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, relative, sep } from 'node:path';
import { codeOf } from './folder-walk.ts';

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

export async function makePrivateFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: FOLDER_MODE });
}

/** Puts `content` at `path` all at once. `durable`: it is on the disk when this resolves. */
export async function putFile(path: string, content: string, { durable }: { readonly durable: boolean }): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const handle = await open(temporary, 'wx', FILE_MODE);
    try {
      await handle.writeFile(content);
      if (durable) await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  if (durable) await syncFolder(dirname(path));
}

/** Names in it survive a power failure from then on. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } catch (error) {
    // Some file systems do not sync folders.
    if (!['EINVAL', 'EPERM', 'EISDIR'].includes(codeOf(error))) throw error;
  } finally {
    await handle.close();
  }
}

/** Whether `path` is `folder`, or lies in it, as both are written. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`));
}

export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(codeOf(error));
}
