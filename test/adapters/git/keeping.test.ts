import { existsSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PreparedSubagentWorktree } from '../../../src/actors/subagent/worktree-adapter.ts';
import { contentOf, git, gitSetup, pasted, put, removeTemplate, tracesOf } from './git-setup.ts';
import type { GitSetup } from './git-setup.ts';

let setup: GitSetup;
beforeEach(() => {
  setup = gitSetup("it's an odd place");
});
afterEach(() => setup.remove());
afterAll(removeTemplate);

/** The commands that a text names, but for those that end the worktree. */
function commandsIn(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.slice(line.indexOf(': ') + 2))
    .filter((line) => line.startsWith('git '));
}

interface Work {
  readonly name: string;
  readonly act: (path: string) => void;
}

const commit = (path: string): void => {
  put(join(path, 'a.txt'), 'work\n');
  git(path, 'commit', '-qam', 'work');
};

const WORK: readonly Work[] = [
  { name: 'a changed file', act: (path) => put(join(path, 'a.txt'), 'work\n') },
  {
    name: 'a changed file and a new one',
    act: (path) => {
      put(join(path, 'a.txt'), 'work\n');
      put(join(path, 'new/file.txt'), 'work\n');
    },
  },
  {
    name: 'a staged file',
    act: (path) => {
      put(join(path, 'a.txt'), 'work\n');
      git(path, 'add', '-A');
    },
  },
  { name: 'a commit', act: commit },
  {
    name: 'a commit and a change',
    act: (path) => {
      commit(path);
      put(join(path, 'src/b.txt'), 'more\n');
    },
  },
  {
    name: 'a commit on another branch',
    act: (path) => {
      git(path, 'checkout', '-q', '-b', 'feature');
      commit(path);
    },
  },
  {
    name: 'a commit on another branch that it left',
    act: (path) => {
      git(path, 'checkout', '-q', '-b', 'feature');
      commit(path);
      git(path, 'checkout', '-q', '-');
    },
  },
  {
    name: 'a commit on a detached HEAD',
    act: (path) => {
      git(path, 'checkout', '-q', '--detach');
      commit(path);
    },
  },
  {
    name: 'a change on a detached HEAD',
    act: (path) => {
      git(path, 'checkout', '-q', '--detach');
      put(join(path, 'a.txt'), 'work\n');
    },
  },
  {
    name: 'a stash',
    act: (path) => {
      put(join(path, 'a.txt'), 'work\n');
      git(path, 'stash', '-q');
    },
  },
];

describe('the next action', () => {
  it.each(WORK)('brings the work home when it is pasted: $name', async ({ act }) => {
    const worktree = await setup.prepare();
    act(worktree.worktreePath);
    const { nextAction = '' } = await setup.adapter.inspect(worktree);
    for (const command of commandsIn(nextAction)) pasted(command, '/');
    // What was stashed is a change again, for which there is a next action too.
    const after = await setup.adapter.inspect(worktree);
    if (contentOf(join(setup.repository, 'a.txt')) !== 'work\n')
      for (const command of commandsIn(after.nextAction ?? '')) pasted(command, '/');
    expect(contentOf(join(setup.repository, 'a.txt'))).toBe('work\n');
    expect(git(setup.repository, 'status', '--porcelain')).toBe('');
  });

  it('counts what no other branch has', async () => {
    const worktree = await setup.prepare();
    commit(worktree.worktreePath);
    expect((await setup.adapter.inspect(worktree)).findings).toMatchObject([
      { kind: 'committed', text: expect.stringContaining('1 commit that no other branch has') },
    ]);
    git(setup.repository, 'merge', '-q', worktree.branchName);
    expect((await setup.adapter.inspect(worktree)).findings).toMatchObject([
      { kind: 'committed', text: expect.stringContaining('other branches have all that it has') },
    ]);
    expect((await setup.adapter.inspect(worktree)).nextAction).toBe(
      `It is merged already. Remove it: wakechart worktree remove ${worktree.id}`,
    );
  });

  it('takes no branch that an agent names for an option', async () => {
    const worktree = await setup.prepare();
    commit(worktree.worktreePath);
    git(worktree.worktreePath, 'update-ref', 'refs/heads/--strategy=ours', 'HEAD');
    git(worktree.worktreePath, 'symbolic-ref', 'HEAD', 'refs/heads/--strategy=ours');
    const { nextAction = '' } = await setup.adapter.inspect(worktree);
    for (const command of commandsIn(nextAction)) pasted(command, '/');
    expect(contentOf(join(setup.repository, 'a.txt'))).toBe('work\n');
  });

  it('names a commit that no branch has', async () => {
    const worktree = await setup.prepare();
    commit(worktree.worktreePath);
    git(worktree.worktreePath, 'reset', '-q', '--hard', 'HEAD~1');
    const { nextAction = '' } = await setup.adapter.inspect(worktree);
    for (const command of commandsIn(nextAction)) pasted(command, '/');
    expect(git(setup.repository, 'show', `${worktree.branchName}-found:a.txt`)).toBe('work');
  });

  it('is there from the start, and merges what is committed later', async () => {
    const { worktreePath, nextAction = '' } = await setup.prepare();
    commit(worktreePath);
    for (const command of commandsIn(nextAction)) pasted(command, '/');
    expect(contentOf(join(setup.repository, 'a.txt'))).toBe('work\n');
  });
});

describe('a worktree that is kept', () => {
  let worktree: PreparedSubagentWorktree;
  beforeEach(async () => {
    worktree = await setup.crashed({ cwd: join(setup.repository, 'src'), key: 'feature' });
    put(join(worktree.worktreePath, 'new.txt'), 'work\n');
    await setup.adapter.reconcile();
  });

  it('is found by its id, its job, its branch and its path', async () => {
    for (const name of [
      worktree.id ?? '',
      'agent_1',
      worktree.branchName,
      worktree.worktreePath,
      realpathSync(worktree.worktreePath),
    ]) {
      expect(await setup.adapter.find(name)).toMatchObject({
        id: worktree.id,
        jobId: 'agent_1',
        key: 'feature',
        status: 'preserved',
        cwd: worktree.cwd,
        findings: [{ kind: 'untracked' }],
      });
    }
    await expect(setup.adapter.find('nobody')).rejects.toMatchObject({
      code: 'WORKTREE_NOT_FOUND',
      hint: expect.stringContaining('wakechart worktree list'),
    });
    await setup.prepare();
    await expect(setup.adapter.find('agent_1')).rejects.toMatchObject({ code: 'WORKTREE_AMBIGUOUS' });
  });

  it('is handed over whole, and no start touches it any more', async () => {
    expect(await setup.adapter.adopt('agent_1')).toMatchObject({ id: worktree.id, status: 'ready', isOwned: false });
    expect(await setup.adapter.list()).toEqual([]);
    expect(await setup.adapter.reconcile()).toEqual([]);
    expect(contentOf(join(worktree.worktreePath, 'new.txt'))).toBe('work\n');
    git(setup.repository, 'worktree', 'remove', '--force', worktree.worktreePath);
    await expect(setup.adapter.adopt('agent_1')).rejects.toMatchObject({ code: 'WORKTREE_NOT_FOUND' });
  });

  it('is not removed unless it may be lost', async () => {
    await expect(setup.adapter.discard('agent_1')).rejects.toMatchObject({ code: 'WORKTREE_NOT_CLEAN' });
    expect(contentOf(join(worktree.worktreePath, 'new.txt'))).toBe('work\n');
    expect(await setup.adapter.discard('agent_1', { discard: true })).toMatchObject({
      id: worktree.id,
      isOwned: false,
    });
    expect(tracesOf(setup, worktree)).toEqual([]);
    expect(setup.names()).toEqual([]);
  });

  it('is removed when its work has been merged', async () => {
    git(worktree.worktreePath, 'add', '-A');
    git(worktree.worktreePath, 'commit', '-qm', 'work');
    await expect(setup.adapter.discard('agent_1')).rejects.toMatchObject({ code: 'WORKTREE_NOT_CLEAN' });
    git(setup.repository, 'merge', '-q', worktree.branchName);
    await setup.adapter.discard('agent_1');
    expect(tracesOf(setup, worktree)).toEqual([]);
    expect(contentOf(join(setup.repository, 'new.txt'))).toBe('work\n');
  });

  it('stays where only another that is kept has its commits, whichever is removed first', async () => {
    const other = await setup.prepare({ jobId: 'agent_2' });
    git(worktree.worktreePath, 'add', '-A');
    git(worktree.worktreePath, 'commit', '-qm', 'work');
    git(other.worktreePath, 'merge', '-q', worktree.branchName);
    await setup.adapter.preserve(other, await setup.adapter.inspect(other));
    const ends = await Promise.allSettled(['agent_1', 'agent_2'].map(async (job) => setup.adapter.discard(job)));
    expect(ends).toMatchObject([
      { reason: { code: 'WORKTREE_NOT_CLEAN' } },
      { reason: { code: 'WORKTREE_NOT_CLEAN' } },
    ]);
    expect(git(setup.repository, 'log', '-1', '--format=%s', worktree.branchName)).toBe('work');
    git(setup.repository, 'merge', '-q', other.branchName);
    for (const job of ['agent_1', 'agent_2']) await setup.adapter.discard(job);
    expect([...tracesOf(setup, worktree), ...tracesOf(setup, other)]).toEqual([]);
  });

  it('stays where only one of another home has its commits', async () => {
    const elsewhere = setup.adapterWith({ worktreesDirectory: join(setup.outside, 'other-home') });
    const other = await elsewhere.prepare({ jobId: 'agent_2', cwd: setup.repository });
    git(worktree.worktreePath, 'add', '-A');
    git(worktree.worktreePath, 'commit', '-qm', 'work');
    git(other.worktreePath, 'merge', '-q', worktree.branchName);
    await expect(setup.adapter.discard('agent_1')).rejects.toMatchObject({ code: 'WORKTREE_NOT_CLEAN' });
    await elsewhere.preserve(other, await elsewhere.inspect(other));
    await elsewhere.adopt('agent_2');
    await expect(setup.adapter.discard('agent_1')).resolves.toMatchObject({ id: worktree.id });
  });

  it('is removed with its branch and commits when they may be lost', async () => {
    git(worktree.worktreePath, 'add', '-A');
    git(worktree.worktreePath, 'commit', '-qm', 'work');
    await setup.adapter.discard(worktree.branchName, { discard: true });
    expect(tracesOf(setup, worktree)).toEqual([]);
  });

  it('is removed where its folder is gone and a person says so', async () => {
    rmSync(worktree.worktreePath, { recursive: true });
    await expect(setup.adapter.discard('agent_1')).rejects.toMatchObject({ code: 'WORKTREE_NOT_CLEAN' });
    await setup.adapter.discard('agent_1', { discard: true });
    expect(tracesOf(setup, worktree)).toEqual([]);
  });

  it('says what was found where somebody else says that it stays', async () => {
    const other = await setup.prepare();
    await setup.adapter.preserve(other, { isClean: false, findings: [{ kind: 'unknown', text: 'a hook failed' }] });
    expect(await setup.adapter.find(other.id ?? '')).toMatchObject({
      status: 'preserved',
      isOwned: false,
      findings: [{ text: 'a hook failed' }],
    });
    expect(existsSync(other.worktreePath)).toBe(true);
    await setup.adapter.remove(other);
    expect(existsSync(other.worktreePath)).toBe(false);
  });

  it('has a status in words', async () => {
    expect(await setup.adapter.getStatus(worktree)).toBe('1 file untracked: "new.txt"');
    expect(await setup.adapter.isClean(worktree)).toBe(false);
    const clean = await setup.prepare();
    expect(await setup.adapter.getStatus(clean)).toBe('clean');
  });
});
