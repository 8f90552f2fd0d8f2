import { open, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  MAX_GREP_CHARACTERS,
  MAX_GREP_FILE_BYTES,
  MAX_GREP_LINE_CHARACTERS,
} from '../../../src/machines/turn/files/file-limits.ts';
import { fileToolsSetup, refusalOf } from './file-tools-setup.ts';

describe('searching', () => {
  it('gives each file with its lines, always in the same order', async () => {
    const { call, put } = await fileToolsSetup();
    await put('b.ts', 'x\nneedle 1\n');
    await put('a/z.ts', 'needle 2\nneedle 3');
    await put('a.ts', 'none');
    expect(await call('grep', { pattern: 'needle \\d' })).toBe('b.ts\n2:needle 1\n\na/z.ts\n1:needle 2\n2:needle 3');
  });

  it('shows the lines around a match, each once', async () => {
    const { call, put } = await fileToolsSetup();
    await put('a', '1\n2\nx\n4\nx\n6\n7\n8\n9\nx\n');
    expect(await call('grep', { pattern: 'x', context: 1 })).toBe('a\n2-2\n3:x\n4-4\n5:x\n6-6\n--\n9-9\n10:x');
  });

  it('names files only, when that is all that is asked for', async () => {
    const { call, put } = await fileToolsSetup();
    await put('a', 'x\nx\n');
    await put('b', 'x');
    await put('c', 'y');
    expect(await call('grep', { pattern: 'x', filesOnly: true })).toBe('a\nb');
  });

  it('searches one file, one folder, or files of one kind', async () => {
    const { call, put } = await fileToolsSetup();
    for (const path of ['a.ts', 'src/a.ts', 'src/a.md', 'src/deep/a.ts']) await put(path, 'X');
    expect(await call('grep', { pattern: 'X', path: 'src/a.md' })).toBe('src/a.md\n1:X');
    expect(await call('grep', { pattern: 'x', ignoreCase: true, path: 'src', glob: '*.ts', filesOnly: true })).toBe(
      'src/a.ts\nsrc/deep/a.ts',
    );
    expect(await call('grep', { pattern: 'X', glob: 'src/*.{ts,md}', filesOnly: true })).toBe('src/a.md\nsrc/a.ts');
  });

  it('says that nothing was found, and what was not searched', async () => {
    const { call, put, workspace } = await fileToolsSetup();
    await put('binary', Buffer.from([120, 0, 120]));
    const large = await open(await put('large.txt', 'x'.repeat(10_000)), 'r+');
    await large.truncate(MAX_GREP_FILE_BYTES + 1);
    await large.close();
    await symlink('binary', join(workspace, 'link'));
    expect(await call('grep', { pattern: 'x' })).toBe(
      `[No line matches.]\n[1 file not searched because not text.]\n[1 file not searched because larger than ${MAX_GREP_FILE_BYTES} bytes; name such a file as path to search it.]`,
    );
  });

  it('passes over 200 MB of nothing at once', async () => {
    const { call, put } = await fileToolsSetup();
    const sparse = await open(await put('sparse', ''), 'r+');
    await sparse.truncate(200 * 1024 ** 2);
    await sparse.close();
    expect(await call('grep', { pattern: '(a+)+$', path: 'sparse' })).toBe(
      '[No line matches.]\n[1 file not searched because not text.]',
    );
  });

  it('ends with what it may give, and says that there is more', async () => {
    const { call, put } = await fileToolsSetup();
    await put('a', 'x\n'.repeat(10));
    expect(await call('grep', { pattern: 'x', maxMatches: 2 })).toBe(
      'a\n1:x\n2:x\n[There is more than the 2 matching lines shown here. Narrow the search by path, glob or pattern.]',
    );
    expect(await call('grep', { pattern: 'x', maxMatches: 10 })).not.toContain('There is more');
    await put('b', `${'x'.repeat(390)}\n`.repeat(1_000));
    const text = String(await call('grep', { pattern: 'x', path: 'b', maxMatches: 2_000 }));
    expect(text.length).toBeLessThan(MAX_GREP_CHARACTERS + 500);
    expect(text).toContain('[There is more than the');
  });

  it('shows a long line around its match, and says that not all of it was searched', async () => {
    const { call, put } = await fileToolsSetup();
    await put('a', `${'-'.repeat(5_000)}needle${'-'.repeat(MAX_GREP_LINE_CHARACTERS)}needle`);
    const text = String(await call('grep', { pattern: 'needle' }));
    expect(text).toMatch(
      /^a\n1:…-+needle-+…\n\[1 file with lines of which only the first 20000 characters were searched\.\]$/,
    );
  });

  it('cannot be fooled by names that hold line breaks', async () => {
    const { call, put } = await fileToolsSetup();
    await put('a\n1:fake', 'x');
    expect(await call('grep', { pattern: 'x' })).toBe('"a\\n1:fake"\n1:x');
  });

  it.each(['(a', 'a(?=b)', '(a)\\1', '[z-a]', 'a{2000}', '*a', '(a{500}){500}', '\\pL{1000}\\pL{1000}\\pL{1000}'])(
    'for %s is refused with what is wrong about it',
    async (pattern) => {
      const { call } = await fileToolsSetup();
      expect(await refusalOf(call('grep', { pattern }))).toBe('PATTERN_INVALID');
    },
  );

  it('finds what lies across two pieces of a file, and lines that CRLF ends', async () => {
    const { call, put } = await fileToolsSetup();
    await put('a', `${'-\n'.repeat(32_765)}needle é\r\nend`);
    expect(await call('grep', { pattern: 'needle é$' })).toBe('a\n32766:needle é');
  });
});

describe('a search that takes long', () => {
  const LONG = 'ab'.repeat(MAX_GREP_LINE_CHARACTERS / 2);

  it('lets others have their turn', async () => {
    const { call, put } = await fileToolsSetup();
    for (let index = 0; index < 10; index += 1) await put(`${index}.txt`, `${LONG}\n`.repeat(20));
    let isDone = false;
    const search = call('grep', { pattern: '(a+b+)+$|(a|b)*c|(ab)+d' }).finally(() => {
      isDone = true;
    });
    let turns = 0;
    while (!isDone) {
      await nextTurn();
      turns += 1;
    }
    await search;
    expect(turns).toBeGreaterThan(10);
  });

  it('stops in the middle when it is told to', async () => {
    const { call, put } = await fileToolsSetup();
    for (let index = 0; index < 20; index += 1) await put(`${index}.txt`, `${LONG}\n`.repeat(100));
    const stop = new AbortController();
    const search = call('grep', { pattern: '(a|b)*c' }, { signal: stop.signal });
    await nextTurn();
    stop.abort(new Error('enough'));
    await expect(search).rejects.toThrow('enough');
  });
});
