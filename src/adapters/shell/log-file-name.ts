/** Where a task's log file goes. */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../system/error-codes.ts';
import { makeFolder } from '../system/whole-files.ts';

/** File systems take 255 bytes in a name; what is left is for the suffixes of tail files. */
const MAX_NAME_LENGTH = 160;
const HASH_LENGTH = 16;

export interface OpenLogFile {
  readonly path: string;
  readonly file: FileHandle;
}

/**
 * Makes `<directory>/<taskId>.log`. A file of that name is another task's, of an earlier run or of another host, since
 * ids are counted from one in each: it is left alone, and this task's file carries part of `unique` in its name.
 */
export async function openLogFile({
  directory,
  taskId,
  unique,
}: {
  readonly directory: string;
  readonly taskId: string;
  readonly unique: string;
}): Promise<OpenLogFile> {
  const name = fileNameOf(taskId);
  try {
    return await create(directory, `${name}.log`);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    return create(directory, taggedLogName(taskId, unique));
  }
}

/** Of a task whose id another one has had before. */
export function taggedLogName(taskId: string, unique: string): string {
  return `${fileNameOf(taskId)}.${unique.slice(0, 8)}.log`;
}

/** The directory is made when it turns out to be missing: it is there all other times. */
async function create(directory: string, name: string): Promise<OpenLogFile> {
  const path = join(directory, name);
  try {
    return { path, file: await open(path, 'wx', 0o600) };
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    await makeFolder(directory, { durability: 'os' });
    return { path, file: await open(path, 'wx', 0o600) };
  }
}

/** An id as a file name: nothing in it can climb out of the directory, and different ids stay different. */
export function fileNameOf(taskId: string): string {
  const safe = taskId.replaceAll(
    /[^\w.-]|^\.|^$/gu,
    (character) => [...Buffer.from(character)].map((byte) => `%${byte.toString(16)}`).join('') || '%',
  );
  if (safe.length <= MAX_NAME_LENGTH) return safe;
  const hash = createHash('sha256').update(taskId).digest('hex').slice(0, HASH_LENGTH);
  return `${safe.slice(0, MAX_NAME_LENGTH - HASH_LENGTH - 1)}-${hash}`;
}
