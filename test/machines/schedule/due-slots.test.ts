import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideCatchUp, dueSlots } from '../../../src/machines/schedule/due-slots.ts';
import type { NominalTimes } from '../../../src/machines/schedule/due-slots.ts';

/** Every ten units, up to and with `last`. */
const everyTen = (last = Infinity): NominalTimes => ({
  next: (at) => {
    const slot = (Math.floor(at / 10) + 1) * 10;
    return slot > last ? undefined : slot;
  },
  previous: (at) => Math.min((Math.ceil(at / 10) - 1) * 10, last),
});

describe('slots that have come due', () => {
  it('are those after the last check, up to now and including now', () => {
    expect(dueSlots(everyTen(), { afterMs: 10, upToMs: 40, limit: 9 })).toEqual({
      slots: [20, 30, 40],
      older: undefined,
    });
  });

  it('are none while the next one lies ahead', () => {
    expect(dueSlots(everyTen(), { afterMs: 40, upToMs: 49, limit: 9 })).toEqual({ slots: [], older: undefined });
  });

  it('are none when the clock was set back behind the last check', () => {
    expect(dueSlots(everyTen(), { afterMs: 400, upToMs: 49, limit: 9 })).toEqual({ slots: [], older: undefined });
  });

  it('beyond the limit are one span, whose end is the newest slot in it', () => {
    expect(dueSlots(everyTen(), { afterMs: 13, upToMs: 1_000_000_007, limit: 2 })).toEqual({
      slots: [999_999_990, 1_000_000_000],
      older: { afterMs: 13, upToMs: 999_999_980 },
    });
  });

  it('at the limit leave no empty span', () => {
    expect(dueSlots(everyTen(), { afterMs: 10, upToMs: 35, limit: 2 })).toEqual({ slots: [20, 30], older: undefined });
  });

  it('end where the plan ends', () => {
    expect(dueSlots(everyTen(30), { afterMs: 10, upToMs: 500, limit: 9 })).toEqual({
      slots: [20, 30],
      older: undefined,
    });
  });
});

describe('the catch-up policy', () => {
  const at = (policy: 'none' | 'latest' | { all: number }, nowMs: number, punctualMs: number): unknown =>
    decideCatchUp({ slots: [100, 200, 300], policy, nowMs, punctualMs });

  it.each([
    ['none', 'none' as const, { fire: [], missed: [100, 200, 300] }],
    ['latest', 'latest' as const, { fire: [300], missed: [100, 200] }],
    ['all, up to two', { all: 2 }, { fire: [200, 300], missed: [100] }],
    ['all, up to five', { all: 5 }, { fire: [100, 200, 300], missed: [] }],
  ])('%s, with every slot late, is %j', (_name, policy, expected) => {
    expect(at(policy, 1_000, 50)).toEqual(expected);
  });

  it.each([
    ['none', 'none' as const, { fire: [300], missed: [100, 200] }],
    ['latest', 'latest' as const, { fire: [300], missed: [100, 200] }],
    ['all, up to two', { all: 2 }, { fire: [200, 300], missed: [100] }],
  ])('%s, with the last slot on time, is %j', (_name, policy, expected) => {
    expect(at(policy, 310, 50)).toEqual(expected);
  });

  it('never drops a slot that is on time, however many there are', () => {
    expect(at('none', 310, 210)).toEqual({ fire: [100, 200, 300], missed: [] });
  });

  it('takes nothing for on time when the runtime was down', () => {
    expect(at('none', 300, 0)).toEqual({ fire: [], missed: [100, 200, 300] });
  });

  it('splits slots into older missed ones and newer ones that fire, and loses none', () => {
    const policies = fc.oneof(
      fc.constant('none' as const),
      fc.constant('latest' as const),
      fc.integer({ min: 1, max: 30 }).map((all) => ({ all })),
    );
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.nat(1_000), { maxLength: 40 }),
        policies,
        fc.nat(2_000),
        fc.nat(500),
        (unsorted, policy, nowMs, punctualMs) => {
          const slots = unsorted.toSorted((a, b) => a - b);
          const { fire, missed } = decideCatchUp({ slots, policy, nowMs, punctualMs });
          expect([...missed, ...fire]).toEqual(slots);
        },
      ),
    );
  });
});
