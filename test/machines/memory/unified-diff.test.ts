import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unifiedDiff } from '../../../src/machines/memory/unified-diff.ts';

const diff = (before: string | undefined, after: string | undefined, maxCharacters = 1_000_000): string =>
  unifiedDiff({ path: 'a.md', before, after, maxCharacters });

/** Both texts as the hunks of a difference tell them, where it shows all of them. */
function toldBy(text: string): { readonly before: string; readonly after: string } {
  const lines = text
    .split(/(?<=\n)/)
    .slice(2)
    .filter((line) => !line.startsWith('@@'));
  const side = (mark: string): string =>
    lines
      .flatMap((line, index) =>
        line.startsWith(mark) || line.startsWith(' ')
          ? [lines[index + 1]?.startsWith('\\') === true ? line.slice(1, -1) : line.slice(1)]
          : [],
      )
      .join('');
  return { before: side('-'), after: side('+') };
}

describe('a difference', () => {
  it('is empty for what is the same', () => expect(diff('a\n', 'a\n')).toBe(''));

  it('shows what changed with three lines around it', () => {
    const lines = Array.from({ length: 20 }, (_, index) => `${index}\n`);
    const after = lines.with(9, 'nine\n').join('');
    expect(diff(lines.join(''), after)).toBe(
      '--- a/a.md\n+++ b/a.md\n@@ -7,7 +7,7 @@\n 6\n 7\n 8\n-9\n+nine\n 10\n 11\n 12\n',
    );
  });

  it('tells a file that is new or gone, and a missing line end', () => {
    expect(diff(undefined, 'a')).toBe('--- /dev/null\n+++ b/a.md\n@@ -0,0 +1,1 @@\n+a\n\\ No newline at end of file\n');
    expect(diff('a\n', undefined)).toBe('--- a/a.md\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n');
  });

  it('is bounded, in its length and in its work', () => {
    expect(diff('a\n'.repeat(100), 'b\n'.repeat(100), 100)).toMatch(/^.{0,100}… \d+ characters more\n$/s);
    const many = (word: string): string => Array.from({ length: 5_000 }, (_, index) => `${word} ${index}\n`).join('');
    expect(diff(many('a'), many('b'))).toContain('more than 600 lines differ: 5000 lines before, 5000 after');
  });

  it('tells both texts, whatever they are', () => {
    const text = fc.array(fc.constantFrom('a\n', 'b\n', 'c\n', 'd\n'), { maxLength: 3 }).map((lines) => lines.join(''));
    fc.assert(
      fc.property(text, text, fc.boolean(), (before, after, isCut) => {
        const last = isCut ? after.slice(0, -1) : after;
        fc.pre(before !== last);
        expect(toldBy(diff(before, last))).toEqual({ before, after: last });
      }),
      { numRuns: 500 },
    );
  });
});
