import { describe, expect, it } from 'vitest';
import { decideOverlap } from '../../../src/machines/schedule/overlap.ts';

const nothing = { fire: undefined, queue: [], skip: [], cancelRunning: false };
const decide = (
  policy: 'skip' | 'queue' | 'cancel-previous',
  batch: number[],
  busy: { isBusy?: boolean; line?: number[] } = {},
): unknown => decideOverlap({ policy, batch, isBusy: busy.isBusy ?? false, line: busy.line ?? [], lineLimit: 2 });

describe('a slot that finds nothing running', () => {
  it.each(['skip', 'queue', 'cancel-previous'] as const)('fires under %s', (policy) => {
    expect(decide(policy, [10])).toEqual({ ...nothing, fire: 10 });
  });

  it.each(['skip', 'queue', 'cancel-previous'] as const)(
    'is followed by the others of its catch-up under %s, however many',
    (policy) => {
      expect(decide(policy, [10, 20, 30, 40])).toEqual({ ...nothing, fire: 10, queue: [20, 30, 40] });
    },
  );
});

describe('a slot that finds the fire before it running', () => {
  it('is skipped under skip', () => {
    expect(decide('skip', [20], { isBusy: true })).toEqual({ ...nothing, skip: [{ slot: 20, reason: 'overlap' }] });
  });

  it('stands in line under queue', () => {
    expect(decide('queue', [20], { isBusy: true, line: [10] })).toEqual({ ...nothing, queue: [20] });
  });

  it('is skipped under queue when the line is full', () => {
    expect(decide('queue', [30, 40], { isBusy: true, line: [10] })).toEqual({
      ...nothing,
      queue: [30],
      skip: [{ slot: 40, reason: 'queue-full' }],
    });
    expect(decide('queue', [40], { isBusy: true, line: [10, 20, 30] })).toEqual({
      ...nothing,
      skip: [{ slot: 40, reason: 'queue-full' }],
    });
  });

  it('takes its place under cancel-previous, and that of all who wait', () => {
    expect(decide('cancel-previous', [30], { isBusy: true, line: [20] })).toEqual({
      fire: undefined,
      queue: [30],
      skip: [{ slot: 20, reason: 'superseded' }],
      cancelRunning: true,
    });
  });

  it('waits behind a line that is held up, though nothing runs', () => {
    expect(decide('queue', [20], { line: [10] })).toEqual({ ...nothing, queue: [20] });
    expect(decide('cancel-previous', [20], { line: [10] })).toMatchObject({
      queue: [20],
      skip: [{ slot: 10 }],
      cancelRunning: false,
    });
  });
});

describe('no slot', () => {
  it('changes nothing', () => {
    expect(decide('cancel-previous', [], { isBusy: true, line: [10] })).toEqual(nothing);
  });
});
