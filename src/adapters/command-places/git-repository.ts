/**
 * Whether git, when it only reads, runs nothing but itself in a repository. A repository can name programs in its
 * settings, its hooks and its attributes, and a folder that came from anywhere can bring one along; so only what is
 * known to be harmless may be in there.
 */
import { dirname, join, relative } from 'node:path';
import { readGitConfig } from './git-config.ts';
import type { GitConfig } from './git-config.ts';
import { readGitIndex } from './git-index.ts';
import { CheckFailed, lstatOf, readSmallFile } from './what-lies-there.ts';

const MAX_CONFIG_BYTES = 262_144;
const MAX_ATTRIBUTES_BYTES = 262_144;
const MAX_INDEX_BYTES = 67_108_864;

/** Parts without which git searches for a repository further up. */
const NEEDED_FOLDERS = ['objects', 'refs'];
/** Parts that may be missing, but may not be links. */
const OTHER_FOLDERS = ['info', 'hooks', 'objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'refs/remotes'];

/** What makes a repository use another one. */
const BORROWED: readonly (readonly [path: string, because: string])[] = [
  ['commondir', 'shares the settings of another repository'],
  ['objects/info/alternates', 'has the objects of another repository'],
  ['objects/info/http-alternates', 'has the objects of another repository'],
];

/** Run by commands that only read, when they refresh what is known of the files. */
const HOOKS_OF_READERS = ['post-index-change'];

interface Place {
  /** Real paths, the first in or below the second. */
  readonly cwd: string;
  readonly workspace: string;
}

/**
 * Why git would not be safe there, for people; undefined when nothing speaks against it. @throws CheckFailed when it
 * cannot be told
 */
export async function repositoryProblem({ cwd, workspace }: Place): Promise<string | undefined> {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const found = await lstatOf(join(folder, '.git'));
    if (found?.isDirectory() === true) return gitFolderProblem({ top: folder, cwd });
    if (found !== undefined) return 'its .git is no folder: the repository lies elsewhere';
    if (await isBareRepository(folder)) return 'its folder is a repository without files of its own';
    if (folder === workspace || folder === dirname(folder))
      return 'there is no repository in the workspace, so git would search for one above it';
  }
}

async function isBareRepository(folder: string): Promise<boolean> {
  const parts = await Promise.all(['HEAD', ...NEEDED_FOLDERS].map((name) => lstatOf(join(folder, name))));
  return parts.every((part) => part !== undefined);
}

interface Repository {
  /** The folder that has `.git` in it. */
  readonly top: string;
  readonly cwd: string;
}

async function gitFolderProblem(repository: Repository): Promise<string | undefined> {
  const gitFolder = join(repository.top, '.git');
  const ofLayout = await layoutProblem(gitFolder);
  if (ofLayout !== undefined) return ofLayout;
  const config = await configIn(gitFolder, 'config');
  const ofConfig = config.problem ?? (await configIn(gitFolder, 'config.worktree')).problem;
  if (ofConfig !== undefined) return ofConfig;
  return (await attributesProblemOf(repository, gitFolder)) ?? submoduleProblem(repository, gitFolder, config);
}

async function layoutProblem(gitFolder: string): Promise<string | undefined> {
  const head = await lstatOf(join(gitFolder, 'HEAD'));
  if (head?.isFile() !== true) return 'its repository is not whole, so git may take another one';
  for (const name of [...NEEDED_FOLDERS, ...OTHER_FOLDERS]) {
    const part = await lstatOf(join(gitFolder, name));
    if (part === undefined && NEEDED_FOLDERS.includes(name))
      return 'its repository is not whole, so git may take another one';
    if (part !== undefined && !part.isDirectory()) return `.git/${name} is no folder`;
  }
  for (const [name, because] of BORROWED)
    if ((await lstatOf(join(gitFolder, name))) !== undefined) return `its repository ${because}`;
  for (const name of HOOKS_OF_READERS)
    if ((await lstatOf(join(gitFolder, 'hooks', name))) !== undefined)
      return `its repository has the hook ${name}, which git runs`;
  return undefined;
}

async function configIn(gitFolder: string, name: string): Promise<GitConfig> {
  const bytes = await readSmallFile(join(gitFolder, name), { what: `.git/${name}`, maxBytes: MAX_CONFIG_BYTES });
  return readGitConfig(bytes?.toString('utf8') ?? '', `.git/${name}`);
}

/**
 * Those of the whole repository, and those on the way to the folder: programs they name are defined in settings only.
 */
async function attributesProblemOf({ top, cwd }: Repository, gitFolder: string): Promise<string | undefined> {
  const folders = [top];
  for (const name of relative(top, cwd).split(/[/\\]/))
    if (name !== '') folders.push(join(folders.at(-1) ?? top, name));
  for (const path of [
    join(gitFolder, 'info', 'attributes'),
    ...folders.map((folder) => join(folder, '.gitattributes')),
  ]) {
    const what = relative(top, path);
    const bytes = await readSmallFile(path, { what, maxBytes: MAX_ATTRIBUTES_BYTES });
    const problem = bytes === undefined ? undefined : attributesProblem(bytes.toString('utf8'), what);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Git asks each repository inside what has changed in it, under its own settings. */
async function submoduleProblem(
  { top }: Repository,
  gitFolder: string,
  { hashBytes }: GitConfig,
): Promise<string | undefined> {
  const bytes = await readSmallFile(join(gitFolder, 'index'), { what: '.git/index', maxBytes: MAX_INDEX_BYTES });
  if (bytes === undefined) return undefined;
  const index = readGitIndex(bytes, hashBytes);
  if (index === undefined) throw new CheckFailed('.git/index is not understood');
  for (const path of index.repositories) {
    const inside = await lstatOf(join(top, path, '.git'));
    if (inside !== undefined) return `the repository "${path}" lies in it, with settings of its own`;
  }
  return undefined;
}

const MAX_ATTRIBUTE_LINES = 10_000;

/** Ways to show differences that git has by itself. */
const OWN_DRIVERS = new Set(
  'ada bash bibtex cpp csharp css dts elixir fortran fountain golang html ini java kotlin markdown matlab objc pascal perl php python ruby rust scheme tex'.split(
    ' ',
  ),
);

/** Why what a repository says about its files may make git run a program, for people. */
function attributesProblem(text: string, what: string): string | undefined {
  const lines = text.split('\n');
  if (lines.length > MAX_ATTRIBUTE_LINES) return `${what} has more than ${MAX_ATTRIBUTE_LINES} lines`;
  for (const line of lines) {
    if (line.trimStart().startsWith('#')) continue;
    const word = line.split(/\s+/).find((each) => namesProgram(each));
    if (word !== undefined) return `${what} says "${word}", for which git may run a program`;
  }
  return undefined;
}

function namesProgram(word: string): boolean {
  if (word === 'filter' || word.startsWith('filter=')) return true;
  return word.startsWith('diff=') && !OWN_DRIVERS.has(word.slice('diff='.length));
}
