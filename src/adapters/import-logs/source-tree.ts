/**
 * The files of another runtime, to be read and nothing else. Symbolic links below the path that the user named are not
 * followed: what is imported can be read by agents, and a link may lead to what none of them should see.
 */
import { lstat, open, readdir, realpath } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { hasCode } from '../system/error-codes.ts';
import { READING_NO_LINK, bytesOf } from '../system/own-files.ts';

export type EntryKind = 'file' | 'folder' | 'link' | 'other';

export interface SourceEntryName {
  readonly name: string;
  readonly kind: EntryKind;
}

export class SourceTree {
  /** Absolute, without links. */
  readonly root: string;
  /** Whether the root is a file. */
  readonly isFile: boolean;

  private constructor(root: string, isFile: boolean) {
    this.root = root;
    this.isFile = isFile;
  }

  /** @throws RuntimeError IMPORT_UNREADABLE */
  static async open(path: string): Promise<SourceTree> {
    try {
      const root = await realpath(path);
      const found = await lstat(root);
      if (found.isDirectory() || found.isFile()) return new SourceTree(root, found.isFile());
    } catch (cause) {
      throw unreadable(path, messageOf(cause), cause);
    }
    throw unreadable(path, 'it is neither a folder nor a file');
  }

  /** As reports call it. */
  shown(path: string): string {
    return relative(this.isFile ? dirname(this.root) : this.root, path) || basename(path);
  }

  /** By name. @throws what the system says */
  async list(folder: string): Promise<readonly SourceEntryName[]> {
    await this.#assertNoLink(folder);
    const entries = await readdir(folder, { withFileTypes: true });
    return entries
      .map(
        (entry) =>
          ({
            name: entry.name,
            kind: entry.isSymbolicLink() ? 'link' : entry.isDirectory() ? 'folder' : entry.isFile() ? 'file' : 'other',
          }) as const,
      )
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  async kindOf(path: string): Promise<EntryKind | undefined> {
    const found = await lstat(path).catch(() => undefined);
    if (found === undefined) return undefined;
    return found.isSymbolicLink() ? 'link' : found.isDirectory() ? 'folder' : found.isFile() ? 'file' : 'other';
  }

  /** Opens a file to read it. @throws RuntimeError IMPORT_UNREADABLE for a link, a pipe, or what the system refuses */
  async read<Result>(path: string, work: (handle: FileHandle) => Promise<Result>): Promise<Result> {
    const handle = await open(path, READING_NO_LINK).catch((cause: unknown) => {
      throw unreadable(
        this.shown(path),
        isLoop(cause) ? 'it is a symbolic link, which is not followed' : messageOf(cause),
        cause,
      );
    });
    try {
      if (!(await handle.stat()).isFile()) throw unreadable(this.shown(path), 'it is no file');
      await this.#assertNoLink(dirname(path));
      return await work(handle);
    } finally {
      await handle.close();
    }
  }

  /**
   * The bytes of a small file; undefined when there is none. @throws RuntimeError IMPORT_UNREADABLE, also for one that
   * is too large
   */
  async readSmall(path: string, maxBytes: number): Promise<Buffer | undefined> {
    if ((await this.kindOf(path)) === undefined) return undefined;
    return this.read(path, async (handle) => {
      const { size } = await handle.stat();
      if (size > maxBytes) throw unreadable(this.shown(path), `it has ${size} bytes, and ${maxBytes} are read at most`);
      return bytesOf(handle, size);
    });
  }

  /** A folder above may have been replaced by a link after it was listed. */
  async #assertNoLink(folder: string): Promise<void> {
    const top = this.isFile ? dirname(this.root) : this.root;
    const real = await realpath(folder);
    const isBelow = real === folder && (real === top || real.startsWith(join(top, '/')));
    if (!isBelow) throw unreadable(this.shown(folder), 'it is reached through a symbolic link, which is not followed');
  }
}

function unreadable(path: string, because: string, cause?: unknown): RuntimeError {
  return new RuntimeError('IMPORT_UNREADABLE', `could not read ${path}: ${because}`, {
    category: 'storage',
    hint: 'Name the home of the other runtime, an agent, a session or one log of it, and check who may read it.',
    cause,
  });
}

function isLoop(error: unknown): boolean {
  return hasCode(error, 'ELOOP', 'EMLINK');
}
