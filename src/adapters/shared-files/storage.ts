/**
 * Files of ours in an agent's folder: written whole and on the disk before they are there, read without following
 * links.
 */
import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { hasCode } from '../system/error-codes.ts';
import { withPlainFile } from '../system/own-files.ts';
import { createFile, makeFolder as makeWithAbove, replaceFile as replaceWhole } from '../system/whole-files.ts';

export function sha256Of(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Makes a folder and those above it; refuses a link in its place. @throws RuntimeError STORAGE_FAILED */
export async function makeFolder(path: string): Promise<void> {
  await storing(`make ${path}`, async () => {
    await makeWithAbove(path);
    if (!(await lstat(path)).isDirectory()) throw new Error('a link or a file is in its place');
  });
}

/** Whether something has that name. In this turn of the event loop: every wake asks, and a check takes microseconds. */
export function isTaken(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

/** A regular file's content; undefined when nothing, or something else, is there. */
export async function readIfThere(path: string, maxBytes: number): Promise<Buffer | undefined> {
  return storing(`read ${path}`, () =>
    withPlainFile(path, (file, size) => {
      if (size > maxBytes)
        throw new RuntimeError(
          'STORAGE_FAILED',
          `expected ${path} to hold at most ${maxBytes} bytes, it holds ${size}`,
          { category: 'storage' },
        );
      return file.readFile();
    }),
  );
}

/** Puts content in the place of a file, all at once. */
export async function replaceFile(path: string, content: Uint8Array | string): Promise<void> {
  await storing(`write ${path}`, () => replaceWhole(path, content));
}

/** Makes a file that must not be there yet. @returns false when it is */
export async function createWhole(path: string, content: Uint8Array | string): Promise<boolean> {
  return storing(`write ${path}`, () => createFile(path, content));
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
  const hint = hasCode(cause, 'ENOSPC') ? 'Make room on the disk.' : 'Check who owns it and its permissions.';
  return new RuntimeError('STORAGE_FAILED', `could not ${what}: ${messageOf(cause)}`, {
    category: 'storage',
    hint,
    cause,
  });
}
