/**
 * What a dead process leaves in the middle of something is kept where work lies in it, and somebody can take it over:
 * in every run of the tests, where the many ways to die have their own.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import { gitSetup, put, removeTemplate } from './git-setup.ts';
import type { GitSetup } from './git-setup.ts';

let setup: GitSetup;
beforeEach(() => {
  setup = gitSetup();
});
afterEach(() => setup.remove());
afterAll(removeTemplate);

it.each(['creating', 'inspecting', 'removing'])(
  'a worktree whose process died while it was %s is kept with the work in it, and can be taken over',
  async (status) => {
    const { id = '', worktreePath } = await setup.crashed();
    const path = join(setup.worktrees, `${id}.json`);
    writeFileSync(path, JSON.stringify({ ...(JSON.parse(readFileSync(path, 'utf8')) as object), status }));
    put(join(worktreePath, 'work.txt'), 'work\n');
    expect(await setup.adapter.reconcile()).toMatchObject([
      { id, action: 'preserved', reason: expect.stringContaining('work.txt') as string },
    ]);
    expect(await setup.adapter.adopt('agent_1')).toMatchObject({ status: 'ready', isOwned: false });
    expect(readFileSync(join(worktreePath, 'work.txt'), 'utf8')).toBe('work\n');
  },
);
