/** The repository around a folder, and what its checkout has that is in no commit. */
import { realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { GitCommand } from './git-command.ts';
import { shownPath } from './git-command.ts';
import { FILE_SETTINGS, parseSettings } from './git-settings.ts';
import type { RepositorySettings } from './git-settings.ts';
import type { WorktreeContext } from './worktree-context.ts';
import { runPrivately } from './private-git.ts';
import { parseStashes } from './reflog.ts';
import { GitFailure, noCommit, notARepository, saidBy } from './worktree-errors.ts';

export interface Repository {
  /** The root of the checkout. */
  readonly root: string;
  /** What all its checkouts share. */
  readonly commonDirectory: string;
  /** Git's own folder for this checkout. */
  readonly gitDirectory: string;
  /** From the root to the folder that was asked about; empty for the root. */
  readonly subdirectory: string;
  /** The commit of its HEAD, in full. */
  readonly head: string;
  readonly settings: RepositorySettings;
  readonly stashes: readonly string[];
}

/** Printed back as it is between two answers: paths may have lines of their own. */
const SEPARATOR = '--wakechart-next';

/** @throws RuntimeError WORKTREE_NOT_A_REPOSITORY, WORKTREE_NO_COMMIT; GitFailure when git itself fails */
export async function findRepository(
  context: Pick<WorktreeContext, 'git' | 'ceilingDirectories'>,
  cwd: string,
  signal?: AbortSignal,
): Promise<Repository> {
  const located = await locateRepository(context, cwd, signal);
  return { ...located, stashes: await parseStashes(located.commonDirectory) };
}

/**
 * Asks git alone, which is given up when it takes too long: nothing of the repository is opened here. @throws as
 * `findRepository` does
 */
export async function locateRepository(
  { git, ceilingDirectories: ceilings }: Pick<WorktreeContext, 'git' | 'ceilingDirectories'>,
  cwd: string,
  signal?: AbortSignal,
): Promise<Omit<Repository, 'stashes'>> {
  const folder = await realFolder(cwd);
  const call = { cwd: folder, signal };
  const questions = [
    'rev-parse',
    '--path-format=absolute',
    '--show-toplevel',
    SEPARATOR,
    '--git-common-dir',
    SEPARATOR,
    '--absolute-git-dir',
    SEPARATOR,
    '--show-prefix',
    SEPARATOR,
  ];
  const [answers, settings] = await Promise.all([
    git
      .run([...questions, '--verify', '-q', 'HEAD^{commit}'], call)
      .catch((error: unknown) => refused(git, folder, error, signal)),
    git.run(['config', '--list', '--show-scope', '-z'], call).catch((error: unknown) => {
      if (error instanceof GitFailure && error.kind === 'failed') throw notARepository(cwd, saidBy(error));
      throw error;
    }),
  ]);
  const [root = '', common = '', own = '', prefix = '', head = ''] = answers
    .split(`${SEPARATOR}\n`)
    .map((answer) => shownPath(answer).replace(/\n$/, ''));
  await refuseAbove(ceilings, folder, root);
  const [commonDirectory, gitDirectory] = await Promise.all([realpath(common), realpath(own)]);
  return {
    root,
    commonDirectory,
    gitDirectory,
    subdirectory: prefix.replace(/\/$/, ''),
    head,
    settings: parseSettings(settings),
  };
}

/** What lies in such a folder is no part of the repository that the folder itself lies in. */
async function refuseAbove(ceilings: readonly string[], folder: string, root: string): Promise<void> {
  for (const given of ceilings) {
    const ceiling = await realpath(given).catch(() => given);
    if (isInside(folder, ceiling) && !(root !== ceiling && isInside(root, ceiling))) {
      throw notARepository(
        folder,
        `the repository at ${JSON.stringify(root)} lies around ${JSON.stringify(ceiling)}, whose contents are no part of it`,
      );
    }
  }
}

/** How the files of the repository lie on the disk, as settings that hold whatever is written into it later. */
export function fileSettingsOf({ own }: RepositorySettings): string[] {
  return FILE_SETTINGS.flatMap((name) => {
    const value = own.get(name);
    return value === undefined ? [] : [`${name}=${value}`];
  });
}

/** What the checkout has that is in no commit, in words; undefined when that is nothing. */
export async function uncommittedIn(
  { git, worktreesDirectory: near }: WorktreeContext,
  repository: Repository,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const command = [
    'status',
    '--porcelain=v1',
    '-z',
    '--untracked-files=all',
    '--ignore-submodules=dirty',
    '--no-renames',
  ];
  const { root: place } = repository;
  const output = await runPrivately(git, { ...repository, near, place }, command, {
    settings: fileSettingsOf(repository.settings),
    runsFilters: true,
    signal,
  });
  const entries = output.split('\0').filter((entry) => entry !== '');
  const untracked = entries.filter((entry) => entry.startsWith('??')).length;
  const changed = entries.length - untracked;
  const counts = [
    ...(changed === 0 ? [] : [`${changed} changed ${changed === 1 ? 'file' : 'files'}`]),
    ...(untracked === 0 ? [] : [`${untracked} untracked ${untracked === 1 ? 'file' : 'files'}`]),
  ];
  const files =
    counts.length === 0
      ? []
      : [`${counts.join(', ')}, which ${entries.length === 1 ? 'is' : 'are'} not in the worktree`];
  const hasSubmodules = (await stat(join(repository.root, '.gitmodules')).catch(() => undefined)) !== undefined;
  const parts = hasSubmodules ? [...files, 'submodules, which are empty in the worktree'] : files;
  return parts.length === 0 ? undefined : parts.join('; ');
}

async function realFolder(cwd: string): Promise<string> {
  const found = await realpath(cwd).catch(() => undefined);
  if (found === undefined || !(await stat(found)).isDirectory()) throw notARepository(cwd, 'there is no such folder');
  return found;
}

/** Tells a repository without commits from no repository. */
async function refused(git: GitCommand, folder: string, error: unknown, signal?: AbortSignal): Promise<never> {
  if (!(error instanceof GitFailure) || error.kind !== 'failed') throw error;
  const root = await git.run(['rev-parse', '--show-toplevel'], { cwd: folder, signal }).catch((cause: unknown) => {
    throw cause instanceof GitFailure && cause.kind === 'failed' ? notARepository(folder, saidBy(cause)) : cause;
  });
  throw noCommit(shownPath(root).replace(/\n$/, ''));
}

// Paths as they are written, without reading the disk.

/** Whether `path` is `folder`, or lies in it. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`));
}
