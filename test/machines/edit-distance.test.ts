import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editDistance } from '../../src/machines/closest-name.ts';

const word = (maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength });

/** By the definition. */
function distance(one: string, other: string): number {
  if (one === '' || other === '') return one.length + other.length;
  const rest = distance(one.slice(1), other.slice(1));
  return one[0] === other[0] ? rest : 1 + Math.min(rest, distance(one.slice(1), other), distance(one, other.slice(1)));
}

describe('the distance of two words', () => {
  it('is how many characters must change, as far as that is asked for', () => {
    fc.assert(
      fc.property(
        word(5),
        word(5),
        fc.integer({ min: 0, max: 3 }),
        (one, other, most) => editDistance(one, other, most) === Math.min(distance(one, other), most + 1),
      ),
    );
  });

  it('is the same in both directions', () => {
    fc.assert(
      fc.property(word(12), word(12), (one, other) => editDistance(one, other, 2) === editDistance(other, one, 2)),
    );
  });

  it.each([
    ['certificate', 'certifcate', 1],
    ['deploy', 'depoly', 2],
    ['port', 'sport', 1],
    ['same', 'same', 0],
  ])('of %s and %s is %i', (one, other, expected) => {
    expect(editDistance(one, other, 3)).toBe(expected);
  });
});
