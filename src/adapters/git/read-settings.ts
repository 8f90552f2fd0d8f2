/** The settings that git sees: those of a repository, or the user's own. */
import { devNull } from 'node:os';
import type { GitCommand } from './git-command.ts';
import { parseSettings } from './git-settings.ts';
import type { RepositorySettings } from './git-settings.ts';

/** @throws GitFailure */
export async function readSettings(
  git: GitCommand,
  cwd: string,
  signal?: AbortSignal,
  gitDirectory?: string,
): Promise<RepositorySettings> {
  const where = gitDirectory === undefined ? [] : [`--git-dir=${gitDirectory}`];
  return parseSettings(await git.run([...where, 'config', '--list', '--show-scope', '-z'], { cwd, signal }));
}

/** Names of the filters that the user's own settings name. */
export async function userFilters(git: GitCommand, cwd: string, signal?: AbortSignal): Promise<readonly string[]> {
  return (await readSettings(git, cwd, signal, devNull)).userFilters;
}
