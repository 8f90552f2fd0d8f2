/** Reads and writes environment files: whole or not at all, and none that somebody else may have put there. */
import { randomUUID } from 'node:crypto';
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { link, mkdir, open, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { RuntimeError } from '../../machines/errors.ts';
import { environmentExposed, systemCodeOf, unreadable, unwritable } from './environment-errors.ts';

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const WRITABLE_BY_OTHERS = 0o022;

const OWN_IT = 'Make it a real file in a real folder that only you can write (chmod go-w).';

/** A link is not followed, and a pipe does not keep us waiting. */
const READING = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** The content of the file; undefined when it is not there. Every wake asks, and most files are not there. @throws RuntimeError ENVIRONMENT_INVALID, STORAGE_FAILED */
export function readOwnFile(path: string, maxBytes: number): string | undefined {
  try {
    assertOwnFolder(dirname(path));
    const descriptor = openSync(path, READING);
    try {
      const stats = fstatSync(descriptor);
      assertOwn(path, stats, stats.isFile());
      if (stats.size > maxBytes) throw environmentExposed(path, `it holds more than ${maxBytes} bytes`, 'Shorten it.');
      return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(descriptor));
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (RuntimeError.is(error)) throw error;
    if (code === 'ELOOP') throw environmentExposed(path, 'it is a link', OWN_IT);
    if (code === 'ENXIO') throw environmentExposed(path, 'it is no file', OWN_IT);
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') throw environmentExposed(path, 'it is not UTF-8 text', 'Save it as UTF-8.');
    throw unreadable(path, error);
  }
}

/** Makes a folder for its owner only. @throws RuntimeError ENVIRONMENT_INVALID, STORAGE_FAILED */
export async function makeOwnFolder(folder: string): Promise<void> {
  try {
    const made = await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
    assertOwnFolder(folder);
    if (made !== undefined) await syncFolder(dirname(made));
  } catch (error) {
    throw RuntimeError.is(error) ? error : unwritable(folder, error);
  }
}

/** @returns false when there is one already. @throws RuntimeError STORAGE_FAILED */
export async function writeNewFile(path: string, content: string): Promise<boolean> {
  // Unlike a rename, a link is refused when the name is taken.
  return putInPlace(path, content, async (temporary) => {
    try {
      await link(temporary, path);
      return true;
    } catch (error) {
      if (systemCodeOf(error) === 'EEXIST') return false;
      throw error;
    }
  });
}

/** Puts the content in the place of the file, whole and on the disk before it is there. @throws RuntimeError STORAGE_FAILED */
export async function replaceFile(path: string, content: string): Promise<void> {
  await putInPlace(path, content, (temporary) => rename(temporary, path));
}

async function putInPlace<Result>(path: string, content: string, place: (temporary: string) => Promise<Result>): Promise<Result> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`);
  try {
    const handle = await open(temporary, 'wx', FILE_MODE);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    const result = await place(temporary);
    await syncFolder(dirname(path));
    return result;
  } catch (error) {
    throw unwritable(path, error);
  } finally {
    await unlink(temporary).catch(() => undefined);
  }
}

function assertOwnFolder(folder: string): void {
  const stats = lstatSync(folder);
  assertOwn(folder, stats, stats.isDirectory());
}

function assertOwn(path: string, { mode, uid }: Stats, isExpectedKind: boolean): void {
  if (!isExpectedKind) throw environmentExposed(path, 'it is a link or another thing that was not expected there', OWN_IT);
  // Windows has neither modes nor user ids.
  if (process.getuid === undefined) return;
  if ((mode & WRITABLE_BY_OTHERS) !== 0) throw environmentExposed(path, 'others than its owner may write it', OWN_IT);
  if (uid !== process.getuid() && uid !== 0) throw environmentExposed(path, `it belongs to user ${uid}`, OWN_IT);
}

async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
