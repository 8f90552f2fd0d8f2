/**
 * Where the sockets of one session's leases lie, each named by its epoch.
 *
 * On Linux that is `runtime/lease` in the session's folder: processes that share the folder meet there, in whatever
 * container or network namespace they run. The path of a socket may have 107 bytes and a session's folder has more, so
 * sockets are bound and reached through `/proc/self/fd/<folder>/`. Elsewhere, and where the file system takes no
 * sockets, they lie in a folder of short path outside the home, keyed by the session folder's real path.
 */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readdirSync } from 'node:fs';
import { access, constants, lstat, mkdir, readdir, realpath, rmdir, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RuntimeError } from '../../machines/errors.ts';
import { systemCodeOf } from '../system/error-codes.ts';
import { descriptorPath, hasDescriptorPaths } from '../system/held-folder.ts';
import { PRIVATE_FOLDER_MODE } from './file-operations.ts';
import { RUNTIME_FOLDER } from './layout.ts';

const LEASE_FOLDER = 'lease';

/** Longest path that every system takes for a socket, in bytes: 104 with the zero at its end, on macOS. */
const MAX_SOCKET_PATH_BYTES = 103;

/** Where the folder is to lie: in the session's own, or below a folder of short path. */
export type LeasePlace = { readonly kind: 'session' } | { readonly kind: 'elsewhere'; readonly root: string };

/**
 * The same for every process of this user, which TMPDIR is not: a worker that cron starts must meet the one in a
 * terminal.
 */
export function defaultSocketDirectory(): string {
  return process.platform === 'win32' ? join(tmpdir(), 'wakechart') : `/tmp/wakechart-${userId()}`;
}

/** Of the user whose rights this process has; a container's user may have no name. */
function userId(): number {
  return process.geteuid?.() ?? 0;
}

export class LeaseFolder {
  readonly #path: string;
  /** Of the folder, while it is open. */
  #descriptor: number | undefined;
  /** The way to the folder's entries. */
  readonly #base: string;
  readonly #isThrownAway: boolean;

  private constructor(path: string, descriptor: number | undefined, isThrownAway: boolean) {
    this.#path = path;
    this.#descriptor = descriptor;
    this.#base = descriptor === undefined ? path : descriptorPath(descriptor);
    this.#isThrownAway = isThrownAway;
  }

  /**
   * The folder for the session in `directory`; undefined when it is not there. One that others can use is not ours: the
   * process that makes it complains.
   * @throws the system's error
   */
  static async find(place: LeasePlace, directory: string): Promise<LeaseFolder | undefined> {
    try {
      if (place.kind === 'elsewhere' && !(await isPrivate(place.root))) return undefined;
      return await LeaseFolder.#open(place, directory);
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /**
   * The same, made if need be. @throws the system's error; ENOENT when the session's folder is gone; RuntimeError
   * SOCKET_DIRECTORY_UNSAFE
   */
  static async make(place: LeasePlace, directory: string): Promise<LeaseFolder> {
    const found = await LeaseFolder.find(place, directory);
    if (found !== undefined) return found;
    await makeFolder(place.kind === 'session' ? join(directory, RUNTIME_FOLDER) : place.root);
    if (place.kind === 'elsewhere' && !(await isPrivate(place.root))) throw socketDirectoryUnsafe(place.root);
    await makeFolder(await pathOf(place, directory));
    return LeaseFolder.#open(place, directory);
  }

  static async #open(place: LeasePlace, directory: string): Promise<LeaseFolder> {
    const path = await pathOf(place, directory);
    const isThrownAway = place.kind === 'elsewhere';
    // In this turn of the event loop, as the bind and the listing: a folder with a few names is checked faster than a
    // thread takes over.
    if (hasDescriptorPaths()) return new LeaseFolder(path, openSync(path, 'r'), isThrownAway);
    await readdir(path);
    return new LeaseFolder(path, undefined, isThrownAway);
  }

  /** @throws RuntimeError SOCKET_PATH_TOO_LONG, since the system would cut it off and two sessions might meet */
  addressOf(epoch: number): string {
    const address = join(this.#base, `${epoch}.sock`);
    if (Buffer.byteLength(address) <= MAX_SOCKET_PATH_BYTES) return address;
    throw new RuntimeError(
      'SOCKET_PATH_TOO_LONG',
      `expected a socket path of at most ${MAX_SOCKET_PATH_BYTES} bytes, received ${address}`,
      {
        category: 'storage',
        hint: 'Set socketDirectory to a folder with a shorter path.',
      },
    );
  }

  /** Whose names are there, highest first. @throws ENOENT when the folder is gone */
  epochs(): number[] {
    const names = readdirSync(this.#base);
    return names
      .flatMap((name) => /^([1-9][0-9]{0,14})\.sock$/.exec(name)?.[1] ?? [])
      .map(Number)
      .toSorted((one, other) => other - one);
  }

  /** Whether this user may not take names in it. False when it is only gone. */
  async isDenied(): Promise<boolean> {
    return access(this.#path, constants.W_OK | constants.X_OK).then(
      () => false,
      (error: unknown) => systemCodeOf(error) !== 'ENOENT',
    );
  }

  /** Takes away a name that no process needs any more. One that cannot be removed does no harm. */
  async remove(epoch: number): Promise<void> {
    await unlink(this.addressOf(epoch)).catch(() => undefined);
  }

  /**
   * To be called after every socket in it was closed: a descriptor that is given to another folder would lead their
   * names astray.
   */
  async close(): Promise<void> {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
    // Refused by the system while another process has a name in it; a process that was about to take one makes it
    // again.
    if (this.#isThrownAway) await rmdir(this.#path).catch(() => undefined);
  }
}

/** Two ways to the same session lead to one folder: in the session's own by themselves, elsewhere by its real path. */
async function pathOf(place: LeasePlace, directory: string): Promise<string> {
  if (place.kind === 'session') return join(directory, RUNTIME_FOLDER, LEASE_FOLDER);
  return join(
    place.root,
    createHash('sha256')
      .update(await realpath(directory).catch(() => directory))
      .digest('hex')
      .slice(0, 32),
  );
}

async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { mode: PRIVATE_FOLDER_MODE }).catch((error: unknown) => {
    if (systemCodeOf(error) !== 'EEXIST') throw error;
  });
}

/** Others may write next to it: in a folder of theirs they could answer for our processes, or make them silent. */
async function isPrivate(root: string): Promise<boolean> {
  const found = await lstat(root);
  return (
    found.isDirectory() && (process.platform === 'win32' || (found.uid === userId() && (found.mode & 0o077) === 0))
  );
}

function socketDirectoryUnsafe(root: string): RuntimeError {
  return new RuntimeError(
    'SOCKET_DIRECTORY_UNSAFE',
    `expected ${root} to be a folder that only its owner, this user, can use; it is not`,
    {
      category: 'storage',
      hint: 'Remove it, or let only this user use it (chmod 700), or set socketDirectory to another folder.',
    },
  );
}
