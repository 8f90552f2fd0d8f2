import { existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PreparedSubagentWorktree } from '../../../src/actors/subagent/worktree-adapter.ts';
import { git, gitSetup, put, removeTemplate, tracesOf } from './git-setup.ts';
import type { GitSetup } from './git-setup.ts';

let setup: GitSetup;
beforeEach(() => {
  setup = gitSetup();
});
afterEach(() => setup.remove());
afterAll(removeTemplate);

/** Each leaves nothing that could be lost. */
const HARMLESS: readonly (readonly [what: string, act: (worktree: PreparedSubagentWorktree) => void])[] = [
  ['did nothing', () => undefined],
  ['only read', ({ worktreePath }) => readFileSync(join(worktreePath, 'a.txt'))],
  ['asked git for the status', ({ worktreePath }) => git(worktreePath, 'status')],
  [
    'changed a file and changed it back',
    ({ worktreePath }) => {
      put(join(worktreePath, 'a.txt'), 'other\n');
      put(join(worktreePath, 'a.txt'), 'one\n');
    },
  ],
  ['touched a file', ({ worktreePath }) => utimesSync(join(worktreePath, 'a.txt'), 1, 1)],
  [
    'made and deleted a file',
    ({ worktreePath }) => {
      put(join(worktreePath, 'new.txt'), 'x');
      rmSync(join(worktreePath, 'new.txt'));
    },
  ],
  [
    'made an empty folder',
    ({ worktreePath }) => {
      put(join(worktreePath, 'empty/x'), 'x');
      rmSync(join(worktreePath, 'empty/x'));
    },
  ],
  [
    'threw its changes away',
    ({ worktreePath }) => {
      put(join(worktreePath, 'a.txt'), 'other\n');
      git(worktreePath, 'checkout', '-q', '--', '.');
    },
  ],
  [
    'staged and unstaged',
    ({ worktreePath }) => {
      put(join(worktreePath, 'a.txt'), 'other\n');
      git(worktreePath, 'add', '-A');
      git(worktreePath, 'reset', '-q', '--hard');
    },
  ],
];

describe('a worktree in which nothing could be lost', () => {
  it.each(HARMLESS)('is removed with every trace when its agent %s', async (_, act) => {
    const worktree = await setup.prepare();
    act(worktree);
    expect(await setup.adapter.inspect(worktree)).toMatchObject({ isClean: true, findings: [] });
    await setup.adapter.remove(worktree);
    expect(tracesOf(setup, worktree)).toEqual([]);
    expect(setup.names()).toEqual([]);
    expect(await setup.adapter.list()).toEqual([]);
  });

  it.each(HARMLESS)('is removed by the next start when its process died and its agent %s', async (_, act) => {
    const worktree = await setup.crashed();
    act(worktree);
    expect(await setup.adapter.reconcile()).toMatchObject([{ id: worktree.id, action: 'removed' }]);
    expect(tracesOf(setup, worktree)).toEqual([]);
    expect(setup.names()).toEqual([]);
  });

  it('is removed where nobody said that the agent begins', async () => {
    const worktree = await setup.adapter.prepare({ jobId: 'agent_1', cwd: setup.repository });
    await setup.adapter.remove(worktree);
    expect(tracesOf(setup, worktree)).toEqual([]);
  });

  it('is removed once, however many ask for it and how often', async () => {
    const worktree = await setup.prepare();
    await Promise.all([
      setup.adapter.remove(worktree),
      setup.adapter.remove(worktree),
      setup.adapterWith().remove(worktree),
    ]);
    await setup.adapter.remove(worktree);
    expect(tracesOf(setup, worktree)).toEqual([]);
  });

  it('does not count what was there when the agent began', async () => {
    const worktree = await setup.adapter.prepare({ jobId: 'agent_1', cwd: setup.repository });
    put(join(worktree.worktreePath, 'build/out.js'), 'built by a hook');
    put(join(worktree.worktreePath, 'seed.txt'), 'made by a hook');
    put(join(worktree.worktreePath, 'a.txt'), 'written by a hook\n');
    await setup.adapter.begin(worktree);
    expect(await setup.adapter.inspect(worktree)).toMatchObject({ findings: [] });
    await setup.adapter.remove(worktree);
    expect(tracesOf(setup, worktree)).toEqual([]);
  });

  it('leaves the checkout that it was made from as it was', async () => {
    writeFileSync(join(setup.repository, 'a.txt'), 'work of the user\n');
    const worktree = await setup.prepare();
    expect(readFileSync(join(worktree.worktreePath, 'a.txt'), 'utf8')).toBe('one\n');
    await setup.adapter.remove(worktree);
    expect(git(setup.repository, 'status', '--porcelain')).toBe(' M a.txt');
    expect(git(setup.repository, 'branch', '--format=%(refname:short)')).toBe('main');
    expect(existsSync(join(setup.repository, '.git/worktrees'))).toBe(false);
  });

  it('is forgotten where somebody else has removed it', async () => {
    const worktree = await setup.crashed();
    git(setup.repository, 'worktree', 'remove', '--force', '--force', worktree.worktreePath);
    expect(await setup.adapter.reconcile()).toMatchObject([{ action: 'forgotten' }]);
    expect(tracesOf(setup, worktree)).toEqual([]);
  });
});
