/**
 * Folders that are held open while something is done in them. Where the system has paths of descriptors, as Linux with
 * /proc has, what is in a folder is reached through its descriptor, so that no process can put a link in place of the
 * folder or one above it in between. Elsewhere a folder is checked again after it was opened.
 */
import { constants, existsSync, readlinkSync } from 'node:fs';
import { mkdir, open, realpath, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { nameOfBytes } from '../../machines/workspace-copy/file-names.ts';
import { hasCode, unlessCode } from './error-codes.ts';
import { nativePath } from './native-path.ts';
import { PRIVATE_FOLDER_MODE } from './whole-files.ts';
import type { Writing } from './whole-files.ts';

/** Opens a folder itself, never one that a link in its place leads to. */
export const FOLDER_FLAGS = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

const DESCRIPTORS = '/proc/self/fd/';

let isMounted: boolean | undefined;

/** Containers and chroots of Linux may come without them. */
export function hasDescriptorPaths(): boolean {
  return process.platform === 'linux' && (isMounted ??= existsSync(DESCRIPTORS));
}

/** Leads to what is open, whatever its own path leads to meanwhile. */
export function descriptorPath(descriptor: number): string {
  return `${DESCRIPTORS}${descriptor}`;
}

export interface Holding {
  /** Default: whether the system has paths of descriptors. */
  readonly usesDescriptors?: boolean | undefined;
  /**
   * The error when a folder is not where it was opened; `actual` is where it is, if that can be told. Absent: with
   * paths of descriptors nothing is proven at opening, as a folder may be moved while it is read.
   */
  readonly refused?: ((actual: string | undefined, expected: string) => Error) | undefined;
}

export interface Making extends Writing {
  /** Default: for its owner only. */
  readonly mode?: number | undefined;
}

export class HeldFolder {
  /** Where it was when it was opened. */
  readonly realPath: string;
  readonly handle: FileHandle;
  readonly #holding: Holding;
  readonly #usesDescriptors: boolean;

  private constructor(handle: FileHandle, realPath: string, holding: Holding) {
    this.handle = handle;
    this.realPath = realPath;
    this.#holding = holding;
    this.#usesDescriptors = holding.usesDescriptors ?? hasDescriptorPaths();
  }

  /**
   * @param realPath no link on its way
   * @throws ELOOP or ENOTDIR when a link or something else is in its place; what `refused` makes
   */
  static async open(realPath: string, holding: Holding = {}): Promise<HeldFolder> {
    return HeldFolder.#open(realPath, realPath, holding);
  }

  static async #open(path: string, realPath: string, holding: Holding): Promise<HeldFolder> {
    const folder = new HeldFolder(await open(nativePath(path), FOLDER_FLAGS), realPath, holding);
    try {
      if (holding.refused !== undefined || !folder.#usesDescriptors) await folder.confirm();
      return folder;
    } catch (error) {
      await folder.close();
      throw error;
    }
  }

  /** How to reach something in it; without a name, the folder itself. Good for as long as the folder is open. */
  at(name = ''): string {
    return join(this.#usesDescriptors ? descriptorPath(this.handle.fd) : this.realPath, name);
  }

  /** Proves that it is still where it was. @throws what `refused` makes, or ELOOP */
  async confirm(): Promise<void> {
    const actual = await pathOfHandle(this.handle, this.realPath, this.#usesDescriptors);
    if (actual !== this.realPath) throw (this.#holding.refused ?? elsewhere)(actual, this.realPath);
  }

  async enter(name: string): Promise<HeldFolder> {
    return HeldFolder.#open(this.at(name), join(this.realPath, name), this.#holding);
  }

  /** Opens a folder in it, which is made when it is not there. */
  async enterOrMake(
    name: string,
    { mode = PRIVATE_FOLDER_MODE, durability = 'disk' }: Making = {},
  ): Promise<HeldFolder> {
    try {
      return await this.enter(name);
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
    }
    await mkdir(nativePath(this.at(name)), { mode }).catch(unlessCode('EEXIST'));
    if (durability === 'disk') await this.sync();
    return this.enter(name);
  }

  /**
   * Goes down through folders, one in the other, and holds only the last; this one is closed, whatever comes of it.
   * @param making absent: none is made
   */
  async into([name, ...below]: readonly string[], making?: Making): Promise<HeldFolder> {
    if (name === undefined) return this;
    let inner: HeldFolder;
    try {
      inner = await (making === undefined ? this.enter(name) : this.enterOrMake(name, making));
    } finally {
      await this.close();
    }
    return inner.into(below, making);
  }

  /** Puts its entries on the disk. */
  async sync(): Promise<void> {
    if (process.platform !== 'win32') await this.handle.sync();
  }

  async close(): Promise<void> {
    await this.handle.close();
  }
}

/**
 * Where an open file or folder is now; undefined when that cannot be told. `expected` is where it was when it was
 * opened.
 */
export async function pathOfHandle(
  handle: FileHandle,
  expected: string,
  usesDescriptors = hasDescriptorPaths(),
): Promise<string | undefined> {
  // The kernel answers from memory: to ask in another thread costs far more than the answer.
  if (usesDescriptors) return withoutRemark(nameOfBytes(readlinkSync(descriptorPath(handle.fd), 'buffer')), handle);
  const actual = await realpath(nativePath(expected), 'buffer').catch(() => undefined);
  if (actual === undefined) return undefined;
  const [there, opened] = await Promise.all([stat(actual, { bigint: true }), handle.stat({ bigint: true })]);
  return there.dev === opened.dev && there.ino === opened.ino ? nameOfBytes(actual) : undefined;
}

const DELETED = ' (deleted)';

/**
 * Linux says so of what has been deleted or replaced since it was opened: it was there, and its content is still what
 * was asked for.
 */
async function withoutRemark(path: string, handle: FileHandle): Promise<string> {
  return path.endsWith(DELETED) && (await handle.stat()).nlink === 0 ? path.slice(0, -DELETED.length) : path;
}

/** As the system says it of a link. */
function elsewhere(_actual: string | undefined, expected: string): Error {
  return Object.assign(new Error(`ELOOP: a link leads elsewhere, open '${expected}'`), { code: 'ELOOP' });
}
