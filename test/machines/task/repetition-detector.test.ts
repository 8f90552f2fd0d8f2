import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RepetitionDetector } from '../../../src/machines/task/repetition-detector.ts';

/**
 * The rule, written naively: the tail is one unit, at least `threshold` times and over at least a quarter of the
 * window.
 */
function isStuck(text: string, window: number, threshold: number): boolean {
  for (let unit = 1; unit <= Math.floor(window / threshold); unit += 1) {
    const stretch = Math.max(unit * threshold, Math.ceil(window / 4));
    if (stretch > text.length) continue;
    const tail = text.slice(-stretch);
    if ([...Array(stretch - unit).keys()].every((at) => tail[at] === tail[at + unit])) return true;
  }
  return false;
}

describe('the repetition detector', () => {
  it('agrees with the rule at the end of every delta', () => {
    const deltas = fc.array(fc.oneof(fc.constantFrom('ab', 'abab', 'c', 'abc', 'aaaa'), fc.string({ maxLength: 4 })), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(
        deltas,
        fc.integer({ min: 2, max: 40 }),
        fc.integer({ min: 2, max: 8 }),
        (pieces, window, threshold) => {
          const detector = new RepetitionDetector(window, threshold);
          let text = '';
          for (const piece of pieces) {
            // Long deltas are examined as well; here they stay shorter than a quarter of the window.
            const part = piece.slice(0, Math.ceil(window / 4));
            text += part;
            const found = detector.push(part) !== undefined;
            expect(found).toBe(text.length > 0 && isStuck(text, window, threshold));
            if (found) return;
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('finds a sentence said again and again, and says which', () => {
    const detector = new RepetitionDetector(800, 8);
    let said = 0;
    while (detector.push('Let me check that again. ') === undefined) said += 1;
    expect(said + 1).toBe(8);
  });

  it('finds a loop that begins and ends inside one long delta', () => {
    expect(new RepetitionDetector(800, 8).push(`${'x = 1\n'.repeat(400)}done`)).toBeTypeOf('string');
  });

  it.each([
    ['indentation', `if (a) {\n${' '.repeat(80)}return;\n}`],
    ['a rule', `Title\n${'-'.repeat(120)}\n`],
    ['a table', `|${' --- |'.repeat(20)}\n`],
    ['an array of zeroes', `[${'0, '.repeat(40)}0]`],
    ['a list', Array.from({ length: 30 }, (_, index) => `- item ${index} of the list\n`).join('')],
  ])('leaves ordinary text alone: %s', (_name, text) => {
    const detector = new RepetitionDetector(800, 8);
    for (const character of text) expect(detector.push(character)).toBeUndefined();
  });
});
