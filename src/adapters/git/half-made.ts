/**
 * Deals with a worktree whose maker died while git was making it: no agent has worked in it, unless what lies there
 * says otherwise.
 */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import type { WorktreeFinding } from '../../machines/subagent/worktree-findings.ts';
import { movedRecord } from '../../machines/subagent/worktree-record.ts';
import type { WorktreeRecord } from '../../machines/subagent/worktree-record.ts';
import { isThere } from '../system/whole-files.ts';
import { gitDirectoryOf } from './worktree-context.ts';
import type { WorktreeContext } from './worktree-context.ts';
import { shownPath } from './git-command.ts';
import { gitIn } from './private-git.ts';
import { commandNaming, usersOf } from './processes-inside.ts';
import { keep } from './remove-worktree.ts';
import { branchTip, undoCreation } from './undo-creation.ts';
import { saidBy } from './worktree-errors.ts';

export interface HalfMadeEnd {
  readonly action: 'removed' | 'preserved' | 'forgotten' | 'left';
  readonly reason: string;
}

/** @param record of a worktree that this process owns, as its dead maker left it: `creating` */
export async function endHalfMade(context: WorktreeContext, record: WorktreeRecord): Promise<HalfMadeEnd> {
  const user = commandNaming(record.worktreePath) ?? (await usersOf(record.worktreePath))[0];
  if (user !== undefined) {
    await context.owners.release(record.id);
    return { action: 'left', reason: `it is still being made: ${user}` };
  }
  const findings = await workIn(context, record).catch((error: unknown): WorktreeFinding[] => [
    { kind: 'unknown', text: `what lies in it could not be found out: ${saidBy(error)}` },
  ]);
  if (findings.length > 0) {
    await keep(context, movedRecord(record, 'OWNER_LOST', 'INSPECT', 'DIRTY'), {
      findings,
      nextAction: `Check it, and take from it what you need. Then: wakechart worktree remove ${record.id} --discard`,
    });
    return { action: 'preserved', reason: findings.map(({ text }) => text).join('; ') };
  }
  const wasThere =
    (await isThere(record.worktreePath)) ||
    (await isThere(gitDirectoryOf(record))) ||
    (await branchTip(context, record).catch(() => undefined)) !== undefined;
  await undoCreation(context, record, { isForeign: !wasThere });
  return wasThere
    ? { action: 'removed', reason: 'it was never finished' }
    : { action: 'forgotten', reason: 'nothing of it was made' };
}

/**
 * Everything but files of its commit, some of which may be missing. Compared with an index of its own: that of the
 * worktree may be half there too.
 */
async function workIn(context: WorktreeContext, record: WorktreeRecord): Promise<WorktreeFinding[]> {
  if (!(await isThere(record.worktreePath))) return [];
  if (!(await isThere(join(record.worktreePath, '.git'))))
    return (await isEmptyFolder(record.worktreePath)) ? [] : [{ kind: 'unknown', text: 'what lies there has no .git' }];
  const index = join(context.worktreesDirectory, `${record.id}.${randomUUID()}.tmp`);
  try {
    await gitIn(context, record, ['read-tree', record.baseRevision], { index, writes: true });
    const output = await gitIn(
      context,
      record,
      [
        'status',
        '--porcelain=v1',
        '-z',
        '--untracked-files=all',
        '--ignored=matching',
        '--no-renames',
        '--ignore-submodules=dirty',
      ],
      { index },
    );
    const odd = output.split('\0').filter((entry) => entry !== '' && entry[1] !== 'D' && !/^[MADT] /.test(entry));
    return odd.length === 0
      ? []
      : [
          {
            kind: 'untracked',
            text: `it was never finished, but ${odd
              .slice(0, 5)
              .map((entry) => JSON.stringify(shownPath(entry.slice(3))))
              .join(', ')} is not of its commit`,
          },
        ];
  } finally {
    await rm(index, { force: true });
  }
}

async function isEmptyFolder(path: string): Promise<boolean> {
  return (await readdir(path)).length === 0;
}
