/** Paths and patterns that mean the same to every program, and those that may lead elsewhere. */
import { describe, expect, it } from 'vitest';
import { isPlainPath, mayFindOutside } from '../../../src/machines/permission/plain-path.ts';

describe('a path', () => {
  it.each(['a', 'a/b.txt', '/w/a', './a', 'a..b', '.env', 'a b', 'ä/ö', 'a/~b'])(
    '%j names one file by its names',
    (path) => {
      expect(isPlainPath(path)).toBe(true);
    },
  );

  it.each([
    '..',
    'a/..',
    '../a',
    'a/../b',
    '~',
    '~/a',
    '~root/a',
    'a\0b',
    'a\nb',
    ' a',
    'a ',
    String.raw`a\b`,
    'C:/x',
    'file:///x',
    'http://x',
    'a/'.repeat(3_000),
  ])('%j may mean something else', (path) => {
    expect(isPlainPath(path)).toBe(false);
  });
});

describe('a pattern of paths', () => {
  it.each(['*', '**/*.ts', 'src/*/a', 'src/*.{ts,js}', 'a..b', '!*.md', 'NOTE:x', '[a-z]*'])(
    '%j stays below its folder',
    (pattern) => {
      expect(mayFindOutside(pattern)).toBe(false);
    },
  );

  it.each([
    '/etc/*',
    ' /etc',
    '~/*',
    '..',
    '../*',
    'a/../b',
    '{a,/etc}/*',
    '{..,a}/*',
    '@(/etc|a)',
    '!/etc',
    String.raw`\/etc`,
    'C:x',
    'file:///x',
    'a\0b',
  ])('%j may lead out of it', (pattern) => {
    expect(mayFindOutside(pattern)).toBe(true);
  });
});
