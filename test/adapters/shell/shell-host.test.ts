/** Where a path or a process really is, on a real disk. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, realpath, rename, rm, rmdir, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createShellHost } from '../../../src/adapters/shell/shell-host.ts';

const host = createShellHost();
let top: string;
let workspace: string;

beforeEach(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), 'host-')));
  workspace = join(top, 'workspace');
  await mkdir(join(workspace, 'sub'), { recursive: true });
  await mkdir(join(top, 'outside'));
});
afterEach(() => rm(top, { recursive: true, force: true }));

describe('a path leads through a folder', () => {
  it.each([
    'workspace',
    'workspace/sub',
    'workspace/missing/bin',
    'outside/../workspace',
    'workspace/../workspace/x',
    './/workspace//sub',
  ])('when it lies there: %s', (path) => {
    expect(host.leadsThrough(workspace, `${top}/${path}`)).toBe(true);
  });

  it('when a link leads there, and when a link of the folder leads out again: it may lead elsewhere tomorrow', async () => {
    await symlink('../workspace/sub', join(top, 'outside/in'));
    await symlink(join(top, 'outside'), join(workspace, 'out'));
    await symlink('workspace/out', join(top, 'through'));
    await symlink(join(top, 'workspace/missing'), join(top, 'dangling'));
    const paths = ['outside/in', 'outside/in/bin', 'workspace/out', 'through', 'through/bin', 'dangling'];
    expect(paths.map((path) => host.leadsThrough(workspace, join(top, path)))).toEqual(paths.map(() => true));
  });

  it.each(['outside', 'workspace2', 'missing/bin', '', '..', 'outside/../outside', 'loop', 'loop/bin'])(
    'but not otherwise: %s',
    async (path) => {
      await symlink('loop', join(top, 'loop'));
      expect(host.leadsThrough(workspace, `${top}/${path}`)).toBe(false);
    },
  );
});

describe.skipIf(process.platform !== 'linux')('the folder of a process', () => {
  it('is where it is now, whatever became of the folder since', async () => {
    const folder = join(workspace, 'sub');
    const child = spawn('cat', { cwd: folder, stdio: ['pipe', 'ignore', 'ignore'] });
    const pid = child.pid ?? 0;
    try {
      await once(child, 'spawn');
      expect(host.folderOfProcess(pid)).toEqual({ kind: 'known', path: folder });
      await rename(folder, join(workspace, 'moved'));
      await symlink(join(top, 'outside'), folder);
      expect(host.folderOfProcess(pid)).toEqual({ kind: 'known', path: join(workspace, 'moved') });
      await rmdir(join(workspace, 'moved'));
      expect(host.folderOfProcess(pid)).toEqual({ kind: 'gone' });
    } finally {
      child.stdin.end();
      await once(child, 'close');
    }
    expect(host.folderOfProcess(pid)).toEqual({ kind: 'unknown' });
  });
});

describe('a folder of a workspace', () => {
  it('is known by its real path', async () => {
    await symlink('sub', join(workspace, 'link'));
    await symlink('workspace', join(top, 'way'));
    expect(
      ['.', 'sub', 'link', join(workspace, 'sub')].map((path) => host.resolveInside(join(top, 'way'), path)),
    ).toEqual([workspace, ...Array.from({ length: 3 }, () => join(workspace, 'sub'))]);
  });

  it.each([
    ['..', 'PATH_OUTSIDE_WORKSPACE'],
    ['out', 'PATH_OUTSIDE_WORKSPACE'],
    ['missing', 'FOLDER_NOT_FOUND'],
  ])('is not %s', async (path, code) => {
    await symlink('../outside', join(workspace, 'out'));
    expect(() => host.resolveInside(workspace, path)).toThrow(expect.objectContaining({ code }) as Error);
  });
});
