import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { createIdSource } from '../../../src/actors/session/id-source.ts';
import { isUuidV7 } from '../../../src/machines/ids.ts';

describe('ids', () => {
  it('sort in the order they were made, within a millisecond, over its end, and when the wall clock steps back', () => {
    const clock = createSimulatedClock();
    const ids = createIdSource({ clock });
    const made: string[] = [];
    for (let n = 0; n < 10_000; n += 1) {
      if (n === 3_000) clock.jumpWallClock(-3_600_000);
      if (n === 6_000) clock.advanceNow(1);
      made.push(ids.next());
    }
    expect(made).toEqual(made.toSorted());
    expect(new Set(made).size).toBe(made.length);
    expect(made.every(isUuidV7)).toBe(true);
  });

  it('of two processes differ', () => {
    const clock = createSimulatedClock();
    expect(createIdSource({ clock }).next()).not.toBe(createIdSource({ clock }).next());
  });

  it('are those of the random bytes they are given', () => {
    const clock = createSimulatedClock({ now: 0 });
    const ids = createIdSource({ clock, fillRandom: (bytes) => bytes.fill(7) });
    clock.advanceNow(1);
    expect([ids.next(), ids.next()]).toEqual([
      '00000000-0001-7000-8707-070707070707',
      '00000000-0001-7001-8707-070707070707',
    ]);
  });
});
