/**
 * Deletes a folder by the list of what was seen in it, and nothing else: what has come since stays, and the folder with
 * it.
 *
 * A process may put a link in the place of a folder meanwhile. So on Linux each folder is opened without following
 * links, seen to be the one that was walked, and what is in it is named by way of that.
 */
import { Buffer } from 'node:buffer';
import { lstat, open, readdir, rmdir, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { hasCode } from '../system/error-codes.ts';
import { FOLDER_FLAGS, descriptorPath, hasDescriptorPaths } from '../system/held-folder.ts';
import { walkFolder } from './folder-walk.ts';
import type { FolderWalk } from './folder-walk.ts';
import { bytesOf, shownPath } from './git-command.ts';

/** Enough to keep the thread pool busy. */
const MAX_DELETIONS = 16;
/** At once, of those in the folder itself: each holds as many open as it is deep. */
const MAX_FOLDERS = 8;

/** A process may still write into what is given up. */
const MAX_ATTEMPTS = 3;

/** Deleted after everything else: it says what the folder is, should the rest be interrupted. */
const LAST = '.git';

/** What lies in one folder, by name. */
interface Contents {
  readonly files: string[];
  readonly folders: Map<string, Contents>;
  /** Which folder it is. */
  readonly inode: string;
}

/** @throws Error of the system, or one that says what has come in since the walk */
export async function deleteWalked(root: string, walk: FolderWalk): Promise<void> {
  const deletion = new Deletion(walk);
  await deletion.run(bytesOf(root));
  await rmdir(root);
}

/**
 * Deletes a folder with all that is in it; one that is not there is fine. @throws Error of the system, or one that says
 * what stands in the way
 */
export async function deleteWhole(root: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const stats = await lstat(root).catch(() => undefined);
    if (stats === undefined) return;
    if (!stats.isDirectory()) return unlink(root);
    const walk = await walkFolder(root);
    const [problem] = walk.problems;
    if (problem !== undefined && attempt === MAX_ATTEMPTS) throw new Error(problem);
    try {
      if (problem === undefined) return await deleteWalked(root, walk);
    } catch (error) {
      if (attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

class Deletion {
  readonly #root: string | undefined;
  readonly #contents: Contents;
  readonly #failures: unknown[] = [];

  constructor(walk: FolderWalk) {
    this.#root = walk.root;
    this.#contents = contentsOf(walk);
  }

  async run(root: string): Promise<void> {
    await this.#inside(
      root,
      (stats) => this.#root === stats,
      async (place) => {
        await this.#empty(place, this.#contents, MAX_FOLDERS);
        const left = (await readdir(pathOf(place), { encoding: 'latin1' })).find((name) => name !== LAST);
        if (left !== undefined)
          throw new Error(`${JSON.stringify(shownPath(left))} has come into it while it was being removed`);
        if (this.#contents.files.includes(LAST))
          await this.#each([LAST], 1, (name) => unlink(pathOf(`${place}/${name}`)));
      },
    );
  }

  async #empty(place: string, { files, folders }: Contents, atOnce: number): Promise<void> {
    const isRoot = atOnce > 1;
    await this.#each(isRoot ? files.filter((name) => name !== LAST) : files, MAX_DELETIONS, (name) =>
      unlink(pathOf(`${place}/${name}`)),
    );
    await this.#each([...folders], atOnce, async ([name, contents]) => {
      const path = `${place}/${name}`;
      const [device] = (this.#root ?? '').split(' ');
      await this.#inside(
        path,
        (stats) => stats === `${device} ${contents.inode}`,
        (inner) => this.#empty(inner, contents, 1),
      );
      await rmdir(pathOf(path)).catch((error: unknown) => refuse(path, error));
    });
  }

  /** Runs `work` with a path that leads into the folder that was walked, whatever its own path leads to meanwhile. */
  async #inside(
    path: string,
    isWalked: (stats: string) => boolean,
    work: (place: string) => Promise<void>,
  ): Promise<void> {
    if (!hasDescriptorPaths()) {
      const stats = await lstat(pathOf(path), { bigint: true });
      if (!isWalked(`${stats.dev} ${stats.ino}`)) throw replaced(path);
      return work(path);
    }
    const handle: FileHandle = await open(pathOf(path), FOLDER_FLAGS).catch((error: unknown) => refuse(path, error));
    try {
      const stats = await handle.stat({ bigint: true });
      if (!isWalked(`${stats.dev} ${stats.ino}`)) throw replaced(path);
      await work(descriptorPath(handle.fd));
    } finally {
      await handle.close();
    }
  }

  /** What is gone already is fine. After a failure nothing more is begun, anywhere. */
  async #each<Item>(items: readonly Item[], atOnce: number, remove: (item: Item) => Promise<void>): Promise<void> {
    let next = 0;
    const work = async (): Promise<void> => {
      for (let item = items[next++]; item !== undefined && this.#failures.length === 0; item = items[next++]) {
        try {
          await remove(item);
        } catch (error) {
          if (!hasCode(error, 'ENOENT')) this.#failures.push(error);
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
    if (this.#failures.length > 0) throw this.#failures[0];
  }
}

/** Folders come before what is in them. */
function contentsOf({ entries }: FolderWalk): Contents {
  const root: Contents = { files: [], folders: new Map(), inode: '' };
  const known = new Map<string, Contents>([['', root]]);
  for (const [path, { kind, signature }] of entries) {
    const end = path.lastIndexOf('/');
    const parent = known.get(end === -1 ? '' : path.slice(0, end));
    const name = path.slice(end + 1);
    if (parent === undefined) continue;
    if (kind === 'folder') {
      const contents: Contents = { files: [], folders: new Map(), inode: signature };
      parent.folders.set(name, contents);
      known.set(path, contents);
    } else parent.files.push(name);
  }
  return root;
}

/** Says in words what the system says of a link, or a file, in the place of a folder. */
function refuse(path: string, error: unknown): never {
  throw hasCode(error, 'ELOOP', 'ENOTDIR') ? replaced(path) : error;
}

function replaced(path: string): Error {
  return new Error(
    `${JSON.stringify(shownPath(path.slice(path.lastIndexOf('/') + 1)))} is not the folder any more that it was`,
  );
}

function pathOf(bytes: string): Buffer {
  return Buffer.from(bytes, 'latin1');
}
