/** Files of ours in an agent's folder: written whole and on the disk before they are there, read without following links. */
import { createHash, randomUUID } from 'node:crypto';
import { constants, lstatSync } from 'node:fs';
import { link, lstat, mkdir, open, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { RuntimeError, messageOf } from '../../machines/errors.ts';

const FOLDER_MODE = 0o700;
export const FILE_MODE = 0o600;

/** Neither a link is followed nor a pipe waited for. */
export const READING = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

export function sha256Of(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Makes a folder and those above it; refuses a link in its place. @throws RuntimeError STORAGE_FAILED */
export async function makeFolder(path: string): Promise<void> {
  await storing(`make ${path}`, async () => {
    const made = await mkdir(path, { recursive: true, mode: FOLDER_MODE });
    if (!(await lstat(path)).isDirectory()) throw new Error('a link or a file is in its place');
    if (made !== undefined) await syncFolder(dirname(made));
  });
}

/** Whether something has that name. In this turn of the event loop: every wake asks, and a look takes microseconds. */
export function isTaken(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

/** A regular file's content; undefined when nothing, or something else, is there. */
export async function readIfThere(path: string, maxBytes: number): Promise<Buffer | undefined> {
  try {
    const handle = await open(path, READING);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return undefined;
      if (stats.size > maxBytes) throw new RuntimeError('STORAGE_FAILED', `expected ${path} to hold at most ${maxBytes} bytes, it holds ${stats.size}`, { category: 'storage' });
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (RuntimeError.is(error)) throw error;
    if (isAbsence(error)) return undefined;
    throw storageFailed(`read ${path}`, error);
  }
}

/** A file in `folder` that nobody knows of yet, on the disk. */
export async function writeDraft(folder: string, content: Uint8Array | string): Promise<string> {
  const draft = draftName(folder);
  try {
    const handle = await open(draft, 'wx', FILE_MODE);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    return draft;
  } catch (error) {
    await unlink(draft).catch(() => undefined);
    throw storageFailed(`write into ${folder}`, error);
  }
}

/** Where something can lie for a moment that nobody looks for. */
export function draftName(folder: string): string {
  return join(folder, `.${randomUUID()}.tmp`);
}

/** Whether a name is that of a draft. One whose writer was killed stays behind. */
export function isDraft(name: string): boolean {
  return /^\.[0-9a-f-]{36}\.tmp$/.test(name);
}

/** Puts content in the place of a file, all at once. */
export async function replaceFile(path: string, content: Uint8Array | string): Promise<void> {
  const draft = await writeDraft(dirname(path), content);
  await storing(`write ${path}`, async () => {
    try {
      await rename(draft, path);
    } catch (error) {
      await unlink(draft).catch(() => undefined);
      throw error;
    }
    await syncFolder(dirname(path));
  });
}

/** Makes a file that must not be there yet. @returns false when it is */
export async function createWhole(path: string, content: Uint8Array | string): Promise<boolean> {
  const draft = await writeDraft(dirname(path), content);
  try {
    // Unlike a rename, a link never replaces what is there.
    await link(draft, path);
    await syncFolder(dirname(path));
    return true;
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') return false;
    throw storageFailed(`write ${path}`, error);
  } finally {
    await unlink(draft).catch(() => undefined);
  }
}

export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** @throws RuntimeError STORAGE_FAILED for what the system refuses */
export async function storing<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw RuntimeError.is(error) ? error : storageFailed(what, error);
  }
}

export function storageFailed(what: string, cause: unknown): RuntimeError {
  const hint = systemCodeOf(cause) === 'ENOSPC' ? 'Make room on the disk.' : 'Check who owns it and its permissions.';
  return new RuntimeError('STORAGE_FAILED', `could not ${what}: ${messageOf(cause)}`, { category: 'storage', hint, cause });
}

export function systemCodeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** Nothing is there, or a link, or something that is no file. */
export function isAbsence(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EISDIR', 'EMLINK'].includes(String(systemCodeOf(error)));
}
