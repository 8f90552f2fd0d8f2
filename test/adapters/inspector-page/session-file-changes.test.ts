/** What calls change in files, and how long it is until something happens. */
import { describe, expect, it } from 'vitest';
import { changesOf } from '../../../src/adapters/inspector-page/sessions/file-changes.ts';
import { left } from '../../../src/adapters/inspector-page/model/words.ts';

describe('a call that changes a file', () => {
  it.each<[string, unknown, unknown, readonly string[] | undefined]>([
    ['one edit', { path: 'a', oldText: 'x', newText: 'y\nz' }, undefined, ['-x', '+y', '+z']],
    ['several edits', { path: 'a', edits: [{ oldText: 'x', newText: 'y' }, { oldText: 'p', newText: '' }] }, undefined, ['-x', '+y', '-p', '+']],
    ['a whole file', { path: 'a', content: 'x\ny\n' }, { action: 'created' }, ['+x', '+y']],
    ['what came of it', { path: 'a', oldText: 'x', newText: 'y' }, { diff: '@@ -1 +1 @@\n-x\n+y\n' }, ['@@ -1 +1 @@', '-x', '+y']],
    ['nothing that is known', { path: 'a' }, undefined, undefined],
    ['edits of another form', { path: 'a', edits: ['x', null] }, undefined, undefined],
    ['no file', { oldText: 'x', newText: 'y' }, null, undefined],
    ['no object', 'x', 'y', undefined],
  ])('tells the lines of %s', (_, input, output, lines) => {
    expect(changesOf(input, output)).toEqual(lines === undefined ? undefined : { path: 'a', lines });
  });
});

describe('the time that is left', () => {
  it.each([[7 * 86_400_000 - 1_000, '7 d'], [86_400_000, '1 d'], [5_400_000, '1 h'], [-5, '0 ms']])('of %d ms is told as %s', (ms, text) => {
    expect(left(ms)).toBe(text);
  });
});
