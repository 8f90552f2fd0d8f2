import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_EDIT_BYTES } from '../../../src/machines/turn/files/file-limits.ts';
import { fileToolsSetup, refusalOf } from './file-tools-setup.ts';

describe('editing', () => {
  it('changes one place and shows the difference', async () => {
    const { call, put, workspace } = await fileToolsSetup();
    await put('a.ts', 'one\ntwo\nthree\n');
    expect(await call('edit', { path: 'a.ts', oldText: 'two', newText: 'zwei' })).toEqual({
      path: 'a.ts',
      replacements: 1,
      diff: '@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three',
    });
    expect(await readFile(join(workspace, 'a.ts'), 'utf8')).toBe('one\nzwei\nthree\n');
  });

  it('makes several changes or none', async () => {
    const { call, put } = await fileToolsSetup();
    const path = await put('a.ts', 'one\ntwo\n');
    const edits = [
      { oldText: 'one', newText: 'eins' },
      { oldText: 'three', newText: 'drei' },
    ];
    expect(await refusalOf(call('edit', { path: 'a.ts', edits }))).toBe('EDIT_NOT_FOUND');
    expect(await readFile(path, 'utf8')).toBe('one\ntwo\n');
    await call('edit', { path: 'a.ts', edits: edits.slice(0, 1) });
    expect(await readFile(path, 'utf8')).toBe('eins\ntwo\n');
  });

  it('loses none of many changes that are asked for at once', async () => {
    const { call, put } = await fileToolsSetup();
    const marks = Array.from({ length: 20 }, (_, index) => `<${index}>`);
    const path = await put('a.ts', marks.join('\n'));
    await Promise.all(marks.map((mark) => call('edit', { path: 'a.ts', oldText: mark, newText: mark.slice(1, -1) })));
    expect(await readFile(path, 'utf8')).toBe(marks.map((_, index) => index).join('\n'));
  });

  it('leaves the rest of a file as it is to the byte', async () => {
    const setup = await fileToolsSetup();
    const part = fc.string({
      unit: fc.constantFrom('a', ' ', '\t', '\r\n', '\n', '\r', 'é', '😀', '\uFEFF'),
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(part, part, async (before, after) => {
        const path = await setup.put('f.txt', `${before}<mark>${after}`);
        await setup.call('edit', { path: 'f.txt', oldText: '<mark>', newText: '<other>' });
        expect(await readFile(path, 'utf8')).toBe(`${before}<other>${after}`);
        await setup.call('edit', { path: 'f.txt', oldText: '<other>', newText: '<mark>' });
        expect(await readFile(path, 'utf8')).toBe(`${before}<mark>${after}`);
      }),
      { numRuns: 60 },
    );
  });

  it('lets a session that knew the file write it, and no other', async () => {
    const { call, put } = await fileToolsSetup();
    await put('a.ts', 'one');
    await call('edit', { path: 'a.ts', oldText: 'one', newText: 'two' });
    expect(await refusalOf(call('write', { path: 'a.ts', content: 'x' }))).toBe('FILE_NOT_READ');
    await call('read', { path: 'a.ts' });
    await call('edit', { path: 'a.ts', oldText: 'two', newText: 'three' });
    expect(await call('write', { path: 'a.ts', content: 'x' })).toMatchObject({ action: 'replaced' });
  });

  it.each([
    ['nowhere.txt', 'FILE_NOT_FOUND'],
    ['.', 'NOT_A_FILE'],
    ['binary', 'FILE_NOT_TEXT'],
    ['latin', 'FILE_NOT_TEXT'],
    ['large', 'FILE_TOO_LARGE'],
  ])('of %s is refused as %s', async (path, code) => {
    const { call, put, workspace } = await fileToolsSetup();
    await put('binary', Buffer.from([97, 0, 98]));
    await put('latin', Buffer.from('a caf\xe9', 'latin1'));
    await put('large', `a${' '.repeat(MAX_EDIT_BYTES)}`);
    expect(await refusalOf(call('edit', { path, oldText: 'a', newText: 'b' }))).toBe(code);
    expect((await readdir(workspace)).toSorted()).toEqual(['binary', 'large', 'latin']);
  });

  it('tells the forms of its input apart', async () => {
    const { call } = await fileToolsSetup();
    for (const input of [
      { path: 'a' },
      { path: 'a', oldText: 'b' },
      { path: 'a', oldText: 'b', newText: 'c', edits: [{ oldText: 'b', newText: 'c' }] },
      { path: 'a', oldText: '', newText: 'c' },
    ]) {
      await expect(call('edit', input)).rejects.toThrow(/input of edit is not valid/);
    }
  });
});
