/** Unified differences, read line by line. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_LINES, filesOfDifference } from '../../../src/machines/inspection-log/unified-difference.ts';

const CART = `diff --git a/cart.mjs b/cart.mjs
index 1..2 100644
--- a/cart.mjs
+++ b/cart.mjs
@@ -1,3 +1,4 @@ export
 one
-two
+2
+--- three
 four
\\ No newline at end of file
`;

describe('a difference', () => {
  it('has the numbers of each line before and after, and takes signs within a place for what they are', () => {
    const [file] = filesOfDifference(CART);
    expect([file?.path, file?.added, file?.removed]).toEqual(['cart.mjs', 2, 1]);
    expect(file?.lines.map(({ kind, text, before, after }) => [kind, text, before, after])).toEqual([
      ['place', '@@ -1,3 +1,4 @@ export', undefined, undefined],
      ['same', 'one', 1, 1],
      ['removed', 'two', 2, undefined],
      ['added', '2', undefined, 2],
      ['added', '--- three', undefined, 3],
      ['same', 'four', 3, 4],
      ['note', String.raw`\ No newline at end of file`, undefined, undefined],
    ]);
  });

  it.each([
    ['a new file', 'diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n', 'n', 1, 0],
    [
      'a removed file',
      'diff --git a/n b/n\ndeleted file mode 100644\n--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n',
      'n',
      0,
      1,
    ],
    [
      'a renamed file',
      'diff --git a/old name b/new name\nsimilarity index 100%\nrename from old name\nrename to new name\n',
      'new name',
      0,
      0,
    ],
    [
      'a file with a name that is quoted',
      'diff --git "a/t\\303\\244" "b/t\\303\\244"\nBinary files differ\n',
      't\\303\\244',
      0,
      0,
    ],
    [
      'a file in a folder with a blank',
      'diff --git a/a b/c.txt b/a b/c.txt\n--- a/a b/c.txt\t\n+++ b/a b/c.txt\t\n@@ -1 +1 @@\n-x\n+y\n',
      'a b/c.txt',
      1,
      1,
    ],
  ])('tells %s', (_, difference, path, added, removed) => {
    expect(filesOfDifference(difference)).toMatchObject([{ path, added, removed }]);
  });

  it('is kept in bounds, and says how much is missing', () => {
    const lines = Array.from({ length: MAX_LINES + 10 }, () => '+x');
    const [file] = filesOfDifference(
      `diff --git a/n b/n\n--- a/n\n+++ b/n\n@@ -0,0 +1,${lines.length} @@\n${lines.join('\n')}\n`,
    );
    expect([file?.lines.length, file?.omitted, file?.added]).toEqual([MAX_LINES, 11, MAX_LINES + 10]);
  });

  it('is kept in bounds over all of its files, and counts what is left out', () => {
    const file = `diff --git a/n b/n\n--- a/n\n+++ b/n\n@@ -0,0 +1,1499 @@\n${'+x\n'.repeat(1_499)}`;
    const files = filesOfDifference(file.repeat(15));
    expect(files.reduce((sum, { lines }) => sum + lines.length, 0)).toBe(20_000);
    expect(files.reduce((sum, { lines, omitted }) => sum + lines.length + omitted, 0)).toBe(15 * 1_500);
  });

  it('may be anything at all', () => {
    const line = fc.oneof(
      fc.string(),
      fc.constantFrom(
        'diff --git a/x b/x',
        '--- a/x',
        '+++ b/x',
        '@@ -1,2 +3,4 @@',
        '@@ -1 +1 @@',
        '+',
        '-',
        ' ',
        '\\',
        '',
      ),
    );
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        for (const { lines: read, added, removed } of filesOfDifference(lines.join('\n'))) {
          expect(read.filter(({ kind }) => kind === 'added')).toHaveLength(added);
          expect(read.filter(({ kind }) => kind === 'removed')).toHaveLength(removed);
        }
      }),
    );
  });
});
