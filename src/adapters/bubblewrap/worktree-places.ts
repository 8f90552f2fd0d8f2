/**
 * What a worktree needs of the repository that it belongs to, so that git works in it and can change nothing there but
 * the worktree's own part.
 */
import { lstat, open, readFile, readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { READING_NO_LINK } from '../system/own-files.ts';

export interface NeededPlace {
  /** On the host, and in the sandbox: absolute, every link followed. */
  readonly path: string;
  /** `none`: it is not there, and is not to be made. */
  readonly access: 'ro' | 'rw' | 'none';
  /** The one file in it that may be changed: what lies beside that are the branches of others. */
  readonly own?: string | undefined;
}

const MAX_POINTER_BYTES = 8_192;
const MAX_CONFIG_BYTES = 1_048_576;
/** More branches beside that of the worktree are too many to be kept from it one by one. */
const MAX_BRANCHES_BESIDE = 500;
/** Folders of branches: `refs/heads/wakechart`, at most one below that. */
const BRANCH_LEVELS = 3;

/**
 * Empty where the file `.git` does not belong to a worktree that its repository knows of. The pointer back lies in the
 * repository, where a process that can only write the worktree cannot write: without it a made-up `.git` would have any
 * folder of the host mounted.
 * @param worktree absolute, every link followed
 */
export async function worktreePlaces(worktree: string): Promise<readonly NeededPlace[]> {
  const own = await pointedTo(join(worktree, '.git'), worktree, /^gitdir: (?<path>.+)$/);
  if (own === undefined || basename(dirname(own)) !== 'worktrees' || !(await isRealFolder(own))) return [];
  const common = dirname(dirname(own));
  const [shared, back] = await Promise.all([
    pointedTo(join(own, 'commondir'), own, /^(?<path>.+)$/),
    pointedTo(join(own, 'gitdir'), own, /^(?<path>.+)$/),
  ]);
  if (shared !== common || back !== join(worktree, '.git') || !(await isRealFolder(join(common, 'objects')))) return [];
  const name = basename(worktree);
  const branches = await branchFolders(join(common, 'refs/heads'), name, BRANCH_LEVELS);
  // The one log of its branch, which git adds to: in its folder a link could be put, through which the git of people
  // would write.
  const logs = await realFiles(branches.map((folder) => join(common, 'logs', folder.slice(common.length + 1), name)));
  // It names folders with objects of others.
  const information = await realFolders([join(common, 'objects/info')]);
  return [
    { path: common, access: 'ro' },
    ...[join(common, 'objects'), own, ...logs].map((path): NeededPlace => ({ path, access: 'rw' })),
    ...branches.map((path): NeededPlace => ({ path, access: 'rw', own: name })),
    ...information.map((path): NeededPlace => ({ path, access: 'ro' })),
    ...[join(own, 'commondir'), join(own, 'gitdir')].map((path): NeededPlace => ({ path, access: 'ro' })),
    ...(await settingsOf(own, common)),
  ];
}

/** The folder that a `.git` leads to which is none itself; undefined where it leads nowhere. @param path absolute */
export async function gitFolderOf(path: string): Promise<string | undefined> {
  const named = (await pointedTo(path, dirname(path), /^gitdir: (?<path>.+)$/)) ?? path;
  const real = await realpath(named).catch(() => undefined);
  return real === undefined || !(await isRealFolder(real)) ? undefined : real;
}

/** What a small file says by the pattern, from `base`. No link is followed. */
async function pointedTo(file: string, base: string, pattern: RegExp): Promise<string | undefined> {
  const text = await smallText(file);
  const path = text === undefined ? undefined : pattern.exec(text.trimEnd())?.groups?.['path'];
  return path === undefined ? undefined : resolve(base, path);
}

async function smallText(file: string): Promise<string | undefined> {
  const handle = await open(file, READING_NO_LINK).catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    const found = await handle.stat();
    return found.isFile() && found.size <= MAX_POINTER_BYTES ? await handle.readFile('utf8') : undefined;
  } catch {
    return undefined;
  } finally {
    await handle.close();
  }
}

async function isRealFolder(path: string): Promise<boolean> {
  const [found, real] = await Promise.all([lstat(path).catch(() => undefined), realpath(path).catch(() => undefined)]);
  return found?.isDirectory() === true && real === path;
}

async function realFolders(paths: readonly string[]): Promise<readonly string[]> {
  const are = await Promise.all(paths.map(isRealFolder));
  return paths.filter((_, index) => are[index]);
}

async function realFiles(paths: readonly string[]): Promise<readonly string[]> {
  const are = await Promise.all(
    paths.map(
      async (path) =>
        (await lstat(path).catch(() => undefined))?.isFile() === true &&
        (await realpath(path).catch(() => undefined)) === path,
    ),
  );
  return paths.filter((_, index) => are[index]);
}

/** Which hold a branch of the worktree's name. The branches beside the folders, such as `main`, stay as they are. */
async function branchFolders(folder: string, name: string, levels: number): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const inner = entries.filter((entry) => entry.isDirectory());
  const below =
    levels <= 1
      ? []
      : await Promise.all(inner.map((entry) => branchFolders(join(folder, entry.name), name, levels - 1)));
  const isOne =
    levels < BRANCH_LEVELS &&
    entries.length <= MAX_BRANCHES_BESIDE &&
    entries.some((entry) => entry.isFile() && entry.name === name);
  return [...(isOne ? [folder] : []), ...below.flat()];
}

/** A repository may let its worktrees have settings of their own, which can name programs. */
async function settingsOf(own: string, common: string): Promise<readonly NeededPlace[]> {
  const config = join(common, 'config');
  const size = await lstat(config).then(
    (found) => found.size,
    () => 0,
  );
  if (size <= MAX_CONFIG_BYTES && !/worktreeconfig/i.test(await readFile(config, 'utf8').catch(() => ''))) return [];
  const path = join(own, 'config.worktree');
  return [{ path, access: (await lstat(path).catch(() => undefined)) === undefined ? 'none' : 'ro' }];
}
