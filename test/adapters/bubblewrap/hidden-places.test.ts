import { execFile } from 'node:child_process';
import { mkdir, readFile, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { otherNames } from '../../../src/adapters/bubblewrap/hidden-places.ts';
import { hasSandbox, isRoot, openSandbox } from '../../support/sandbox.ts';
import { openEscapeSetup, ran, shut } from './escape-setup.ts';
import type { EscapeSetup } from './escape-setup.ts';

const run = promisify(execFile);

let setup: EscapeSetup;
let home = '';

beforeEach(async () => {
  setup = await openEscapeSetup();
});
afterEach(async () => {
  await setup[Symbol.asyncDispose]();
});

async function homeAt(path: string): Promise<string> {
  await mkdir(join(path, 'vaults'), { recursive: true, mode: 0o755 });
  await writeFile(join(path, 'vaults/v.yaml'), 'KEPT-SECRET\n');
  return path;
}

describe.skipIf(!hasSandbox)('a home in the workspace', () => {
  it.each([
    ['one level down', '.wakechart', '.wakechart'],
    ['two levels down', 'tools/.wakechart', 'tools'],
    ['three levels down', 'a/b/.wakechart', 'a/b'],
  ])('%s can be neither seen nor moved, nor anything around it', async (_, name, moved) => {
    home = await homeAt(join(setup.workspace, name));
    const sandbox = await openSandbox({ workspace: setup.workspace, options: { hidden: [home] } });
    const { output } = await shut(
      sandbox,
      setup,
      `mv -T ${moved} ${moved}-2 2>&1; mv -T ${name.split('/')[0]} t3 2>&1; cat ${moved}-2/vaults/v.yaml ${moved}-2/.wakechart/vaults/v.yaml ${name}/vaults/v.yaml; find . -name v.yaml; touch ${name}/x`,
    );
    expect(output).not.toContain('KEPT-SECRET');
    expect(output).toContain('Device or resource busy');
    expect((await readdir(setup.workspace)).toSorted()).toEqual(['sub', name.split('/')[0] ?? ''].toSorted());
    expect(await readFile(join(home, 'vaults/v.yaml'), 'utf8')).toBe('KEPT-SECRET\n');
  });

  it('that somebody moved from the host keeps commands from running', async () => {
    home = await homeAt(join(setup.workspace, 'tools/.wakechart'));
    const sandbox = await openSandbox({ workspace: setup.workspace, options: { hidden: [home] } });
    await rename(home, join(setup.workspace, 'tools/moved'));
    await mkdir(home);
    expect(await shut(sandbox, setup, 'cat tools/moved/vaults/v.yaml')).toEqual({
      output: expect.stringMatching(/^sandbox: .*nothing was run\n$/),
      exitCode: 125,
    });
  });

  it('is refused where a link that commands could lead elsewhere is on the way to it', async () => {
    await homeAt(join(setup.outside, 'real'));
    await symlink(join(setup.outside, 'real'), join(setup.workspace, '.wakechart'));
    await expect(
      openSandbox({ workspace: setup.workspace, options: { hidden: [join(setup.workspace, '.wakechart')] } }),
    ).rejects.toMatchObject({ code: 'MOUNT_UNAVAILABLE', message: expect.stringContaining('is a link') });
  });
});

describe.skipIf(!hasSandbox || !isRoot)('a home in a folder of the system', () => {
  const place = `/opt/wakechart-test-${process.pid}`;
  afterEach(() => rm(place, { recursive: true, force: true }));

  it.each([
    ['at its top', ''],
    ['deep in it', '/company/prod/app/home'],
  ])('%s is not shown, and its sessions work in it', async (_, below) => {
    home = await homeAt(`${place}${below}`);
    const workspace = join(home, 'agents/a/sessions/s/workspace');
    await mkdir(workspace, { recursive: true });
    const sandbox = await openSandbox({ workspace, options: { hidden: [home] } });
    const { output } = await ran(
      sandbox.wrapCommand(
        `cat ${home}/vaults/v.yaml; ls ${home}; echo here > file; cat file; touch ${home}/x 2>/dev/null && echo written`,
        workspace,
      ),
      { cwd: workspace },
    );
    expect(output).not.toContain('KEPT-SECRET');
    expect(output).toMatch(/agents\nhere\n$/);
  });

  it('is not shown either where programs of its own are', async () => {
    home = await homeAt(`${place}/data`);
    const sandbox = await openSandbox({ workspace: setup.workspace, options: { hidden: [home], programs: [place] } });
    expect((await shut(sandbox, setup, `cat ${home}/vaults/v.yaml 2>/dev/null; ls -A ${home}`)).output).toBe('');
  });
});

describe('the other names of a folder', () => {
  const mounted = [
    '21 1 8:1 / / rw - ext4 /dev/sda1 rw',
    '30 21 8:2 / /data rw - ext4 /dev/sdb1 rw',
    '31 21 8:2 /apps/my\\040home /opt/y rw - ext4 /dev/sdb1 rw',
    '32 21 8:1 /srv /mnt/srv rw - ext4 /dev/sda1 rw',
  ].join('\n');

  it.each([
    ['/data/apps/my home/.wakechart', ['/opt/y/.wakechart']],
    ['/opt/y/.wakechart', ['/data/apps/my home/.wakechart']],
    ['/srv/home', ['/mnt/srv/home']],
    ['/var/home', []],
  ])('of %s are those by other mounts of its file system', (path, names) => {
    expect(otherNames(path, mounted)).toEqual(names);
  });
});

describe.skipIf(!hasSandbox)('a repository in the workspace', () => {
  const git = async (cwd: string, ...args: readonly string[]): Promise<string> =>
    (await run('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd })).stdout;
  const repository = async (path: string): Promise<void> => {
    await mkdir(path, { recursive: true });
    await git(path, 'init', '-q');
    await git(path, 'commit', '-q', '--allow-empty', '-m', 'first');
  };
  const plant =
    'git config core.fsmonitor x; echo x > .git/hooks/post-commit; echo . > .git/commondir; mv .git g2; mv sub/deep/.git sub/deep/g3; mv sub s2; rm -rf .git/hooks sub/deep/.git/config';

  it('can be read and not be changed, nor can one that lies in it, and no other one can come in its place', async () => {
    await repository(setup.workspace);
    await repository(join(setup.workspace, 'sub/deep'));
    const config = await readFile(join(setup.workspace, '.git/config'), 'utf8');
    const sandbox = await openSandbox({ workspace: setup.workspace });
    const { output } = await shut(
      sandbox,
      setup,
      `(${plant}) 2>/dev/null; git -c safe.directory='*' log --format=%s; git -C sub/deep -c safe.directory='*' log --format=%s`,
    );
    expect(output).toBe('first\nfirst\n');
    expect(await readdir(setup.workspace)).toEqual(['.git', 'sub']);
    expect(await readdir(join(setup.workspace, 'sub/deep'))).toEqual(['.git']);
    expect(await readFile(join(setup.workspace, '.git/config'), 'utf8')).toBe(config);
    expect(await readFile(join(setup.workspace, 'sub/deep/.git/config'), 'utf8')).not.toBe('');
    expect(await readdir(join(setup.workspace, '.git'))).not.toContain('commondir');
    expect(await readdir(join(setup.workspace, '.git/hooks'))).not.toContain('post-commit');
  });

  it('lets a worktree of it commit on its own branch, and change nothing else', async () => {
    const main = join(setup.outside, 'repository');
    await repository(main);
    const worktree = join(setup.outside, 'worktrees/job-1');
    await git(main, 'worktree', 'add', '-q', '-b', 'wakechart/job-1', worktree);
    const sandbox = await openSandbox({ workspace: worktree });
    const command = `export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; echo x > f; git add f && git commit -qm second && git log --format=%s; (git config core.fsmonitor x; echo x > ${main}/.git/hooks/post-commit; git branch -f $(git -C . for-each-ref --format='%(refname:short)' refs/heads | grep -v wakechart) HEAD; echo elsewhere > .git; mv .git g; echo ${setup.outside} > ${main}/.git/worktrees/job-1/commondir) 2>/dev/null; git status --short; cat ${main}/f`;
    const { output } = await ran(sandbox.wrapCommand(command, worktree), { cwd: worktree });
    expect(output).toMatch(/^second\nfirst\ncat: .*No such file or directory\n$/);
    expect(await git(main, 'log', '--format=%s')).toBe('first\n');
    expect(await git(main, 'log', '--format=%s', 'wakechart/job-1')).toBe('second\nfirst\n');
    expect(await readFile(join(main, '.git/config'), 'utf8')).not.toContain('fsmonitor');
    expect(await readdir(join(main, '.git/hooks'))).not.toContain('post-commit');
    expect((await readFile(join(main, '.git/worktrees/job-1/commondir'), 'utf8')).trim()).toBe('../..');
  });

  it('has nothing mounted for a worktree that its repository does not know of', async () => {
    const main = join(setup.outside, 'repository');
    await repository(main);
    await git(main, 'worktree', 'add', '-q', '-b', 'wakechart/job-1', join(setup.outside, 'worktrees/job-1'));
    await writeFile(join(setup.workspace, '.git'), `gitdir: ${main}/.git/worktrees/job-1\n`);
    const forged = join(setup.workspace, 'forged/.git/worktrees/x');
    await mkdir(forged, { recursive: true });
    await mkdir(join(setup.outside, 'objects'));
    expect(
      (await shut(await openSandbox({ workspace: setup.workspace }), setup, `ls ${main}/.git 2>/dev/null`)).output,
    ).toBe('');
    await writeFile(join(setup.workspace, '.git'), `gitdir: ${forged}\n`);
    await writeFile(join(forged, 'gitdir'), `${setup.workspace}/.git\n`);
    await writeFile(join(forged, 'commondir'), `${setup.outside}\n`);
    expect(
      (await shut(await openSandbox({ workspace: setup.workspace }), setup, 'cat "$OUT/secret" 2>/dev/null')).output,
    ).toBe('');
  });
});
