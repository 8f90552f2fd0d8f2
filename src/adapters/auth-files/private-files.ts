/**
 * Files for their owner only: refused when others could read or change them, and told apart by a stamp without being
 * read.
 */
import { statSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { rename } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { UnusableFile, readOwnText, requireOwnFolder } from '../system/own-files.ts';
import { makeFolder, replaceFile, sweepDrafts, syncFolder } from '../system/whole-files.ts';
import { DamagedFile, exposedError, unreadableError, unwritableError } from './auth-errors.ts';
import type { FileSubject } from './auth-errors.ts';

const MAX_FILE_BYTES = 4_000_000;

/** A file that was changed so short a time ago may be changed again without its times telling. In milliseconds. */
const TELLING_AGE_MS = 100;

export interface PrivateText {
  readonly text: string;
  /** Another one for another content; undefined while that cannot be told for sure. */
  readonly stamp: string | undefined;
}

/**
 * Undefined when it is not there. Every model step asks. @throws RuntimeError with the code of the subject, or
 * DamagedFile
 */
export function readPrivateFile(path: string, subject: FileSubject): PrivateText | undefined {
  try {
    requireOwnFolder(dirname(path), 'readers');
    const found = readOwnText(path, { maxBytes: MAX_FILE_BYTES, keptFrom: 'readers', mayHaveLinks: true });
    return found === undefined
      ? undefined
      : { text: found.text, stamp: isOldEnough(found.stats) ? stampOf(found.stats) : undefined };
  } catch (error) {
    throw refusalOf(path, subject, error);
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
    await makeFolder(folder);
    requireOwnFolder(folder, 'readers');
  } catch (error) {
    throw error instanceof UnusableFile ? refusalOf(folder, subject, error) : unwritableError(folder, error);
  }
}

/** Puts the text in the place of the file. @throws RuntimeError STORAGE_FAILED */
export async function replacePrivateFile(path: string, text: string): Promise<void> {
  try {
    await sweepDrafts(dirname(path), { isOurs: (name) => name.startsWith(`.${basename(path)}.`) });
    await replaceFile(path, text);
  } catch (error) {
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

function isOldEnough({ mtimeMs, ctimeMs }: BigIntStats): boolean {
  const ageMs = Date.now() - Number(mtimeMs > ctimeMs ? mtimeMs : ctimeMs);
  return ageMs > TELLING_AGE_MS;
}

function stampOf({ ino, size, mtimeNs, ctimeNs, mode }: BigIntStats): string {
  return [ino, size, mtimeNs, ctimeNs, mode].join(':');
}

function refusalOf(path: string, subject: FileSubject, error: unknown): unknown {
  if (!(error instanceof UnusableFile)) return unreadableError(subject, path, error);
  if (error.trouble === 'damaged') return new DamagedFile(`it ${error.message}`);
  if (error.trouble === 'unreadable') return unreadableError(subject, path, error.cause);
  return exposedError(subject, path, `it ${error.message}`, error.hint);
}
