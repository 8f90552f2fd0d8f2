/** What calls change in files. */
import { describe, expect, it } from 'vitest';
import { changesOf } from '../../../src/machines/inspection-log/file-changes.ts';

describe('a call that changes a file', () => {
  it.each<[string, unknown, unknown, readonly string[] | undefined]>([
    ['one edit', { path: 'a', oldText: 'x', newText: 'y\nz' }, undefined, ['-x', '+y', '+z']],
    ['an edit without its path', { oldText: 'x', newText: 'y' }, null, ['-x', '+y']],
    [
      'several edits',
      {
        path: 'a',
        edits: [
          { oldText: 'x', newText: 'y' },
          { oldText: 'p', newText: '' },
        ],
      },
      undefined,
      ['-x', '+y', '-p', '+'],
    ],
    ['a whole file', { path: 'a', content: 'x\ny\n' }, { action: 'created' }, ['+x', '+y']],
    [
      'what came of it',
      { path: 'a', oldText: 'x', newText: 'y' },
      { diff: '@@ -1 +1 @@\n-x\n+y\n' },
      ['@@ -1 +1 @@', '-x', '+y'],
    ],
    ['nothing that is known', { path: 'a' }, undefined, undefined],
    ['edits of another form', { path: 'a', edits: ['x', null] }, undefined, undefined],
    ['no object', 'x', 'y', undefined],
  ])('tells the lines of %s', (_, input, output, lines) => {
    expect(changesOf(input, output)).toEqual(lines === undefined ? undefined : { lines, omitted: 0 });
  });

  it('tells at most 200 lines, and how many more there are', () => {
    expect(changesOf({ content: 'x\n'.repeat(205) }, undefined)).toEqual({
      lines: Array.from({ length: 200 }, () => '+x'),
      omitted: 5,
    });
  });
});
