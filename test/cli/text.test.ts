import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stylesFor } from '../../src/cli/terminal/styles.ts';
import { closestName } from '../../src/machines/closest-name.ts';
import { durationText, lastLines, oneLine, printable, shellQuoted } from '../../src/cli/terminal/text.ts';

describe('text from elsewhere', () => {
  it('cannot drive the terminal: control characters are shown instead of obeyed', () => {
    expect(printable('\u001B[2Jgone\u0007 a\u202Eb \u009B31m')).toBe('␛[2Jgone␇ a\uFFFDb \uFFFD31m');
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(printable(text)).not.toMatch(/(?![\t\n])\p{Cc}/u);
      }),
    );
  });

  it('keeps its lines and tabs', () => {
    expect(printable('one\r\n\ttwo\n')).toBe('one\n\ttwo\n');
  });

  it('is cut between characters, never inside one', () => {
    expect(oneLine('  two\nlines 🎉🎉🎉 ', 13)).toBe('two lines 🎉…');
  });

  it('shows the end of a long output, and says how much came before', () => {
    expect(lastLines('1\n\n2\n3\n4\n', 2)).toEqual({ lines: ['3', '4'], omitted: 2 });
    expect(lastLines('1\n', 0)).toEqual({ lines: [], omitted: 1 });
  });
});

it.each([
  [40, '0.0 s'],
  [3_240, '3.2 s'],
  [59_400, '59 s'],
  [200_000, '3 min 20 s'],
  [7_260_000, '2 h 1 min'],
  [604_800_000, '7 days'],
  [183_600_000, '2 days 3 h'],
])('%d ms read as %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

it('quoted words come out of a shell as they went in', () => {
  const words = ['plain', 'two words', "it's", '$HOME `x` "y"', '', '-n', 'line\nbreak', '*', '~', 'a;b&c|d'];
  const printed = execFileSync('/bin/sh', ['-c', `for word in ${shellQuoted(words)}; do printf '%s\\0' "$word"; done`]);
  expect(printed.toString().split('\0').slice(0, -1)).toEqual(words);
});

describe('colors', () => {
  it.each([
    ['on a terminal', true, {}, true],
    ['but not through a pipe', false, {}, false],
    ['and not when NO_COLOR is set', true, { NO_COLOR: '1' }, false],
    ['unless it is set to nothing', true, { NO_COLOR: '' }, true],
    ['and not on a terminal that knows none', true, { TERM: 'dumb' }, false],
  ] as const)('are used %s', (_, isTerminal, environment, isColored) => {
    expect(stylesFor({ isTerminal, environment }).red('no')).toBe(isColored ? '\u001B[31mno\u001B[39m' : 'no');
  });
});

describe('a name with a typing error', () => {
  it.each([
    ['reviwer', 'reviewer'],
    ['rev', 'reviewer'],
    ['fixr', 'fixer'],
    ['something-else', undefined],
    ['x', undefined],
  ])('%s is taken for %s', (given, meant) => {
    expect(closestName(given, ['fixer', 'reviewer'])).toBe(meant);
  });
});
