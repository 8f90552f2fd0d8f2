import { describe, expect, it } from 'vitest';
import { beginningOf, cutText } from '../../src/machines/cut-text.ts';

describe('a text that is cut', () => {
  it('stays as it is while it fits', () => {
    expect(cutText('12345', 5)).toBe('12345');
    expect(beginningOf('12345', 5)).toBe('12345');
  });

  it('is never longer than its limit, the mark of the cut included', () => {
    expect(cutText('123456', 5)).toBe('1234…');
    expect(cutText('123456', 1)).toBe('…');
    expect(beginningOf('123456', 5)).toBe('12345');
  });

  it.each([1, 2, 3, 4, 5, 6])('ends with a whole character where it is cut at %i', (most) => {
    for (const cut of [beginningOf('a😀😀😀', most), cutText('a😀😀😀', most)]) {
      expect(cut).not.toMatch(/\p{Surrogate}/u);
      expect(cut.length).toBeLessThanOrEqual(most);
    }
  });
});
