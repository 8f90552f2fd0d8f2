import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canGoOn,
  isMatched,
  matchesGlob,
  parseGlob,
  startGlob,
  stepGlob,
} from '../../../../src/machines/turn/files/glob-pattern.ts';
import { matchesName, parseNamePattern } from '../../../../src/machines/glob-name.ts';

const matches = (pattern: string, path: string): boolean => matchesGlob(parseGlob(pattern), path.split('/'));

/** What parts of a pattern are as parts of a regular expression, where they differ. */
const AS_EXPRESSION: ReadonlyMap<string, string> = new Map([
  ['*', '.*'],
  ['?', '.'],
  ['[!a]', '[^a]'],
]);

describe('a glob pattern', () => {
  it.each([
    ['*.ts', 'a.ts', true],
    ['*.ts', 'src/a.ts', false],
    ['**/*.ts', 'a.ts', true],
    ['**/*.ts', 'src/deep/a.ts', true],
    ['src/**', 'src/a/b.c', true],
    ['src/**', 'src', false],
    ['src/**/x', 'src/x', true],
    ['src/**/b/**/x', 'src/a/b/c/x', true],
    ['src/**/b/**/x', 'src/a/c/x', false],
    ['{src,test}/*.{ts,md}', 'test/a.md', true],
    ['{src,test}/*.{ts,md}', 'lib/a.md', false],
    ['a{,b{1,2}}.c', 'a.c', true],
    ['a{,b{1,2}}.c', 'ab2.c', true],
    ['{a}.c', '{a}.c', true],
    ['{a,b.c', '{a,b.c', true],
    ['a?c', 'abc', true],
    ['a?c', 'a😀c', true],
    ['[a-c][!x-z].c', 'bq.c', true],
    ['[a-c][!x-z].c', 'by.c', false],
    ['[]x].c', '].c', true],
    ['[abc', '[abc', true],
    ['\\[id\\].ts', '[id].ts', true],
    ['a\\*b', 'a*b', true],
    ['a\\*b', 'axb', false],
    ['./src/./a.ts', 'src/a.ts', true],
    ['app/(group)/*.ts', 'app/(group)/a.ts', true],
  ])('%s on %s: %s', (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected);
  });

  it.each(['/etc/*', '../x', 'a/../../x', '{..,a}/x', '!(a)', '@(a|b)/c', '.', '{a,b}'.repeat(7)])(
    'is refused when it is %s',
    (pattern) => {
      expect(() => parseGlob(pattern)).toThrow(expect.objectContaining({ code: 'PATTERN_INVALID' }));
    },
  );

  it('finds names that begin with a dot only when it says the dot or is told to', () => {
    const step = (pattern: string, name: string, includeHidden: boolean): boolean => {
      const glob = parseGlob(pattern);
      return isMatched(glob, stepGlob(glob, startGlob(glob), { name, includeHidden }));
    };
    expect(step('**', '.env', false)).toBe(false);
    expect(step('*', '.env', false)).toBe(false);
    expect(step('.*', '.env', false)).toBe(true);
    expect(step('**', '.env', true)).toBe(true);
  });

  it('knows in which folders nothing can be found', () => {
    const glob = parseGlob('src/*/x.ts');
    const into = (...names: string[]): boolean => {
      let progress = startGlob(glob);
      for (const name of names) progress = stepGlob(glob, progress, { name, includeHidden: false });
      return canGoOn(glob, progress);
    };
    expect([into('src'), into('src', 'a'), into('src', 'a', 'b'), into('test')]).toEqual([true, true, false, false]);
  });

  it('comes to an end for patterns that are made to take for ever', () => {
    expect(matches(`${'*a'.repeat(100)}*b`, 'a'.repeat(250))).toBe(false);
    expect(matches(`${'**/a/'.repeat(100)}b`, `${'a/'.repeat(1_000)}c`)).toBe(false);
  });

  it('agrees, for names, with a regular expression that says the same', () => {
    const part = fc.constantFrom('a', 'b', '*', '?', '[ab]', '[!a]');
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 6 }),
        fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 }),
        (parts, name) => {
          const source = parts.map((each) => AS_EXPRESSION.get(each) ?? each).join('');
          expect(matchesName(parseNamePattern(parts.join('')), name)).toBe(new RegExp(`^${source}$`, 'u').test(name));
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
