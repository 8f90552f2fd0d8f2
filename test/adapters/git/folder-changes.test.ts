/** What was changed in a folder is told from a real repository, and nothing that the repository names is run for it. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createGitFolderChanges } from '../../../src/adapters/git/folder-changes.ts';
import type { FolderChanges, FolderDifference } from '../../../src/actors/inspection/folder-changes.ts';
import { git, gitHouse, put, removeTemplate } from './git-house.ts';
import type { GitHouse } from './git-house.ts';

let house: GitHouse;
beforeEach(() => {
  house = gitHouse();
});
afterEach(() => house.remove());
afterAll(removeTemplate);

function changes(options: { readonly gitPath?: string; readonly timeoutMs?: number; readonly ceilingDirectories?: readonly string[] } = {}): FolderChanges {
  return createGitFolderChanges({ near: join(house.outside, 'private'), ...options });
}

function read(folder = house.repository, look: Partial<Parameters<FolderChanges['read']>[1]> = {}): Promise<FolderDifference> {
  return changes().read(folder, { maxCharacters: 100_000, ...look });
}

const named = ({ files }: FolderDifference): unknown => Object.fromEntries(files.map(({ path, change }) => [path, change]));

describe('the changes in a folder', () => {
  it('are none where nothing was changed', async () => {
    expect(await read()).toEqual({ branch: 'main', files: [], fileCount: 0, difference: '', isCut: false });
  });

  it('are told by file, with a difference that has new files whole', async () => {
    put(join(house.repository, 'a.txt'), 'one and a half\n');
    put(join(house.repository, 'new/file.txt'), 'something ü new\n');
    put(join(house.repository, 'staged.txt'), 'staged\n');
    git(house.repository, 'add', 'staged.txt');
    rmSync(join(house.repository, 'src/b.txt'));
    put(join(house.repository, 'x.log'), 'ignored\n');
    const found = await read();
    expect(named(found)).toEqual({ 'a.txt': 'changed', 'new/file.txt': 'untracked', 'staged.txt': 'added', 'src/b.txt': 'removed' });
    expect([found.fileCount, found.isCut, found.because]).toEqual([4, false, undefined]);
    for (const line of ['-one\n', '+one and a half\n', '+something ü new\n', '+staged\n', '-two\n', '--- a/src/b.txt\n+++ /dev/null\n']) expect(found.difference).toContain(line);
    expect(found.difference).not.toContain('ignored');
  });

  it('tell what was renamed as that', async () => {
    put(join(house.repository, 'long.txt'), 'line\n'.repeat(40));
    git(house.repository, 'add', '-A');
    git(house.repository, 'commit', '-q', '-m', 'long');
    renameSync(join(house.repository, 'long.txt'), join(house.repository, 'other.txt'));
    git(house.repository, 'add', '-A');
    const found = await read();
    expect(named(found)).toEqual({ 'other.txt': 'renamed' });
    expect(found.difference).toContain('rename from long.txt\nrename to other.txt\n');
  });

  it('are those since a commit, with what was committed', async () => {
    const worktree = await house.prepare();
    put(join(worktree.worktreePath, 'done.txt'), 'done\n');
    git(worktree.worktreePath, 'add', '-A');
    git(worktree.worktreePath, 'commit', '-q', '-m', 'work');
    put(join(worktree.worktreePath, 'loose.txt'), 'loose\n');
    const found = await read(worktree.worktreePath, { since: worktree.baseRevision });
    expect([found.branch, named(found)]).toEqual([worktree.branchName, { 'done.txt': 'added', 'loose.txt': 'untracked' }]);
    expect(found.difference).toContain('+done\n');
    expect(found.difference).toContain('+loose\n');
  });

  it('are those within it, where it is a part of a repository', async () => {
    put(join(house.repository, 'a.txt'), 'changed\n');
    put(join(house.repository, 'src/b.txt'), 'changed\n');
    put(join(house.repository, 'src/c.txt'), 'new\n');
    expect(named(await read(join(house.repository, 'src')))).toEqual({ 'src/b.txt': 'changed', 'src/c.txt': 'untracked' });
  });

  it('are cut where they are long, and large files are only named', async () => {
    for (let index = 0; index < 30; index += 1) put(join(house.repository, `n${index}.txt`), 'x\n'.repeat(200));
    put(join(house.repository, 'large.txt'), 'y\n'.repeat(400_000));
    const found = await read(house.repository, { maxCharacters: 5_000 });
    expect([found.fileCount, found.isCut, found.difference.length]).toEqual([31, true, 5_000]);
    const whole = await read();
    expect(whole.difference).toContain('Binary files /dev/null and b/large.txt differ');
    expect(whole.isCut).toBe(false);
  });

  it('tell names that are patterns, options or have lines of their own as they are', async () => {
    const names = ['*.txt', '-p', ':(top)x', 'two\nlines', 'tab\there', '"quoted"', 'ünï', ' '];
    for (const name of names) put(join(house.repository, name), `in ${names.indexOf(name)}\n`);
    const found = await read();
    expect(found.files.map(({ path }) => path).toSorted()).toEqual(names.toSorted());
    for (const index of names.keys()) expect(found.difference).toContain(`+in ${index}\n`);
  });

  it('follow no link out of it', async () => {
    put(join(house.outside, 'secret/key'), 'the key\n');
    symlinkSync(join(house.outside, 'secret'), join(house.repository, 'way'));
    symlinkSync(join(house.outside, 'secret/key'), join(house.repository, 'key'));
    const found = await read();
    expect(named(found)).toEqual({ way: 'untracked', key: 'untracked' });
    expect(found.difference).not.toContain('the key');
  });

  it.each([
    ['no repository is around it', () => house.outside, 'it is not in a git repository'],
    ['it is gone', () => join(house.outside, 'gone'), 'it is not in a git repository'],
    ['nothing was committed', () => {
      const empty = join(house.outside, 'empty');
      put(join(empty, 'a'), 'a');
      git(empty, 'init', '-q');
      return empty;
    }, 'its git repository has no commit yet'],
    ['the settings lead elsewhere', () => {
      git(house.repository, 'config', 'core.worktree', house.outside);
      return house.repository;
    }, undefined],
  ])('are none, and why is said, where %s', async (_what, folder, because) => {
    const found = await read(folder());
    expect([found.files, found.difference]).toEqual([[], '']);
    expect(found.because).toEqual(because ?? expect.any(String));
  });

  it('do not count what lies around a ceiling', async () => {
    const workspace = join(house.repository, 'home/workspace');
    put(join(workspace, 'a'), 'a');
    const found = await changes({ ceilingDirectories: [join(house.repository, 'home')] }).read(workspace, { maxCharacters: 1_000 });
    expect(found.because).toBe('it is not in a git repository');
  });

  it('leave the repository as it was, and nothing of their own', async () => {
    put(join(house.repository, 'a.txt'), 'changed\n');
    put(join(house.repository, 'new.txt'), 'new\n');
    const all = (): string => execFileSync('find', ['.git', '-type', 'f', '-printf', '%p %s %T@\n'], { cwd: house.repository, encoding: 'utf8' }).split('\n').toSorted().join('\n');
    const before = all();
    await read();
    expect(all()).toBe(before);
    expect(readdirSync(join(house.outside, 'private'))).toEqual([]);
    expect(statSync(join(house.outside, 'private')).mode & 0o777).toBe(0o700);
  });

  it('are given up when they are not wanted any more', async () => {
    await expect(read(house.repository, { signal: AbortSignal.abort() })).rejects.toThrow('aborted');
    expect(existsSync(join(house.outside, 'private')) ? readdirSync(join(house.outside, 'private')) : []).toEqual([]);
  });
});

describe('a hostile repository', () => {
  const proof = (): string => join(house.outside, 'proof');
  const config = (): string => join(house.repository, '.git/config');

  it('has none of its programs run: filters, text conversions, drivers, hooks, monitors, pagers', async () => {
    const program = join(house.outside, 'program');
    writeFileSync(program, `#!/bin/sh\ntouch '${proof()}'\ncat "$@"\n`, { mode: 0o755 });
    put(config(), `${readFileSync(config(), 'utf8')}
[core]
\tfsmonitor = ${program}
\tpager = ${program}
\thooksPath = ${house.outside}
\teditor = ${program}
[diff]
\texternal = ${program}
[diff "bad"]
\ttextconv = ${program}
\tcommand = ${program}
[filter "bad"]
\tclean = ${program}
\tsmudge = ${program}
\tprocess = ${program}
\trequired = true
[pager]
\tdiff = ${program}
[alias]
\tdiff = !${program}
`);
    writeFileSync(join(house.outside, 'post-index-change'), `#!/bin/sh\ntouch '${proof()}'\n`, { mode: 0o755 });
    put(join(house.repository, '.gitattributes'), '* diff=bad filter=bad\n');
    put(join(house.repository, 'a.txt'), 'changed\n');
    put(join(house.repository, 'new.txt'), 'new\n');
    const found = await read();
    expect(found.difference).toContain('+changed\n');
    expect(found.difference).toContain('+new\n');
    expect(existsSync(proof())).toBe(false);
  });

  it('cannot name a program while it is looked at', async () => {
    const gitPath = join(house.outside, 'naming-git');
    writeFileSync(gitPath, `#!/bin/sh\nfor what in clean smudge process textconv; do git config -f '${config()}' filter.late.$what "touch '${proof()}'; cat"; git config -f '${config()}' diff.late.$what "touch '${proof()}'; cat"; done\necho '* filter=late diff=late' > '${house.repository}/.git/info/attributes'\nexec git "$@"\n`, { mode: 0o755 });
    put(join(house.repository, 'a.txt'), 'changed\n');
    put(join(house.repository, 'new.txt'), 'new\n');
    const found = await changes({ gitPath }).read(house.repository, { maxCharacters: 10_000 });
    expect(named(found)).toEqual({ 'a.txt': 'changed', 'new.txt': 'untracked' });
    expect(existsSync(proof())).toBe(false);
  });

  it('keeps nobody waiting with pipes in place of its files', async () => {
    put(join(house.repository, 'a.txt'), 'changed\n');
    put(join(house.repository, 'new.txt'), 'new\n');
    for (const name of ['info/attributes', 'info/exclude', 'logs/refs/stash']) {
      rmSync(join(house.repository, '.git', name), { force: true });
      execFileSync('sh', ['-c', `mkdir -p "$(dirname '.git/${name}')" && mkfifo '.git/${name}'`], { cwd: house.repository });
    }
    execFileSync('mkfifo', ['pipe'], { cwd: house.repository });
    expect(named(await read())).toEqual({ 'a.txt': 'changed', 'new.txt': 'untracked' });
  });

  it('that keeps git waiting is given up', async () => {
    rmSync(join(house.repository, '.git/index'));
    execFileSync('mkfifo', ['.git/index'], { cwd: house.repository });
    expect((await read()).because).toContain('the index of its git repository is missing');
    rmSync(join(house.repository, '.git/HEAD'));
    execFileSync('mkfifo', ['.git/HEAD'], { cwd: house.repository });
    await expect(changes({ timeoutMs: 50 }).read(house.repository, { maxCharacters: 1_000 })).rejects.toThrow('did not end within 50 ms');
  });
});
