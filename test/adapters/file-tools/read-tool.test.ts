import { open, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fileToolsSetup, refusalOf } from './file-tools-setup.ts';

describe('reading', () => {
  it('gives numbered lines', async () => {
    const { call, put } = await fileToolsSetup();
    await put('src/a.ts', 'one\ntwo\n');
    expect(await call('read', { path: 'src/a.ts' })).toBe('     1\tone\n     2\ttwo');
  });

  it('takes an absolute path in the workspace, and one that goes up and comes back', async () => {
    const { call, put } = await fileToolsSetup();
    const path = await put('a.txt', 'x\n');
    expect(await call('read', { path })).toContain('x');
    expect(await call('read', { path: 'b/../a.txt' })).toContain('x');
  });

  it('follows a symbolic link that stays inside', async () => {
    const { call, put, workspace } = await fileToolsSetup();
    await put('real.txt', 'x\n');
    await symlink('real.txt', join(workspace, 'link.txt'));
    expect(await call('read', { path: 'link.txt' })).toContain('x');
  });

  it('covers every line exactly once, page by page', async () => {
    const setup = await fileToolsSetup();
    const line = fc.oneof(
      fc.string({ maxLength: 40 }).map((text) => text.replaceAll(/[\n\r\u2028\u2029\uFEFF]/g, '')),
      fc.constant('x'.repeat(1_500)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { minLength: 1, maxLength: 80 }),
        fc.integer({ min: 1, max: 30 }),
        async (lines, limit) => {
          await setup.put('f.txt', `${lines.join('\n')}\n`);
          const seen: string[] = [];
          let offset: number | undefined = 1;
          while (offset !== undefined) {
            const page: string = String(await setup.call('read', { path: 'f.txt', offset, limit }));
            for (const [, number, text = ''] of page.matchAll(/^ *(\d+)\t(.*)$/gm)) {
              expect(Number(number)).toBe(seen.length + 1);
              seen.push(text);
            }
            const next: string | undefined = /Read on with offset (\d+)\.\]/.exec(page)?.[1];
            offset = next === undefined ? undefined : Number(next);
          }
          expect(seen).toEqual(lines);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('pages a huge file without reading all of it', async () => {
    const { call, put } = await fileToolsSetup();
    const path = await put('huge.txt', `first\nsecond\n${'x'.repeat(10_000)}`);
    const file = await open(path, 'r+');
    await file.truncate(3 * 1024 ** 3);
    await file.close();
    expect(await call('read', { path: 'huge.txt', limit: 1 })).toBe(
      '     1\tfirst\n[Lines 1 to 1; there are more. Read on with offset 2.]',
    );
  });

  it('does not tear a character that lies across two pieces of a file', async () => {
    const { call, put } = await fileToolsSetup();
    await put('wide.txt', `${'x'.repeat(65_535 - 1_000)}\n${'y'.repeat(998)}é\n`);
    expect(await call('read', { path: 'wide.txt', offset: 2 })).toContain(`${'y'.repeat(998)}é`);
  });

  it('names an image and where it is, and gives none of its bytes', async () => {
    const { call, put } = await fileToolsSetup();
    await put('i/p.png', Buffer.from('\x89PNG\r\n\x1a\n rest', 'latin1'));
    expect(await call('read', { path: 'i/p.png' })).toEqual({
      type: 'image',
      mediaType: 'image/png',
      path: 'i/p.png',
      bytes: 13,
    });
  });

  it('says what a file is that is no text', async () => {
    const { call, put } = await fileToolsSetup();
    await put('a.bin', Buffer.from([1, 0, 2]));
    expect(await call('read', { path: 'a.bin' })).toMatchObject({
      type: 'binary',
      mediaType: 'application/octet-stream',
      bytes: 3,
    });
  });

  it('shows bytes that are not UTF-8 as such, and says so', async () => {
    const { call, put } = await fileToolsSetup();
    await put('latin.txt', Buffer.from('caf\xe9\n', 'latin1'));
    expect(await call('read', { path: 'latin.txt' })).toBe(
      '     1\tcaf\uFFFD\n[Bytes that are not UTF-8 are shown as \uFFFD.]',
    );
  });

  it.each([
    ['nowhere.txt', 'FILE_NOT_FOUND'],
    ['.', 'NOT_A_FILE'],
    ['a.txt/b', 'NOT_A_FILE'],
    [`${'n'.repeat(300)}.txt`, 'PATH_INVALID'],
    ['dangling', 'NOT_A_FILE'],
    ['loop', 'PATH_INVALID'],
  ])('of %s is refused as %s', async (path, code) => {
    const { call, put, workspace } = await fileToolsSetup();
    await put('a.txt', 'x');
    await symlink('nothing', join(workspace, 'dangling'));
    await symlink('loop', join(workspace, 'loop'));
    expect(await refusalOf(call('read', { path }))).toBe(code);
  });

  it('refuses a path with a NUL and a limit of none before anything is opened', async () => {
    const { call } = await fileToolsSetup();
    await expect(call('read', { path: 'a\0b' })).rejects.toThrow(/without NUL/);
    await expect(call('read', { path: 'a', limit: 0 })).rejects.toThrow(/input of read is not valid/);
    await expect(call('read', { path: 'a', lines: 1 })).rejects.toThrow(/input of read is not valid/);
  });

  it('stops when it is told to', async () => {
    const { call, put } = await fileToolsSetup();
    await put('a.txt', 'x');
    await expect(call('read', { path: 'a.txt' }, { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow(
      'enough',
    );
  });
});
