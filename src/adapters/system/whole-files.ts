/**
 * Files that are there whole or not at all, for their owner only, and on the disk when that is reported: a draft, its
 * bytes on the disk, then its name, then the folder on the disk. A process that is killed in between leaves a draft,
 * which no reader takes for a file.
 */
import { randomUUID } from 'node:crypto';
import type { PathLike } from 'node:fs';
import { lstat, link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { hasCode, unlessCode } from './error-codes.ts';

export const PRIVATE_FILE_MODE = 0o600;
export const PRIVATE_FOLDER_MODE = 0o700;

/** Of `draftOf`, and of drafts that earlier versions wrote. */
const DRAFT = /\.(?:draft|tmp)$/;

/** A draft lives for milliseconds; one this old has no writer. */
const DRAFT_ABANDONED_MS = 3_600_000;

/**
 * What survives from then on: `disk`: a power failure. `whole`: the same, or what was there before, and never half of
 * it. `os`: the process.
 */
export type Durability = 'disk' | 'whole' | 'os';

export interface Writing {
  /** Default `disk`. */
  readonly durability?: Durability | undefined;
}

export type FileContent = string | Uint8Array | readonly Uint8Array[];

/** Puts the content in the place of what is there, all at once. @throws what the system says */
export async function replaceFile(path: string, content: FileContent, writing: Writing = {}): Promise<void> {
  const draft = await writeDraft(path, content, writing);
  try {
    await rename(draft, path);
  } catch (error) {
    await removeDraft(draft);
    throw error;
  }
  await syncFolder(dirname(path), writing);
}

/** Makes a file where nothing is. @returns false when something is; then nothing has changed */
export async function createFile(path: string, content: FileContent, writing: Writing = {}): Promise<boolean> {
  const draft = await writeDraft(path, content, writing);
  try {
    // Unlike a rename, a link never replaces what is there.
    await link(draft, path);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    // The caller goes on with what is there: its name has to be on the disk too.
    await syncFolder(dirname(path), writing);
    return false;
  } finally {
    await removeDraft(draft);
  }
  await syncFolder(dirname(path), writing);
  return true;
}

/**
 * A draft for `path` in that folder, on the disk: the caller puts it in its place, or removes it. @returns where it is
 */
export async function writeDraft(
  path: string,
  content: FileContent,
  { durability = 'disk' }: Writing = {},
): Promise<string> {
  const draft = draftOf(path);
  try {
    const file = await open(draft, 'wx', PRIVATE_FILE_MODE);
    try {
      for (const piece of Array.isArray(content)
        ? (content as readonly Uint8Array[])
        : [content as string | Uint8Array])
        await file.writeFile(piece);
      if (durability !== 'os') await file.sync();
    } finally {
      await file.close();
    }
    return draft;
  } catch (error) {
    await removeDraft(draft);
    throw error;
  }
}

/** The name, in the same folder, of something that no other process knows of yet. */
export function draftOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`);
}

/** Whether a name is that of a draft. One whose writer was killed stays behind. */
export function isDraft(name: string): boolean {
  return DRAFT.test(name);
}

export async function removeDraft(draft: string): Promise<void> {
  await rm(draft, { force: true }).catch(() => undefined);
}

/** Takes a file away. @throws ENOENT when it is not there */
export async function removeFile(path: string, writing: Writing = {}): Promise<void> {
  await rm(path);
  await syncFolder(dirname(path), writing);
}

/**
 * Makes a folder and those above it that are missing, for their owner only, each in its place on the disk. One by one:
 * where the system refuses as /proc does, the recursive way of Node 20 never ends, and where a disk is read-only it
 * says that a folder above is missing.
 */
export async function makeFolder(path: string, writing: Writing = {}): Promise<void> {
  try {
    await mkdir(path, { mode: PRIVATE_FOLDER_MODE });
  } catch (error) {
    // One that was taken away since was there, and is for the caller to miss.
    if (hasCode(error, 'EEXIST') && (await isFolder(path)) !== false) return;
    const above = dirname(path);
    if (!hasCode(error, 'ENOENT') || above === path) throw error;
    if ((await isFolder(above)) !== true) await makeFolder(above, writing);
    await mkdir(path, { mode: PRIVATE_FOLDER_MODE }).catch(unlessCode('EEXIST'));
  }
  await syncFolder(dirname(path), writing);
}

/** What names are in the folder survives a power failure from then on. */
export async function syncFolder(path: PathLike, { durability = 'disk' }: Writing = {}): Promise<void> {
  // Windows cannot open a folder, and has no need to.
  if (durability !== 'disk' || process.platform === 'win32') return;
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Whether anything has that name: also a link that leads nowhere. */
export function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Whether an absolute path is the folder or lies in it, by how both are written. */
export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** None when there is no such folder. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch(unlessCode('ENOENT'))) ?? [];
}

/** A folder that cannot be read may hold something: the caller that opens it will say what is wrong. */
export async function isInhabited(folder: string): Promise<boolean> {
  return namesIn(folder).then(
    (names) => names.length > 0,
    () => true,
  );
}

export interface Sweep {
  /** Which of the drafts in the folder; default all. */
  readonly isOurs?: ((name: string) => boolean) | undefined;
  /** Milliseconds since the epoch, as files tell them; default the system's time. */
  readonly nowMs?: number | undefined;
}

/** Removes what processes left in a folder of ours that were killed while they wrote. */
export async function sweepDrafts(
  folder: string,
  { isOurs = () => true, nowMs = Date.now() }: Sweep = {},
): Promise<void> {
  for (const name of await namesIn(folder)) {
    if (!isDraft(name) || !isOurs(name)) continue;
    const found = await lstat(join(folder, name)).catch(() => undefined);
    if (found !== undefined && nowMs - found.mtimeMs > DRAFT_ABANDONED_MS)
      await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** Undefined when there is nothing. */
function isFolder(path: string): Promise<boolean | undefined> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => undefined,
  );
}
