/** Reads and writes environment files: whole or not at all, and none that another user may have put there. */
import { dirname } from 'node:path';
import { UnusableFile, readOwnText, requireOwnFolder } from '../system/own-files.ts';
import { createFile, makeFolder, replaceFile as replaceWhole } from '../system/whole-files.ts';
import { environmentExposed, unreadable, unwritable } from './environment-errors.ts';

const OWN_IT = 'Make it a real file in a real folder that only you can write (chmod go-w).';

/**
 * The content of the file; undefined when it is not there. Every wake asks, and most files are not there. @throws
 * RuntimeError ENVIRONMENT_INVALID, STORAGE_FAILED
 */
export function readOwnFile(path: string, maxBytes: number): string | undefined {
  try {
    requireOwnFolder(dirname(path), 'writers');
    return readOwnText(path, { maxBytes, keptFrom: 'writers' })?.text;
  } catch (error) {
    throw unreliable(path, error);
  }
}

/** Makes a folder for its owner only. @throws RuntimeError ENVIRONMENT_INVALID, STORAGE_FAILED */
export async function makeOwnFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
    requireOwnFolder(folder, 'writers');
  } catch (error) {
    throw error instanceof UnusableFile ? unreliable(folder, error) : unwritable(folder, error);
  }
}

/** @returns false when there is one already. @throws RuntimeError STORAGE_FAILED */
export function writeNewFile(path: string, content: string): Promise<boolean> {
  return writing(path, () => createFile(path, content));
}

/** Puts the content in the place of the file. @throws RuntimeError STORAGE_FAILED */
export function replaceFile(path: string, content: string): Promise<void> {
  return writing(path, () => replaceWhole(path, content));
}

async function writing<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  return work().catch((error: unknown) => {
    throw unwritable(path, error);
  });
}

function unreliable(path: string, error: unknown): unknown {
  if (!(error instanceof UnusableFile)) return unreadable(path, error);
  if (error.trouble === 'unreadable') return unreadable(path, error.cause);
  return environmentExposed(
    path,
    `it ${error.message}`,
    error.trouble === 'damaged' ? 'Shorten it, and save it as UTF-8.' : OWN_IT,
  );
}
