/** Checks on the disk where the words of commands lead, once every symbolic link is followed. */
import type { Dirent } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { CommandPlaces, PlaceGuard } from '../../actors/permission/permission-ports.ts';
import type { CommandCheck } from '../../machines/permission/command-check.ts';
import { takesInSecrets } from '../../machines/permission/hidden-files.ts';
import { nameMatcher } from '../../machines/permission/open-word.ts';
import { matchesGlob, mayMatchBelow } from '../../machines/permission/path-glob.ts';
import { hasSecretName } from '../../machines/permission/sensitive-path.ts';
import { hasCode, systemCodeOf } from '../system/error-codes.ts';
import { repositoryProblem } from './git-repository.ts';
import type { Existing } from './what-lies-there.ts';
import { CheckFailed, existing, readSmallFile } from './what-lies-there.ts';

/** Words that name places, of one line. Beyond that no person has written it. */
const MAX_PLACES = 500;

interface RealWorkspace {
  readonly directory: string;
  readonly cwd: string;
  readonly forbidden: readonly string[];
  readonly guard: Pick<PlaceGuard, 'protects'> | undefined;
}

export class FileCommandPlaces implements CommandPlaces {
  readonly #guard: RealWorkspace['guard'];

  /**
   * @param guard of the folders that are the runtime's own: a pattern of the shell may find them. Without it there are
   * none
   */
  constructor(guard?: RealWorkspace['guard']) {
    this.#guard = guard;
  }

  async problem(check: CommandCheck): Promise<string | undefined> {
    try {
      return await checkPlaces(check, this.#guard);
    } catch (error) {
      if (error instanceof CheckFailed) return error.because;
      return `what it would read cannot be checked (${systemCodeOf(error) ?? 'the check failed'})`;
    }
  }
}

async function checkPlaces(
  { commands, cwd, workspaceDirectory, forbidden }: CommandCheck,
  guard: RealWorkspace['guard'],
): Promise<string | undefined> {
  const workspace = { directory: await realpath(workspaceDirectory), cwd: await realpath(cwd), forbidden, guard };
  let places = 0;
  for (const command of commands) {
    for (const folder of command.folders ?? ['']) {
      const here = { ...workspace, cwd: resolve(workspace.cwd, folder) };
      const found = (
        await Promise.all((command.patterns ?? []).map((pattern) => placesFound(here.cwd, pattern, MAX_PLACES)))
      ).flat();
      const paths = [...command.paths, ...found];
      places += paths.length;
      if (places > MAX_PLACES) return `it names more than ${MAX_PLACES} places`;
      const problem = await commandProblem(here, command, paths);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

async function commandProblem(
  workspace: RealWorkspace,
  { argv, usesGit }: CommandCheck['commands'][number],
  paths: readonly string[],
): Promise<string | undefined> {
  const program = argv[0] ?? '';
  const ofFolder = await folderProblem(workspace);
  if (ofFolder !== undefined) return ofFolder;
  for (const path of paths) {
    const problem = await placeProblem(workspace, path, program);
    if (problem !== undefined) return problem;
  }
  const place = { cwd: workspace.cwd, workspace: workspace.directory };
  if (program === 'rg') return ignoreFilesProblem(place);
  return usesGit ? repositoryProblem(place) : undefined;
}

/** A folder that the line enters is checked by its name: what is allowed there is allowed for that name. */
async function folderProblem(workspace: RealWorkspace): Promise<string | undefined> {
  const { realPath } = await existing(workspace.cwd);
  if (realPath !== workspace.cwd) return 'its folder is a link, or is reached through one';
  return insideProblem(workspace, realPath, 'its folder');
}

async function placeProblem(workspace: RealWorkspace, path: string, program: string): Promise<string | undefined> {
  const asWritten = resolve(workspace.cwd, path);
  // Found by a wildcard, it would be taken for an option.
  if (path.startsWith('-')) return `"${path}" begins like an option`;
  const place = await existing(asWritten);
  if (program === 'cd' && place.realPath !== asWritten) return `"${path}" is a link, or is reached through one`;
  if ((await workspace.guard?.protects(asWritten, workspace.directory)) === true)
    return `"${path}" lies in the home of the runtime`;
  return (
    insideProblem(workspace, place.realPath, `"${path}"`) ??
    kindProblem(place, path, program) ??
    forbiddenProblem(workspace, place, asWritten, path)
  );
}

function insideProblem({ directory }: RealWorkspace, realPath: string, what: string): string | undefined {
  const fromWorkspace = relative(directory, realPath);
  if (fromWorkspace === '..' || fromWorkspace.startsWith(`..${sep}`) || isAbsolute(fromWorkspace))
    return `${what} leads out of the workspace`;
  return hasSecretName(fromWorkspace.split(sep).join('/')) ? `${what} may hold secrets` : undefined;
}

function kindProblem({ kind }: Existing, path: string, program: string): string | undefined {
  if (kind === 'other') return `"${path}" is no ordinary file or folder`;
  return program === 'diff' && kind === 'folder' ? `diff follows the links in the folder "${path}"` : undefined;
}

/** What the path says by itself has been held against the rules already; here it is where a link leads. */
function forbiddenProblem(
  { directory, forbidden }: RealWorkspace,
  { realPath, kind }: Existing,
  asWritten: string,
  path: string,
): string | undefined {
  if (realPath === asWritten) return undefined;
  const inside = relative(directory, realPath).split(sep).join('/');
  const glob = forbidden.find(
    (each) =>
      matchesGlob(each, inside, { matching: 'wide' }) ||
      (kind === 'folder' && mayMatchBelow(each, inside, { matching: 'wide' })),
  );
  return glob === undefined ? undefined : `"${path}" leads to "${inside}", and a rule is against reading "${glob}"`;
}

// Examines the ignore files that rg obeys: what one of them takes back in is searched though it is hidden.

const IGNORE_FILES: ReadonlySet<string> = new Set(['.gitignore', '.ignore', '.rgignore']);
/** What is installed, and what git keeps: an ignore file there takes in nothing outside. */
const NOT_ENTERED: ReadonlySet<string> = new Set(['.git', 'node_modules']);
const MAX_FOLDERS = 20_000;
const MAX_BYTES = 262_144;

interface Place {
  /** Real paths, the first in or below the second. */
  readonly cwd: string;
  readonly workspace: string;
}

/** Why a search below the folder may show secrets, for people. @throws CheckFailed when it cannot be told */
async function ignoreFilesProblem({ cwd, workspace }: Place): Promise<string | undefined> {
  for (let folder = cwd; folder !== workspace && folder !== dirname(folder);) {
    folder = dirname(folder);
    const problem = await problemIn(folder, await readdir(folder, { withFileTypes: true }), workspace);
    if (problem !== undefined) return problem;
  }
  const folders = [cwd];
  for (let at = 0; at < folders.length; at += 1) {
    const folder = folders[at] ?? cwd;
    const entries = await readdir(folder, { withFileTypes: true });
    const problem = await problemIn(folder, entries, workspace);
    if (problem !== undefined) return problem;
    for (const entry of entries)
      if (entry.isDirectory() && !NOT_ENTERED.has(entry.name)) folders.push(join(folder, entry.name));
    if (folders.length > MAX_FOLDERS) throw new CheckFailed(`there are more than ${MAX_FOLDERS} folders to search`);
  }
  return undefined;
}

async function problemIn(folder: string, entries: readonly Dirent[], workspace: string): Promise<string | undefined> {
  const places = entries.filter(({ name }) => IGNORE_FILES.has(name)).map(({ name }) => join(folder, name));
  if (entries.some((entry) => entry.name === '.git' && entry.isDirectory()))
    places.push(join(folder, '.git', 'info', 'exclude'));
  for (const place of places) {
    const what = relative(workspace, place);
    const bytes = await readSmallFile(place, { what, maxBytes: MAX_BYTES });
    const line = bytes
      ?.toString('utf8')
      .split(/\r?\n/)
      .find((each) => takesInSecrets(each));
    if (line !== undefined)
      return `${what} says "${line.trim()}", for which rg searches hidden files that may hold secrets`;
  }
  return undefined;
}

// What a pattern of a shell finds on the disk: at least what any shell would put in its place.

/** Names of one folder beyond which no caller waits for them. */
const MAX_NAMES = 20_000;

/**
 * From the folder, as the pattern writes them; the pattern itself when it has no wildcard. @throws CheckFailed when
 * there are too many
 */
async function placesFound(folder: string, pattern: string, max: number): Promise<readonly string[]> {
  let found: readonly string[] = [''];
  for (const segment of pattern.split('/')) {
    const matcher = nameMatcher(segment);
    const next: string[] = [];
    for (const place of found)
      next.push(
        ...(matcher === undefined
          ? [join(place, segment)]
          : (await namesIn(join(folder, place), matcher)).map((name) => join(place, name))),
      );
    if (next.length > max) throw new CheckFailed(`"${pattern}" finds more than ${max} places`);
    found = next;
  }
  return found;
}

async function namesIn(folder: string, matcher: RegExp): Promise<readonly string[]> {
  const names = (await namesOf(folder)).filter((name) => matcher.test(name));
  const odd = names.find((name) => name.includes('\uFFFD'));
  if (odd !== undefined) throw new CheckFailed(`"${odd}" has a name that is no text`);
  return names;
}

async function namesOf(folder: string): Promise<readonly string[]> {
  try {
    const names = await readdir(folder);
    if (names.length > MAX_NAMES) throw new CheckFailed(`"${folder}" holds more than ${MAX_NAMES} names`);
    return names;
  } catch (error) {
    // A shell finds nothing there either.
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return [];
    throw error;
  }
}
