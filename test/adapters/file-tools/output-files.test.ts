import { execFileSync } from 'node:child_process';
import { mkdir, readFile, readdir, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createOutputFiles } from '../../../src/adapters/file-tools/output-files.ts';
import { MAX_OUTPUT_FILE_BYTES } from '../../../src/machines/turn/files/file-limits.ts';
import { fileToolsSetup, refusalOf } from './file-tools-setup.ts';

const session = { sessionId: 's', agentId: 'a' };

async function outputs(maxSessionBytes?: number) {
  const { workspace, outside, call } = await fileToolsSetup();
  const keeper = createOutputFiles({ workspaceDirectory: () => Promise.resolve(workspace), maxSessionBytes });
  return {
    workspace,
    outside,
    call,
    keep: (callId: string, text: string) => keeper.keep({ session, callId, text }),
    keepBytes: (callId: string, bytes: Uint8Array, extension = 'png') =>
      keeper.keepBytes({ session, callId, bytes, extension }),
  };
}

describe('a kept output', () => {
  it('is a private file in the workspace that the agent can read', async () => {
    const { keep, call, workspace } = await outputs();
    const path = await keep('call_1', 'all of it\n');
    expect(path).toBe('.wakechart-runtime/outputs/call_1.txt');
    expect(await call('read', { path })).toBe('     1\tall of it');
    expect((await stat(join(workspace, path))).mode & 0o777).toBe(0o600);
    expect((await stat(join(workspace, '.wakechart-runtime/outputs'))).mode & 0o777).toBe(0o700);
  });

  it('does not show in the repository of the workspace, and is found by the agent all the same', async () => {
    const { keep, call, workspace } = await outputs();
    const git = (...args: readonly string[]): string => execFileSync('git', args, { cwd: workspace, encoding: 'utf8' });
    git('init', '-q');
    const path = await keep('call_1', 'needle\n');
    expect(git('status', '--porcelain', '--untracked-files=all')).toBe('');
    expect(await readFile(join(workspace, '.wakechart-runtime/.gitignore'), 'utf8')).toBe('*\n');
    for (const input of [
      { path: '.wakechart-runtime' },
      { path: '.wakechart-runtime/outputs' },
      { includeHidden: true },
    ]) {
      expect(await call('grep', { pattern: 'needle', ...input })).toContain('call_1.txt');
      expect(await call('glob', { pattern: '**/*.txt', ...input })).toMatchObject({ files: [path] });
    }
  });

  it('leaves what somebody else tells git about the folder, and writes through no link to tell it', async () => {
    const { keep, workspace, outside } = await outputs();
    await mkdir(join(workspace, '.wakechart-runtime'));
    await writeFile(join(workspace, '.wakechart-runtime/.gitignore'), '!outputs\n');
    await keep('call_1', 'x');
    expect(await readFile(join(workspace, '.wakechart-runtime/.gitignore'), 'utf8')).toBe('!outputs\n');
    await rm(join(workspace, '.wakechart-runtime/.gitignore'));
    await symlink(join(outside, 'new'), join(workspace, '.wakechart-runtime/.gitignore'));
    await keep('call_2', 'x');
    expect(await readdir(outside)).toEqual(['secret.txt']);
  });

  it('has a name that nothing in a call id can turn into a place', async () => {
    const { keep, workspace, outside } = await outputs();
    const ids = ['../../outside/x', '/etc/x', '..', '', 'a/b', 'a\0b', 'x'.repeat(5_000), 'a\nb', '.hidden', 'ä'];
    const paths = await Promise.all(ids.map((id) => keep(id, id)));
    expect(new Set(paths).size).toBe(ids.length);
    for (const [index, path] of paths.entries()) {
      expect(path).toMatch(/^\.wakechart-runtime\/outputs\/call-[0-9a-f]{64}\.txt$/);
      expect(await readFile(join(workspace, path), 'utf8')).toBe(ids[index]);
    }
    expect(await readdir(outside)).toEqual(['secret.txt']);
  });

  it('is not written through a symbolic link, whichever part of its path is one', async () => {
    for (const link of ['.wakechart-runtime', '.wakechart-runtime/outputs']) {
      const { keep, workspace, outside } = await outputs();
      await mkdir(join(workspace, link, '..'), { recursive: true });
      await symlink(outside, join(workspace, link));
      expect(await refusalOf(keep('call', 'x'))).toBe('STORAGE_FAILED');
      expect(await readdir(outside)).toEqual(['secret.txt']);
    }
    const { keep, workspace, outside } = await outputs();
    await mkdir(join(workspace, '.wakechart-runtime/outputs'), { recursive: true });
    await symlink(join(outside, 'secret.txt'), join(workspace, '.wakechart-runtime/outputs/call.txt'));
    await keep('call', 'mine');
    expect(await readFile(join(outside, 'secret.txt'), 'utf8')).not.toBe('mine');
    expect(await readFile(join(workspace, '.wakechart-runtime/outputs/call.txt'), 'utf8')).toBe('mine');
  });

  it('is cut when it is larger than a file may be, and says so at its beginning', async () => {
    const { keep, workspace } = await outputs();
    const path = await keep('call', `first\n${'é'.repeat(MAX_OUTPUT_FILE_BYTES / 2)}\nlast`);
    const text = await readFile(join(workspace, path));
    expect(text.length).toBeLessThanOrEqual(MAX_OUTPUT_FILE_BYTES);
    expect(text.length).toBeGreaterThan(MAX_OUTPUT_FILE_BYTES / 2);
    expect(text.toString('utf8', 0, 200)).toMatch(/^\[This output was cut: .*\]\nfirst\n/);
    expect(text.toString('utf8', text.length - 5)).toBe('\nlast');
  });

  it('gives way to newer ones, the oldest first, and a note says so in its place', async () => {
    const { keep, workspace } = await outputs(25_000);
    for (const [index, callId] of ['one', 'two', 'three'].entries()) {
      const path = join(workspace, await keep(callId, callId.repeat(3_000)));
      await utimes(path, index + 1, index + 1);
    }
    const sizes = Object.fromEntries(
      await Promise.all(
        ['one', 'two', 'three'].map(async (id) => [
          id,
          (await readFile(join(workspace, `.wakechart-runtime/outputs/${id}.txt`), 'utf8')).slice(0, 12),
        ]),
      ),
    );
    expect(sizes).toEqual({ one: '[This output', two: 'twotwotwotwo', three: 'threethreeth' });
  });

  it('is whole when several are kept at once, and each stays within the bounds', async () => {
    const { keep, workspace } = await outputs(50_000);
    await Promise.all(Array.from({ length: 20 }, (_, index) => keep(`call${index}`, `${index}`.repeat(5_000))));
    const folder = join(workspace, '.wakechart-runtime/outputs');
    const files = await readdir(folder);
    const bytes = await Promise.all(files.map(async (name) => (await stat(join(folder, name))).size));
    expect(files).toHaveLength(20);
    expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(50_000);
  });
});

describe('a kept file', () => {
  const bytes = Buffer.from([0x89, 0, 0xff, 0xfe, 0x0a]);

  it('holds the bytes as they are, for its owner only, under a name that says which call put it out', async () => {
    const { keepBytes, workspace } = await outputs();
    const path = await keepBytes('call_1', bytes);
    expect(path).toMatch(/^\.wakechart-runtime\/outputs\/call_1\.[0-9a-f]{16}\.png$/);
    expect(await readFile(join(workspace, path))).toEqual(bytes);
    expect((await stat(join(workspace, path))).mode & 0o777).toBe(0o600);
  });

  it('shares its name with no other bytes and with no text, whatever the call is called', async () => {
    const { keep, keepBytes, workspace } = await outputs();
    const ids = ['call', 'call-1', '../../outside/x', 'a.b', '', 'x'.repeat(5_000)];
    const paths = await Promise.all(
      ids.flatMap((id) => [
        keep(id, 'text'),
        keepBytes(id, bytes, 'txt'),
        keepBytes(id, Buffer.from('other'), 'txt'),
        keepBytes(id, bytes, 'png'),
      ]),
    );
    expect(new Set(paths).size).toBe(ids.length * 4);
    expect(await readdir(join(workspace, '.wakechart-runtime/outputs'))).toHaveLength(paths.length);
  });

  it('ends in nothing that could lead elsewhere', async () => {
    const { keepBytes, outside } = await outputs();
    for (const extension of ['../x', 'a/b', '', 'PNG', 'png\n', 'x'.repeat(20), '.png'])
      expect(await keepBytes('call', bytes, extension)).toMatch(
        /^\.wakechart-runtime\/outputs\/call\.[0-9a-f]{16}\.bin$/,
      );
    expect(await readdir(outside)).toEqual(['secret.txt']);
  });

  it('is not written through a symbolic link', async () => {
    const { keepBytes, workspace, outside } = await outputs();
    const path = join(workspace, await keepBytes('call', bytes));
    await rm(path);
    await symlink(join(outside, 'secret.txt'), path);
    await keepBytes('call', bytes);
    expect(await readFile(path)).toEqual(bytes);
    expect(await readFile(join(outside, 'secret.txt'))).not.toEqual(bytes);
    await rm(join(workspace, '.wakechart-runtime'), { recursive: true });
    await symlink(outside, join(workspace, '.wakechart-runtime'));
    expect(await refusalOf(keepBytes('call', bytes))).toBe('STORAGE_FAILED');
    expect(await readdir(outside)).toEqual(['secret.txt']);
  });

  it('is refused when it is larger than a file may be: a part of it would be of no use', async () => {
    const { keepBytes, workspace } = await outputs();
    expect(await refusalOf(keepBytes('call', new Uint8Array(MAX_OUTPUT_FILE_BYTES + 1)))).toBe('OUTPUT_TOO_LARGE');
    expect(await readdir(workspace)).toEqual([]);
  });

  it('goes as a whole when it is one of the oldest: a note under its name would be taken for an image', async () => {
    const { keep, keepBytes, workspace } = await outputs(25_000);
    const image = join(workspace, await keepBytes('one', Buffer.alloc(9_000, 1)));
    await utimes(image, 1, 1);
    const text = join(workspace, await keep('two', 'two'.repeat(3_000)));
    await utimes(text, 2, 2);
    const newest = await keepBytes('three', Buffer.alloc(16_000, 3));
    expect((await readdir(join(workspace, '.wakechart-runtime/outputs'))).toSorted()).toEqual(
      [newest.slice('.wakechart-runtime/outputs/'.length), 'two.txt'].toSorted(),
    );
    expect(await readFile(text, 'utf8')).toBe('two'.repeat(3_000));
  });
});
