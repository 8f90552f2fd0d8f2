import { existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PreparedSubagentWorktree } from '../../../src/actors/subagent/worktree-adapter.ts';
import { git, gitHouse, put, removeTemplate, tracesOf } from './git-house.ts';
import type { GitHouse } from './git-house.ts';

let house: GitHouse;
beforeEach(() => {
  house = gitHouse();
});
afterEach(() => house.remove());
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
    const worktree = await house.prepare();
    act(worktree);
    expect(await house.adapter.inspect(worktree)).toMatchObject({ isClean: true, findings: [] });
    await house.adapter.remove(worktree);
    expect(tracesOf(house, worktree)).toEqual([]);
    expect(house.names()).toEqual([]);
    expect(await house.adapter.list()).toEqual([]);
  });

  it.each(HARMLESS)('is removed by the next start when its process died and its agent %s', async (_, act) => {
    const worktree = await house.crashed();
    act(worktree);
    expect(await house.adapter.reconcile()).toMatchObject([{ id: worktree.id, action: 'removed' }]);
    expect(tracesOf(house, worktree)).toEqual([]);
    expect(house.names()).toEqual([]);
  });

  it('is removed where nobody said that the agent begins', async () => {
    const worktree = await house.adapter.prepare({ jobId: 'agent_1', cwd: house.repository });
    await house.adapter.remove(worktree);
    expect(tracesOf(house, worktree)).toEqual([]);
  });

  it('is removed once, however many ask for it and how often', async () => {
    const worktree = await house.prepare();
    await Promise.all([
      house.adapter.remove(worktree),
      house.adapter.remove(worktree),
      house.adapterWith().remove(worktree),
    ]);
    await house.adapter.remove(worktree);
    expect(tracesOf(house, worktree)).toEqual([]);
  });

  it('does not count what was there when the agent began', async () => {
    const worktree = await house.adapter.prepare({ jobId: 'agent_1', cwd: house.repository });
    put(join(worktree.worktreePath, 'build/out.js'), 'built by a hook');
    put(join(worktree.worktreePath, 'seed.txt'), 'made by a hook');
    put(join(worktree.worktreePath, 'a.txt'), 'written by a hook\n');
    await house.adapter.begin(worktree);
    expect(await house.adapter.inspect(worktree)).toMatchObject({ findings: [] });
    await house.adapter.remove(worktree);
    expect(tracesOf(house, worktree)).toEqual([]);
  });

  it('leaves the checkout that it was made from as it was', async () => {
    writeFileSync(join(house.repository, 'a.txt'), 'work of the user\n');
    const worktree = await house.prepare();
    expect(readFileSync(join(worktree.worktreePath, 'a.txt'), 'utf8')).toBe('one\n');
    await house.adapter.remove(worktree);
    expect(git(house.repository, 'status', '--porcelain')).toBe(' M a.txt');
    expect(git(house.repository, 'branch', '--format=%(refname:short)')).toBe('main');
    expect(existsSync(join(house.repository, '.git/worktrees'))).toBe(false);
  });

  it('is forgotten where somebody else has removed it', async () => {
    const worktree = await house.crashed();
    git(house.repository, 'worktree', 'remove', '--force', '--force', worktree.worktreePath);
    expect(await house.adapter.reconcile()).toMatchObject([{ action: 'forgotten' }]);
    expect(tracesOf(house, worktree)).toEqual([]);
  });
});
