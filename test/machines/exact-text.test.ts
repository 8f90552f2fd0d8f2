import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bothEnds, exact, exactLines, oddities, unmistakableLine } from '../../src/machines/exact-text.ts';

describe('text that a person has to judge', () => {
  it('hides nothing: controls, invisible characters and blanks at the end are written out', () => {
    expect(exactLines('a\u001B[2J\u200Bb\tc \nd\u202E')).toEqual([
      String.raw`a\u{001B}[2J\u{200B}b\tc·`,
      String.raw`d\u{202E}`,
    ]);
    expect(exact('a\u202Eb\n\u200B  ')).toBe(String.raw`a\u{202E}b\n\u{200B}··`);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        for (const line of exactLines(text))
          expect(line).not.toMatch(/(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u);
      }),
    );
  });

  it('says which letters are not what they look like', () => {
    expect(oddities('plain\n\ttext')).toBeUndefined();
    expect(oddities('раypal')).toBe('It holds characters beyond plain ASCII: р (U+0440), а (U+0430).');
    expect(oddities('e\u0301\u3164\r')).toBe(
      String.raw`It holds characters beyond plain ASCII: ${'\u0301'} (U+0301), \u{3164}, \r.`,
    );
  });

  it('on one line reads in one way only', () => {
    expect(unmistakableLine('make\nrm')).toBe(String.raw`make\nrm`);
    expect(unmistakableLine(String.raw`printf 'a\nb\z'`)).toBe(String.raw`printf 'a\\nb\z'`);
    expect(unmistakableLine('a\\\nb\u200B')).toBe(String.raw`a\\\nb\u{200B}`);
    const unescaped = (line: string): string =>
      line.replaceAll(/\\(?:u\{([0-9A-F]+)\}|([nrt\\]))/g, (_, code: string | undefined, letter: string) =>
        code === undefined
          ? ({ n: '\n', r: '\r', t: '\t', '\\': '\\' }[letter] ?? '')
          : String.fromCodePoint(Number.parseInt(code, 16)),
      );
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom('\\', 'n', 'u', '{200B}', '\n', '\r', '\t', '\u200B', ' ', 'é', '\u{1F389}', '\u00A0', 'x'),
        ),
        (parts) => {
          const text = parts.join('');
          const line = unmistakableLine(text);
          expect(line).not.toMatch(/(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u);
          expect(unescaped(line)).toBe(text);
        },
      ),
    );
  });

  it('is cut in the middle, between characters, with how much is missing', () => {
    expect(bothEnds('0123456789', 10)).toBe('0123456789');
    expect(bothEnds('0123456789', 5)).toBe('012 … 5 more characters … 89');
    expect(bothEnds('🎉🎉🎉🎉', 4)).toBe('🎉🎉🎉🎉');
    expect(bothEnds('🎉🎉🎉🎉', 2)).toBe('🎉 … 2 more characters … 🎉');
  });
});
