/** Worktrees of git keep the contract of worktree adapters. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { worktreeAdapterContract } from '../../../src/testing/worktree-adapter-contract.ts';
import { gitSetup, removeTemplate } from './git-setup.ts';
import type { GitSetup } from './git-setup.ts';

let setup: GitSetup;
beforeEach(() => {
  setup = gitSetup();
});
afterEach(() => setup.remove());
afterAll(removeTemplate);

describe('worktrees of git', () => {
  it.each(worktreeAdapterContract.map(({ name, run }) => [name, run] as const))('%s', async (_name, run) => {
    const { adapter, repository, outside } = setup;
    const subject = {
      adapter,
      cwd: repository,
      below: 'src',
      change: async ({ worktreePath }: { readonly worktreePath: string }) =>
        writeFileSync(join(worktreePath, 'work.txt'), 'work\n'),
      isThere: async ({ worktreePath }: { readonly worktreePath: string }) => existsSync(worktreePath),
      count: async () => (await adapter.list()).length,
      outside,
    };
    await expect(run(subject)).resolves.toBeUndefined();
  });
});
