/** Looks on the disk where the words of commands lead, once every symbolic link is followed. */
import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import type { CommandPlaces } from '../../actors/permission/command-places.ts';
import type { CommandLook } from '../../machines/permission/command-look.ts';
import { matchesGlob, mayMatchBelow } from '../../machines/permission/path-glob.ts';
import { hasSecretName } from '../../machines/permission/sensitive-path.ts';
import { repositoryProblem } from './git-repository.ts';
import { LookFailed } from './look-failed.ts';
import { existing, systemCodeOf } from './what-lies-there.ts';
import type { Existing } from './what-lies-there.ts';

/** Words that name places, of one line. Beyond that nobody has written it by hand. */
const MAX_PLACES = 500;

interface RealWorkspace {
  readonly directory: string;
  readonly cwd: string;
  readonly forbidden: readonly string[];
}

export class FileCommandPlaces implements CommandPlaces {
  async problem(look: CommandLook): Promise<string | undefined> {
    try {
      return await lookAt(look);
    } catch (error) {
      if (error instanceof LookFailed) return error.because;
      return `what it would read cannot be looked at (${systemCodeOf(error) ?? 'the look failed'})`;
    }
  }
}

async function lookAt({ commands, cwd, workspaceDirectory, forbidden }: CommandLook): Promise<string | undefined> {
  const workspace = { directory: await realpath(workspaceDirectory), cwd: await realpath(cwd), forbidden };
  const ofFolder = insideProblem(workspace, workspace.cwd, 'its folder');
  if (ofFolder !== undefined) return ofFolder;
  if (commands.reduce((count, { paths }) => count + paths.length, 0) > MAX_PLACES) return `it names more than ${MAX_PLACES} places`;
  for (const { argv, paths } of commands) {
    for (const path of paths) {
      const problem = await placeProblem(workspace, path, argv[0] ?? '');
      if (problem !== undefined) return problem;
    }
  }
  return commands.some(({ usesGit }) => usesGit) ? repositoryProblem({ cwd: workspace.cwd, workspace: workspace.directory }) : undefined;
}

async function placeProblem(workspace: RealWorkspace, path: string, program: string): Promise<string | undefined> {
  const asWritten = resolve(workspace.cwd, path);
  const place = await existing(asWritten);
  return insideProblem(workspace, place.realPath, `"${path}"`) ?? kindProblem(place, path, program) ?? forbiddenProblem(workspace, place, asWritten, path);
}

function insideProblem({ directory }: RealWorkspace, realPath: string, what: string): string | undefined {
  const fromWorkspace = relative(directory, realPath);
  if (fromWorkspace === '..' || fromWorkspace.startsWith(`..${sep}`) || isAbsolute(fromWorkspace)) return `${what} leads out of the workspace`;
  return hasSecretName(fromWorkspace.split(sep).join('/')) ? `${what} may hold secrets` : undefined;
}

function kindProblem({ kind }: Existing, path: string, program: string): string | undefined {
  if (kind === 'other') return `"${path}" is no ordinary file or folder`;
  return program === 'diff' && kind === 'folder' ? `diff follows the links in the folder "${path}"` : undefined;
}

/** What the path says by itself has been held against the rules already; here it is where a link leads. */
function forbiddenProblem({ directory, forbidden }: RealWorkspace, { realPath, kind }: Existing, asWritten: string, path: string): string | undefined {
  if (realPath === asWritten) return undefined;
  const inside = relative(directory, realPath).split(sep).join('/');
  const glob = forbidden.find((each) => matchesGlob(each, inside, { matching: 'wide' }) || (kind === 'folder' && mayMatchBelow(each, inside, { matching: 'wide' })));
  return glob === undefined ? undefined : `"${path}" leads to "${inside}", and a rule is against reading "${glob}"`;
}
