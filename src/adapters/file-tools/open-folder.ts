/**
 * A folder that is held open while something is done in it. On Linux its files are reached through its descriptor, so
 * that nobody can put a symbolic link in place of the folder or one above it in between; elsewhere the folder is looked
 * at again.
 */
import { constants, readlinkSync } from 'node:fs';
import { mkdir, open, realpath, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../system/error-codes.ts';

const FOLDER_FLAGS = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

export interface FolderChecks {
  readonly usesDescriptors: boolean;
  /** The error when a folder is not where it was expected. `actual` is where it is, if that can be told. */
  readonly refused: (actual: string | undefined) => Error;
}

export class OpenFolder {
  readonly #handle: FileHandle;
  readonly #realPath: string;
  readonly #checks: FolderChecks;

  private constructor(handle: FileHandle, realPath: string, checks: FolderChecks) {
    this.#handle = handle;
    this.#realPath = realPath;
    this.#checks = checks;
  }

  /** Opens the folder itself, not one that a symbolic link in its place leads to. */
  static async open(realPath: string, checks: FolderChecks): Promise<OpenFolder> {
    return OpenFolder.#open(realPath, realPath, checks);
  }

  static async #open(path: string, realPath: string, checks: FolderChecks): Promise<OpenFolder> {
    const handle = await open(path, FOLDER_FLAGS);
    const folder = new OpenFolder(handle, realPath, checks);
    try {
      await folder.confirm();
      return folder;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  get realPath(): string {
    return this.#realPath;
  }

  /** How to reach something in it; without a name, the folder itself. Good for as long as the folder is open. */
  at(name = ''): string {
    return this.#checks.usesDescriptors ? join(`/proc/self/fd/${this.#handle.fd}`, name) : join(this.#realPath, name);
  }

  /** Proves that it is still where it was. @throws the error of its checks */
  async confirm(): Promise<void> {
    const actual = await pathOfHandle(this.#handle, this.#realPath, this.#checks.usesDescriptors);
    if (actual !== this.#realPath) throw this.#checks.refused(actual);
  }

  /** Opens a folder in it, which is made when it is not there. */
  async enterOrMake(name: string, mode?: number): Promise<OpenFolder> {
    const enter = (): Promise<OpenFolder> => OpenFolder.#open(this.at(name), join(this.#realPath, name), this.#checks);
    try {
      return await enter();
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
    }
    try {
      await mkdir(this.at(name), { mode });
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    }
    return enter();
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

/**
 * Where an open file or folder is now; undefined when that cannot be told. `expected` is where it was when it was
 * opened.
 */
export async function pathOfHandle(
  handle: FileHandle,
  expected: string,
  usesDescriptors: boolean,
): Promise<string | undefined> {
  // The kernel answers from memory: to ask in another thread costs far more than the answer.
  if (usesDescriptors) return withoutRemark(readlinkSync(`/proc/self/fd/${handle.fd}`), handle);
  const actual = await realpath(expected).catch(() => undefined);
  if (actual === undefined) return undefined;
  const [there, opened] = await Promise.all([stat(actual, { bigint: true }), handle.stat({ bigint: true })]);
  return there.dev === opened.dev && there.ino === opened.ino ? actual : undefined;
}

const DELETED = ' (deleted)';

/**
 * Linux says so of what has been deleted or replaced since it was opened: it was there, and its content is still what
 * was asked for.
 */
async function withoutRemark(path: string, handle: FileHandle): Promise<string> {
  return path.endsWith(DELETED) && (await handle.stat()).nlink === 0 ? path.slice(0, -DELETED.length) : path;
}
