/**
 * Runs git over files and objects of a repository without its settings.
 *
 * A writer to a repository can name programs in its settings at any moment, also between their check and their use. So
 * commands that read or write files get a folder of git's own for each call: nothing in it but a HEAD, a format, and
 * what says which files there are.
 */
import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorktreeRecord } from '../../machines/subagent/worktree-record.ts';
import { unlessCode } from '../system/error-codes.ts';
import { withPlainFile } from '../system/own-files.ts';
import { makeFolder, namesIn } from '../system/whole-files.ts';
import type { GitCall, GitCommand } from './git-command.ts';
import { gitDirectoryOf } from './worktree-context.ts';
import type { WorktreeContext } from './worktree-context.ts';

/** Patterns of a repository are shorter. */
const MAX_COPIED_BYTES = 4 * 1024 * 1024;

export interface FilesOfGit {
  /** Where the private folder is made. */
  readonly near: string;
  /** What all checkouts of the repository share. */
  readonly commonDirectory: string;
  /** Git's own folder for the checkout. */
  readonly gitDirectory: string;
  /** Where its files lie. */
  readonly place: string;
  /** The commit that the files are compared with. */
  readonly head: string;
  /** Default: that of the checkout. */
  readonly index?: string | undefined;
}

export interface PrivateGitCall extends Omit<GitCall, 'cwd' | 'filters'> {
  /** Whether filters of the user's own settings run: without them, files that they change look changed. Default no. */
  readonly runsFilters?: boolean | undefined;
}

/** @throws GitFailure, or an error of the system where the private folder cannot be made */
export async function runPrivately(
  git: GitCommand,
  files: FilesOfGit,
  command: readonly string[],
  { runsFilters = false, ...call }: PrivateGitCall,
): Promise<string> {
  const folder = join(files.near, `git.${randomUUID()}.tmp`);
  try {
    await furnish(folder, files, runsFilters);
    const environment = {
      ...call.environment,
      GIT_DIR: folder,
      GIT_OBJECT_DIRECTORY: join(files.commonDirectory, 'objects'),
      GIT_INDEX_FILE: files.index ?? join(files.gitDirectory, 'index'),
    };
    return await git.run([`--work-tree=${files.place}`, ...command], { ...call, cwd: files.place, environment });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Goes before all that anything else says of a file, so that no filter has to be known by its name. */
const NO_FILTERS = '\n* -filter\n';

async function furnish(
  folder: string,
  { near, commonDirectory, gitDirectory, head }: FilesOfGit,
  runsFilters: boolean,
): Promise<void> {
  await makeFolder(near, { durability: 'os' });
  await mkdir(folder, { mode: 0o700 });
  await mkdir(join(folder, 'refs'));
  await mkdir(join(folder, 'info'));
  const format =
    head.length === 64
      ? '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n'
      : '[core]\n\trepositoryformatversion = 0\n';
  await writeFile(join(folder, 'config'), format);
  await writeFile(join(folder, 'HEAD'), `${head}\n`);
  // Attributes may name a filter, but none is there that the repository says what to run for.
  await copied(join(commonDirectory, 'info', 'attributes'), join(folder, 'info', 'attributes'));
  if (!runsFilters) await appendFile(join(folder, 'info', 'attributes'), NO_FILTERS);
  await copied(join(commonDirectory, 'info', 'exclude'), join(folder, 'info', 'exclude'));
  await copied(join(gitDirectory, 'info', 'sparse-checkout'), join(folder, 'info', 'sparse-checkout'));
  // Where the history was cut off, what came before is not missing.
  await copied(join(commonDirectory, 'shallow'), join(folder, 'shallow'));
  for (const name of await namesIn(gitDirectory))
    if (name.startsWith('sharedindex.')) await symlink(join(gitDirectory, name), join(folder, name));
}

async function copied(from: string, to: string): Promise<void> {
  const content = await plainContent(from, MAX_COPIED_BYTES);
  if (content !== undefined) await writeFile(to, content);
}

/**
 * What is in a plain file; undefined for anything else, however quickly it becomes that: a pipe in its place would keep
 * us waiting.
 */
export function plainContent(path: string, maxBytes: number): Promise<Buffer | undefined> {
  return withPlainFile(path, async (file, size) => (size <= maxBytes ? file.readFile() : undefined)).catch(
    unlessCode('EACCES', 'EPERM'),
  );
}

export interface WorktreeGitCall extends Omit<PrivateGitCall, 'settings'> {
  /** Where its files lie now. Default: where they were made. */
  readonly place?: string | undefined;
  /** The commit that its files are compared with. Default: that which it was made from. */
  readonly head?: string | undefined;
  /** Default: that of the worktree. */
  readonly index?: string | undefined;
}

/**
 * Runs git over the files of the worktree of `record`, as its record knows it: what worktree and repository say of
 * themselves is not asked.
 */
export function gitIn(
  context: WorktreeContext,
  record: WorktreeRecord,
  command: readonly string[],
  call: WorktreeGitCall = {},
): Promise<string> {
  const { place = record.worktreePath, head = record.baseRevision, index, ...rest } = call;
  const files = {
    near: context.worktreesDirectory,
    commonDirectory: record.commonDirectory,
    gitDirectory: gitDirectoryOf(record),
    place,
    head,
    index,
  };
  return runPrivately(context.git, files, command, { ...rest, settings: record.fileSettings });
}
