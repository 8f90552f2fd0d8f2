import { describe, expect, it } from 'vitest';
import { settled } from '../../support/manual-runner.ts';
import { HOUR, MINUTE, ManualChildren, at, createStage } from './schedule-stage.ts';

describe('a paused schedule', () => {
  it('fires nothing, and records every slot that passes as missed', async () => {
    const { clock, start, outcomes } = createStage();
    const schedule = await start();
    await schedule.handle.pause?.();
    expect(schedule.events.at(-1)).toMatchObject({
      type: 'background_task_progress',
      progress: { nextFireAt: undefined, currentAction: 'paused' },
    });
    await clock.advance(3 * MINUTE);
    expect([schedule.children.all, await outcomes()]).toEqual([
      [],
      ['00:01 missed (paused)', '00:02 missed (paused)', '00:03 missed (paused)'],
    ]);
    await schedule.handle.cancel();
  });

  it('goes on with the next slot when it is resumed', async () => {
    const { clock, start, outcomes } = createStage();
    const schedule = await start({ catchUp: { all: 10 } });
    await schedule.handle.pause?.();
    await clock.advance(2 * MINUTE);
    await schedule.handle.resume?.();
    expect(schedule.events.at(-1)).toMatchObject({
      type: 'background_task_progress',
      progress: { nextFireAt: at(3 * MINUTE), currentAction: undefined },
    });
    await clock.advance(MINUTE);
    expect(await outcomes()).toEqual(['00:01 missed (paused)', '00:02 missed (paused)', '00:03 fired']);
    await schedule.handle.cancel();
  });

  it('is paused once, and resumed once, however often it is asked for', async () => {
    const { start, records } = createStage();
    const { handle } = await start();
    await Promise.all([handle.resume?.(), handle.pause?.(), handle.pause?.(), handle.resume?.(), handle.resume?.()]);
    expect((await records()).map(({ type }) => type)).toEqual([
      'schedule.planned',
      'schedule.paused',
      'schedule.resumed',
    ]);
    await handle.cancel();
  });

  it('lets a fire that runs finish, and holds those in line until it is resumed', async () => {
    const { clock, start, outcomes } = createStage();
    const schedule = await start({ overlap: 'queue' });
    await clock.advance(2 * MINUTE);
    await schedule.handle.pause?.();
    schedule.children.all[0]?.end();
    await clock.advance(MINUTE);
    expect(await outcomes()).toEqual(['00:01 fired', '00:02 queued', '00:03 missed (paused)']);
    await schedule.handle.resume?.();
    await settled();
    expect(schedule.children.slots).toEqual([at(MINUTE), at(2 * MINUTE)]);
    await schedule.handle.cancel();
  });

  it('fires what came due before the pause', async () => {
    const { clock, start, outcomes } = createStage();
    const schedule = await start();
    clock.jumpWallClock(MINUTE);
    await schedule.handle.pause?.();
    await settled();
    expect(await outcomes()).toEqual(['00:01 fired']);
    await schedule.handle.cancel();
  });

  it('stays paused when it starts again under its name, and keeps its line', async () => {
    const stage = createStage();
    const first = await stage.start({ overlap: 'queue' });
    await stage.clock.advance(2 * MINUTE);
    await first.handle.pause?.();
    await first.handle.cancel();
    await stage.clock.advance(2 * MINUTE);
    const second = await stage.start({ overlap: 'queue' });
    expect(second.events.at(-1)).toMatchObject({ progress: { currentAction: 'paused' } });
    await stage.clock.advance(MINUTE);
    const passed = ['00:03 missed (paused)', '00:04 missed (paused)', '00:05 missed (paused)'];
    expect(await stage.outcomes()).toEqual(['00:01 fired', '00:02 queued', ...passed]);
    await second.handle.resume?.();
    await settled();
    expect(await stage.outcomes()).toEqual(['00:01 fired', '00:02 fired', ...passed]);
    await second.handle.cancel();
  });

  it('holds those in line also when no further slot comes', async () => {
    const { clock, start } = createStage();
    const schedule = await start({ overlap: 'queue', cronExpression: '0 0 1,2 1 1 * 2026' });
    await clock.advance(2 * HOUR);
    await schedule.handle.pause?.();
    schedule.children.all[0]?.end();
    await clock.advance(HOUR);
    expect(schedule.children.slots).toEqual([at(HOUR)]);
    await schedule.handle.resume?.();
    await settled();
    expect(schedule.children.slots).toEqual([at(HOUR), at(2 * HOUR)]);
    schedule.children.all[1]?.end();
    expect((await schedule.handle.result).output).toBe('fired 2 times');
  });

  it('ends when its last slot passes', async () => {
    const { clock, start } = createStage();
    const schedule = await start({ cronExpression: '2026-01-01T01:00:00' });
    await schedule.handle.pause?.();
    await clock.advance(HOUR);
    expect((await schedule.handle.result).output).toBe('fired 0 times, 1 missed');
  });
});

describe('an edited schedule', () => {
  it('fires by the new plan from now on', async () => {
    const { clock, start, outcomes } = createStage();
    const children = new ManualChildren();
    children.endAtOnce = true;
    const schedule = await start({ cronExpression: '*/10 * * * *' }, children);
    await clock.advance(15 * MINUTE);
    await schedule.handle.edit?.({ cronExpression: '*/3 * * * *' });
    expect(schedule.nextFireAt()).toBe(at(18 * MINUTE));
    await clock.advance(6 * MINUTE);
    expect(await outcomes()).toEqual(['00:10 fired', '00:18 fired', '00:21 fired']);
    expect((await schedule.log()).join('\n')).not.toContain('without effect');
    await schedule.handle.cancel();
  });

  it('reads its expression in the new time zone', async () => {
    const { start } = createStage();
    const schedule = await start({ cronExpression: '0 12 * * *' });
    await schedule.handle.edit?.({ timezone: 'America/New_York' });
    expect(schedule.nextFireAt()).toBe(at(17 * HOUR));
    await schedule.handle.cancel();
  });

  it('fires what came due under the old plan, once, and by the old plan', async () => {
    const { clock, start, outcomes } = createStage();
    const schedule = await start({ cronExpression: '*/10 * * * *' });
    clock.jumpWallClock(10 * MINUTE + 1);
    await schedule.handle.edit?.({ cronExpression: '*/2 * * * *' });
    await settled();
    expect(await outcomes()).toEqual(['00:10 fired']);
    expect(schedule.nextFireAt()).toBe(at(12 * MINUTE));
    await schedule.handle.cancel();
  });

  it.each([
    ['an expression that cannot be read', { cronExpression: 'often' }, 'SCHEDULE_EXPRESSION'],
    ['a time zone that does not exist', { timezone: 'Mars/Base' }, 'SCHEDULE_TIMEZONE'],
    ['an expression that never comes', { cronExpression: '0 0 30 2 *' }, 'SCHEDULE_NEVER_FIRES'],
    ['an empty expression', { cronExpression: '' }, 'SCHEDULE_OPTIONS'],
    ['an unknown overlap policy', { overlap: 'pile-up' as never }, 'SCHEDULE_OPTIONS'],
    ['an unknown field', { cron: '* * * * *' } as never, 'SCHEDULE_OPTIONS'],
  ])('is left as it was by %s', async (_name, changes, code) => {
    const { start, records } = createStage();
    const schedule = await start({ cronExpression: '*/10 * * * *' });
    await expect(schedule.handle.edit?.({ overlap: 'queue', ...changes })).rejects.toMatchObject({
      category: 'validation',
      code,
    });
    expect(schedule.nextFireAt()).toBe(at(10 * MINUTE));
    expect((await records()).map(({ type }) => type)).toEqual(['schedule.planned']);
    await schedule.handle.cancel();
  });

  it('writes nothing down when nothing changes', async () => {
    const { start, records } = createStage();
    const { handle } = await start({ cronExpression: '*/10 * * * *' });
    await handle.edit?.({});
    await handle.edit?.({ cronExpression: '*/10 * * * *', timezone: 'UTC' });
    expect(await records()).toHaveLength(1);
    await handle.cancel();
  });

  it('gets a future again while its last child runs', async () => {
    const { clock, start } = createStage();
    const schedule = await start({ cronExpression: '2026-01-01T01:00:00' });
    await clock.advance(2 * HOUR);
    expect(schedule.nextFireAt()).toBeUndefined();
    await schedule.handle.edit?.({ cronExpression: '2026-01-01T03:00:00' });
    expect(schedule.nextFireAt()).toBe(at(3 * HOUR));
    schedule.children.all[0]?.end();
    await clock.advance(HOUR);
    expect(schedule.children.slots).toEqual([at(HOUR), at(3 * HOUR)]);
    await schedule.handle.cancel();
  });

  it('stays paused when it was', async () => {
    const { clock, start } = createStage();
    const schedule = await start();
    await schedule.handle.pause?.();
    await schedule.handle.edit?.({ cronExpression: '*/2 * * * *' });
    await clock.advance(HOUR);
    expect([schedule.children.all, schedule.nextFireAt()]).toEqual([[], undefined]);
    await schedule.handle.cancel();
  });
});

describe('commands that meet a fire', () => {
  it('happen one after another, and every slot keeps one outcome', async () => {
    const { clock, start, outcomes } = createStage();
    const children = new ManualChildren();
    children.endAtOnce = true;
    const schedule = await start({}, children);
    for (let round = 0; round < 20; round += 1) {
      const { handle } = schedule;
      const commands = [
        Promise.resolve(handle.pause?.()),
        Promise.resolve(handle.edit?.({ cronExpression: round % 2 === 0 ? '*/2 * * * *' : '* * * * *' })),
        Promise.resolve(handle.resume?.()),
      ];
      await clock.advance(MINUTE);
      await Promise.all(commands);
    }
    const seen = await outcomes();
    expect(new Set(seen.map((line) => line.slice(0, 5))).size).toBe(seen.length);
    expect(new Set(children.slots).size).toBe(children.slots.length);
    expect(clock.pendingTimers).toBe(1);
    await schedule.handle.cancel();
  });
});
