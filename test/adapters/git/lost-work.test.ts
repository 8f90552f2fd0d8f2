import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { git, gitSetup, put, removeTemplate } from './git-setup.ts';
import type { GitSetup } from './git-setup.ts';
import { LOST_WORK } from './lost-work.ts';

let setup: GitSetup;
beforeEach(() => {
  setup = gitSetup();
});
afterEach(() => setup.remove());
afterAll(removeTemplate);

/** Every second one; all of them in the long runs (`npm run test:matrix`, part of CI). */
const TRIED =
  process.env['CRASH_MATRIX'] === undefined ? LOST_WORK.filter((_way, index) => index % 2 === 0) : LOST_WORK;

describe('the work of an agent that', () => {
  it.each(TRIED)(
    '$name is found, and is there after its process died, after the next start and after it was to be removed',
    async ({ setUp, act, isThere, kind }) => {
      const keeper = setup.crashedAdapter();
      const worktree = await keeper.prepare({ jobId: 'agent_1', cwd: setup.repository });
      setUp?.(worktree);
      await keeper.begin(worktree);
      act(worktree);
      expect(isThere(worktree), 'the agent has done it').toBe(true);

      const { isClean, findings, nextAction } = await keeper.inspect(worktree);
      expect(isClean).toBe(false);
      expect(findings.map((finding) => finding.kind)).toContain(kind);
      expect(nextAction).toMatch(/wakechart worktree remove \S+ --discard$/);

      expect(await setup.adapter.reconcile()).toMatchObject([
        { id: worktree.id, action: 'preserved', worktreePath: worktree.worktreePath, branchName: worktree.branchName },
      ]);
      expect(isThere(worktree)).toBe(true);
      expect(await setup.adapter.list()).toMatchObject([
        { id: worktree.id, status: 'preserved', isOwned: false, findings },
      ]);
      await expect(setup.adapter.remove(worktree)).rejects.toMatchObject({ code: 'WORKTREE_NOT_CLEAN' });
      expect(isThere(worktree)).toBe(true);
    },
  );
});

describe('a commit that a checkout was left for', () => {
  it('is found also where the repository kept no histories before', async () => {
    git(setup.repository, 'config', 'core.logAllRefUpdates', 'false');
    const worktree = await setup.prepare();
    git(worktree.worktreePath, 'checkout', '-q', '--detach');
    put(join(worktree.worktreePath, 'a.txt'), 'work\n');
    git(worktree.worktreePath, 'commit', '-qam', 'work');
    git(worktree.worktreePath, 'checkout', '-q', worktree.branchName);
    expect((await setup.adapter.inspect(worktree)).findings).toMatchObject([{ kind: 'unreachable_commit' }]);
  });
});

describe('two checks', () => {
  it('name the same first, whatever order the disk answers in', async () => {
    const worktree = await setup.prepare();
    for (const name of ['MERGE_MSG', 'MERGE_MODE', 'MERGE_HEAD', 'MERGE_RR'])
      put(join(setup.repository, '.git/worktrees', worktree.id ?? '', name), '');
    expect((await setup.adapter.inspect(worktree)).findings).toMatchObject([
      { kind: 'operation', text: expect.stringMatching(/: MERGE_HEAD$/) },
    ]);
  });
});
