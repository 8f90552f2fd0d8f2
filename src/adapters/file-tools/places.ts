/**
 * Where the file tools may go: the workspace of a session, its other mounts, and folders that may be read besides.
 * Paths are judged by where they lead once every symbolic link is followed, under the right of the mount that this is,
 * and what was opened is judged again, so that a link put in between changes nothing.
 */
import type { Stats } from 'node:fs';
import { lstat, open, realpath } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Mount } from '../../machines/environment/mount-table.ts';
import { systemCodeOf } from '../system/error-codes.ts';
import { HeldFolder, pathOfHandle } from '../system/held-folder.ts';
import { READING_NO_LINK } from '../system/own-files.ts';
import { realPathOfOwn } from '../system/real-path.ts';
import { isWithin } from '../system/whole-files.ts';
import {
  fileFailed,
  movedSince,
  notAFile,
  notAFolder,
  notFound,
  outside,
  readOnlyMount,
  vaultNotReadable,
} from './file-errors.ts';
import { KeptPlaces } from './kept-places.ts';
import { MountRoots } from './mount-roots.ts';
import type { NamedPlace, Root } from './mount-roots.ts';

export type Access = 'read' | 'write';

/** A path that may be touched. */
export interface Place {
  /** As it was given. */
  readonly path: string;
  readonly access: Access;
  /** As results name it: from the workspace with slashes; elsewhere by the name of its mount, or absolute. */
  readonly shown: string;
  /** The folder that it lies in and by whose right it is touched. */
  readonly root: Root;
  /** Where it leads; for what does not exist, where it would be. */
  readonly realPath: string;
  /** The nearest folder, or the thing itself, that exists. */
  readonly existing: string;
  /** The names below `existing` that are missing; none when it exists. */
  readonly missing: readonly string[];
}

export interface PlacesOptions {
  readonly workspaceDirectory: string;
  /** Without any there is the workspace alone, under no name. */
  readonly mounts?: readonly Mount[] | undefined;
  /** Absolute. Those that do not exist are passed over. */
  readonly readRoots?: readonly string[] | undefined;
  /**
   * The path that was allowed, absolute and as rules name it, with its mount, when one was: then no other is located.
   */
  readonly allowed?: { readonly path: string; readonly mount?: string | undefined } | undefined;
  /** Whether the system tells where an open file is, as Linux does. */
  readonly usesDescriptors?: boolean | undefined;
  /** The home of Wakechart, absolute: what in it is not the session's own is left alone. */
  readonly home?: string | undefined;
  /**
   * Whether the commands of the session run in a sandbox: then tools leave alone what those cannot reach. Default
   * false.
   */
  readonly isShutIn?: boolean | undefined;
}

/** As any program would make it. */
const USUAL_FOLDER = { mode: 0o777, durability: 'os' } as const;

interface PlacesParts extends Pick<PlacesOptions, 'allowed' | 'usesDescriptors'> {
  readonly roots: MountRoots;
  readonly kept: KeptPlaces;
  readonly workspace: string;
}

export class Places {
  readonly #roots: MountRoots;
  readonly #kept: KeptPlaces;
  readonly #workspace: string;
  readonly #allowed: PlacesOptions['allowed'];
  readonly #usesDescriptors: boolean | undefined;

  private constructor({ roots, kept, workspace, allowed, usesDescriptors }: PlacesParts) {
    this.#roots = roots;
    this.#kept = kept;
    this.#workspace = workspace;
    this.#allowed = allowed;
    this.#usesDescriptors = usesDescriptors;
  }

  static async open({
    workspaceDirectory,
    mounts,
    readRoots = [],
    home,
    isShutIn = false,
    ...options
  }: PlacesOptions): Promise<Places> {
    const workspace =
      (home !== undefined && isWithin(home, workspaceDirectory) ? realPathOfOwn(workspaceDirectory) : undefined) ??
      (await realpath(workspaceDirectory).catch((error: unknown) => {
        throw fileFailed('use the workspace', workspaceDirectory, error);
      }));
    const readable = await Promise.all(readRoots.map((root) => realpath(root).catch(() => undefined)));
    const roots = new MountRoots({
      directory: workspaceDirectory,
      workspace,
      mounts,
      readRoots: readable.flatMap((root) => root ?? []),
    });
    return new Places({ ...options, roots, kept: KeptPlaces.of({ home, isShutIn }), workspace });
  }

  /** The real path of the workspace. */
  get workspace(): string {
    return this.#workspace;
  }

  /** The real paths of the folders that count as what the session holds: none lies in another. */
  get measured(): readonly string[] {
    return [this.#workspace, ...this.#roots.realPathsOf('runtime')].filter((path, _index, all) =>
      all.every((other) => other === path || !isWithin(other, path)),
    );
  }

  /**
   * @throws RuntimeError PATH_OUTSIDE_WORKSPACE, MOUNT_READ_ONLY, VAULT_NOT_READABLE, PATH_CHANGED, PATH_INVALID,
   * NOT_A_FILE, FILE_ACCESS_DENIED
   */
  async locate(path: string, access: Access): Promise<Place> {
    const named = this.#named(path);
    const { existing, missing, error } = await nearestExisting(named.absolute, path);
    const root = this.#roots.rootOf(existing, named.root);
    if (root === undefined) throw outside(path, access, this.#roots.names);
    const realPath = join(existing, ...missing);
    this.#kept.require(path, { realPath, root, access });
    const forRules = this.#roots.forRules(realPath, root);
    if (this.#allowed !== undefined && (this.#allowed.path !== forRules.path || this.#allowed.mount !== forRules.mount))
      throw movedSince(path);
    if (access === 'write' && root.access === 'ro')
      throw root.kind === 'read' ? outside(path, access, this.#roots.names) : readOnlyMount(path, root);
    if (error !== undefined && systemCodeOf(error) !== 'ENOENT') throw fileFailed(access, path, error);
    const [first] = missing;
    // A process that makes the file that it names would follow it.
    if (first !== undefined && (await isLink(join(existing, first))))
      throw notAFile(path, 'a symbolic link that leads nowhere');
    return { path, access, shown: this.#roots.shownAs(realPath, root), root, realPath, existing, missing };
  }

  #named(path: string): Extract<NamedPlace, { readonly kind: 'place' }> {
    const named = this.#roots.named(path);
    if (named.kind === 'vault') throw vaultNotReadable(named.path);
    return named;
  }

  shownAs(realPath: string): string {
    return this.#roots.shownAs(realPath);
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
  async openFolder(place: Place): Promise<HeldFolder> {
    if (place.missing.length > 0) throw notFound(place.access, place.path);
    return this.#openFolderAt(place.realPath, place);
  }

  /** Opens the folder that holds a file, and makes those that are missing. The caller closes it. */
  async openParent(place: Place): Promise<HeldFolder> {
    const isThere = place.missing.length === 0;
    if (isThere && (await this.isFolder(place))) throw notAFile(place.path, 'a folder');
    const folder = await this.#openFolderAt(isThere ? dirname(place.realPath) : place.existing, place);
    return folder.into(place.missing.slice(0, -1), USUAL_FOLDER).catch((error: unknown) => {
      throw fileFailed(place.access, place.path, error);
    });
  }

  /** Opens a folder by its real path. @throws RuntimeError when it is not there any more, or leads elsewhere */
  async openFolderAt(realPath: string, access: Access): Promise<HeldFolder> {
    const root = this.#roots.rootOf(realPath);
    if (root !== undefined) this.#kept.require(this.shownAs(realPath), { realPath, root, access });
    return this.#openFolderAt(realPath, { path: this.shownAs(realPath), access });
  }

  /** The same for a caller that measures and reads nothing: also of what tools leave alone. */
  async openToMeasure(realPath: string): Promise<HeldFolder> {
    return this.#openFolderAt(realPath, { path: this.shownAs(realPath), access: 'read' });
  }

  /** Where a symbolic link leads, when that is allowed. */
  async follow(path: string, access: Access): Promise<string | undefined> {
    const target = await realpath(path).catch(() => undefined);
    return target !== undefined && this.#isAllowed(target, access) ? target : undefined;
  }

  async #openFolderAt(realPath: string, { path, access }: Pick<Place, 'path' | 'access'>): Promise<HeldFolder> {
    const refused = (actual: string | undefined): Error => this.#refused(actual, { path, access });
    return HeldFolder.open(realPath, { usesDescriptors: this.#usesDescriptors, refused }).catch((error: unknown) => {
      throw systemCodeOf(error) === 'ENOTDIR' ? notAFolder(path) : fileFailed(access, path, error);
    });
  }

  async #confirm(handle: FileHandle, { realPath, path, access }: Place): Promise<void> {
    const actual = await pathOfHandle(handle, realPath, this.#usesDescriptors);
    if (actual !== realPath) throw this.#refused(actual, { path, access });
  }

  /** What is said when something is opened and lies elsewhere than it did when it was located. */
  #refused(actual: string | undefined, { path, access }: Pick<Place, 'path' | 'access'>): Error {
    return actual !== undefined && this.#isAllowed(actual, access)
      ? movedSince(path)
      : outside(path, access, this.#roots.names);
  }

  #isAllowed(realPath: string, access: Access): boolean {
    const root = this.#roots.rootOf(realPath);
    return (
      root !== undefined && (access === 'read' || root.access === 'rw') && !this.#kept.keeps(realPath, root, access)
    );
  }
}

/** What results call a file in a folder that they call `shownFolder`. */
export function below(shownFolder: string, name: string): string {
  if (shownFolder === '.') return name;
  return shownFolder.endsWith('/') ? shownFolder + name : `${shownFolder}/${name}`;
}

/**
 * Opens what must be a regular file and no symbolic link. `path` is what errors call it; `confirm` says whether it may
 * be read.
 */
export async function openRegularFile(
  realPath: string,
  path: string,
  confirm?: (handle: FileHandle) => Promise<void>,
): Promise<FileHandle> {
  let handle: FileHandle | undefined;
  try {
    // Checked before it is opened as well: opening a device can do something by itself.
    requireFile(await lstat(realPath), path);
    handle = await open(realPath, READING_NO_LINK);
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

/** Where a path leads, as far as it exists; `error` is what the whole of it met. `path` is what errors call it. */
async function nearestExisting(
  absolute: string,
  path: string,
): Promise<{ readonly existing: string; readonly missing: readonly string[]; readonly error: unknown }> {
  const missing: string[] = [];
  let first: unknown;
  for (let current = absolute; ; current = dirname(current)) {
    try {
      return { existing: await realpath(current), missing, error: first };
    } catch (error) {
      first ??= error;
      if (dirname(current) === current) throw fileFailed('find', path, error);
      missing.unshift(basename(current));
    }
  }
}

async function isLink(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  return stats?.isSymbolicLink() === true;
}
