/** Files for their owner only: whole or not there, on the disk before they are in their place, refused when others could read or change them. */
import { randomUUID } from 'node:crypto';
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, statSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { lstat, mkdir, open, readdir, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { RuntimeError } from '../../machines/errors.ts';
import { DamagedFile, exposedError, systemCodeOf, unreadableError, unwritableError } from './auth-errors.ts';
import type { FileSubject } from './auth-errors.ts';

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const ANYBODY_ELSE = 0o077n;

const MAX_FILE_BYTES = 4_000_000n;

/** A draft this old belongs to nobody who still writes. Milliseconds. */
const DRAFT_ABANDONED_MS = 3_600_000;

/** A link is not followed, and a pipe does not keep us waiting. */
const READING = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** A file that was changed so short a time ago may be changed again without its times telling. In milliseconds. */
const TELLING_AGE_MS = 100;

export interface PrivateText {
  readonly text: string;
  /** Another one for another content; undefined while that cannot be told for sure. */
  readonly stamp: string | undefined;
}

/** Undefined when it is not there. Every model step asks, and most files are small or not there. @throws RuntimeError with the code of the subject, or DamagedFile */
export function readPrivateFile(path: string, subject: FileSubject): PrivateText | undefined {
  try {
    assertOwnFolder(dirname(path), subject);
    const descriptor = openSync(path, READING);
    try {
      const stats = fstatSync(descriptor, { bigint: true });
      assertOwn(subject, path, stats, { isExpectedKind: stats.isFile(), mode: FILE_MODE });
      if (stats.size > MAX_FILE_BYTES) throw new DamagedFile(`it holds more than ${MAX_FILE_BYTES} bytes`);
      return { text: decoded(readFileSync(descriptor)), stamp: isOldEnough(stats) ? stampOf(stats) : undefined };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    if (RuntimeError.is(error) || error instanceof DamagedFile) throw error;
    if (systemCodeOf(error) === 'ELOOP') throw exposedError(subject, path, 'it is a link', `Put a real file in its place: rm ${path}`);
    throw unreadableError(subject, path, error);
  }
}

/** Tells whether a file is another one than before, without reading it; undefined when it is not there. */
export function stampAt(path: string): string | undefined {
  try {
    return stampOf(statSync(path, { bigint: true }));
  } catch {
    // Whatever it is, reading the file says it better.
    return undefined;
  }
}

/** @throws RuntimeError with the code of the subject, or STORAGE_FAILED */
export async function makePrivateFolder(folder: string, subject: FileSubject): Promise<void> {
  try {
    const made = await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
    assertOwnFolder(folder, subject);
    if (made !== undefined) await syncFolder(dirname(made));
  } catch (error) {
    throw RuntimeError.is(error) ? error : unwritableError(folder, error);
  }
}

/** Puts the text in the place of the file. @throws RuntimeError STORAGE_FAILED */
export async function replacePrivateFile(path: string, text: string): Promise<void> {
  const draft = join(dirname(path), `.${basename(path)}.${randomUUID()}.draft`);
  try {
    await removeAbandoned(path);
    const handle = await open(draft, 'wx', FILE_MODE);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await unlink(draft).catch(() => undefined);
    throw unwritableError(path, error);
  }
}

/** Moves a file out of the way; what was moved there before is replaced. @returns where it is now */
export async function setAside(path: string): Promise<string> {
  const aside = `${path}.damaged`;
  try {
    await rename(path, aside);
    await syncFolder(dirname(path));
    return aside;
  } catch (error) {
    throw unwritableError(path, error);
  }
}

/** What processes that were killed while they wrote have left. */
async function removeAbandoned(path: string): Promise<void> {
  const folder = dirname(path);
  const drafts = (await readdir(folder)).filter((name) => name.startsWith(`.${basename(path)}.`) && name.endsWith('.draft'));
  for (const name of drafts) {
    const found = await lstat(join(folder, name)).catch(() => undefined);
    if (found !== undefined && Date.now() - found.mtimeMs > DRAFT_ABANDONED_MS) await unlink(join(folder, name)).catch(() => undefined);
  }
}

function isOldEnough({ mtimeMs, ctimeMs }: BigIntStats): boolean {
  const ageMs = Date.now() - Number(mtimeMs > ctimeMs ? mtimeMs : ctimeMs);
  return ageMs > TELLING_AGE_MS;
}

function stampOf({ ino, size, mtimeNs, ctimeNs, mode }: BigIntStats): string {
  return [ino, size, mtimeNs, ctimeNs, mode].join(':');
}

function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new DamagedFile('it is no UTF-8 text');
  }
}

function assertOwnFolder(folder: string, subject: FileSubject): void {
  const stats = lstatSync(folder, { bigint: true });
  assertOwn(subject, folder, stats, { isExpectedKind: stats.isDirectory(), mode: FOLDER_MODE });
}

function assertOwn(subject: FileSubject, path: string, { mode, uid }: BigIntStats, expected: { readonly isExpectedKind: boolean; readonly mode: number }): void {
  const remedy = `Only you may read it: chmod ${expected.mode.toString(8)} ${path}`;
  if (!expected.isExpectedKind) throw exposedError(subject, path, 'it is a link or another thing that was not expected there', `Put a real file or folder in its place: ${path}`);
  // Windows has neither modes nor user ids.
  if (process.getuid === undefined) return;
  if (uid !== BigInt(process.getuid()) && uid !== 0n) throw exposedError(subject, path, `it belongs to user ${uid}`, 'Make it your own, or use another home.');
  if ((mode & ANYBODY_ELSE) !== 0n) throw exposedError(subject, path, `others than its owner may read or change it (mode ${(mode & 0o777n).toString(8)})`, remedy);
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
