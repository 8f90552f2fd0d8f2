/** What was changed in a folder is told from a real repository, and nothing that the repository names is run for it. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createGitFolderChanges } from '../../../src/adapters/git/folder-changes.ts';
import type { FolderChanges, FolderDifference } from '../../../src/actors/inspection/folder-changes.ts';
import { git, gitSetup, put, removeTemplate } from './git-setup.ts';
import type { GitSetup } from './git-setup.ts';

let setup: GitSetup;
beforeEach(() => {
  setup = gitSetup();
});
afterEach(() => setup.remove());
afterAll(removeTemplate);

function changes(
  options: {
    readonly gitPath?: string;
    readonly timeoutMs?: number;
    readonly ceilingDirectories?: readonly string[];
  } = {},
): FolderChanges {
  return createGitFolderChanges({ near: join(setup.outside, 'private'), ...options });
}

function read(
  folder = setup.repository,
  check: Partial<Parameters<FolderChanges['read']>[1]> = {},
): Promise<FolderDifference> {
  return changes().read(folder, { maxCharacters: 100_000, ...check });
}

const named = ({ files }: FolderDifference): unknown =>
  Object.fromEntries(files.map(({ path, change }) => [path, change]));

describe('the changes in a folder', () => {
  it('are none where nothing was changed', async () => {
    expect(await read()).toEqual({
      branch: 'main',
      files: [],
      fileCount: 0,
      difference: '',
      since: expect.stringMatching(/^the newest commit, [\da-f]{10}$/),
      isCut: false,
    });
  });

  it('are told by file, with a difference that has new files whole', async () => {
    put(join(setup.repository, 'a.txt'), 'one and a half\n');
    put(join(setup.repository, 'new/file.txt'), 'something ü new\n');
    put(join(setup.repository, 'staged.txt'), 'staged\n');
    git(setup.repository, 'add', 'staged.txt');
    rmSync(join(setup.repository, 'src/b.txt'));
    put(join(setup.repository, 'x.log'), 'ignored\n');
    const found = await read();
    expect(named(found)).toEqual({
      'a.txt': 'changed',
      'new/file.txt': 'untracked',
      'staged.txt': 'added',
      'src/b.txt': 'removed',
    });
    expect([found.fileCount, found.isCut, found.because]).toEqual([4, false, undefined]);
    for (const line of [
      '-one\n',
      '+one and a half\n',
      '+something ü new\n',
      '+staged\n',
      '-two\n',
      '--- a/src/b.txt\n+++ /dev/null\n',
    ])
      expect(found.difference).toContain(line);
    expect(found.difference).not.toContain('ignored');
  });

  it('tell what was renamed as that', async () => {
    put(join(setup.repository, 'long.txt'), 'line\n'.repeat(40));
    git(setup.repository, 'add', '-A');
    git(setup.repository, 'commit', '-q', '-m', 'long');
    renameSync(join(setup.repository, 'long.txt'), join(setup.repository, 'other.txt'));
    git(setup.repository, 'add', '-A');
    const found = await read();
    expect(named(found)).toEqual({ 'other.txt': 'renamed' });
    expect(found.difference).toContain('rename from long.txt\nrename to other.txt\n');
  });

  it('are those since a commit, with what was committed', async () => {
    const worktree = await setup.prepare();
    put(join(worktree.worktreePath, 'done.txt'), 'done\n');
    git(worktree.worktreePath, 'add', '-A');
    git(worktree.worktreePath, 'commit', '-q', '-m', 'work');
    put(join(worktree.worktreePath, 'loose.txt'), 'loose\n');
    const found = await read(worktree.worktreePath, { since: worktree.baseRevision });
    expect([found.branch, named(found)]).toEqual([
      worktree.branchName,
      { 'done.txt': 'added', 'loose.txt': 'untracked' },
    ]);
    expect(found.difference).toContain('+done\n');
    expect(found.difference).toContain('+loose\n');
    expect(found.since).toBe(`the commit that it was made from, ${(worktree.baseRevision ?? '').slice(0, 10)}`);
    expect([found.commitCount, found.commits?.map(({ subject }) => subject)]).toEqual([1, ['work']]);
  });

  it('are those within it, where it is a part of a repository', async () => {
    put(join(setup.repository, 'a.txt'), 'changed\n');
    put(join(setup.repository, 'src/b.txt'), 'changed\n');
    put(join(setup.repository, 'src/c.txt'), 'new\n');
    expect(named(await read(join(setup.repository, 'src')))).toEqual({
      'src/b.txt': 'changed',
      'src/c.txt': 'untracked',
    });
  });

  it('tell a merge that is under way, with the files in conflict', async () => {
    const { repository } = setup;
    const commit = (line: string): void => {
      put(join(repository, 'a.txt'), line);
      git(repository, 'commit', '-q', '-a', '-m', line.trim());
    };
    git(repository, 'checkout', '-q', '-b', 'other');
    commit('theirs\n');
    git(repository, 'checkout', '-q', 'main');
    commit('ours\n');
    expect(await changes().underWay?.(repository)).toBeUndefined();
    expect(() => git(repository, 'merge', 'other')).toThrow();
    const merge = { what: 'merge', files: ['a.txt'] };
    expect((await read()).underWay).toEqual(merge);
    expect(await changes().underWay?.(repository)).toEqual(merge);
    git(repository, 'add', 'a.txt');
    expect((await read()).underWay).toEqual({ what: 'merge', files: [] });
    git(repository, 'merge', '--abort');
    expect((await read()).underWay).toBeUndefined();
    expect(await changes().underWay?.(setup.outside)).toBeUndefined();
  });

  it('are cut where they are long, and large files are only named', async () => {
    for (let index = 0; index < 30; index += 1) put(join(setup.repository, `n${index}.txt`), 'x\n'.repeat(200));
    put(join(setup.repository, 'large.txt'), 'y\n'.repeat(400_000));
    const found = await read(setup.repository, { maxCharacters: 5_000 });
    expect([found.fileCount, found.isCut, found.difference.length]).toEqual([31, true, 5_000]);
    const whole = await read();
    expect(whole.difference).toContain('Binary files /dev/null and b/large.txt differ');
    expect(whole.isCut).toBe(false);
  });

  it('tell names that are patterns, options or have lines of their own as they are', async () => {
    const names = ['*.txt', '-p', ':(top)x', 'two\nlines', 'tab\there', '"quoted"', 'ünï', ' '];
    for (const name of names) put(join(setup.repository, name), `in ${names.indexOf(name)}\n`);
    const found = await read();
    expect(found.files.map(({ path }) => path).toSorted()).toEqual(names.toSorted());
    for (const index of names.keys()) expect(found.difference).toContain(`+in ${index}\n`);
  });

  it('follow no link out of it', async () => {
    put(join(setup.outside, 'secret/key'), 'the key\n');
    symlinkSync(join(setup.outside, 'secret'), join(setup.repository, 'way'));
    symlinkSync(join(setup.outside, 'secret/key'), join(setup.repository, 'key'));
    const found = await read();
    expect(named(found)).toEqual({ way: 'untracked', key: 'untracked' });
    expect(found.difference).not.toContain('the key');
  });

  it.each([
    ['no repository is around it', () => setup.outside, 'it is not in a git repository'],
    ['it is gone', () => join(setup.outside, 'gone'), 'it is not in a git repository'],
    [
      'nothing was committed',
      () => {
        const empty = join(setup.outside, 'empty');
        put(join(empty, 'a'), 'a');
        git(empty, 'init', '-q');
        return empty;
      },
      'its git repository has no commit yet',
    ],
    [
      'the settings lead elsewhere',
      () => {
        git(setup.repository, 'config', 'core.worktree', setup.outside);
        return setup.repository;
      },
      undefined,
    ],
  ])('are none, and why is said, where %s', async (_what, folder, because) => {
    const found = await read(folder());
    expect([found.files, found.difference]).toEqual([[], '']);
    expect(found.because).toEqual(because ?? expect.any(String));
  });

  it('do not count what lies around a ceiling', async () => {
    const workspace = join(setup.repository, 'home/workspace');
    put(join(workspace, 'a'), 'a');
    const found = await changes({ ceilingDirectories: [join(setup.repository, 'home')] }).read(workspace, {
      maxCharacters: 1_000,
    });
    expect(found.because).toBe('it is not in a git repository');
  });

  it('leave the repository as it was, and nothing of their own', async () => {
    put(join(setup.repository, 'a.txt'), 'changed\n');
    put(join(setup.repository, 'new.txt'), 'new\n');
    const all = (): string =>
      execFileSync('find', ['.git', '-type', 'f', '-printf', '%p %s %T@\n'], {
        cwd: setup.repository,
        encoding: 'utf8',
      })
        .split('\n')
        .toSorted()
        .join('\n');
    const before = all();
    await read();
    expect(all()).toBe(before);
    expect(readdirSync(join(setup.outside, 'private'))).toEqual([]);
    expect(statSync(join(setup.outside, 'private')).mode & 0o777).toBe(0o700);
  });

  it('are given up when they are not wanted any more', async () => {
    await expect(read(setup.repository, { signal: AbortSignal.abort() })).rejects.toThrow('aborted');
    expect(existsSync(join(setup.outside, 'private')) ? readdirSync(join(setup.outside, 'private')) : []).toEqual([]);
  });
});

describe('what has changed since some work began', () => {
  const SECOND = 1_000;
  const began = Date.parse('2026-03-01T12:00:00.500Z');

  function gitAt(seconds: number, folder: string, ...command: readonly string[]): void {
    const date = `@${Math.floor(began / SECOND) + seconds} +0000`;
    execFileSync('git', command, {
      cwd: folder,
      env: {
        ...process.env,
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_AUTHOR_DATE: date,
        GIT_COMMITTER_DATE: date,
      },
    });
  }

  /** @param seconds after the work began @returns its hash */
  function commitAt(seconds: number, subject: string, folder: string): string {
    git(folder, 'add', '-A');
    gitAt(seconds, folder, 'commit', '-q', '--allow-empty', '-m', subject);
    return git(folder, 'rev-parse', 'HEAD');
  }

  /** A repository whose only commit is of the time that is asked for. */
  function begunRepository(seconds: number): string {
    const folder = join(setup.outside, 'begun');
    put(join(folder, 'a.txt'), 'one\n');
    git(folder, 'init', '-q', '-b', 'main');
    git(folder, 'config', 'user.name', 'n');
    git(folder, 'config', 'user.email', 'e@x');
    commitAt(seconds, 'first', folder);
    return folder;
  }

  it('is what was committed and what was not, in one difference, with the commits', async () => {
    const folder = begunRepository(-60);
    put(join(folder, 'a.txt'), 'two\n');
    const hash = commitAt(60, 'Count what was ordered: ü', folder);
    put(join(folder, 'b.txt'), 'loose\n');
    const found = await read(folder, { begunAt: began });
    expect(named(found)).toEqual({ 'a.txt': 'changed', 'b.txt': 'untracked' });
    expect(found.files.map(({ path, isUncommitted }) => [path, isUncommitted])).toEqual([
      ['a.txt', undefined],
      ['b.txt', true],
    ]);
    for (const line of ['-one\n', '+two\n', '+loose\n']) expect(found.difference).toContain(line);
    expect(found.since).toMatch(/^the last commit before the session began, [\da-f]{10}$/);
    expect([found.commitCount, found.commits]).toEqual([
      1,
      [{ hash, subject: 'Count what was ordered: ü', at: '2026-03-01T12:01:00.000Z' }],
    ]);
  });

  it('tells what was committed in the second in which it began by when that was written', async () => {
    const folder = begunRepository(0);
    /** @param ms from the beginning */
    const writtenAt = (id: string, ms: number): void => {
      const at = (began + ms) / SECOND;
      utimesSync(join(folder, '.git/objects', id.slice(0, 2), id.slice(2)), at, at);
    };
    const first = git(folder, 'rev-parse', 'HEAD');
    const second = commitAt(0, 'second', folder);
    writtenAt(first, -100);
    writtenAt(second, 100);
    expect(await read(folder, { begunAt: began })).toMatchObject({ commits: [{ hash: second }], commitCount: 1 });
    writtenAt(first, 50);
    expect(await read(folder, { begunAt: began })).toMatchObject({ commitCount: 2 });
    git(folder, 'gc', '-q');
    expect(await read(folder, { begunAt: began })).toMatchObject({ files: [], commits: [], commitCount: 0 });
  });

  it('is everything, where the first commit was made since', async () => {
    const found = await read(begunRepository(60), { begunAt: began });
    expect([found.since, named(found), found.commits?.length]).toEqual([
      'an empty folder: nothing was committed before the session began',
      { 'a.txt': 'added' },
      1,
    ]);
    expect(found.difference).toContain('+one\n');
  });

  it('lists the newest 20 commits, and says how many there are', async () => {
    const folder = begunRepository(-60);
    for (let index = 1; index <= 22; index += 1) commitAt(index, `commit ${index}`, folder);
    const found = await read(folder, { begunAt: began });
    expect([
      found.commitCount,
      found.commits?.length,
      found.commits?.[0]?.subject,
      found.commits?.at(-1)?.subject,
    ]).toEqual([22, 20, 'commit 22', 'commit 3']);
  });

  it('has the new commits of a history that was rewritten, and a merge as one', async () => {
    const folder = begunRepository(-60);
    git(folder, 'checkout', '-q', '-b', 'side');
    put(join(folder, 'side.txt'), 'side\n');
    commitAt(10, 'on the side', folder);
    git(folder, 'checkout', '-q', 'main');
    put(join(folder, 'b.txt'), 'b\n');
    commitAt(20, 'on main', folder);
    gitAt(30, folder, 'merge', '-q', '--no-ff', '-m', 'merged', 'side');
    const merged = await read(folder, { begunAt: began });
    expect([named(merged), merged.commits?.map(({ subject }) => subject)]).toEqual([
      { 'b.txt': 'added', 'side.txt': 'added' },
      ['merged', 'on main'],
    ]);
    git(folder, 'reset', '-q', '--hard', 'HEAD~2');
    expect(await read(folder, { begunAt: began })).toMatchObject({ files: [], commitCount: 0 });
  });

  it('is told of a shallow clone as far as its history goes', async () => {
    const folder = begunRepository(-60);
    commitAt(10, 'second', folder);
    put(join(folder, 'c.txt'), 'c\n');
    commitAt(20, 'third', folder);
    const shallow = join(setup.outside, 'shallow');
    git(setup.outside, 'clone', '-q', '--depth', '2', `file://${folder}`, shallow);
    const found = await read(shallow, { begunAt: began });
    expect([found.because, named(found), found.commits?.map(({ subject }) => subject)]).toEqual([
      undefined,
      { 'c.txt': 'added' },
      ['third'],
    ]);
    expect(found.since).toMatch(/^the oldest commit that is here, [\da-f]{10}: the history before it was left out$/);
  });

  it('lists the commits of the part that it works in', async () => {
    const folder = begunRepository(-60);
    put(join(folder, 'part/x.txt'), 'x\n');
    commitAt(10, 'in the part', folder);
    put(join(folder, 'y.txt'), 'y\n');
    commitAt(20, 'beside it', folder);
    const found = await read(join(folder, 'part'), { begunAt: began });
    expect([named(found), found.commits?.map(({ subject }) => subject)]).toEqual([
      { 'part/x.txt': 'added' },
      ['in the part'],
    ]);
  });

  it('runs nothing that the repository names for its commits', async () => {
    const folder = begunRepository(-60);
    const proof = join(setup.outside, 'proof');
    const program = join(setup.outside, 'program');
    writeFileSync(program, `#!/bin/sh\ntouch '${proof}'\n`, { mode: 0o755 });
    put(join(folder, 'a.txt'), 'two\n');
    commitAt(10, 'second', folder);
    const config = join(folder, '.git/config');
    put(
      config,
      `${readFileSync(config, 'utf8')}[log]\n\tshowSignature = true\n[gpg]\n\tprogram = ${program}\n[core]\n\tpager = ${program}\n\tfsmonitor = ${program}\n[extensions]\n\tpartialClone = origin\n[remote "origin"]\n\turl = ext::${program}\n\tpromisor = true\n\tuploadpack = ${program}\n`,
    );
    expect((await read(folder, { begunAt: began })).commitCount).toBe(1);
    expect(existsSync(proof)).toBe(false);
  });
});

describe('a hostile repository', () => {
  const proof = (): string => join(setup.outside, 'proof');
  const config = (): string => join(setup.repository, '.git/config');

  it('has none of its programs run: filters, text conversions, drivers, hooks, monitors, pagers', async () => {
    const program = join(setup.outside, 'program');
    writeFileSync(program, `#!/bin/sh\ntouch '${proof()}'\ncat "$@"\n`, { mode: 0o755 });
    put(
      config(),
      `${readFileSync(config(), 'utf8')}
[core]
\tfsmonitor = ${program}
\tpager = ${program}
\thooksPath = ${setup.outside}
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
`,
    );
    writeFileSync(join(setup.outside, 'post-index-change'), `#!/bin/sh\ntouch '${proof()}'\n`, { mode: 0o755 });
    put(join(setup.repository, '.gitattributes'), '* diff=bad filter=bad\n');
    put(join(setup.repository, 'a.txt'), 'changed\n');
    put(join(setup.repository, 'new.txt'), 'new\n');
    const found = await read();
    expect(found.difference).toContain('+changed\n');
    expect(found.difference).toContain('+new\n');
    expect(existsSync(proof())).toBe(false);
  });

  it('cannot name a program while it is checked', async () => {
    const gitPath = join(setup.outside, 'naming-git');
    writeFileSync(
      gitPath,
      `#!/bin/sh\nfor what in clean smudge process textconv; do git config -f '${config()}' filter.late.$what "touch '${proof()}'; cat"; git config -f '${config()}' diff.late.$what "touch '${proof()}'; cat"; done\necho '* filter=late diff=late' > '${setup.repository}/.git/info/attributes'\nexec git "$@"\n`,
      { mode: 0o755 },
    );
    put(join(setup.repository, 'a.txt'), 'changed\n');
    put(join(setup.repository, 'new.txt'), 'new\n');
    const found = await changes({ gitPath }).read(setup.repository, { maxCharacters: 10_000 });
    expect(named(found)).toEqual({ 'a.txt': 'changed', 'new.txt': 'untracked' });
    expect(existsSync(proof())).toBe(false);
  });

  it('keeps nobody waiting with pipes in place of its files', async () => {
    put(join(setup.repository, 'a.txt'), 'changed\n');
    put(join(setup.repository, 'new.txt'), 'new\n');
    for (const name of ['info/attributes', 'info/exclude', 'logs/refs/stash']) {
      rmSync(join(setup.repository, '.git', name), { force: true });
      execFileSync('sh', ['-c', `mkdir -p "$(dirname '.git/${name}')" && mkfifo '.git/${name}'`], {
        cwd: setup.repository,
      });
    }
    execFileSync('mkfifo', ['pipe'], { cwd: setup.repository });
    expect(named(await read())).toEqual({ 'a.txt': 'changed', 'new.txt': 'untracked' });
  });

  it('that keeps git waiting is given up', async () => {
    rmSync(join(setup.repository, '.git/index'));
    execFileSync('mkfifo', ['.git/index'], { cwd: setup.repository });
    expect((await read()).because).toContain('the index of its git repository is missing');
    rmSync(join(setup.repository, '.git/HEAD'));
    execFileSync('mkfifo', ['.git/HEAD'], { cwd: setup.repository });
    await expect(changes({ timeoutMs: 50 }).read(setup.repository, { maxCharacters: 1_000 })).rejects.toThrow(
      'did not end within 50 ms',
    );
  });
});
