import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PreparedSubagentWorktree } from '../../../src/actors/subagent/worktree-adapter.ts';
import { contentOf, git, gitSetup, makeRepository, put, removeTemplate, tracesOf } from './git-setup.ts';
import type { GitSetup } from './git-setup.ts';

let setup: GitSetup;
beforeEach(() => {
  setup = gitSetup();
});
afterEach(() => {
  vi.unstubAllEnvs();
  setup.remove();
});
afterAll(removeTemplate);

const prepare = (cwd = setup.repository): Promise<PreparedSubagentWorktree> =>
  setup.adapter.prepare({ jobId: 'agent_1', cwd });

/** Made, whole, found clean, and gone again. */
async function expectUsable(worktree: PreparedSubagentWorktree): Promise<void> {
  await setup.adapter.begin(worktree);
  expect(git(worktree.worktreePath, 'status', '--porcelain')).toBe('');
  expect(git(worktree.worktreePath, 'rev-parse', 'HEAD')).toBe(worktree.baseRevision);
  expect(git(worktree.worktreePath, 'branch', '--show-current')).toBe(worktree.branchName);
  expect((await setup.adapter.inspect(worktree)).findings).toEqual([]);
  await setup.adapter.remove(worktree);
  expect(existsSync(worktree.worktreePath)).toBe(false);
  expect(git(worktree.repoRoot, 'branch', '--list', worktree.branchName)).toBe('');
}

describe('a worktree', () => {
  it('has a folder and a branch of its own, named after its job', async () => {
    const worktree = await prepare();
    expect(worktree).toMatchObject({
      repoRoot: setup.repository,
      baseRevision: git(setup.repository, 'rev-parse', 'HEAD'),
      cwd: worktree.worktreePath,
    });
    expect(worktree.id).toMatch(/^agent_1-[\da-f]{8}$/);
    expect(worktree.worktreePath).toBe(join(setup.worktrees, worktree.id ?? ''));
    expect(worktree.branchName).toBe(`wakechart/${worktree.id}`);
    expect(worktree).not.toHaveProperty('parentStatus');
    expect(readdirSync(worktree.worktreePath).sort()).toEqual(['.git', '.gitignore', 'a.txt', 'bin', 'link', 'src']);
    await expectUsable(worktree);
  });

  it('is written down before it is there, readable by its owner only', async () => {
    const worktree = await prepare();
    const record = join(setup.worktrees, `${worktree.id}.json`);
    expect(statSync(record).mode & 0o777).toBe(0o600);
    expect(JSON.parse(contentOf(record))).toMatchObject({
      version: 1,
      status: 'ready',
      jobId: 'agent_1',
      baseRevision: worktree.baseRevision,
    });
    expect(
      JSON.parse(contentOf(join(setup.repository, '.git/worktrees', worktree.id ?? '', 'wakechart.json'))),
    ).toMatchObject({ id: worktree.id, jobId: 'agent_1' });
    await setup.adapter.remove(worktree);
  });

  it('is left alone by git itself', async () => {
    const worktree = await prepare();
    expect(() => git(setup.repository, 'worktree', 'remove', worktree.worktreePath)).toThrow(/locked working tree/);
    await expectUsable(worktree);
  });

  it('says what the checkout around it has that is in no commit', async () => {
    writeFileSync(join(setup.repository, 'a.txt'), 'mine\n');
    writeFileSync(join(setup.repository, 'src/b.txt'), 'mine\n');
    writeFileSync(join(setup.repository, 'new.txt'), 'mine\n');
    expect((await prepare()).parentStatus).toBe('2 changed files, 1 untracked file, which are not in the worktree');
  });

  it('has the folder below the root that was asked for, even where git has nothing in it', async () => {
    expect(await prepare(join(setup.repository, 'src'))).toMatchObject({ repoRoot: setup.repository });
    mkdirSync(join(setup.repository, 'notes/deep'), { recursive: true });
    const worktree = await prepare(join(setup.repository, 'notes/deep'));
    expect(worktree.cwd).toBe(join(worktree.worktreePath, 'notes/deep'));
    expect(statSync(worktree.cwd ?? '').isDirectory()).toBe(true);
    await expectUsable(worktree);
  });

  it('is stamped by the clock it was given', async () => {
    const adapter = setup.adapterWith({ clock: { now: () => 0 } });
    await adapter.prepare({ jobId: 'agent_1', cwd: setup.repository });
    expect(await adapter.list()).toMatchObject([
      { createdAt: '1970-01-01T00:00:00.000Z', status: 'ready', isOwned: true, jobId: 'agent_1' },
    ]);
  });

  it.each(['', ' ', 'Ä/ö ü', '../../x', '-rf', 'a.lock', 'x'.repeat(500), 'CON', 'a\nb'].filter((name) => name !== ''))(
    'has a plain name whatever its job is called: %j',
    async (jobId) => {
      const worktree = await setup.adapter.prepare({ jobId, cwd: setup.repository });
      expect(basename(worktree.worktreePath)).toMatch(/^[a-z0-9_][a-z0-9_-]{0,60}-[\da-f]{8}$/);
      expect(await setup.adapter.find(jobId)).toMatchObject({ id: worktree.id, jobId });
      await setup.adapter.remove(worktree);
    },
  );
});

describe('a worktree can be made from', () => {
  it('a detached HEAD', async () => {
    git(setup.repository, 'checkout', '-q', '--detach');
    await expectUsable(await prepare());
  });

  it('a repository that is a worktree itself, to which its work then belongs', async () => {
    const linked = join(setup.outside, 'linked');
    git(setup.repository, 'worktree', 'add', '-q', '-b', 'side', linked);
    writeFileSync(join(linked, 'a.txt'), 'side\n');
    git(linked, 'commit', '-qam', 'side');
    const worktree = await prepare(linked);
    expect(worktree).toMatchObject({ repoRoot: linked, baseRevision: git(linked, 'rev-parse', 'HEAD') });
    await expectUsable(worktree);
  });

  it('a worktree of a bare repository', async () => {
    const bare = join(setup.outside, 'bare.git');
    git(setup.outside, 'clone', '-q', '--bare', setup.repository, bare);
    git(bare, 'worktree', 'add', '-q', '-b', 'side', join(setup.outside, 'side'));
    await expectUsable(await prepare(join(setup.outside, 'side')));
  });

  it('a sparse checkout, and is as sparse', async () => {
    git(setup.repository, 'sparse-checkout', 'set', '--cone', 'src');
    const worktree = await prepare();
    expect(existsSync(join(worktree.worktreePath, 'bin'))).toBe(false);
    expect(existsSync(join(worktree.worktreePath, 'src/b.txt'))).toBe(true);
    await expectUsable(worktree);
  });

  it('a repository with settings for each worktree', async () => {
    git(setup.repository, 'config', 'extensions.worktreeConfig', 'true');
    git(setup.repository, 'config', '--worktree', 'user.name', 'Somebody');
    await expectUsable(await prepare());
  });

  it('a repository with submodules, which are empty in it', async () => {
    makeRepository(join(setup.outside, 'library'));
    git(
      setup.repository,
      '-c',
      'protocol.file.allow=always',
      'submodule',
      '--quiet',
      'add',
      '--',
      join(setup.outside, 'library'),
      'library',
    );
    git(setup.repository, 'commit', '-qm', 'library');
    const worktree = await prepare();
    expect(worktree.parentStatus).toBe('submodules, which are empty in the worktree');
    expect(readdirSync(join(worktree.worktreePath, 'library'))).toEqual([]);
    await expectUsable(worktree);
  });

  it.each(['with blanks', 'ünïcödé 漢字', '-dash', 'it\'s $(odd) "quoted"', 'two\nlines'])(
    'a path such as %j',
    async (name) => {
      const folder = join(setup.outside, name);
      cpSync(setup.repository, join(folder, 'r'), { recursive: true, verbatimSymlinks: true });
      const adapter = setup.adapterWith({ worktreesDirectory: join(folder, 'w') });
      const worktree = await adapter.prepare({ jobId: 'agent_1', cwd: join(folder, 'r', 'src') });
      await adapter.begin(worktree);
      expect(worktree).toMatchObject({ repoRoot: join(folder, 'r'), cwd: join(worktree.worktreePath, 'src') });
      expect((await adapter.inspect(worktree)).findings).toEqual([]);
      await adapter.remove(worktree);
      expect(readdirSync(join(folder, 'w'))).toEqual([]);
    },
  );

  it('a repository in whose own files the worktrees lie, without showing there', async () => {
    const adapter = setup.adapterWith({ worktreesDirectory: join(setup.repository, '.wakechart/worktrees') });
    const worktree = await adapter.prepare({ jobId: 'agent_1', cwd: setup.repository });
    expect(git(setup.repository, 'status', '--porcelain')).toBe('');
    await adapter.remove(worktree);
    expect(git(setup.repository, 'status', '--porcelain')).toBe('');
  });

  it('one repository, by 32 at once', async () => {
    const made = await Promise.all(
      Array.from({ length: 32 }, async (_, index) =>
        setup.adapter.prepare({ jobId: `agent_${index}`, cwd: setup.repository }),
      ),
    );
    expect(new Set(made.map(({ branchName }) => branchName)).size).toBe(32);
    expect(git(setup.repository, 'worktree', 'list').split('\n')).toHaveLength(33);
    await Promise.all(made.map(async (worktree) => setup.adapter.remove(worktree)));
    expect(git(setup.repository, 'worktree', 'list').split('\n')).toHaveLength(1);
    expect(setup.names()).toEqual([]);
  });

  it('a repository that is told apart from the one our own environment names', async () => {
    makeRepository(join(setup.outside, 'wrong'));
    const wrong = join(setup.outside, 'wrong/.git');
    const before = git(join(setup.outside, 'wrong'), 'for-each-ref');
    for (const [name, value] of Object.entries({
      GIT_DIR: wrong,
      GIT_WORK_TREE: join(setup.outside, 'wrong'),
      GIT_INDEX_FILE: join(wrong, 'index'),
      GIT_COMMON_DIR: wrong,
      GIT_CEILING_DIRECTORIES: '/',
    }))
      vi.stubEnv(name, value);
    await expectUsable(await prepare());
    expect(git(join(setup.outside, 'wrong'), 'for-each-ref')).toBe(before);
  });
});

describe('a worktree is refused', () => {
  const refusals: readonly (readonly [what: string, code: string, cwd: () => string])[] = [
    ['outside a repository', 'WORKTREE_NOT_A_REPOSITORY', () => setup.outside],
    ['where there is no folder', 'WORKTREE_NOT_A_REPOSITORY', () => join(setup.outside, 'nowhere')],
    ['for a file', 'WORKTREE_NOT_A_REPOSITORY', () => join(setup.repository, 'a.txt')],
    ["in git's own folder", 'WORKTREE_NOT_A_REPOSITORY', () => join(setup.repository, '.git')],
    [
      'where there is no commit',
      'WORKTREE_NO_COMMIT',
      () => {
        git(setup.outside, 'init', '-q', 'empty');
        return join(setup.outside, 'empty');
      },
    ],
  ];
  it.each(refusals)('%s', async (_, code, cwd) => {
    const refusal = await prepare(cwd()).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code, category: 'validation', hint: expect.any(String) });
    expect(setup.names()).toEqual([]);
  });

  it('where worktrees cannot lie', async () => {
    for (const worktreesDirectory of [
      setup.repository,
      join(setup.repository, '.git/worktrees'),
      join(setup.repository, 'a.txt/x'),
    ]) {
      await expect(
        setup.adapterWith({ worktreesDirectory }).prepare({ jobId: 'j', cwd: setup.repository }),
      ).rejects.toMatchObject({ code: 'WORKTREE_PLACE_INVALID' });
    }
    expect(git(setup.repository, 'status', '--porcelain')).toBe('');
  });

  it.each([
    { worktreesDirectory: 'relative' },
    { branchPrefix: '-x' },
    { branchPrefix: 'a..b' },
    { branchPrefix: 'a.lock' },
    { maxCreateAttempts: 0 },
    { timeoutMs: Number.NaN },
    { timeoutMs: 2 ** 40 },
    { gitPath: '' },
    { unknown: 1 },
  ])('by options such as %j', (options) => {
    expect(() => setup.adapterWith(options)).toThrow(expect.objectContaining({ code: 'WORKTREE_OPTIONS_INVALID' }));
  });

  it('for requests that say too little', async () => {
    await expect(setup.adapter.prepare({ jobId: '', cwd: setup.repository })).rejects.toMatchObject({
      code: 'WORKTREE_REQUEST_INVALID',
    });
    await expect(setup.adapter.prepare({ jobId: 'a', cwd: setup.repository, keepFilesIn: 'x' })).rejects.toMatchObject({
      code: 'WORKTREE_REQUEST_INVALID',
    });
  });

  it('where a branch stands in the way of all names, and leaves nothing behind', async () => {
    git(setup.repository, 'branch', 'wakechart');
    const refusal = await prepare().catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'WORKTREE_NOT_CREATED', message: expect.stringContaining('wakechart') });
    expect(setup.names()).toEqual([]);
    expect(git(setup.repository, 'worktree', 'list').split('\n')).toHaveLength(1);
  });

  it('where there is no git', async () => {
    await expect(
      setup.adapterWith({ gitPath: join(setup.outside, 'no-git') }).prepare({ jobId: 'j', cwd: setup.repository }),
    ).rejects.toMatchObject({ code: 'WORKTREE_NOT_CREATED', message: expect.stringContaining('could not be started') });
  });

  it('by a request that was aborted, before or while it was made, and leaves nothing behind', async () => {
    await expect(
      setup.adapter.prepare({ jobId: 'j', cwd: setup.repository, signal: AbortSignal.abort() }),
    ).rejects.toMatchObject({ code: 'WORKTREE_CANCELLED' });
    for (const delayMs of [1, 15, 30]) {
      const controller = new AbortController();
      const made = setup.adapter
        .prepare({ jobId: 'j', cwd: setup.repository, signal: controller.signal })
        .catch((error: unknown) => error);
      setTimeout(() => controller.abort(), delayMs);
      const end = await made;
      if (!(end instanceof Error)) await setup.adapter.remove(end as PreparedSubagentWorktree);
      expect(setup.names()).toEqual([]);
      expect(git(setup.repository, 'branch', '--format=%(refname:short)')).toBe('main');
      expect(git(setup.repository, 'worktree', 'list').split('\n')).toHaveLength(1);
    }
  });

  it('by a git that hangs, within the time limit', async () => {
    const gitPath = join(setup.outside, 'slow-git');
    writeFileSync(gitPath, '#!/bin/sh\ncase "$*" in *"worktree add"*) exec sleep 60;; esac\nexec git "$@"\n', {
      mode: 0o755,
    });
    await expect(
      setup.adapterWith({ gitPath, timeoutMs: 400 }).prepare({ jobId: 'j', cwd: setup.repository }),
    ).rejects.toMatchObject({ code: 'WORKTREE_NOT_CREATED', category: 'timeout' });
    expect(setup.names()).toEqual([]);
  });

  it('never twice under one name: another is tried', async () => {
    // Says of the first name that it is taken, as git does.
    const gitPath = join(setup.outside, 'taken-git');
    writeFileSync(
      gitPath,
      `#!/bin/sh\ncase "$*" in *"worktree add"*) if mkdir "${setup.outside}/once" 2>/dev/null; then echo "fatal: a branch named 'x' already exists" >&2; exit 255; fi;; esac\nexec git "$@"\n`,
      { mode: 0o755 },
    );
    const worktree = await setup.adapterWith({ gitPath }).prepare({ jobId: 'j', cwd: setup.repository });
    expect(setup.names().filter((name) => name.endsWith('.json'))).toEqual([`${worktree.id}.json`]);
    execFileSync('rmdir', [join(setup.outside, 'once')]);
    await expect(
      setup.adapterWith({ gitPath, maxCreateAttempts: 1 }).prepare({ jobId: 'j', cwd: setup.repository }),
    ).rejects.toMatchObject({ code: 'WORKTREE_NOT_CREATED', message: expect.stringContaining('already exists') });
    await setup.adapter.remove(worktree);
    expect(tracesOf(setup, worktree)).toEqual([]);
  });

  it('not by a lock that another git holds for a moment', async () => {
    const gitPath = join(setup.outside, 'locked-git');
    writeFileSync(
      gitPath,
      `#!/bin/sh\ncase "$*" in *"worktree add"*) if mkdir "${setup.outside}/once" 2>/dev/null; then echo "fatal: Unable to create '/x/packed-refs.lock': File exists." >&2; exit 128; fi;; esac\nexec git "$@"\n`,
      { mode: 0o755 },
    );
    const worktree = await setup.adapterWith({ gitPath }).prepare({ jobId: 'j', cwd: setup.repository });
    expect(readFileSync(join(worktree.worktreePath, 'a.txt'), 'utf8')).toBe('one\n');
    await setup.adapter.remove(worktree);
  });
});

describe('a key', () => {
  it('names one worktree, however many ask at once', async () => {
    const made = await Promise.all(
      [1, 2, 3].map(async (index) =>
        setup.adapter.prepare({ jobId: `agent_${index}`, cwd: setup.repository, key: 'feature' }),
      ),
    );
    expect(new Set(made.map(({ worktreePath }) => worktreePath)).size).toBe(1);
    expect(await setup.adapter.list()).toMatchObject([{ key: 'feature' }]);
  });

  it('names the worktree that a dead process left, with the work in it', async () => {
    const before = await setup.crashed({ key: 'feature' });
    put(join(before.worktreePath, 'new.txt'), 'work\n');
    const after = await setup.prepare({ jobId: 'agent_2', key: 'feature' });
    expect(after).toMatchObject({
      worktreePath: before.worktreePath,
      branchName: before.branchName,
      baseRevision: before.baseRevision,
    });
    expect((await setup.adapter.inspect(after)).findings).toMatchObject([{ kind: 'untracked' }]);
    expect(await setup.adapter.list()).toMatchObject([{ status: 'ready', isOwned: true }]);
    await expect(setup.adapter.remove(after)).rejects.toMatchObject({ code: 'WORKTREE_NOT_CLEAN' });
    expect(await setup.prepare({ key: 'feature' })).toMatchObject({ worktreePath: before.worktreePath });
  });

  it('does not lead into the work of a process that lives', async () => {
    const alive = setup.adapterWith({ host: { pid: process.ppid, startTime: '', system: 'another system' } });
    await alive.prepare({ jobId: 'agent_1', cwd: setup.repository, key: 'feature' });
    await expect(
      setup.adapter.prepare({ jobId: 'agent_2', cwd: setup.repository, key: 'feature' }),
    ).rejects.toMatchObject({ code: 'WORKTREE_IN_USE' });
  });
});
