/** Waiting that ends, in real and in simulated time. */
import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { pause, untilAborted, within } from '../../../src/adapters/system/waiting.ts';

const never = new Promise<never>(() => undefined);

describe('a pause', () => {
  it('ends when its time is over, and leaves no timer', async () => {
    const clock = createSimulatedClock();
    let isOver = false;
    const waiting = pause(100, { clock }).then(() => (isOver = true));
    await clock.advance(99);
    expect(isOver).toBe(false);
    await clock.advance(1);
    await waiting;
    await pause(1);
    await within(pause(1), 5, { keepsAlive: false });
  });

  it('ends at once when its signal aborts, before or meanwhile', async () => {
    const stop = new AbortController();
    const waiting = pause(1_000_000, { signal: stop.signal });
    stop.abort();
    expect(await waiting).toBeUndefined();
    expect(await pause(1_000_000, { signal: stop.signal })).toBeUndefined();
  });
});

describe('work that is waited for', () => {
  it('within a time gives its answer, nothing when it takes longer, and its error', async () => {
    const clock = createSimulatedClock();
    expect(await within(Promise.resolve('done'), 10, { clock })).toBe('done');
    await expect(within(Promise.reject(new Error('no')), 10, { clock })).rejects.toThrow('no');
    const late = within(never, 10, { clock });
    await clock.advance(10);
    expect(await late).toBeUndefined();
  });

  it('until a signal aborts gives its answer, or the reason of the signal however deaf it is', async () => {
    const stop = new AbortController();
    expect(await untilAborted(Promise.resolve('done'), stop.signal)).toBe('done');
    const waiting = untilAborted(never, stop.signal);
    stop.abort(new Error('stop'));
    await expect(waiting).rejects.toThrow('stop');
    await expect(untilAborted(never, stop.signal)).rejects.toThrow('stop');
  });
});
