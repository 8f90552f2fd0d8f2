/** Small files that are whole or not there, on the disk when that is reported, and readable by their owner only. */
import { randomUUID } from 'node:crypto';
import { link, mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { hasCode } from './file-access.ts';

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** What a draft is called until it is in its place; whoever lists a folder passes over these. */
const DRAFT = /^\..*\.draft$/;

export function isDraft(name: string): boolean {
  return DRAFT.test(name);
}

export async function makePrivateFolder(folder: string): Promise<void> {
  const created = await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
  if (created !== undefined) await syncFolder(dirname(created));
}

/** Writes a file that is not there yet. @returns false when it is; then nothing has changed */
export async function createWhole(path: string, content: string): Promise<boolean> {
  return throughDraft(path, content, async (draft) => {
    try {
      // Unlike a rename, a link never replaces what is there.
      await link(draft, path);
      return true;
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return false;
      throw error;
    }
  });
}

/** Writes a file in place of what is there. */
export async function replaceWhole(path: string, content: string): Promise<void> {
  await throughDraft(path, content, (draft) => rename(draft, path));
}

/** Takes a file away. @throws ENOENT when it is not there */
export async function removeWhole(path: string): Promise<void> {
  await rm(path);
  await syncFolder(dirname(path));
}

async function throughDraft<Result>(path: string, content: string, put: (draft: string) => Promise<Result>): Promise<Result> {
  const folder = dirname(path);
  const draft = join(folder, `.${basename(path)}.${randomUUID()}.draft`);
  try {
    const file = await open(draft, 'wx', FILE_MODE);
    try {
      await file.writeFile(content);
      await file.datasync();
    } finally {
      await file.close();
    }
    return await put(draft);
  } finally {
    await rm(draft, { force: true });
    await syncFolder(folder);
  }
}

async function syncFolder(folder: string): Promise<void> {
  // Windows has no way to sync a folder, and needs none.
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
