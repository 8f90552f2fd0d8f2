/** Files that are there whole or not at all, and stay there once they were reported. */
import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** A draft lives for milliseconds; one this old has no writer. */
const DRAFT_AGE_MS = 3_600_000;

const DRAFT_ENDING = '.draft';

/** `disk`: reported when it would survive a power failure. `os`: when it would survive the process. */
export type Durability = 'disk' | 'os';

/** Puts `content` where `path` is, all at once. */
export async function replaceFile(path: string, content: string, durability: Durability): Promise<void> {
  await replaceFileSoon(path, content, durability);
  await syncFolder(dirname(path), durability);
}

/** The same, but after a power failure the old file may be there instead, as whole as the new one. Costs half as much. */
export async function replaceFileSoon(path: string, content: string, durability: Durability): Promise<void> {
  await fromDraft(path, content, durability, (draft) => rename(draft, path));
}

/** The same for a path where nothing is. @returns false, and nothing changes, when something is */
export async function createFile(path: string, content: string, durability: Durability): Promise<boolean> {
  let isNew = true;
  await fromDraft(path, content, durability, async (draft) => {
    try {
      // Unlike a rename, a link never replaces what is there.
      await link(draft, path);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
      isNew = false;
    }
  });
  if (isNew) await syncFolder(dirname(path), durability);
  return isNew;
}

/** Makes a folder with those above it. */
export async function makeFolder(path: string, durability: Durability): Promise<void> {
  const created = await mkdir(path, { recursive: true, mode: FOLDER_MODE });
  if (created !== undefined) await syncFolder(dirname(created), durability);
}

/** Names in a folder; none when it is not there. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Removes what writers left that died over it. */
export async function sweepDrafts(folder: string, names: readonly string[], nowMs: number): Promise<void> {
  for (const name of names) {
    if (!name.endsWith(DRAFT_ENDING)) continue;
    const path = join(folder, name);
    const written = await stat(path).catch(() => undefined);
    if (written !== undefined && nowMs - written.mtimeMs > DRAFT_AGE_MS) await rm(path, { force: true });
  }
}

export async function syncFolder(folder: string, durability: Durability): Promise<void> {
  // Windows has no way to sync a folder, and needs none.
  if (durability === 'os' || process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

async function fromDraft(path: string, content: string, durability: Durability, place: (draft: string) => Promise<void>): Promise<void> {
  const draft = `${path}.${randomUUID()}${DRAFT_ENDING}`;
  try {
    const file = await open(draft, 'wx', FILE_MODE);
    try {
      await file.writeFile(content);
      if (durability === 'disk') await file.datasync();
    } finally {
      await file.close();
    }
    await place(draft);
  } finally {
    await rm(draft, { force: true });
  }
}
