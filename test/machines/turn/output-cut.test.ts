import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutOutput } from '../../../src/machines/turn/output-cut.ts';

describe('an output that is too long', () => {
  const lines = Array.from({ length: 1_000 }, (_, index) => `line ${index}`).join('\n');

  it('keeps its beginning and its end, and says between them how much is missing and where it is', () => {
    const cut = cutOutput(lines, { maxCharacters: 500, keptAt: '.wakechart-runtime/outputs/c.txt' });
    expect(cut).toMatch(/^line 0\nline 1\n/);
    expect(cut).toMatch(/\nline 998\nline 999$/);
    expect(cut).toMatch(
      /\n\[… \d+ characters left out here; all of it is in \.wakechart-runtime\/outputs\/c\.txt …\]\n/,
    );
  });

  it('is cut between lines where lines are short', () => {
    const parts = cutOutput(lines, { maxCharacters: 500 }).split(/\n\[.*\]\n/);
    for (const line of parts.flatMap((part) => part.split('\n'))) expect(line).toMatch(/^line \d+$/);
  });

  it('says nothing about a place when it is kept nowhere', () => {
    expect(cutOutput('x'.repeat(100), { maxCharacters: 60 })).toMatch(/^x+\n\[… \d+ characters left out here …\]\nx+$/);
  });

  it('is not torn within a character, never grows beyond the limit, and counts what is missing', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', '😀', '\n'), maxLength: 2_000 }),
        fc.integer({ min: 60, max: 1_500 }),
        (text, maxCharacters) => {
          const cut = cutOutput(text, { maxCharacters });
          expect(cut.length).toBeLessThanOrEqual(maxCharacters);
          expect(Buffer.from(cut).toString()).toBe(cut);
          if (text.length <= maxCharacters) {
            expect(cut).toBe(text);
            return;
          }
          const [, leftOut = ''] = /\[… (\d+) characters left out here …\]/.exec(cut) ?? [];
          const mark = `\n[… ${leftOut} characters left out here …]\n`;
          expect(cut.length - mark.length + Number(leftOut)).toBe(text.length);
        },
      ),
    );
  });

  it('is only the mark where nothing else fits', () => {
    expect(cutOutput('x'.repeat(100), { maxCharacters: 10 })).toBe('[… 100 characters left out here …]');
  });
});
