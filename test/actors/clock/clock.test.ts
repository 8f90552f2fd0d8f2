import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { TimerQueue } from '../../../src/actors/clock/timer-queue.ts';

describe('a timer queue', () => {
  it('gives timers back in order of due time, first armed first, whatever was disarmed in between', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ due: fc.integer({ min: 0, max: 20 }), disarm: fc.boolean() }), { maxLength: 200 }),
        (plan) => {
          const queue = new TimerQueue();
          const fired: number[] = [];
          const handles = plan.map(({ due }, index) => queue.add(due, () => fired.push(index)));
          plan.forEach(({ disarm }, index) => {
            if (disarm) queue.delete(handles[index]);
          });
          const expected = plan.map((entry, index) => ({ ...entry, index })).filter((entry) => !entry.disarm);
          expected.sort((a, b) => a.due - b.due || a.index - b.index);
          for (let due = queue.takeDue(20); due !== undefined; due = queue.takeDue(20)) due();
          expect(fired).toEqual(expected.map((entry) => entry.index));
          expect(queue.size).toBe(0);
        },
      ),
    );
  });

  it('forgets a disarmed timer at once and ignores it when it is disarmed again', () => {
    const queue = new TimerQueue();
    const handle = queue.add(1, () => undefined);
    queue.add(2, () => undefined);
    queue.delete(handle);
    queue.delete(handle);
    queue.delete(undefined);
    queue.delete({});
    expect(queue.size).toBe(1);
  });
});

describe('a simulated clock', () => {
  it('moves through weeks and lets promises between two timers run', async () => {
    const clock = createSimulatedClock({ now: 0 });
    const seen: string[] = [];
    const tick = (): void => {
      clock.setTimeout(() => {
        seen.push(`day ${clock.now() / 86_400_000}`);
        void Promise.resolve().then(tick);
      }, 86_400_000);
    };
    tick();
    await clock.advance(30 * 86_400_000);
    expect(seen.at(-1)).toBe('day 30');
    expect(seen).toHaveLength(30);
  });

  it('moves until what waits on it is over, and no further', async () => {
    const clock = createSimulatedClock();
    const hours = async (): Promise<string> => {
      for (let hour = 0; hour < 3; hour += 1) {
        await new Promise<void>((resolve) => void clock.setTimeout(resolve, 3_600_000));
        await new Promise(setImmediate);
      }
      return 'answered';
    };
    expect(await clock.until(hours(), 60_000)).toBe('answered');
    expect(clock.steadyNow() - 3 * 3_600_000).toBeLessThan(10 * 60_000);
    const failing = new Promise((_, reject) => void clock.setTimeout(() => reject(new Error('no model')), 5));
    await expect(clock.until(failing)).rejects.toThrow('no model');
    const at = clock.steadyNow();
    expect(await clock.until(Promise.resolve('there'))).toBe('there');
    expect(clock.steadyNow()).toBe(at);
  });

  it('jumps the wall without any timer noticing', async () => {
    const clock = createSimulatedClock({ now: 1_000 });
    const fired = vi.fn();
    clock.setTimeout(fired, 50);
    clock.jumpWallClock(1e9);
    await clock.advance(49);
    expect(fired).not.toHaveBeenCalled();
    expect(clock.now()).toBe(1_000 + 1e9 + 49);
    expect(clock.steadyNow()).toBe(49);
  });

  it('stays in time when a timer without delay re-arms itself', async () => {
    const clock = createSimulatedClock();
    let runs = 0;
    const again = (): void => {
      runs += 1;
      clock.setTimeout(again, 0);
    };
    again();
    await clock.advance(10);
    expect(runs).toBe(11);
  });
});

describe('the system clock', () => {
  it('fires in order', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const clock = createSystemClock();
      const order: number[] = [];
      clock.setTimeout(() => order.push(2), 5);
      clock.setTimeout(() => order.push(1), 2);
      vi.advanceTimersByTime(5);
      expect(order).toEqual([1, 2]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('never fires early', async () => {
    const clock = createSystemClock();
    const startedMs = performance.now();
    await new Promise<void>((resolve) => void clock.setTimeout(resolve, 5));
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(5);
  });

  it('takes delays beyond what a native timer can hold without firing at once', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const clock = createSystemClock();
      const fired = vi.fn();
      const delayMs = 3 * 2 ** 31;
      clock.setTimeout(fired, delayMs);
      vi.advanceTimersByTime(delayMs - 1);
      expect(fired).not.toHaveBeenCalled();
      vi.advanceTimersByTime(1);
      expect(fired).toHaveBeenCalledTimes(1);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('goes on with the other timers when one throws', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const clock = createSystemClock();
      const fired = vi.fn();
      clock.setTimeout(() => {
        throw new Error('from a timer');
      }, 1);
      clock.setTimeout(fired, 1);
      expect(() => vi.advanceTimersByTime(1)).toThrow('from a timer');
      vi.advanceTimersByTime(5);
      expect(fired).toHaveBeenCalledTimes(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it('holds one native timer for many, and none when all are disarmed', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const clock = createSystemClock();
      const handles = Array.from({ length: 1_000 }, (_, index) => clock.setTimeout(() => undefined, 1_000 + index));
      expect(vi.getTimerCount()).toBe(1);
      for (const handle of handles) clock.clearTimeout(handle);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});
