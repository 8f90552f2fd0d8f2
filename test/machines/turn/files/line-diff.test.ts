import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_DIFF_CHARACTERS } from '../../../../src/machines/turn/files/file-limits.ts';
import { lineDiff } from '../../../../src/machines/turn/files/line-diff.ts';

/** Applies a diff the way `patch` does, and checks every line that it says is there. */
function patched(text: string, diff: string): string {
  const before = text.split('\n');
  const after: string[] = [];
  let at = 0;
  for (const line of diff === '' ? [] : diff.split('\n')) {
    const [, start, count] = /^@@ -(\d+),(\d+) \+\d+,\d+ @@$/.exec(line) ?? [];
    if (start !== undefined) {
      while (at < Number(start) - (count === '0' ? 0 : 1)) after.push(before[at++] ?? '');
    } else if (line.startsWith('+')) {
      after.push(line.slice(1));
    } else {
      expect(before[at]).toBe(line.slice(1));
      if (line.startsWith(' ')) after.push(line.slice(1));
      at += 1;
    }
  }
  return [...after, ...before.slice(at)].join('\n');
}

describe('the difference of two texts', () => {
  it('shows what changed with three lines around it', () => {
    const before = ['1', '2', '3', '4', '5', '6', '7', '8', '9'].join('\n');
    expect(lineDiff(before, before.replace('5', 'five'))).toBe(
      ['@@ -2,7 +2,7 @@', ' 2', ' 3', ' 4', '-5', '+five', ' 6', ' 7', ' 8'].join('\n'),
    );
  });

  it('shows places that lie far apart each by itself', () => {
    const lines = Array.from({ length: 50 }, (_, index) => `line ${index}`);
    const diff = lineDiff(
      lines.join('\n'),
      lines.map((line, index) => (index === 5 || index === 40 ? `new ${index}` : line)).join('\n'),
    );
    expect(diff.match(/^@@/gm)).toHaveLength(2);
  });

  it('is empty when there is none', () => {
    expect(lineDiff('a\nb', 'a\nb')).toBe('');
  });

  it('leads from the one to the other', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', ''), { minLength: 1, maxLength: 30 })
      .map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(patched(before, lineDiff(before, after))).toBe(after);
      }),
      { numRuns: 500 },
    );
  });

  it('is cut, and says so, when it is long', () => {
    const lines = Array.from({ length: 3_000 }, (_, index) => `line ${index}`);
    const diff = lineDiff(lines.join('\n'), lines.map((line) => `${line}!`).join('\n'));
    expect(diff.length).toBeLessThan(MAX_DIFF_CHARACTERS + 100);
    expect(diff).toMatch(/\n\[the rest of the difference is left out\]$/);
  });
});
