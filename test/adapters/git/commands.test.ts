import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GitWorktreeIsolationAdapter } from '../../../src/adapters/git/git-worktree-adapter.ts';
import { contentOf, git, gitSetup, put, removeTemplate, tracesOf } from './git-setup.ts';
import type { GitSetup } from './git-setup.ts';

let setup: GitSetup;
let adapter: GitWorktreeIsolationAdapter;
beforeEach(() => {
  setup = gitSetup();
  const gitPath = join(setup.outside, 'told-git');
  const said = 'for word; do case "$word" in --git-dir=*|--work-tree=*) ;; *) break;; esac; shift; done';
  // File systems tell times to some milliseconds: what is written after a command is to be seen as later.
  const script = `#!/bin/sh\n(${said}; echo "$1" >> '${log()}')\ngit "$@"\ncode=$?\nsleep 0.02\nexit $code\n`;
  writeFileSync(gitPath, script, { mode: 0o755 });
  adapter = setup.adapterWith({ gitPath });
});
afterEach(() => setup.remove());
afterAll(removeTemplate);

const log = (): string => join(setup.outside, 'commands');

/** The commands of git that `work` runs; those that run side by side in one order. */
async function commandsOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  writeFileSync(log(), '');
  await work();
  return contentOf(log()).trim().split('\n').sort();
}

const prepare = async (): ReturnType<GitWorktreeIsolationAdapter['prepare']> =>
  adapter.prepare({ jobId: 'agent_1', cwd: setup.repository });

describe('git is asked', () => {
  it('five times for a worktree, and not again when its agent begins', async () => {
    const commands = await commandsOf(async () => adapter.begin(await prepare()));
    expect(commands).toEqual(['config', 'read-tree', 'rev-parse', 'status', 'worktree']);
  });

  it('nothing of a worktree in which nothing was touched, and once to take it away', async () => {
    const worktree = await prepare();
    await adapter.begin(worktree);
    expect(await commandsOf(() => adapter.inspect(worktree))).toEqual(['']);
    expect(await commandsOf(() => adapter.remove(worktree))).toEqual(['update-ref']);
    expect(tracesOf(setup, worktree)).toEqual([]);
  });

  it('three times what was done in one', async () => {
    const worktree = await prepare();
    await adapter.begin(worktree);
    put(join(worktree.worktreePath, 'new.txt'), 'work\n');
    const commands = await commandsOf(() => adapter.inspect(worktree));
    expect(commands).toEqual(['check-ignore', 'ls-files', 'status']);
  });

  it('what a hook has staged, which is no work of the agent', async () => {
    const worktree = await prepare();
    const { worktreePath } = worktree;
    put(join(worktreePath, 'seed.txt'), 'made by a hook\n');
    git(worktreePath, 'add', 'seed.txt');
    expect(await commandsOf(() => adapter.begin(worktree))).toEqual(['status']);
    put(join(worktreePath, 'a.txt'), 'one\n');
    expect((await adapter.inspect(worktree)).findings).toEqual([]);
  });
});
