import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PreparedSubagentWorktree } from '../../../src/actors/subagent/worktree-adapter.ts';
import { contentOf, git, gitSetup, put, removeTemplate, tracesOf } from './git-setup.ts';
import type { GitSetup } from './git-setup.ts';

let setup: GitSetup;
beforeEach(() => {
  setup = gitSetup();
});
afterEach(() => setup.remove());
afterAll(removeTemplate);

function recordOf({ id }: PreparedSubagentWorktree): Record<string, unknown> {
  return JSON.parse(contentOf(join(setup.worktrees, `${id}.json`))) as Record<string, unknown>;
}

function rewrite(worktree: PreparedSubagentWorktree, fields: Record<string, unknown>): void {
  writeFileSync(join(setup.worktrees, `${worktree.id}.json`), JSON.stringify({ ...recordOf(worktree), ...fields }));
}

const asideOf = ({ worktreePath }: PreparedSubagentWorktree): string => `${worktreePath}.removing`;
const gitFolderOf = ({ id = '' }: PreparedSubagentWorktree): string => join(setup.repository, '.git/worktrees', id);

interface Crash {
  readonly name: string;
  readonly leave: (worktree: PreparedSubagentWorktree) => void;
  readonly action: 'removed' | 'forgotten';
}

/** What the death of a process can leave, at each step that it takes. */
const CRASHES: readonly Crash[] = [
  {
    name: 'before git made anything',
    leave: (worktree) => {
      git(setup.repository, 'worktree', 'remove', '-f', '-f', worktree.worktreePath);
      git(setup.repository, 'branch', '-q', '-D', worktree.branchName);
      rewrite(worktree, { status: 'creating', gitDirectory: undefined });
    },
    action: 'forgotten',
  },
  {
    name: 'when git had made the branch only',
    leave: (worktree) => {
      git(setup.repository, 'worktree', 'remove', '-f', '-f', worktree.worktreePath);
      rewrite(worktree, { status: 'creating', gitDirectory: undefined });
    },
    action: 'removed',
  },
  {
    name: 'when git had made half of the files',
    leave: (worktree) => {
      rmSync(join(worktree.worktreePath, 'src'), { recursive: true });
      rmSync(join(gitFolderOf(worktree), 'index'));
      rewrite(worktree, { status: 'creating', gitDirectory: undefined });
    },
    action: 'removed',
  },
  {
    name: 'when git had made all of it',
    leave: (worktree) => rewrite(worktree, { status: 'creating' }),
    action: 'removed',
  },
  { name: 'when it was ready', leave: () => undefined, action: 'removed' },
  {
    name: 'while it was checked',
    leave: (worktree) => rewrite(worktree, { status: 'inspecting' }),
    action: 'removed',
  },
  {
    name: 'when it was to be removed',
    leave: (worktree) => rewrite(worktree, { status: 'removing' }),
    action: 'removed',
  },
  {
    name: 'when it had been moved aside',
    leave: (worktree) => {
      rewrite(worktree, { status: 'removing' });
      renameSync(worktree.worktreePath, asideOf(worktree));
    },
    action: 'removed',
  },
  {
    name: 'when half of its files had been deleted',
    leave: (worktree) => {
      rewrite(worktree, { status: 'removing', isVerified: true });
      renameSync(worktree.worktreePath, asideOf(worktree));
      rmSync(join(asideOf(worktree), 'src'), { recursive: true });
    },
    action: 'removed',
  },
  {
    name: 'when all but its folder had been deleted',
    leave: (worktree) => {
      rewrite(worktree, { status: 'removing', isVerified: true });
      rmSync(worktree.worktreePath, { recursive: true });
      mkdirSync(asideOf(worktree));
    },
    action: 'removed',
  },
  {
    name: 'when its folder had been deleted',
    leave: (worktree) => {
      rewrite(worktree, { status: 'removing', isVerified: true });
      rmSync(worktree.worktreePath, { recursive: true });
    },
    action: 'removed',
  },
  {
    name: 'when its branch had been deleted',
    leave: (worktree) => {
      rewrite(worktree, { status: 'removing', isVerified: true });
      rmSync(worktree.worktreePath, { recursive: true });
      git(setup.repository, 'update-ref', '-d', `refs/heads/${worktree.branchName}`);
    },
    action: 'removed',
  },
  {
    name: "when git's own folder for it had been deleted",
    leave: (worktree) => {
      rewrite(worktree, { status: 'removing', isVerified: true });
      rmSync(worktree.worktreePath, { recursive: true });
      git(setup.repository, 'update-ref', '-d', `refs/heads/${worktree.branchName}`);
      rmSync(gitFolderOf(worktree), { recursive: true });
    },
    action: 'removed',
  },
];

describe('a start after a process died', () => {
  it.each(CRASHES)('leaves no trace of a worktree without work: $name', async ({ leave, action }) => {
    const worktree = await setup.crashed();
    leave(worktree);
    expect(await setup.adapter.reconcile()).toMatchObject([
      {
        id: worktree.id,
        action,
        jobId: 'agent_1',
        branchName: worktree.branchName,
        worktreePath: worktree.worktreePath,
      },
    ]);
    expect(tracesOf(setup, worktree)).toEqual([]);
    expect(setup.names()).toEqual([]);
    expect(await setup.adapter.reconcile()).toEqual([]);
  });

  it.each(CRASHES)('unlocks the branch that a killed git had locked: $name', async ({ leave, action }) => {
    const worktree = await setup.crashed();
    leave(worktree);
    const lock = join(setup.repository, '.git/refs/heads', `${worktree.branchName}.lock`);
    put(lock, '');
    expect(await setup.adapter.reconcile()).toMatchObject([{ id: worktree.id, action }]);
    expect(existsSync(lock)).toBe(false);
    expect(tracesOf(setup, worktree)).toEqual([]);
  });

  it('lets commits be made again in a worktree that it keeps, and leaves the lock where a process is at work', async () => {
    const worktree = await setup.crashed();
    const lock = join(setup.repository, '.git/refs/heads', `${worktree.branchName}.lock`);
    put(lock, '');
    put(join(worktree.worktreePath, 'work.txt'), 'work\n');
    const inside = spawn('sleep', ['60'], { cwd: worktree.worktreePath });
    await once(inside, 'spawn');
    await setup.adapter.reconcile();
    expect(existsSync(lock)).toBe(true);
    inside.kill('SIGKILL');
    await once(inside, 'exit');
    rewrite(worktree, { status: 'ready' });
    expect(await setup.adapter.reconcile()).toMatchObject([{ id: worktree.id, action: 'preserved' }]);
    git(worktree.worktreePath, 'add', '-A');
    git(worktree.worktreePath, 'commit', '-q', '-m', 'Work');
    expect(git(setup.repository, 'log', '-1', '--format=%s', worktree.branchName)).toContain('Work');
  });

  it.each(
    CRASHES.filter(({ name }) =>
      /ready|checked|to be removed|aside|half of its files|half of the files|all of it/.test(name),
    ),
  )('keeps a file that nobody knows: $name', async ({ leave }) => {
    const worktree = await setup.crashed();
    leave(worktree);
    const path = existsSync(worktree.worktreePath) ? worktree.worktreePath : asideOf(worktree);
    put(join(path, 'work.txt'), 'work\n');
    expect(await setup.adapter.reconcile()).toMatchObject([
      {
        id: worktree.id,
        action: 'preserved',
        reason: expect.stringContaining('work.txt'),
        nextAction: expect.stringContaining('wakechart worktree remove'),
      },
    ]);
    expect(contentOf(join(worktree.worktreePath, 'work.txt'))).toBe('work\n');
    expect(await setup.adapter.list()).toMatchObject([{ status: 'preserved', isOwned: false }]);
  });

  it('keeps a changed file of a removal that was interrupted', async () => {
    const worktree = await setup.crashed();
    rewrite(worktree, { status: 'removing', isVerified: true });
    put(join(worktree.worktreePath, 'a.txt'), 'work\n');
    renameSync(worktree.worktreePath, asideOf(worktree));
    rmSync(join(asideOf(worktree), 'src'), { recursive: true });
    expect(await setup.adapter.reconcile()).toMatchObject([{ action: 'preserved' }]);
    expect(contentOf(join(worktree.worktreePath, 'a.txt'))).toBe('work\n');
  });

  it('lets one of several deal with each', async () => {
    const made = await Promise.all([1, 2, 3, 4].map(async () => setup.crashed()));
    const hosts = [7, 8, 9].map((number) =>
      setup.adapterWith({ host: { pid: process.pid, startTime: '', system: `other system ${number}` } }),
    );
    const ends = (await Promise.all(hosts.map(async (adapter) => adapter.reconcile()))).flat();
    expect(
      ends
        .filter(({ action }) => action === 'removed')
        .map(({ id }) => id)
        .sort(),
    ).toEqual(made.map(({ id = '' }) => id).sort());
    expect(ends.filter(({ action }) => action === 'preserved')).toEqual([]);
    for (const worktree of made) expect(tracesOf(setup, worktree)).toEqual([]);
  });

  it('leaves what this process has', async () => {
    const worktree = await setup.prepare();
    expect(await setup.adapter.reconcile()).toMatchObject([{ id: worktree.id, action: 'left' }]);
    expect(existsSync(worktree.worktreePath)).toBe(true);
  });

  it('sets a record aside that cannot be read, and touches nothing else', async () => {
    const worktree = await setup.crashed();
    for (const text of ['{"version":1', '{"version":2}', '[]', '']) {
      writeFileSync(join(setup.worktrees, `${worktree.id}.json`), text);
      expect(await setup.adapter.reconcile()).toMatchObject([
        { id: worktree.id, action: 'preserved', reason: expect.stringContaining('set aside') },
      ]);
      expect(
        readdirSync(setup.worktrees)
          .filter((name) => name.endsWith('.unreadable'))
          .map((name) => contentOf(join(setup.worktrees, name))),
      ).toContain(text);
    }
    expect(contentOf(join(worktree.worktreePath, 'a.txt'))).toBe('one\n');
    expect(git(setup.repository, 'branch', '--list', worktree.branchName)).not.toBe('');
  });

  describe('sets a record aside that names what is not its own, and removes nothing:', () => {
    const lies: readonly (readonly [what: string, fields: (precious: string) => Record<string, unknown>])[] = [
      ['a folder elsewhere', (precious) => ({ status: 'creating', gitDirectory: undefined, worktreePath: precious })],
      [
        'a folder elsewhere that may be lost',
        (precious) => ({
          status: 'removing',
          isVerified: true,
          mayLose: true,
          worktreePath: precious.replace(/\.removing$/, ''),
        }),
      ],
      [
        "another folder of git's",
        (precious) => ({ status: 'removing', isVerified: true, mayLose: true, gitDirectory: precious }),
      ],
      ['a branch of somebody', () => ({ status: 'creating', gitDirectory: undefined, branchName: 'theirs' })],
      ['a program among its settings', () => ({ fileSettings: ['core.filemode=true', 'core.fsmonitor=touch proof'] })],
    ];
    it.each(lies)('%s', async (_, fields) => {
      const precious = join(setup.outside, 'docs.removing');
      put(join(precious, 'thesis.txt'), 'work\n');
      git(setup.repository, 'branch', 'theirs');
      const worktree = await setup.crashed();
      rewrite(worktree, fields(precious));
      expect(await setup.adapter.reconcile()).toMatchObject([
        { action: 'preserved', reason: expect.stringContaining('set aside') },
      ]);
      expect(contentOf(join(precious, 'thesis.txt'))).toBe('work\n');
      expect(git(setup.repository, 'branch', '--list', 'theirs')).not.toBe('');
      expect(contentOf(join(worktree.worktreePath, 'a.txt'))).toBe('one\n');
      await expect(setup.adapter.discard(worktree.id ?? '', { discard: true })).rejects.toMatchObject({
        code: 'WORKTREE_NOT_FOUND',
      });
    });
  });

  it('keeps a folder whose repository is gone, and forgets what has no folder either', async () => {
    const [kept, gone] = [await setup.crashed(), await setup.crashed()];
    rmSync(setup.repository, { recursive: true });
    rmSync(gone.worktreePath, { recursive: true });
    const ends = await setup.adapter.reconcile();
    expect(ends.find(({ id }) => id === kept.id)).toMatchObject({ action: 'preserved' });
    expect(ends.find(({ id }) => id === gone.id)).toMatchObject({ action: 'forgotten' });
    expect(contentOf(join(kept.worktreePath, 'a.txt'))).toBe('one\n');
  });

  it('keeps the commits of a worktree whose folder somebody removed', async () => {
    const worktree = await setup.crashed();
    put(join(worktree.worktreePath, 'a.txt'), 'work\n');
    git(worktree.worktreePath, 'commit', '-qam', 'work');
    git(setup.repository, 'worktree', 'remove', '-f', '-f', worktree.worktreePath);
    expect(await setup.adapter.reconcile()).toMatchObject([
      { action: 'preserved', reason: expect.stringContaining('its branch has commits') },
    ]);
    expect(git(setup.repository, 'log', '-1', '--format=%s', worktree.branchName)).toBe('work');
  });

  it('removes what a git that died had to itself, once nobody can be at work in it', async () => {
    for (const name of ['git.old.tmp', 'git.new.tmp']) put(join(setup.worktrees, name, 'config'), '');
    utimesSync(join(setup.worktrees, 'git.old.tmp'), 1, 1);
    await setup.adapter.reconcile();
    expect(setup.names()).toEqual(['git.new.tmp']);
  });

  it('leaves the worktrees of others in git as they are', async () => {
    git(setup.repository, 'worktree', 'add', '-q', '-b', 'theirs', join(setup.outside, 'theirs'));
    renameSync(join(setup.outside, 'theirs'), join(setup.outside, 'unplugged'));
    await setup.crashed();
    await setup.adapter.reconcile();
    renameSync(join(setup.outside, 'unplugged'), join(setup.outside, 'theirs'));
    expect(git(join(setup.outside, 'theirs'), 'status', '--porcelain')).toBe('');
  });
});
