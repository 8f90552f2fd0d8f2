import { chmod, link, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MAX_SEEN_FILES } from '../../../src/machines/turn/files/file-limits.ts';
import { SeenFiles } from '../../../src/adapters/file-tools/file-tool-ports.ts';
import { fileToolsSetup, refusalOf } from './file-tools-setup.ts';

describe('writing', () => {
  it('makes a file and the folders above it', async () => {
    const { call, workspace } = await fileToolsSetup();
    expect(await call('write', { path: 'a/b/c.txt', content: 'é\nx' })).toEqual({
      path: 'a/b/c.txt',
      action: 'created',
      lines: 2,
      bytes: 4,
    });
    expect(await readFile(join(workspace, 'a/b/c.txt'), 'utf8')).toBe('é\nx');
    expect(await readdir(join(workspace, 'a/b'))).toEqual(['c.txt']);
  });

  it('replaces a file that was read, and one that was written before', async () => {
    const { call, put, workspace } = await fileToolsSetup();
    await put('a.txt', 'old');
    await call('read', { path: 'a.txt' });
    expect(await call('write', { path: 'a.txt', content: 'new\n' })).toEqual({
      path: 'a.txt',
      action: 'replaced',
      lines: 1,
      bytes: 4,
    });
    await call('write', { path: 'a.txt', content: 'newer' });
    expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe('newer');
  });

  it('refuses to replace a file that this session has not read', async () => {
    const { call, put } = await fileToolsSetup();
    const path = await put('a.txt', 'old');
    await call('read', { path: 'a.txt' }, { sessionId: 'another' });
    expect(await refusalOf(call('write', { path: 'a.txt', content: 'new' }))).toBe('FILE_NOT_READ');
    expect(await readFile(path, 'utf8')).toBe('old');
  });

  it('refuses to replace a file that has changed since it was read, though its size and time are the same', async () => {
    const { call, put } = await fileToolsSetup();
    await put('a.txt', 'old');
    await call('read', { path: 'a.txt' });
    const path = await put('a.txt', 'odd');
    expect(await refusalOf(call('write', { path: 'a.txt', content: 'new' }))).toBe('FILE_CHANGED');
    expect(await readFile(path, 'utf8')).toBe('odd');
  });

  it('knows a file under every name that leads to it', async () => {
    const { call, put, workspace } = await fileToolsSetup();
    await put('real.txt', 'old');
    await symlink('real.txt', join(workspace, 'link.txt'));
    await call('read', { path: 'link.txt' });
    expect(await call('write', { path: 'real.txt', content: 'new' })).toMatchObject({ action: 'replaced' });
    expect(await call('write', { path: 'link.txt', content: 'newer' })).toMatchObject({ path: 'real.txt' });
    expect((await stat(join(workspace, 'real.txt'))).size).toBe(5);
  });

  it('keeps the mode of a file', async () => {
    const { call, put } = await fileToolsSetup();
    const path = await put('run.sh', 'old');
    await chmod(path, 0o750);
    await call('read', { path: 'run.sh' });
    await call('write', { path: 'run.sh', content: 'new' });
    expect((await stat(path)).mode & 0o777).toBe(0o750);
  });

  it('never changes a file outside that a hard link in the workspace names too', async () => {
    const { call, workspace, outside } = await fileToolsSetup();
    await link(join(outside, 'secret.txt'), join(workspace, 'hard.txt'));
    await call('read', { path: 'hard.txt' });
    const before = await readFile(join(outside, 'secret.txt'), 'utf8');
    await call('write', { path: 'hard.txt', content: 'mine' });
    expect(await readFile(join(outside, 'secret.txt'), 'utf8')).toBe(before);
  });

  it('lets one of two that make the same file at once win, and refuses the other', async () => {
    const { call, workspace } = await fileToolsSetup();
    const contents = ['one', 'two'];
    const results = await Promise.allSettled(
      contents.map((content) => call('write', { path: 'a.txt', content }, { sessionId: content })),
    );
    const winners = contents.filter((_content, index) => results[index]?.status === 'fulfilled');
    expect(winners).toHaveLength(1);
    expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe(winners[0]);
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'FILE_NOT_READ' } });
  });

  it('shows others the old content or the new one, never a part', async () => {
    const { call, workspace } = await fileToolsSetup();
    const contents = ['a'.repeat(300_000), 'b'.repeat(300_000)];
    await call('write', { path: 'f', content: contents[0] });
    let isDone = false;
    const writing = (async () => {
      for (let round = 0; round < 30; round += 1) await call('write', { path: 'f', content: contents[round % 2] });
    })().finally(() => {
      isDone = true;
    });
    while (!isDone) {
      const seen = await readFile(join(workspace, 'f'), 'utf8');
      expect(contents.includes(seen)).toBe(true);
    }
    await writing;
  });

  it('leaves nothing behind when it is refused or stopped', async () => {
    const { call, workspace } = await fileToolsSetup();
    await expect(
      call('write', { path: 'a.txt', content: 'x' }, { signal: AbortSignal.abort(new Error('enough')) }),
    ).rejects.toThrow('enough');
    expect(await refusalOf(call('write', { path: '.', content: 'x' }))).toBe('NOT_A_FILE');
    expect(await readdir(workspace)).toEqual([]);
  });

  it.each([
    ['n'.repeat(300), 'PATH_INVALID'],
    ['file/below', 'NOT_A_FILE'],
    ['folder', 'NOT_A_FILE'],
    ['dangling', 'NOT_A_FILE'],
    ['dangling/x', 'NOT_A_FILE'],
  ])('to %s is refused as %s', async (path, code) => {
    const { call, put, workspace, outside } = await fileToolsSetup();
    await put('file', 'x');
    await put('folder/x', 'x');
    await symlink(join(outside, 'new'), join(workspace, 'dangling'));
    expect(await refusalOf(call('write', { path, content: 'x' }))).toBe(code);
    expect(await readdir(outside)).toEqual(['secret.txt']);
  });

  it('refuses text that could not be read back as it is', async () => {
    const { call } = await fileToolsSetup();
    expect(await refusalOf(call('write', { path: 'a', content: 'x\ud800y' }))).toBe('CONTENT_NOT_TEXT');
  });

  it.skipIf(process.getuid?.() === 0)('refuses a file that its mode protects', async () => {
    const { call, put } = await fileToolsSetup();
    const path = await put('a.txt', 'old');
    await chmod(path, 0o444);
    await call('read', { path: 'a.txt' });
    expect(await refusalOf(call('write', { path: 'a.txt', content: 'new' }))).toBe('FILE_ACCESS_DENIED');
    await writeFile(path, '').catch(() => undefined);
  });
});

describe('what sessions have seen', () => {
  it('is kept within bounds; what was used longest ago is forgotten first', () => {
    const seen = new SeenFiles();
    seen.remember('s', 'first', 'v');
    for (let index = 0; index < MAX_SEEN_FILES; index += 1) seen.remember('s', `file ${index}`, 'v');
    expect([seen.versionOf('s', 'first'), seen.versionOf('s', 'file 0')]).toEqual([undefined, 'v']);
  });
});
