/** The worktrees that subagents of a home left or work in, for commands that check them and deal with them. */
import { join } from 'node:path';
import { createSystemClock } from '../../actors/clock/system-clock.ts';
import type { HostLife } from '../../actors/host/host-life.ts';
import type { WorktreeStore } from '../../actors/subagent/worktree-adapter.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { closestName } from '../../machines/closest-name.ts';
import { createGitWorktreeIsolationAdapter } from '../../adapters/git/git-worktree-adapter.ts';
import { HOSTS_FOLDER, createHostLife } from '../../adapters/host-life/socket-host-life.ts';
import type { CommandContext } from '../context.ts';
import { checkHome } from '../home.ts';
import { usageError } from '../usage.ts';

/** In a home. */
export const WORKTREES_FOLDER = 'worktrees';
/** More names than these do not help. */
const MAX_SHOWN = 10;

/** Tells which of the processes that left something here live. */
export function hostLifeOf(home: string): HostLife {
  return createHostLife({ directory: join(home, HOSTS_FOLDER) });
}

export function worktreeStore(home: string, hostLife = hostLifeOf(home)): WorktreeStore {
  return createGitWorktreeIsolationAdapter({
    worktreesDirectory: join(home, WORKTREES_FOLDER),
    hostLife,
    ceilingDirectories: [home],
    clock: createSystemClock(),
  });
}

/** Lets `work` use the worktrees. An error about one that is not there says which ones are. */
export async function withWorktrees<Result>(
  context: CommandContext,
  work: (keeper: WorktreeStore) => Promise<Result>,
): Promise<Result> {
  await checkHome(context.home);
  const hostLife = hostLifeOf(context.home);
  const keeper = worktreeStore(context.home, hostLife);
  try {
    return await work(keeper);
  } catch (error) {
    if (!RuntimeError.is(error) || error.code !== 'WORKTREE_NOT_FOUND') throw error;
    const { code, message, category, details } = error;
    throw new RuntimeError(code, message, {
      category,
      details,
      hint: await whatThereIs(error, context, keeper),
      cause: error,
    });
  } finally {
    await hostLife.close();
  }
}

/** @throws RuntimeError USAGE */
export function checkedWorktreeName(name: string): string {
  if (name.trim() !== '') return name;
  throw usageError(
    'expected the name of a worktree, received an empty one',
    'Name it by its name, its job, its branch or its path; wakechart worktree list shows them.',
  );
}

async function whatThereIs(
  { details }: RuntimeError,
  { home }: CommandContext,
  keeper: WorktreeStore,
): Promise<string> {
  const names = await keeper.list().then(
    (all) => all.map(({ id }) => id),
    () => [],
  );
  if (names.length === 0) return `No subagent left a worktree in ${home}.`;
  const meant = typeof details?.['name'] === 'string' ? closestName(details['name'], names) : undefined;
  const more = names.length > MAX_SHOWN ? ` and ${names.length - MAX_SHOWN} more` : '';
  return `${meant === undefined ? '' : `Did you mean "${meant}"? `}Worktrees in ${home}: ${names.slice(0, MAX_SHOWN).join(', ')}${more}.`;
}
