import { describe, expect, it } from 'vitest';
import { createMemoryScheduleStore } from '../../../src/actors/schedule/memory-schedule-store.ts';
import type { ScheduleStore } from '../../../src/actors/schedule/schedule-store.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import type { ScheduleRecordType } from '../../../src/machines/schedule/slot-record.ts';
import { settled } from '../../support/manual-runner.ts';
import { HOUR, MINUTE, ManualChildren, SECOND, at, createStage } from './schedule-stage.ts';
import type { Stage } from './schedule-stage.ts';

/** A store that refuses on demand. `after`: what was given is stored, and nobody learns of it. */
class FlakyStore implements ScheduleStore {
  readonly #inner = createMemoryScheduleStore();
  trouble: 'none' | 'before' | 'after' = 'none';
  /** Only appends with such a record are refused. Default: all. */
  only: ScheduleRecordType | undefined = undefined;
  attempts = 0;

  load(scheduleId: string): ReturnType<ScheduleStore['load']> {
    return this.#inner.load(scheduleId);
  }

  async append(...given: Parameters<ScheduleStore['append']>): Promise<readonly boolean[]> {
    this.attempts += 1;
    const isMeant = this.only === undefined || given[1].some(({ type }) => type === this.only);
    if (isMeant && this.trouble === 'before')
      throw new RuntimeError('SCHEDULE_STORE', 'the disk is full', { category: 'storage' });
    const held = await this.#inner.append(...given);
    if (isMeant && this.trouble === 'after')
      throw new RuntimeError('SCHEDULE_STORE', 'the disk is gone', { category: 'storage' });
    return held;
  }

  records(scheduleId: string): ReturnType<ScheduleStore['records']> {
    return this.#inner.records(scheduleId);
  }
}

function troubledStage(): Stage & { readonly flaky: FlakyStore; readonly children: ManualChildren } {
  const flaky = new FlakyStore();
  const children = new ManualChildren();
  children.endAtOnce = true;
  return { ...createStage({ store: flaky }), flaky, children };
}

describe('a slot that cannot be recorded', () => {
  it('does not fire, is tried again soon, and fires once it is recorded', async () => {
    const { clock, start, outcomes, flaky, children } = troubledStage();
    const schedule = await start({ cronExpression: '0 * * * *' }, children);
    flaky.trouble = 'before';
    await clock.advance(HOUR + 10 * SECOND);
    expect([children.all, await outcomes()]).toEqual([[], []]);
    expect(schedule.events.at(-1)).toMatchObject({
      progress: { currentAction: expect.stringContaining('the disk is full') as string, nextFireAt: at(2 * HOUR) },
    });
    expect((await schedule.log()).filter((line) => line.includes('the disk is full'))).toHaveLength(1);
    flaky.trouble = 'none';
    await clock.advance(10 * SECOND);
    expect(await outcomes()).toEqual(['01:00 fired']);
    expect(schedule.events.at(-1)).toMatchObject({ progress: { currentAction: undefined } });
    await schedule.handle.cancel();
  });

  it('is tried with growing pauses, not in a loop', async () => {
    const { clock, start, flaky, children } = troubledStage();
    const schedule = await start({ cronExpression: '0 * * * *' }, children);
    flaky.trouble = 'before';
    const before = flaky.attempts;
    await clock.advance(2 * HOUR);
    expect(flaky.attempts - before).toBeLessThan(75);
    await schedule.handle.cancel();
  });

  it('is missed like one that was noticed too late when that takes long', async () => {
    const { clock, start, outcomes, flaky, children } = troubledStage();
    const schedule = await start({ cronExpression: '*/10 * * * *', catchUp: 'none' }, children);
    flaky.trouble = 'before';
    await clock.advance(25 * MINUTE);
    flaky.trouble = 'none';
    await clock.advance(5 * MINUTE);
    expect(await outcomes()).toEqual(['00:10 missed (late)', '00:20 missed (late)', '00:30 fired']);
    await schedule.handle.cancel();
  });

  it.each(['slot.claimed', 'slot.queued', 'slot.missed'] as const)(
    'fires once at most when the store had kept %s and said otherwise',
    async (only) => {
      const { clock, start, flaky, records } = troubledStage();
      const children = new ManualChildren();
      const schedule = await start({ overlap: 'queue', catchUp: { all: 2 } }, children);
      flaky.trouble = 'after';
      flaky.only = only;
      clock.jumpWallClock(5 * MINUTE);
      await clock.advance(3 * MINUTE);
      flaky.trouble = 'none';
      for (let step = 0; step < 10; step += 1) {
        for (const child of children.all) child.end();
        await clock.advance(30 * SECOND);
      }
      expect([new Set(children.slots).size, children.slots.length > 0]).toEqual([children.slots.length, true]);
      expect((await records()).filter(({ type }) => type === 'slot.fired')).toHaveLength(children.slots.length);
      await schedule.handle.cancel();
    },
  );

  it('in line keeps its place', async () => {
    const { clock, start, outcomes, flaky } = troubledStage();
    const children = new ManualChildren();
    const schedule = await start({ cronExpression: '*/10 * * * *', overlap: 'queue' }, children);
    await clock.advance(20 * MINUTE);
    flaky.trouble = 'before';
    children.all[0]?.end();
    await clock.advance(30 * SECOND);
    expect(await outcomes()).toEqual(['00:10 fired', '00:20 queued']);
    flaky.trouble = 'none';
    await clock.advance(MINUTE);
    expect(await outcomes()).toEqual(['00:10 fired', '00:20 fired']);
    await schedule.handle.cancel();
  });
});

describe('a fire whose report cannot be stored', () => {
  it('is reported as soon as the store works again', async () => {
    const { clock, start, outcomes, flaky, children } = troubledStage();
    const schedule = await start({ cronExpression: '0 * * * *' }, children);
    flaky.trouble = 'before';
    flaky.only = 'slot.fired';
    await clock.advance(HOUR);
    expect([children.slots, await outcomes()]).toEqual([[at(HOUR)], ['01:00 claimed']]);
    flaky.trouble = 'none';
    await clock.advance(MINUTE);
    expect(await outcomes()).toEqual(['01:00 fired']);
    await schedule.handle.cancel();
  });

  it('is reported while the child still runs', async () => {
    const { clock, start, outcomes, flaky } = troubledStage();
    const schedule = await start({ cronExpression: '0 * * * *' }, new ManualChildren());
    flaky.trouble = 'before';
    flaky.only = 'slot.fired';
    await clock.advance(HOUR);
    flaky.trouble = 'none';
    await clock.advance(5 * SECOND);
    expect(await outcomes()).toEqual(['01:00 fired']);
    await schedule.handle.cancel();
  });

  it('keeps a schedule that is done from ending until it is stored', async () => {
    const { clock, start, flaky, children } = troubledStage();
    const schedule = await start({ cronExpression: '2026-01-01T01:00:00' }, children);
    flaky.trouble = 'before';
    flaky.only = 'slot.fired';
    let hasEnded = false;
    void schedule.handle.result.then(() => (hasEnded = true));
    await clock.advance(HOUR + MINUTE);
    expect(hasEnded).toBe(false);
    flaky.trouble = 'none';
    await clock.advance(MINUTE);
    expect((await schedule.handle.result).output).toBe('fired 1 time');
  });

  it('does not keep a schedule from being cancelled', async () => {
    const { clock, start, flaky, children } = troubledStage();
    const schedule = await start({}, children);
    flaky.trouble = 'before';
    flaky.only = 'slot.fired';
    await clock.advance(MINUTE);
    await schedule.handle.cancel();
    await schedule.handle.result;
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('commands while the store does not work', () => {
  it('pause at once, and record it later', async () => {
    const { clock, start, records, flaky, children } = troubledStage();
    const schedule = await start({}, children);
    flaky.trouble = 'before';
    await schedule.handle.pause?.();
    await clock.advance(3 * MINUTE);
    expect(children.all).toEqual([]);
    flaky.trouble = 'none';
    await clock.advance(MINUTE);
    expect((await records()).map(({ type }) => type)).toEqual([
      'schedule.planned',
      'schedule.paused',
      'slot.missed',
      'slot.missed',
      'slot.missed',
      'slot.missed',
    ]);
    await schedule.handle.cancel();
  });

  it('record a pause long before the next slot', async () => {
    const { clock, start, records, flaky, children } = troubledStage();
    const schedule = await start({ cronExpression: '0 0 1 6 *' }, children);
    flaky.trouble = 'before';
    await schedule.handle.pause?.();
    flaky.trouble = 'none';
    await clock.advance(MINUTE);
    expect((await records()).at(-1)?.type).toBe('schedule.paused');
    expect(schedule.events.at(-1)).toMatchObject({ progress: { currentAction: 'paused' } });
    await schedule.handle.cancel();
  });

  it('refuse to resume over slots that are not recorded', async () => {
    const { clock, start, outcomes, flaky, children } = troubledStage();
    const schedule = await start({}, children);
    await schedule.handle.pause?.();
    flaky.trouble = 'before';
    await clock.advance(90 * SECOND);
    await expect(schedule.handle.resume?.()).rejects.toMatchObject({ category: 'storage' });
    flaky.trouble = 'none';
    await schedule.handle.resume?.();
    await clock.advance(30 * SECOND);
    expect(await outcomes()).toEqual(['00:01 missed (paused)', '00:02 fired']);
    await schedule.handle.cancel();
  });

  it('refuse to edit, and leave the plan as it was', async () => {
    const { start, flaky, children } = troubledStage();
    const schedule = await start({ cronExpression: '*/10 * * * *' }, children);
    flaky.trouble = 'before';
    await expect(schedule.handle.edit?.({ cronExpression: '*/5 * * * *' })).rejects.toMatchObject({
      category: 'storage',
    });
    expect(schedule.nextFireAt()).toBe(at(10 * MINUTE));
    await schedule.handle.cancel();
  });
});

describe('a schedule whose record cannot be read or begun', () => {
  it.each(['load', 'append'] as const)('fails at its start when %s is refused', async (operation) => {
    const stage = troubledStage();
    Object.assign(stage.flaky, {
      [operation]: () => Promise.reject(new RuntimeError('SCHEDULE_STORE', 'no access', { category: 'storage' })),
    });
    const schedule = await stage.start({}, stage.children);
    await expect(schedule.handle.result).rejects.toMatchObject({ name: 'BackgroundTaskError', category: 'storage' });
    await settled();
    expect(stage.clock.pendingTimers).toBe(0);
  });
});
