import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { SimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { IdleWatch } from '../../../src/actors/run/idle-watch.ts';

function watched(): { readonly clock: SimulatedClock; readonly watch: IdleWatch; readonly calls: number[] } {
  const clock = createSimulatedClock();
  const calls: number[] = [];
  const start = clock.steadyNow();
  return {
    clock,
    calls,
    watch: new IdleWatch({ clock, limitMs: 100, onIdle: () => void calls.push(clock.steadyNow() - start) }),
  };
}

describe('a watch over silence', () => {
  it('calls once, when nothing was heard for the limit', async () => {
    const { clock, calls } = watched();
    await clock.advance(1_000);
    expect(calls).toEqual([100]);
  });

  it('counts from the last sign of life', async () => {
    const { clock, watch, calls } = watched();
    await clock.advance(60);
    watch.touch();
    await clock.advance(60);
    expect(calls).toEqual([]);
    await clock.advance(1_000);
    expect(calls).toEqual([160]);
  });

  it('stands still while somebody else is waited for, until all of them have answered', async () => {
    const { clock, watch, calls } = watched();
    watch.pause();
    watch.pause();
    await clock.advance(250);
    watch.resume();
    await clock.advance(250);
    watch.resume();
    await clock.advance(99);
    expect(calls).toEqual([]);
    await clock.advance(1);
    expect(calls).toEqual([600]);
  });

  it('calls nobody once it has ended', async () => {
    const { clock, watch, calls } = watched();
    watch.end();
    watch.end();
    await clock.advance(1_000);
    expect(calls).toEqual([]);
  });
});
