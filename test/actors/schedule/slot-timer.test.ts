import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { SlotTimer } from '../../../src/actors/schedule/slot-timer.ts';
import { MINUTE, START } from './schedule-stage.ts';

function alarm() {
  const clock = createSimulatedClock({ now: START });
  const rings: number[] = [];
  return { clock, rings, alarm: new SlotTimer(clock, MINUTE, () => rings.push(clock.now() - START)) };
}

describe('the alarm of a schedule', () => {
  it('rings once, at its time', () => {
    const { clock, rings, alarm: own } = alarm();
    own.set(START + 150_000);
    clock.advanceNow(149_999);
    expect(rings).toEqual([]);
    clock.advanceNow(10 * MINUTE);
    expect(rings).toEqual([150_000]);
  });

  it('rings later by as much as the wall clock was set back', () => {
    const { clock, rings, alarm: own } = alarm();
    own.set(START + MINUTE);
    clock.jumpWallClock(-5_000);
    clock.advanceNow(MINUTE);
    expect(rings).toEqual([]);
    clock.advanceNow(MINUTE);
    expect(rings).toEqual([MINUTE]);
  });

  it('rings within its check interval when the wall clock was set past its time', () => {
    const { clock, rings, alarm: own } = alarm();
    own.set(START + 60 * MINUTE);
    clock.jumpWallClock(90 * MINUTE);
    clock.advanceNow(MINUTE);
    expect(rings).toEqual([91 * MINUTE]);
  });

  it('set anew forgets what was set before, and cleared forgets everything', () => {
    const { clock, rings, alarm: own } = alarm();
    own.set(START + MINUTE);
    own.set(START + 2 * MINUTE);
    clock.advanceNow(MINUTE);
    expect([rings, clock.pendingTimers]).toEqual([[], 1]);
    own.clear();
    own.clear();
    clock.advanceNow(MINUTE);
    expect([rings, clock.pendingTimers]).toEqual([[], 0]);
  });

  it('for a time that has passed rings at once, but not before it is set', () => {
    const { clock, rings, alarm: own } = alarm();
    own.set(START - MINUTE);
    expect(rings).toEqual([]);
    clock.advanceNow(1);
    expect(rings).toHaveLength(1);
  });
});
