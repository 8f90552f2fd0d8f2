/**
 * Checks the worktrees that subagents were given: which of them belong to processes that are gone. Those that wait for
 * a person are in order.
 */
import { stat } from 'node:fs/promises';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { KeptWorktree, ReconciledWorktree, WorktreeStore } from '../../actors/subagent/worktree-adapter.ts';
import { systemCodeOf } from '../../adapters/system/error-codes.ts';
import { note, problem } from './finding.ts';
import type { RepairableFinding } from './finding.ts';

/** @param directory where they lie */
export async function checkWorktrees(
  keeper: Pick<WorktreeStore, 'list' | 'reconcile'>,
  directory: string,
): Promise<RepairableFinding[]> {
  let worktrees: readonly KeptWorktree[];
  try {
    worktrees = await keeper.list();
  } catch (error) {
    return [
      problem({
        area: 'worktrees',
        where: directory,
        what: `it is unknown what lies there: ${messageOf(error)}`,
        remedy: 'Check who owns it and its permissions.',
      }),
    ];
  }
  const repair = async (worktree: KeptWorktree): Promise<void> => requireSettled(worktree, await keeper.reconcile());
  const found = await Promise.all(
    worktrees
      .filter(({ isOwned, status }) => !isOwned || status === 'preserved')
      .map((worktree) => findingOf(worktree, () => repair(worktree))),
  );
  return found.flat();
}

/** @throws RuntimeError WORKTREE_LEFT when a session goes on in it, or a process works on it */
function requireSettled({ id, key }: KeptWorktree, ends: readonly ReconciledWorktree[]): void {
  const end = ends.find((each) => each.id === id);
  if (end?.action !== 'left') return;
  throw new RuntimeError('WORKTREE_LEFT', `it was left: ${end.reason ?? 'a process works on it'}`, {
    category: 'conflict',
    hint: `Wake or terminate the session that it is for: ${key?.split('/')[0] ?? 'see wakechart worktree list'}.`,
  });
}

async function findingOf(
  { id, jobId, status, worktreePath }: KeptWorktree,
  repair: () => Promise<void>,
): Promise<RepairableFinding[]> {
  if (status === 'preserved') {
    if (!(await isGone(worktreePath))) return [];
    return [
      note({
        area: 'worktrees',
        where: worktreePath,
        what: `the worktree of job ${jobId} was taken away, its record and its branch are left`,
        remedy: `Forget it with its branch, if that is not needed: wakechart worktree remove ${id} --discard`,
      }),
    ];
  }
  return [
    note({
      area: 'worktrees',
      where: worktreePath,
      what: `the process that made it for job ${jobId} is gone, and left it as "${status}"`,
      remedy:
        'The next start removes it if nothing in it could be lost, and keeps it otherwise. One that a called agent is to go on in stays for that.',
      repair,
    }),
  ];
}

function isGone(path: string): Promise<boolean> {
  return stat(path).then(
    () => false,
    (error: unknown) => systemCodeOf(error) === 'ENOENT',
  );
}
