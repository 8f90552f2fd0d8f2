import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  globProblem,
  isKnownFolderOf,
  matchesAllBelow,
  matchesGlob,
  mayMatchBelow,
  workspacePath,
} from '../../../src/machines/permission/path-glob.ts';

const strict = { matching: 'strict' } as const;
const wide = { matching: 'wide' } as const;

describe('a pattern of paths', () => {
  it.each([
    ['src/a.ts', ['src/a.ts'], ['src/a.tsx', 'a.ts', 'src', 'src/a.ts/b', 'SRC/a.ts']],
    ['src/*', ['src/a', 'src/a.ts', 'src/.a'], ['src', 'src/a/b', 'a']],
    ['src/**', ['src', 'src/a', 'src/a/b/c'], ['srcs/a', 'a/src/b', '']],
    ['**/*.ts', ['a.ts', 'a/b/c.ts'], ['a.tsx', 'a.ts/b']],
    ['**', ['', 'a', 'a/b'], []],
    ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b'], ['a', 'b', 'a/b/c']],
    ['a/**/**/b', ['a/b', 'a/x/b'], ['a']],
    ['?.ts', ['a.ts', 'ü.ts', '𝒂.ts'], ['.ts', 'ab.ts', '/.ts']],
    ['a*b*c', ['abc', 'axxbyyc', 'abcbc'], ['ab', 'acb', 'a/b/c']],
    ['a.b', ['a.b'], ['axb']],
    ['[ab]', ['[ab]'], ['a']],
    ['{a,b}', ['{a,b}'], ['a']],
    ['a+(b)', ['a+(b)'], ['ab']],
  ])('%s means %j and not %j', (glob, yes, no) => {
    expect(globProblem(glob)).toBeUndefined();
    expect(yes.filter((path) => !matchesGlob(glob, path, strict))).toEqual([]);
    expect(no.filter((path) => matchesGlob(glob, path, strict))).toEqual([]);
  });

  it('does not mean what decides what git runs, unless it says so, when it allows', () => {
    for (const path of ['.git', '.git/config', 'sub/.git/hooks/pre-commit', '.GIT/config', 'HEAD', 'a/head']) {
      expect(
        ['**', '*', '*/*', '**/*', 'sub/**', 'a/*', '.gi?/*', '.g*/**'].filter((glob) =>
          matchesGlob(glob, path, strict),
        ),
      ).toEqual([]);
      expect(matchesGlob('**', path, wide)).toBe(true);
    }
    expect(matchesGlob('.git/config', '.git/config', strict)).toBe(true);
    expect(matchesGlob('.git/*', '.git/config', strict)).toBe(true);
  });

  it('means the same file under every name a file system may know it by, when it denies', () => {
    expect(matchesGlob('secrets/*.ENV', 'Secrets/a.env', wide)).toBe(true);
    expect(matchesGlob('caf\u00e9', 'cafe\u0301', wide)).toBe(true);
    expect(matchesGlob('secrets/*', 'Secrets/a', strict)).toBe(false);
  });

  it('is decided in no time, however many stars it has', () => {
    expect(matchesGlob(`${'*a'.repeat(200)}b`, 'a'.repeat(4_000), strict)).toBe(false);
    expect(matchesGlob(`${'**/'.repeat(120)}b`, 'a/'.repeat(2_000) + 'c', strict)).toBe(false);
  });

  it('agrees with what its stars say as a regular expression', () => {
    const names = fc.array(fc.constantFrom('a', 'b', 'ab', 'ba', '.a'), { minLength: 1, maxLength: 4 });
    const patterns = fc.array(fc.constantFrom('a', 'b', 'a*', '*b', '*', '?', '**', '?b', '*a*'), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(patterns, names, (parts, path) => {
        const source = parts
          .map((part) =>
            part === '**'
              ? '(?:[^/]+/)*'
              : `${part.replaceAll('.', '\\.').replaceAll('*', '[^/]*').replaceAll('?', '[^/]')}/`,
          )
          .join('');
        expect(matchesGlob(parts.join('/'), path.join('/'), strict)).toBe(
          new RegExp(`^${source}$`).test(`${path.join('/')}/`),
        );
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('a path from the workspace', () => {
  it.each([
    ['src/a.ts', 'src/a.ts'],
    ['./src//a.ts/', 'src/a.ts'],
    ['/ws/src/a.ts', 'src/a.ts'],
    ['/ws', ''],
    ['/ws/', ''],
    ['.', ''],
    ['', ''],
    ['/ws//./a', 'a'],
    ['/wsx/a', undefined],
    ['/other', undefined],
    ['/', undefined],
    ['..', undefined],
    ['src/../a', undefined],
    ['/ws/../ws/a', undefined],
    ['a\0b', undefined],
    ['..a', '..a'],
  ])('%j is %j', (path, inside) => {
    expect(workspacePath(path, '/ws')).toBe(inside);
    expect(workspacePath(path, '/ws/')).toBe(inside);
  });

  it('is a folder of which a pattern means all, or perhaps something', () => {
    expect(['src', 'src/a', 'lib', ''].map((path) => matchesAllBelow('src/**', path, strict))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(['', 'a', '.git'].map((path) => matchesAllBelow('**', path, strict))).toEqual([true, true, false]);
    expect(matchesAllBelow('src/*', 'src/a', strict)).toBe(false);
    expect(['', 'src', 'src/a', 'lib'].map((path) => mayMatchBelow('src/*.ts', path, wide))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(['', 'src', 'a/b/c'].map((path) => mayMatchBelow('**/.env', path, wide))).toEqual([true, true, true]);
  });

  it('may be a folder above what a pattern means', () => {
    expect(['', 'a', 'a/b', 'A'].map((path) => isKnownFolderOf('a/b/*.ts', path))).toEqual([true, true, true, true]);
    expect(['b', 'a/c', 'a/b/c', 'a/b/c.ts'].map((path) => isKnownFolderOf('a/b/*.ts', path))).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });
});
