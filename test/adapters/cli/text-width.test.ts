import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactLines, oddities } from '../../../src/adapters/cli/exact-text.ts';
import { requestLines } from '../../../src/adapters/cli/request-text.ts';
import { broken, displayWidth, fitted, wrapped } from '../../../src/adapters/cli/text-width.ts';
import { outerLines } from '../../../src/adapters/cli/text.ts';

describe('the width of a text', () => {
  it.each([
    ['plain', 5],
    ['日本', 4],
    ['e\u0301', 1],
    ['👩‍👩‍👧', 2],
    ['🇩🇪', 2],
    ['❤️', 2],
    ['\u200B', 0],
    ['한글', 4],
  ])('of %j is %d places', (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });

  it('is never exceeded by what is cut, broken or wrapped to it, and nothing is lost that is broken', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 2, max: 30 }), (raw, width) => {
        const text = raw.replaceAll(/\p{C}|\p{Zl}|\p{Zp}/gu, '');
        expect(displayWidth(fitted(text, width))).toBeLessThanOrEqual(width);
        for (const line of [...broken(text, width), ...wrapped(text, width)]) expect(displayWidth(line)).toBeLessThanOrEqual(width);
        expect(broken(text, width).join('')).toBe(text);
        expect(wrapped(text, width).join('').replaceAll(/\s/gu, '')).toBe(text.replaceAll(/\s/gu, ''));
      }),
    );
  });

  it('decides where words go on the next line', () => {
    expect(wrapped('one two  three\nfour', 8)).toEqual(['one two', 'three', 'four']);
    expect(wrapped('a-very-long-word x', 6)).toEqual(['a-very', '-long-', 'word x']);
  });
});

describe('what has to be judged', () => {
  it('hides nothing: controls, invisible characters and blanks at the end are written out', () => {
    expect(exactLines('a\u001B[2J\u200Bb\tc \nd\u202E')).toEqual([String.raw`a\u{001B}[2J\u{200B}b\tc·`, String.raw`d\u{202E}`]);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        for (const line of exactLines(text)) expect(line).not.toMatch(/(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u);
      }),
    );
  });

  it('says which letters are not what they look like', () => {
    expect(oddities('git push')).toBeUndefined();
    expect(oddities('раypal')).toBe('It holds characters beyond plain ASCII: р (U+0440), а (U+0430).');
  });

  it('is shown field by field, and how much of it is not shown is said', () => {
    const shown = requestLines({ path: 'a.txt', content: 'one\ntwo' }, { width: 40, maxLines: 3 });
    expect(shown).toEqual({ lines: ['path: a.txt', 'content:', '  one'], omitted: 1, oddity: undefined });
    expect(requestLines({ command: 'ls', cwd: 'sub' }, { width: 40, maxLines: 9 }).lines).toEqual(['ls', 'cwd: sub']);
  });
});

it('of a long output both ends are shown', () => {
  expect(outerLines('1\n2\n\n3\n4\n5\n6', { head: 2, tail: 1 })).toEqual({ first: ['1', '2'], omitted: 3, last: ['6'] });
  expect(outerLines('1\n2\n3\n4', { head: 2, tail: 1 })).toEqual({ first: ['1', '2', '3', '4'], omitted: 0, last: [] });
});
