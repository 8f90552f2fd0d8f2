/**
 * Where the file tools may go: the workspace of a session, and folders that may be read besides. Paths are judged by where they lead once
 * every symbolic link is followed, and what was opened is judged again, so that a link put in between changes nothing.
 */
import { constants, existsSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { lstat, open, realpath } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { fileFailed, movedSince, notAFile, notAFolder, notFound, outside, systemCodeOf } from './file-errors.ts';
import { OpenFolder, pathOfHandle } from './open-folder.ts';

export type Access = 'read' | 'write';

/** A path that may be touched. */
export interface Place {
  /** As it was given. */
  readonly path: string;
  readonly access: Access;
  /** As results name it: from the workspace with slashes, or absolute when it lies elsewhere. */
  readonly shown: string;
  /** Where it leads; for what does not exist, where it would be. */
  readonly realPath: string;
  /** The nearest folder, or the thing itself, that exists. */
  readonly existing: string;
  /** The names below `existing` that are missing; none when it exists. */
  readonly missing: readonly string[];
}

export interface PlacesOptions {
  readonly workspaceDirectory: string;
  /** Absolute. Those that do not exist are passed over. */
  readonly readRoots?: readonly string[] | undefined;
  /** The path that was allowed, absolute and as rules name it, when one was: then no other is located. */
  readonly allowedPath?: string | undefined;
  /** Whether the system tells where an open file is, as Linux does. */
  readonly usesDescriptors?: boolean | undefined;
}

/** Containers may come without it. */
const HAS_DESCRIPTORS = process.platform === 'linux' && existsSync('/proc/self/fd');

/** A FIFO is opened without waiting for somebody at its other end, a terminal without becoming ours. Windows knows neither. */
const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

export class Places {
  readonly #directory: string;
  readonly #workspace: string;
  readonly #readRoots: readonly string[];
  readonly #allowedPath: string | undefined;
  readonly #usesDescriptors: boolean;

  private constructor({ workspaceDirectory, readRoots = [], allowedPath, usesDescriptors = HAS_DESCRIPTORS }: PlacesOptions, workspace: string) {
    this.#directory = workspaceDirectory;
    this.#workspace = workspace;
    this.#readRoots = readRoots;
    this.#allowedPath = allowedPath;
    this.#usesDescriptors = usesDescriptors;
  }

  static async open(options: PlacesOptions): Promise<Places> {
    const { workspaceDirectory, readRoots = [] } = options;
    const workspace = await realpath(workspaceDirectory).catch((error: unknown) => {
      throw fileFailed('use the workspace', workspaceDirectory, error);
    });
    const roots = await Promise.all(readRoots.map((root) => realpath(root).catch(() => undefined)));
    return new Places({ ...options, readRoots: roots.flatMap((root) => root ?? []) }, workspace);
  }

  /** The real path of the workspace. */
  get workspace(): string {
    return this.#workspace;
  }

  /** @throws RuntimeError PATH_OUTSIDE_WORKSPACE, PATH_CHANGED, PATH_INVALID, NOT_A_FILE, FILE_ACCESS_DENIED */
  async locate(path: string, access: Access): Promise<Place> {
    const { existing, missing, error } = await nearestExisting(resolve(this.#directory, path));
    if (!this.#isAllowed(existing, access)) throw outside(path, access);
    const realPath = join(existing, ...missing);
    const forRules = pathForRules(realPath, { directory: this.#directory, realPath: this.#workspace });
    if (this.#allowedPath !== undefined && this.#allowedPath !== forRules) throw movedSince(path);
    if (error !== undefined && systemCodeOf(error) !== 'ENOENT') throw fileFailed(access, path, error);
    const [first] = missing;
    // It would be followed by whoever makes the file that it names.
    if (first !== undefined && (await isLink(join(existing, first)))) throw notAFile(path, 'a symbolic link that leads nowhere');
    return { path, access, shown: this.shownAs(realPath), realPath, existing, missing };
  }

  shownAs(realPath: string): string {
    if (!isWithin(this.#workspace, realPath)) return realPath;
    return relative(this.#workspace, realPath).split(sep).join('/') || '.';
  }

  async isFolder({ realPath }: Place): Promise<boolean> {
    const stats = await lstat(realPath).catch(() => undefined);
    return stats?.isDirectory() === true;
  }

  /** Opens a regular file, and proves that what was opened lies where it may. The caller closes it. */
  async openFile(place: Place): Promise<FileHandle> {
    if (place.missing.length > 0) throw notFound(place.access, place.path);
    return openRegularFile(place.realPath, place.path, (handle) => this.#confirm(handle, place));
  }

  /** Opens the folder that a path names. The caller closes it. @throws RuntimeError NOT_A_FOLDER */
  async openFolder(place: Place): Promise<OpenFolder> {
    if (place.missing.length > 0) throw notFound(place.access, place.path);
    return this.#openFolderAt(place.realPath, place);
  }

  /** Opens the folder that holds a file, and makes those that are missing. The caller closes it. */
  async openParent(place: Place): Promise<OpenFolder> {
    const isThere = place.missing.length === 0;
    if (isThere && (await this.isFolder(place))) throw notAFile(place.path, 'a folder');
    let folder = await this.#openFolderAt(isThere ? dirname(place.realPath) : place.existing, place);
    for (const name of place.missing.slice(0, -1)) {
      const parent = folder;
      try {
        folder = await parent.enterOrMake(name);
      } catch (error) {
        throw fileFailed(place.access, place.path, error);
      } finally {
        await parent.close();
      }
    }
    return folder;
  }

  /** Opens a folder by its real path. @throws RuntimeError when it is not there any more, or leads elsewhere */
  async openFolderAt(realPath: string, access: Access): Promise<OpenFolder> {
    return this.#openFolderAt(realPath, { path: this.shownAs(realPath), access });
  }

  /** Where a symbolic link leads, when that is allowed. */
  async follow(path: string, access: Access): Promise<string | undefined> {
    const target = await realpath(path).catch(() => undefined);
    return target !== undefined && this.#isAllowed(target, access) ? target : undefined;
  }

  async #openFolderAt(realPath: string, { path, access }: Pick<Place, 'path' | 'access'>): Promise<OpenFolder> {
    const refused = (actual: string | undefined): Error => this.#refused(actual, { path, access });
    return OpenFolder.open(realPath, { usesDescriptors: this.#usesDescriptors, refused }).catch((error: unknown) => {
      throw systemCodeOf(error) === 'ENOTDIR' ? notAFolder(path) : fileFailed(access, path, error);
    });
  }

  async #confirm(handle: FileHandle, { realPath, path, access }: Place): Promise<void> {
    const actual = await pathOfHandle(handle, realPath, this.#usesDescriptors);
    if (actual !== realPath) throw this.#refused(actual, { path, access });
  }

  /** What is said when something is opened and lies elsewhere than it did when it was located. */
  #refused(actual: string | undefined, { path, access }: Pick<Place, 'path' | 'access'>): Error {
    return actual !== undefined && this.#isAllowed(actual, access) ? movedSince(path) : outside(path, access);
  }

  #isAllowed(realPath: string, access: Access): boolean {
    return isWithin(this.#workspace, realPath) || (access === 'read' && this.#readRoots.some((root) => isWithin(root, realPath)));
  }
}

/** How rules name a place: under the name that the workspace has for the runtime, which may lead there through links; others by their real path. */
export function pathForRules(realPath: string, workspace: { readonly directory: string; readonly realPath: string }): string {
  return isWithin(workspace.realPath, realPath) ? resolve(workspace.directory, relative(workspace.realPath, realPath)) : realPath;
}

/** What results call a file in a folder that they call `shownFolder`. */
export function below(shownFolder: string, name: string): string {
  if (shownFolder === '.') return name;
  return shownFolder.endsWith('/') ? shownFolder + name : `${shownFolder}/${name}`;
}

/** Opens what must be a regular file and no symbolic link. `path` is what errors call it; `confirm` says whether it may be read. */
export async function openRegularFile(realPath: string, path: string, confirm?: (handle: FileHandle) => Promise<void>): Promise<FileHandle> {
  let handle: FileHandle | undefined;
  try {
    // Looked at before it is opened as well: opening a device can do something by itself.
    requireFile(await lstat(realPath), path);
    handle = await open(realPath, READ_FLAGS);
    requireFile(await handle.stat(), path);
    await confirm?.(handle);
    return handle;
  } catch (error) {
    await handle?.close();
    throw fileFailed('read', path, error);
  }
}

function requireFile(stats: Stats, path: string): void {
  if (stats.isFile()) return;
  if (stats.isDirectory()) throw notAFile(path, 'a folder');
  if (stats.isSymbolicLink()) throw notAFile(path, 'a symbolic link that was just put there');
  if (stats.isFIFO()) throw notAFile(path, 'a named pipe');
  throw notAFile(path, stats.isSocket() ? 'a socket' : 'a device');
}

/** Where a path leads, as far as it exists; `error` is what the whole of it met. */
async function nearestExisting(absolute: string): Promise<{ readonly existing: string; readonly missing: readonly string[]; readonly error: unknown }> {
  const missing: string[] = [];
  let first: unknown;
  for (let current = absolute; ; current = dirname(current)) {
    try {
      return { existing: await realpath(current), missing, error: first };
    } catch (error) {
      first ??= error;
      if (dirname(current) === current) throw fileFailed('find', absolute, error);
      missing.unshift(basename(current));
    }
  }
}

async function isLink(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  return stats?.isSymbolicLink() === true;
}

function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
