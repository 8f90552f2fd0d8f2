/**
 * What lies in a workspace and is not the session's: homes of others, the branches of jobs beside it, repositories that
 * are kept elsewhere.
 */
import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hasSandbox, isRoot, openSandbox } from '../../support/sandbox.ts';
import { openEscapeSetup, ran, shut } from './escape-setup.ts';
import type { EscapeSetup } from './escape-setup.ts';

const run = promisify(execFile);
const PERSON = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' };

let setup: EscapeSetup;

beforeEach(async () => {
  setup = await openEscapeSetup();
});
afterEach(async () => {
  await setup[Symbol.asyncDispose]();
});

async function git(cwd: string, ...args: readonly string[]): Promise<string> {
  return (await run('git', [...args], { cwd, env: { ...process.env, ...PERSON } })).stdout;
}

async function repository(path: string): Promise<string> {
  await mkdir(path, { recursive: true });
  await git(path, 'init', '-q', '-b', 'main');
  await git(path, 'commit', '-q', '--allow-empty', '-m', 'first');
  return path;
}

describe.skipIf(!hasSandbox)('a home of somebody else', () => {
  it.each([
    ['at the top of the workspace', 'workspace', '.wakechart'],
    ['deep in it', 'workspace', 'a/b/.wakechart'],
    ['in a mount', 'reference', 'x/.wakechart'],
  ])('%s is neither read nor written nor moved', async (_, folder, name) => {
    const home = join(setup.outside, folder, name);
    await mkdir(join(home, 'vaults'), { recursive: true });
    await writeFile(join(home, 'vaults/v.yaml'), 'KEPT-SECRET\n');
    const sandbox = await openSandbox({ workspace: setup.workspace, mounts: setup.mounts, network: 'open' });
    const { output } = await shut(
      sandbox,
      setup,
      `for at in . /reference; do (cd $at; cat ${name}/vaults/v.yaml; touch ${name}/forged; mv ${name} here; mv ${name.split('/')[0]} there; cat there/vaults/v.yaml there/*/.wakechart/vaults/v.yaml); done 2>/dev/null; find . /reference -name v.yaml`,
    );
    expect(output).toBe('');
    expect(await readdir(home)).toEqual(['vaults']);
  });
});

describe.skipIf(!hasSandbox)('the worktree of a job', () => {
  async function worktreeOf(main: string): Promise<string> {
    const worktree = join(setup.outside, 'worktrees/job-1');
    await git(main, 'worktree', 'add', '-q', '-b', 'wakechart/job-1', worktree);
    return worktree;
  }

  it('changes no branch of another job, also of one that began after it', async () => {
    const main = await repository(join(setup.outside, 'repository'));
    await git(main, 'branch', 'wakechart/job-0');
    const worktree = await worktreeOf(main);
    const sandbox = await openSandbox({ workspace: worktree });
    await git(main, 'branch', 'wakechart/job-2');
    const command =
      'git commit -q --allow-empty -m second; for job in job-0 job-2; do git update-ref refs/heads/wakechart/$job HEAD; git branch -D wakechart/$job; G=$(git rev-parse --git-common-dir)/refs/heads/wakechart; mv $G/job-1 $G/$job; echo x > $G/$job; done 2>/dev/null; git log --format=%s';
    expect((await ran(sandbox.wrapCommand(command, worktree), { cwd: worktree, env: PERSON })).output).toBe(
      'second\nfirst\n',
    );
    for (const job of ['job-0', 'job-2'])
      expect(await git(main, 'log', '--format=%s', `wakechart/${job}`)).toBe('first\n');
    expect(await git(main, 'log', '--format=%s', 'wakechart/job-1')).toBe('second\nfirst\n');
    expect(await git(main, 'reflog', '--format=%gs', 'wakechart/job-1')).toContain('second');
  });

  it('puts no link where the git of people writes, and names no objects of elsewhere', async () => {
    const main = await repository(join(setup.outside, 'repository'));
    const worktree = await worktreeOf(main);
    const sandbox = await openSandbox({ workspace: worktree });
    const command = `cd ${main}/.git; ln -s $OUT/evil logs/refs/heads/wakechart/later; echo $OUT > objects/info/alternates; rm logs/refs/heads/wakechart/job-1`;
    await ran(sandbox.wrapCommand(command, worktree), { cwd: worktree, env: { ...PERSON, OUT: setup.outside } });
    expect(await readdir(join(main, '.git/logs/refs/heads/wakechart'))).toEqual(['job-1']);
    expect(await readdir(join(main, '.git/objects/info'))).toEqual([]);
  });
});

describe.skipIf(!hasSandbox)('a repository that is kept beside its files', () => {
  it.each(['file', 'link'])('in the workspace, named by a %s, can be read and not be changed', async (kind) => {
    const kept = join(setup.workspace, 'kept/repository');
    await repository(kept);
    await mkdir(join(setup.workspace, 'project'));
    if (kind === 'file') await writeFile(join(setup.workspace, 'project/.git'), 'gitdir: ../kept/repository/.git\n');
    else await symlink('../kept/elsewhere', join(setup.workspace, 'project/.git'));
    const folder = kind === 'file' ? 'kept/repository/.git' : 'kept/elsewhere';
    if (kind === 'link') await git(setup.workspace, 'init', '-q', '--bare', folder);
    const config = await readFile(join(setup.workspace, folder, 'config'), 'utf8');
    const sandbox = await openSandbox({ workspace: setup.workspace });
    await shut(
      sandbox,
      setup,
      `echo '[core] fsmonitor = x' >> ${folder}/config; echo x > ${folder}/hooks/post-commit; mv ${folder} ${folder}2; mv kept k2`,
    );
    expect(await readFile(join(setup.workspace, folder, 'config'), 'utf8')).toBe(config);
    expect(await readdir(join(setup.workspace, folder, 'hooks'))).not.toContain('post-commit');
  });
});

describe.skipIf(!hasSandbox)('a workspace in which what is to be kept is hard to find', () => {
  const folders = (names: readonly string[]): Promise<unknown> =>
    Promise.all(names.map((name) => mkdir(join(setup.workspace, name), { recursive: true })));

  it.each([
    ['repositories', '.git'],
    ['folders .wakechart', '.wakechart'],
  ])('is refused with more than a hundred %s', async (what, name) => {
    await folders(Array.from({ length: 101 }, (_, index) => `f${index}/${name}`));
    await expect(openSandbox({ workspace: setup.workspace })).rejects.toMatchObject({
      code: 'MOUNT_UNAVAILABLE',
      message: expect.stringContaining(`more than 100 ${what}`) as string,
    });
  });

  it.skipIf(isRoot)('is refused with a folder in it that was made unreadable', async () => {
    await folders(['sub/.git']);
    await chmod(join(setup.workspace, 'sub'), 0o000);
    await expect(openSandbox({ workspace: setup.workspace })).rejects.toMatchObject({
      code: 'MOUNT_UNAVAILABLE',
      message: expect.stringContaining('cannot be read') as string,
    });
    await chmod(join(setup.workspace, 'sub'), 0o700);
  });
});
