import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_LINE_CHARACTERS } from '../../../../src/machines/turn/files/file-limits.ts';
import { LinePage } from '../../../../src/machines/turn/files/line-page.ts';
import { LineSplitter } from '../../../../src/machines/turn/files/line-splitter.ts';

interface Request {
  readonly offset?: number;
  readonly limit?: number;
}

function pageOf(text: string, { offset = 1, limit = 100 }: Request = {}): string {
  const splitter = new LineSplitter({ maxCharacters: MAX_LINE_CHARACTERS });
  const page = new LinePage({ offset, limit });
  for (const line of splitter.push(text)) page.add(line);
  const last = splitter.end();
  if (last !== undefined) page.add(last);
  return page.toText({ isWhole: true });
}

describe('a page of a file', () => {
  it('has numbered lines and nothing else when all is said by them', () => {
    expect(pageOf('a\nb\n')).toBe('     1\ta\n     2\tb');
  });

  it.each([
    ['', '[The file is empty.]'],
    ['a', '     1\ta\n[The last line does not end in a line break.]'],
    ['a\r\nb\r\n', '     1\ta\n     2\tb\n[Lines end in CRLF.]'],
    ['a\r\nb\n', '     1\ta\n     2\tb\n[Some lines end in CRLF and some in LF.]'],
    ['\uFEFFa\n', '     1\ta\n[The file begins with a byte order mark, which is not shown.]'],
    ['\n', '     1\t'],
  ])('of %j is %j', (text, expected) => {
    expect(pageOf(text)).toBe(expected);
  });

  it('says how to go on, when the end is reached, and when one has gone beyond it', () => {
    expect(pageOf('a\nb\nc\n', { limit: 2 })).toContain('[Lines 1 to 2 of 3. Read on with offset 3.]');
    expect(pageOf('a\nb\nc\n', { offset: 3 })).toBe('     3\tc\n[This is the end of the file; it has 3 lines.]');
    expect(pageOf('a\n', { offset: 5 })).toBe('[The file has 1 line; line 5 is beyond its end.]');
  });

  it('shows the beginning of a long line and how much is missing', () => {
    const page = pageOf(`${'x'.repeat(MAX_LINE_CHARACTERS + 7)}\r\nb\r\n`);
    expect(page).toContain(
      `\t${'x'.repeat(MAX_LINE_CHARACTERS)} [… 7 more characters of this line are not shown]\n     2\tb\n`,
    );
  });

  it('shows a line that just fits as it is, also when CRLF ends it', () => {
    expect(pageOf(`${'x'.repeat(MAX_LINE_CHARACTERS)}\r\n`)).toBe(
      `     1\t${'x'.repeat(MAX_LINE_CHARACTERS)}\n[Lines end in CRLF.]`,
    );
  });
});

describe('a text that comes in pieces', () => {
  it('has the same lines however it is cut', () => {
    const text = fc
      .array(fc.constantFrom('a', 'bc', '\n', '\r\n', '\r', ''), { maxLength: 40 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, fc.array(fc.nat({ max: 5 }), { maxLength: 40 }), (whole, sizes) => {
        const splitter = new LineSplitter({ maxCharacters: 100 });
        const lines: string[] = [];
        let at = 0;
        for (const size of [...sizes, whole.length]) {
          for (const line of splitter.push(whole.slice(at, at + size))) lines.push(line.text + line.ending);
          at += size;
        }
        lines.push(splitter.end()?.text ?? '');
        expect(lines.join('')).toBe(whole);
        expect(lines).toHaveLength(whole.split('\n').length);
      }),
      { numRuns: 500 },
    );
  });
});
