/**
 * What was changed in a folder of a git repository, for people who check it: the files, the difference to a commit,
 * and the commits since that one.
 *
 * An agent in the folder may have written the settings of its repository, so git runs over a folder of its own for
 * every command that reads files (see private-git.ts), with no filter, no text conversion and no other foreign program.
 * Nothing is written into the repository: files that git does not know are added to a private copy of its index, which
 * git may bring up to date as well.
 */
import { randomUUID } from 'node:crypto';
import { lstat, realpath, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { FolderChanges, FolderDifference, FolderCheck } from '../../actors/inspection/folder-changes.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { makeFolder } from '../system/whole-files.ts';
import { commitsSince } from './commits-since.ts';
import type { CommitsSince } from './commits-since.ts';
import { GitCommand, shownPath } from './git-command.ts';
import { plainContent, runPrivately } from './private-git.ts';
import { fileSettingsOf, isInside, locateRepository } from './repository.ts';
import type { Repository } from './repository.ts';
import { whatIsUnderWay, workFinished, workUnderWay } from './work-under-way.ts';

export interface GitFolderChangesOptions {
  /**
   * Absolute: where private files are made while git runs, such as `<home>/worktrees`. Made when it is first needed.
   */
  readonly near: string;
  /** Absolute: folders, such as the home, whose contents belong to no repository that they lie in. */
  readonly ceilingDirectories?: readonly string[] | undefined;
  /** For each git command, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Default `git`, from PATH. */
  readonly gitPath?: string | undefined;
}

/** Files that are named, and of which the difference is told. */
const MAX_NAMED = 1_000;
const MAX_COMPARED = 200;
/** Compared in one go, so that the difference is not much longer than it may be. */
const COMPARED_AT_ONCE = 10;
/** Larger files are said to differ, and no more. */
const SETTINGS = [
  'core.bigFileThreshold=256k',
  'diff.algorithm=myers',
  'diff.context=3',
  'diff.interHunkContext=0',
  'diff.renameLimit=400',
  'diff.noprefix=false',
  'diff.mnemonicPrefix=false',
];
const MAX_INDEX_BYTES = 128 * 1024 * 1024;
const MAX_LINK_BYTES = 8_192;
const MAX_SHALLOW_BYTES = 4 * 1024 * 1024;

/** Names from within the folder, without any foreign program. */
const DIFF = [
  'diff',
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--ignore-submodules=dirty',
  '--submodule=short',
  '--src-prefix=a/',
  '--dst-prefix=b/',
  '-M',
];
/** No name is a pattern. */
const LITERAL = { GIT_LITERAL_PATHSPECS: '1' };

/** Of a file with nothing in it, by the length of the ids of the repository. */
const EMPTY_FILE: Readonly<Record<number, string>> = {
  40: 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391',
  64: '473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813',
};

export function createGitFolderChanges({
  near,
  ceilingDirectories = [],
  timeoutMs = 10_000,
  gitPath = 'git',
}: GitFolderChangesOptions): FolderChanges {
  const git = new GitCommand({ gitPath, timeoutMs });
  return {
    read: (folder, check) => differenceIn({ git, near, ceilingDirectories }, folder, check),
    underWay: workUnderWay,
    finished: workFinished,
  };
}

interface Surroundings {
  readonly git: GitCommand;
  readonly near: string;
  readonly ceilingDirectories: readonly string[];
}

async function differenceIn(around: Surroundings, folder: string, check: FolderCheck): Promise<FolderDifference> {
  try {
    const repository = await locateRepository(around, folder, check.signal);
    if (!isInside(await realpath(folder), repository.root) || !(await isOwnRoot(repository)))
      return nothing('the settings of its git repository say that its files lie elsewhere');
    return await new Difference(around, repository, check).read();
  } catch (error) {
    if (!RuntimeError.is(error)) throw error;
    if (error.code === 'WORKTREE_NOT_A_REPOSITORY') return nothing('it is not in a git repository');
    if (error.code === 'WORKTREE_NO_COMMIT') return nothing('its git repository has no commit yet');
    throw error;
  }
}

/** Its settings may say that its files lie anywhere. Where they do lie, something leads to it. */
async function isOwnRoot({ root, gitDirectory }: Pick<Repository, 'root' | 'gitDirectory'>): Promise<boolean> {
  const path = join(root, '.git');
  if ((await realpath(path).catch(() => '')) === gitDirectory) return true;
  const named = /^gitdir: (?<named>.+)\n?$/.exec(String((await plainContent(path, MAX_LINK_BYTES)) ?? ''))?.groups?.[
    'named'
  ];
  return named !== undefined && (await realpath(resolve(root, named)).catch(() => '')) === gitDirectory;
}

function nothing(because: string): FolderDifference {
  return { files: [], fileCount: 0, difference: '', isCut: false, because };
}

class Difference {
  readonly #around: Surroundings;
  readonly #repository: Omit<Repository, 'stashes'>;
  readonly #check: FolderCheck;
  /** A copy. */
  readonly #index: string;
  /** What it is compared with. */
  #base: string;

  constructor(around: Surroundings, repository: Omit<Repository, 'stashes'>, check: FolderCheck) {
    this.#around = around;
    this.#index = join(around.near, `index.${randomUUID()}.tmp`);
    this.#repository = repository;
    this.#check = check;
    this.#base = repository.head;
  }

  async read(): Promise<FolderDifference> {
    const { near } = this.#around;
    const { gitDirectory } = this.#repository;
    const content = await plainContent(join(gitDirectory, 'index'), MAX_INDEX_BYTES);
    if (content === undefined)
      return nothing(
        `the index of its git repository is missing, or no plain file of at most ${MAX_INDEX_BYTES} bytes`,
      );
    await makeFolder(near, { durability: 'os' });
    try {
      await writeFile(this.#index, content, { mode: 0o600, flag: 'wx' });
      return await this.#readWithIndex();
    } finally {
      await Promise.all([rm(this.#index, { force: true }), rm(`${this.#index}.lock`, { force: true })]);
    }
  }

  async #readWithIndex(): Promise<FolderDifference> {
    const { subdirectory } = this.#repository;
    const within = subdirectory === '' ? [] : ['--', subdirectory];
    const { base, ...told } = await this.#commits(within);
    this.#base = base;
    const tracked = parseNames(await this.#run([...DIFF, '--name-status', '-z', base, ...within]));
    const others = (await this.#run(['ls-files', '--others', '--exclude-standard', '-z', ...within]))
      .split('\0')
      .filter((path) => path !== '');
    const named: readonly NamedChange[] = [
      ...tracked,
      ...others.map((path) => ({ path, change: 'untracked' as const })),
    ];
    const loose = await this.#uncommitted(named, within);
    const { difference, isCut } = await this.#compared(named);
    const branch = await this.#branch();
    const what = await whatIsUnderWay(this.#repository.gitDirectory).catch(() => undefined);
    return {
      ...(what === undefined ? {} : { underWay: { what, files: await this.#unmerged(within) } }),
      ...(branch === undefined ? {} : { branch }),
      files: named.slice(0, MAX_NAMED).map(({ path, change }) => ({
        path: shownPath(path),
        change,
        ...(loose.has(path) ? { isUncommitted: true as const } : {}),
      })),
      fileCount: named.length,
      difference,
      ...told,
      isCut: isCut || named.length > MAX_NAMED,
    };
  }

  /** Paths among those that are not as the newest commit has them. */
  async #uncommitted(named: readonly NamedChange[], within: readonly string[]): Promise<ReadonlySet<string>> {
    const { head } = this.#repository;
    if (this.#base === head) return new Set(named.map(({ path }) => path));
    const changed = parseNames(await this.#run([...DIFF, '--name-status', '-z', head, ...within]));
    return new Set([...changed, ...named.filter(({ change }) => change === 'untracked')].map(({ path }) => path));
  }

  async #commits(within: readonly string[]): Promise<CommitsSince> {
    const { head, commonDirectory } = this.#repository;
    const { since, begunAt } = this.#check;
    const isShallow = (await plainContent(join(commonDirectory, 'shallow'), MAX_SHALLOW_BYTES)) !== undefined;
    const writtenAt = async (id: string): Promise<number | undefined> =>
      (await lstat(join(commonDirectory, 'objects', id.slice(0, 2), id.slice(2))).catch(() => undefined))?.mtimeMs;
    return commitsSince({ head, since, begunAt, within, isShallow, writtenAt, run: (command) => this.#run(command) });
  }

  async #unmerged(within: readonly string[]): Promise<readonly string[]> {
    const listed = await this.#run(['ls-files', '--unmerged', '-z', ...within]);
    // A mode, an id and a stage before the tab: up to three lines for a file.
    const paths = listed.split('\0').map((line) => line.slice(line.indexOf('\t') + 1));
    return [...new Set(paths)].filter((path) => path !== '').map(shownPath);
  }

  /** Undefined where none is checked out. */
  async #branch(): Promise<string | undefined> {
    const { signal } = this.#check;
    const name = await this.#around.git
      .run(['symbolic-ref', '-q', '--short', 'HEAD'], { cwd: this.#repository.root, signal })
      .catch(() => '');
    return name === '' ? undefined : shownPath(name).trim();
  }

  async #compared(named: readonly NamedChange[]): Promise<Pick<FolderDifference, 'difference' | 'isCut'>> {
    const { maxCharacters } = this.#check;
    // A folder is a repository of its own.
    const files = named.filter(({ path }) => !path.endsWith('/')).slice(0, MAX_COMPARED);
    await this.#addToIndex(files.filter(({ change }) => change === 'untracked'));
    let difference = '';
    let next = 0;
    while (next < files.length && difference.length < maxCharacters) {
      const some = files.slice(next, next + COMPARED_AT_ONCE);
      // Names that are no UTF-8 cannot be passed on, and are only listed.
      const paths = some.flatMap(({ path, before = path }) => [shownPath(before), shownPath(path)]);
      difference += shownPath(await this.#run([...DIFF, this.#base, '--', ...new Set(paths)]));
      next += some.length;
    }
    const isLong = difference.length > maxCharacters;
    return {
      difference: isLong ? difference.slice(0, maxCharacters).replace(/[\uD800-\uDBFF]$/, '') : difference,
      isCut: isLong || next < named.filter(({ path }) => !path.endsWith('/')).length,
    };
  }

  /** As if the files had been empty. */
  async #addToIndex(untracked: readonly NamedChange[]): Promise<void> {
    if (untracked.length === 0) return;
    const input = untracked
      .map(({ path }) => `100644 ${EMPTY_FILE[this.#repository.head.length] ?? ''} 0\t${path}\0`)
      .join('');
    await this.#run(['update-index', '-z', '--index-info'], { input, writes: true });
  }

  #run(command: readonly string[], call: { readonly input?: string; readonly writes?: boolean } = {}): Promise<string> {
    const { git, near } = this.#around;
    const { root: place, commonDirectory, gitDirectory, head, settings } = this.#repository;
    const { signal } = this.#check;
    const files = { near, commonDirectory, gitDirectory, place, head, index: this.#index };
    return runPrivately(git, files, command, {
      ...call,
      settings: [...fileSettingsOf(settings), ...SETTINGS],
      environment: LITERAL,
      signal,
    });
  }
}

interface NamedChange {
  readonly path: string;
  readonly change: FolderDifference['files'][number]['change'];
  /** Of what was renamed. */
  readonly before?: string | undefined;
}

const CHANGES: Readonly<Record<string, NamedChange['change']>> = {
  A: 'added',
  D: 'removed',
  M: 'changed',
  T: 'changed',
  U: 'changed',
  R: 'renamed',
  C: 'added',
};

/** Reads `git diff --name-status -z`. */
function parseNames(output: string): readonly NamedChange[] {
  const fields = output.split('\0');
  const named: NamedChange[] = [];
  for (let at = 0; at + 1 < fields.length;) {
    const letter = (fields[at] ?? '').charAt(0);
    const hasTwo = letter === 'R' || letter === 'C';
    const [before, path = before] = hasTwo ? fields.slice(at + 1, at + 3) : fields.slice(at + 1, at + 2);
    at += hasTwo ? 3 : 2;
    named.push({ path: path ?? '', change: CHANGES[letter] ?? 'changed', ...(hasTwo ? { before } : {}) });
  }
  return named;
}
