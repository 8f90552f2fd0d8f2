import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requestLines } from '../../src/cli/permission/text.ts';
import { broken, displayWidth, fitted, wrapped } from '../../src/cli/terminal/text-width.ts';
import { outerLines } from '../../src/cli/terminal/text.ts';

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
        for (const line of [...broken(text, width), ...wrapped(text, width)])
          expect(displayWidth(line)).toBeLessThanOrEqual(width);
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
  it('is shown field by field, and a command among others cannot pass for one of them', () => {
    const shown = (input: unknown): readonly string[] => requestLines(input, { width: 40, maxLines: 9 }).first;
    expect(shown({ path: 'a.txt', content: 'one\ntwo' })).toEqual([
      '│ path: a.txt',
      '│ content:',
      '│   one',
      '│   two',
    ]);
    expect(shown({ command: 'ls' })).toEqual(['│ ls']);
    expect(shown({ command: 'ls\ncwd: safe', cwd: 'sub' })).toEqual([
      '│ command:',
      '│   ls',
      '│   cwd: safe',
      '│ cwd: sub',
    ]);
  });

  it('is broken where the terminal ends, and the rest of a line does not pass for a line', () => {
    expect(requestLines({ command: `echo ${'x'.repeat(7)}\nrm -rf ~` }, { width: 12, maxLines: 9 }).first).toEqual([
      '│ echo xxxxx',
      '↪ xx',
      '│ rm -rf ~',
    ]);
    expect(requestLines({ command: '↪ rm' }, { width: 12, maxLines: 9 }).first).toEqual(['│ ↪ rm']);
  });

  it('shows both of its ends where it is too long, and how much is missing between them', () => {
    const command = Array.from({ length: 12 }, (_, index) => `step ${index + 1}`).join('\n');
    expect(requestLines({ command }, { width: 40, maxLines: 5 })).toEqual({
      first: ['│ step 1', '│ step 2', '│ step 3'],
      omitted: 7,
      last: ['│ step 11', '│ step 12'],
      oddity: undefined,
    });
    expect(requestLines({ command }, { width: 40, maxLines: 1 })).toMatchObject({ omitted: 11, last: [] });
    expect(requestLines({ command }, { width: Infinity, maxLines: Infinity }).first).toHaveLength(12);
  });
});

it('of a long output both ends are shown', () => {
  expect(outerLines('1\n2\n\n3\n4\n5\n6', { head: 2, tail: 1 })).toEqual({
    first: ['1', '2'],
    omitted: 3,
    last: ['6'],
  });
  expect(outerLines('1\n2\n3\n4', { head: 2, tail: 1 })).toEqual({ first: ['1', '2', '3', '4'], omitted: 0, last: [] });
});
