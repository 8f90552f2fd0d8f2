import { describe, expect, it } from 'vitest';
import { settled } from '../../support/manual-runner.ts';
import { HOUR, MINUTE, ManualChildren, SECOND, at, createStage } from './schedule-stage.ts';

describe('a slot that comes due while the fire before it runs', () => {
  it('is skipped under skip, which is the default, and says behind which fire', async () => {
    const { clock, start, outcomes, records } = createStage();
    const schedule = await start();
    await clock.advance(3 * MINUTE);
    expect(await outcomes()).toEqual(['00:01 fired', '00:02 skipped (overlap)', '00:03 skipped (overlap)']);
    expect((await records()).at(-1)).toMatchObject({ overlap: 'skip', runningSlot: at(MINUTE) });
    schedule.children.all[0]?.end();
    await clock.advance(MINUTE);
    expect(schedule.children.slots).toEqual([at(MINUTE), at(4 * MINUTE)]);
    await schedule.handle.cancel();
  });

  it('waits its turn under queue', async () => {
    const { clock, start, outcomes } = createStage();
    const schedule = await start({ overlap: 'queue' });
    await clock.advance(3 * MINUTE);
    expect(await outcomes()).toEqual(['00:01 fired', '00:02 queued', '00:03 queued']);
    schedule.children.all[0]?.end();
    await settled();
    expect(await outcomes()).toEqual(['00:01 fired', '00:02 fired', '00:03 queued']);
    expect(schedule.words().slice(-2)).toEqual(['waking', 'sleeping']);
    schedule.children.all[1]?.fail();
    await settled();
    expect(await outcomes()).toEqual(['00:01 fired', '00:02 fired', '00:03 fired']);
    await schedule.handle.cancel();
  });

  it('is skipped under queue when the line is full', async () => {
    const { clock, start, outcomes } = createStage({ limits: { maxLine: 2 } });
    const schedule = await start({ overlap: 'queue' });
    await clock.advance(4 * MINUTE);
    expect(await outcomes()).toEqual(['00:01 fired', '00:02 queued', '00:03 queued', '00:04 skipped (queue-full)']);
    await schedule.handle.cancel();
  });

  it('takes its place under cancel-previous, once that is gone', async () => {
    const { clock, start, outcomes, records } = createStage();
    const schedule = await start({ overlap: 'cancel-previous' });
    await clock.advance(MINUTE);
    const [first] = schedule.children.all;
    if (first !== undefined) first.onCancel = () => undefined;
    await clock.advance(MINUTE);
    expect([first?.cancelReasons, schedule.children.slots]).toEqual([
      [`replaced by the slot of ${at(2 * MINUTE)}`],
      [at(MINUTE)],
    ]);
    first?.end();
    await settled();
    expect(await outcomes()).toEqual(['00:01 fired', '00:02 fired']);
    expect((await records()).at(-1)).toMatchObject({ cancelledPrevious: { slot: at(MINUTE), childTaskId: 'child_1' } });
    schedule.children.all[1]?.end();
    await clock.advance(MINUTE);
    expect((await records()).at(-1)).toEqual(
      expect.not.objectContaining({ cancelledPrevious: expect.anything() as unknown }),
    );
    await schedule.handle.cancel();
  });

  it('takes the place of one that waits for a fire that is slow to go', async () => {
    const { clock, start, outcomes } = createStage();
    const schedule = await start({ overlap: 'cancel-previous' });
    await clock.advance(MINUTE);
    const [first] = schedule.children.all;
    if (first !== undefined) first.onCancel = () => undefined;
    await clock.advance(2 * MINUTE);
    first?.end();
    await settled();
    expect(await outcomes()).toEqual(['00:01 fired', '00:02 skipped (superseded)', '00:03 fired']);
    expect(first?.cancelReasons).toHaveLength(1);
    expect((await schedule.log()).join('\n')).not.toContain('without effect');
    await schedule.handle.cancel();
  });

  it('cancels a child that is only just being made', async () => {
    const { clock, start, outcomes } = createStage();
    const children = new ManualChildren();
    let make = (): void => undefined;
    children.onSpawn = () => new Promise<void>((resolve) => (make = resolve));
    const schedule = await start({ overlap: 'cancel-previous' }, children);
    await clock.advance(2 * MINUTE);
    children.onSpawn = () => undefined;
    make();
    await settled();
    expect([children.all[0]?.cancelReasons.length, children.slots]).toEqual([1, [at(MINUTE), at(2 * MINUTE)]]);
    expect(await outcomes()).toEqual(['00:01 fired', '00:02 fired']);
    await schedule.handle.cancel();
  });

  it('waits when the fire before it cannot be cancelled, and the log says why', async () => {
    const { clock, start, outcomes } = createStage();
    const schedule = await start({ overlap: 'cancel-previous' });
    await clock.advance(MINUTE);
    const [first] = schedule.children.all;
    if (first !== undefined) first.onCancel = () => Promise.reject(new Error('it clings'));
    await clock.advance(MINUTE);
    expect(await outcomes()).toEqual(['00:01 fired', '00:02 queued']);
    expect((await schedule.log()).join('\n')).toContain('could not be cancelled: it clings');
    first?.end();
    await settled();
    expect(await outcomes()).toEqual(['00:01 fired', '00:02 fired']);
    await schedule.handle.cancel();
  });

  it('never runs beside it, whatever the policy', async () => {
    for (const overlap of ['skip', 'queue', 'cancel-previous'] as const) {
      const { clock, start } = createStage();
      const children = new ManualChildren();
      const schedule = await start({ overlap, cronExpression: '*/10 * * * * *' }, children);
      for (let step = 0; step < 60; step += 1) {
        await clock.advance(7 * SECOND);
        if (step % 3 === 0) children.all.at(-1)?.end();
      }
      expect([children.mostRunning, children.all.length > 15]).toEqual([1, true]);
      await schedule.handle.cancel();
    }
  });
});

describe('changing the overlap policy', () => {
  it('counts from the next slot on', async () => {
    const { clock, start, outcomes } = createStage();
    const schedule = await start({ overlap: 'queue' });
    await clock.advance(2 * MINUTE);
    await schedule.handle.edit?.({ overlap: 'skip' });
    await clock.advance(MINUTE);
    expect(await outcomes()).toEqual(['00:01 fired', '00:02 queued', '00:03 skipped (overlap)']);
    await schedule.handle.cancel();
  });
});

describe('slots in line', () => {
  it('stay on record as queued when the schedule is stopped, and are seen to by its next start', async () => {
    const stage = createStage();
    const first = await stage.start({ overlap: 'queue' });
    await stage.clock.advance(3 * MINUTE);
    await first.handle.cancel('shutdown');
    expect(await stage.outcomes()).toEqual(['00:01 fired', '00:02 queued', '00:03 queued']);
    const second = await stage.start({ overlap: 'queue', catchUp: { all: 9 } });
    second.children.all[0]?.end();
    await settled();
    expect(await stage.outcomes()).toEqual(['00:01 fired', '00:02 fired', '00:03 fired']);
    await second.handle.cancel();
  });

  it('keep a schedule going that has no further time', async () => {
    const { clock, start } = createStage();
    const schedule = await start({ overlap: 'queue', cronExpression: '0 0 1,2 1 1 * 2026' });
    await clock.advance(3 * HOUR);
    schedule.children.all[0]?.end();
    await settled();
    expect(schedule.children.slots).toEqual([at(HOUR), at(2 * HOUR)]);
    schedule.children.all[1]?.end();
    expect((await schedule.handle.result).output).toBe('fired 2 times');
  });
});
