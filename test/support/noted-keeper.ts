/**
 * A keeper of worktrees that are plain folders: says what it was asked, and finds in them what a test says is there.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { KeptWorktree, WorktreeStore, WorktreeRequest } from '../../src/actors/subagent/worktree-adapter.ts';
import { RuntimeError } from '../../src/machines/errors.ts';
import type { WorktreeInspection } from '../../src/machines/subagent/worktree-findings.ts';

export interface NotedKeeper extends WorktreeStore {
  readonly kept: Map<string, KeptWorktree>;
  readonly calls: string[];
  /** What inspections of a worktree find, by the beginning of its job's name. */
  readonly findings: Map<string, string>;
}

export function createNotedKeeper(folder: string): NotedKeeper {
  const kept = new Map<string, KeptWorktree>();
  const calls: string[] = [];
  const findings = new Map<string, string>();
  const inspectionOf = ({ jobId }: Pick<KeptWorktree, 'jobId'>): WorktreeInspection => {
    const text = [...findings].find(([beginning]) => jobId.startsWith(beginning))?.[1];
    return text === undefined
      ? { isClean: true, findings: [] }
      : { isClean: false, findings: [{ kind: 'committed', text }], nextAction: `git merge ${jobId}` };
  };
  const keptAs = (worktree: { readonly id?: string | undefined }): KeptWorktree => {
    const found = kept.get(worktree.id ?? '');
    if (found === undefined)
      throw new RuntimeError('WORKTREE_NOT_FOUND', `there is no worktree ${worktree.id}`, { category: 'not_found' });
    return found;
  };
  return {
    kept,
    calls,
    findings,
    async prepare({ jobId, key, cwd }: WorktreeRequest) {
      const known = [...kept.values()].find((worktree) => key !== undefined && worktree.key === key);
      if (known !== undefined) return known;
      calls.push(`prepare ${jobId.split('-')[0]}`);
      const id = `tree_${kept.size + 1}`;
      const worktree: KeptWorktree = {
        id,
        jobId,
        ...(key === undefined ? {} : { key }),
        repoRoot: cwd,
        worktreePath: join(folder, id),
        branchName: `wakechart/${id}`,
        baseRevision: 'abc',
        status: 'ready',
        createdAt: '2026-01-01T00:00:00.000Z',
        isOwned: true,
        findings: [],
      };
      await mkdir(worktree.worktreePath, { recursive: true });
      kept.set(id, worktree);
      return worktree;
    },
    isClean: async (worktree) => inspectionOf(keptAs(worktree)).isClean,
    inspect: async (worktree) => inspectionOf(keptAs(worktree)),
    async remove(worktree) {
      const { id, worktreePath, jobId } = keptAs(worktree);
      calls.push(`remove ${jobId.split('-')[0]}`);
      await rm(worktreePath, { recursive: true });
      kept.delete(id);
    },
    async preserve(worktree) {
      calls.push(`preserve ${keptAs(worktree).jobId.split('-')[0]}`);
    },
    list: async () => [...kept.values()],
    find: async (name) => keptAs({ id: name }),
    adopt: async (name) => keptAs({ id: name }),
    discard: async (name) => keptAs({ id: name }),
    reconcile: async () => [],
  };
}
