/** Looks on the disk where the words of commands lead, once every symbolic link is followed. */
import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import type { CommandPlaces } from '../../actors/permission/command-places.ts';
import type { PlaceGuard } from '../../actors/permission/place-guard.ts';
import type { CommandLook } from '../../machines/permission/command-look.ts';
import { matchesGlob, mayMatchBelow } from '../../machines/permission/path-glob.ts';
import { hasSecretName } from '../../machines/permission/sensitive-path.ts';
import { systemCodeOf } from '../system/error-codes.ts';
import { placesFound } from './found-places.ts';
import { repositoryProblem } from './git-repository.ts';
import { ignoreFilesProblem } from './ignore-files.ts';
import { LookFailed } from './look-failed.ts';
import { existing } from './what-lies-there.ts';
import type { Existing } from './what-lies-there.ts';

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

  async problem(look: CommandLook): Promise<string | undefined> {
    try {
      return await lookAt(look, this.#guard);
    } catch (error) {
      if (error instanceof LookFailed) return error.because;
      return `what it would read cannot be looked at (${systemCodeOf(error) ?? 'the look failed'})`;
    }
  }
}

async function lookAt(
  { commands, cwd, workspaceDirectory, forbidden }: CommandLook,
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
  { argv, usesGit }: CommandLook['commands'][number],
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

/** A folder that the line enters is looked at by its name: what is allowed there is allowed for that name. */
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
