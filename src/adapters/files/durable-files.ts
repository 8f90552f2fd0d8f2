/**
 * Files and folders that survive a crash: no reader ever sees half of one, and what was reported as written is on the
 * disk.
 */
import { basename, dirname, join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { systemFileOperations } from './file-operations.ts';
import type { FileOperations } from './file-operations.ts';

/** Makes a folder and those above it. One that is there already is left as it is. */
export async function makePrivateDirectory(
  path: string,
  operations: FileOperations = systemFileOperations,
): Promise<void> {
  await operations.makeDirectories(path);
}

/** Writes a new file and puts it on the disk. @throws EEXIST when it is there already */
export async function writeNewFile(
  path: string,
  content: string | Uint8Array,
  operations: FileOperations = systemFileOperations,
): Promise<void> {
  await operations.createFile(path, content);
  await operations.syncFile(path);
}

/** Puts `content` where `path` is, all at once: readers see the old file or the new one. */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  operations: FileOperations = systemFileOperations,
): Promise<void> {
  await putInPlace(path, operations, (temporary) => writeNewFile(temporary, content, operations));
  await operations.syncDirectory(dirname(path));
}

async function putInPlace(
  path: string,
  operations: FileOperations,
  write: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`);
  try {
    await write(temporary);
    await operations.rename(temporary, path);
  } catch (error) {
    await operations.removeFile(temporary).catch(() => undefined);
    throw error;
  }
}
