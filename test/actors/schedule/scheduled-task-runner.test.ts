import { describe, expect, it } from 'vitest';
import { createScheduledTaskRunner } from '../../../src/actors/schedule/scheduled-task-runner.ts';
import { BackgroundTaskError } from '../../../src/machines/task/task-error.ts';
import { settled } from '../../support/manual-runner.ts';
import { unhandledDuring } from '../../support/unhandled.ts';
import { DAY, HOUR, MINUTE, ManualChildren, SECOND, START, at, createStage, cron } from './schedule-stage.ts';

describe('a schedule', () => {
  it('sleeps from its start on and says when it fires next', async () => {
    const { start } = createStage();
    const schedule = await start({ cronExpression: '*/5 * * * *' });
    expect(schedule.events).toEqual([
      { type: 'background_task_sleeping', taskId: 'task_1', nextFireAt: at(5 * MINUTE) },
    ]);
    await schedule.handle.cancel();
  });

  it('wakes, asks for one child and sleeps again at once, before the child is there', async () => {
    const { clock, start } = createStage();
    const children = new ManualChildren();
    const schedule = await start({ cronExpression: '*/5 * * * *' }, children);
    const order: string[] = [];
    children.onSpawn = async () => {
      order.push(...schedule.words());
      await settled();
      order.push(...schedule.words().slice(order.length));
    };
    await clock.advance(5 * MINUTE);
    expect(order).toEqual(['sleeping', 'waking', 'sleeping']);
    expect(schedule.nextFireAt()).toBe(at(10 * MINUTE));
    expect(children.all.map(({ request }) => request)).toEqual([
      {
        kind: 'process',
        label: `a schedule @ ${at(5 * MINUTE)}`,
        mode: 'background',
        parentSessionId: 'session_1',
        depth: 0,
        cwd: '/',
        priority: 0,
        command: 'true',
        metadata: { scheduleId: 'nightly', slot: at(5 * MINUTE) },
      },
    ]);
    await schedule.handle.cancel();
  });

  it('fires at every slot and records which child it became', async () => {
    const { clock, start, outcomes, records } = createStage();
    const children = new ManualChildren();
    children.endAtOnce = true;
    const schedule = await start({ cronExpression: '0 * * * *' }, children);
    await clock.advance(3 * HOUR);
    expect(await outcomes()).toEqual(['01:00 fired', '02:00 fired', '03:00 fired']);
    expect((await records()).findLast(({ type }) => type === 'slot.fired')).toMatchObject({
      childTaskId: 'child_3',
      slot: at(3 * HOUR),
      owner: 'run_1',
    });
    await schedule.handle.cancel();
  });

  it('is never early, and fires years ahead', async () => {
    const { clock, start } = createStage({ limits: { checkIntervalMs: DAY } });
    const schedule = await start({ cronExpression: '0 0 29 2 *' });
    const leapDay = Date.UTC(2028, 1, 29) - START;
    await clock.advance(leapDay - 1);
    expect(schedule.children.all).toEqual([]);
    await clock.advance(1);
    expect(schedule.children.slots).toEqual([at(leapDay)]);
    await schedule.handle.cancel();
  });

  it('keeps one timer, whatever it has been through', async () => {
    const { clock, start } = createStage();
    const schedule = await start({ cronExpression: '* * * * *' });
    await clock.advance(5 * MINUTE);
    await schedule.handle.pause?.();
    await clock.advance(5 * MINUTE);
    await schedule.handle.resume?.();
    await schedule.handle.edit?.({ cronExpression: '*/7 * * * *' });
    expect(clock.pendingTimers).toBe(1);
    await schedule.handle.cancel();
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends with a result when its expression has no further time', async () => {
    const { clock, start } = createStage();
    const children = new ManualChildren();
    children.endAtOnce = true;
    const schedule = await start({ cronExpression: '0 0 1-3 1 1 * 2026' }, children);
    await clock.advance(3 * HOUR);
    expect(await schedule.handle.result).toEqual({
      taskId: 'task_1',
      output: 'fired 3 times',
      metadata: { scheduleId: 'nightly', fired: 3, refused: 0, skipped: 0, missed: 0 },
    });
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends only when its last child has', async () => {
    const { clock, start } = createStage();
    const schedule = await start({ cronExpression: '2026-01-01T01:00:00' });
    let hasEnded = false;
    void schedule.handle.result.then(() => (hasEnded = true));
    await clock.advance(2 * HOUR);
    expect([schedule.children.slots, hasEnded, schedule.nextFireAt()]).toEqual([[at(HOUR)], false, undefined]);
    schedule.children.all[0]?.end();
    expect((await schedule.handle.result).output).toBe('fired 1 time');
  });

  it('is refused when it could never fire', async () => {
    const { start, records } = createStage();
    const schedule = await start({ cronExpression: '0 0 30 2 *' });
    await expect(schedule.handle.result).rejects.toMatchObject({
      category: 'validation',
      code: 'SCHEDULE_NEVER_FIRES',
    });
    expect(await records()).toEqual([]);
  });

  it('is refused at once when its expression or time zone cannot be read', async () => {
    const { start } = createStage();
    await expect(start({ cronExpression: 'often' })).rejects.toMatchObject({
      category: 'validation',
      code: 'SCHEDULE_EXPRESSION',
    });
    await expect(start({ timezone: 'Mars/Base' })).rejects.toMatchObject({
      category: 'validation',
      code: 'SCHEDULE_TIMEZONE',
    });
  });

  it('is refused with limits that make no sense', () => {
    const { clock } = createStage();
    for (const limits of [
      { maxLine: 0 },
      { checkIntervalMs: -1 },
      { punctualMs: Number.NaN },
      { storeRetryMs: 2 ** 31 },
      { unknown: 1 },
    ]) {
      expect(() => createScheduledTaskRunner({ clock, cron, limits })).toThrow(BackgroundTaskError);
    }
  });

  it('keeps a log of what became of its slots', async () => {
    const { clock, start } = createStage();
    const schedule = await start({ cronExpression: '* * * * *', timezone: 'UTC' });
    await clock.advance(2 * MINUTE);
    expect(await schedule.log()).toEqual([
      `[system] ${at(0)} planned "* * * * *" in UTC`,
      `[system] ${at(MINUTE)} ${at(MINUTE)} fired as child_1`,
      `[system] ${at(2 * MINUTE)} ${at(2 * MINUTE)} skipped: the fire before it still runs`,
    ]);
    await schedule.handle.cancel();
  });

  it('without a name shares nothing with another of the same task id', async () => {
    const { clock, store } = createStage();
    const one = createStage({ simulated: clock, store });
    const other = createStage({
      simulated: clock,
      store,
      owners: { newOwner: () => 'another run', isAlive: async () => true },
    });
    const [a, b] = [await one.start({ scheduleId: undefined }), await other.start({ scheduleId: undefined })];
    await clock.advance(MINUTE);
    expect([a.children.slots, b.children.slots]).toEqual([[at(MINUTE)], [at(MINUTE)]]);
    expect(a.children.all[0]?.request.metadata).toMatchObject({ scheduleId: 'task_1' });
    await a.handle.cancel();
    await b.handle.cancel();
  });
});

describe('the records of fires', () => {
  it('stay readable for the newest ones only, however long the schedule lives', async () => {
    const { clock, start } = createStage({ limits: { maxKeptFires: 2 } });
    const children = new ManualChildren();
    children.endAtOnce = true;
    const schedule = await start({}, children);
    await clock.advance(5 * MINUTE);
    expect(children.closed).toEqual(['child_1', 'child_2', 'child_3']);
    await schedule.handle.cancel();
  });
});

describe('a child that cannot be started', () => {
  it('is a record, and the schedule goes on', async () => {
    const { clock, start, records } = createStage();
    const children = new ManualChildren();
    children.onSpawn = () => {
      throw new BackgroundTaskError('capacity', 'the queue is full', { code: 'TASK_QUEUE_FULL' });
    };
    const schedule = await start({}, children);
    await clock.advance(3 * MINUTE);
    const refusals = (await records()).filter(({ type }) => type === 'slot.refused');
    expect(refusals).toHaveLength(3);
    expect(refusals[0]).toMatchObject({
      slot: at(MINUTE),
      error: { code: 'TASK_QUEUE_FULL', category: 'capacity', message: 'the queue is full' },
    });
    children.onSpawn = () => undefined;
    await clock.advance(MINUTE);
    expect(children.slots).toEqual([at(4 * MINUTE)]);
    await schedule.handle.cancel();
    expect((await schedule.handle.result).output).toBe('fired 1 time, 3 could not be started');
  });

  it('is asked for once per slot, never in a loop', async () => {
    const { clock, start } = createStage();
    const children = new ManualChildren();
    let asked = 0;
    children.onSpawn = () => {
      asked += 1;
      throw new Error('no');
    };
    const schedule = await start({ cronExpression: '0 * * * *' }, children);
    await clock.advance(90 * MINUTE);
    expect(asked).toBe(1);
    await schedule.handle.cancel();
  });

  it('because the question is never answered counts as running until the schedule is cancelled', async () => {
    const { clock, start, outcomes } = createStage();
    const children = new ManualChildren();
    let answer = (): void => undefined;
    children.onSpawn = () => new Promise<void>((resolve) => (answer = resolve));
    const schedule = await start({}, children);
    await clock.advance(2 * MINUTE);
    expect(await outcomes()).toEqual(['00:01 claimed', '00:02 skipped (overlap)']);
    const cancelled = schedule.handle.cancel('enough');
    answer();
    await cancelled;
    expect(children.all[0]?.cancelReasons).toEqual(['enough']);
    expect(await outcomes()).toEqual(['00:01 fired', '00:02 skipped (overlap)']);
  });

  it('leaves no rejection unhandled, and neither does a child that fails', async () => {
    const { clock, start } = createStage();
    const seen = await unhandledDuring(async () => {
      const children = new ManualChildren();
      const schedule = await start({}, children);
      await clock.advance(MINUTE);
      children.all[0]?.fail();
      children.onSpawn = () => Promise.reject(new Error('no'));
      await clock.advance(2 * MINUTE);
      await schedule.handle.cancel();
    });
    expect(seen).toEqual([]);
  });
});

describe('cancelling a schedule', () => {
  it('cancels the child that runs, and resolves when it is gone', async () => {
    const { clock, start } = createStage();
    const schedule = await start();
    await clock.advance(MINUTE);
    const [child] = schedule.children.all;
    if (child !== undefined) child.onCancel = () => undefined;
    let isGone = false;
    const cancelled = Promise.resolve(schedule.handle.cancel('no longer needed')).then(() => (isGone = true));
    await settled();
    expect([child?.cancelReasons, isGone]).toEqual([['no longer needed'], false]);
    child?.end();
    await cancelled;
    await clock.advance(DAY);
    expect(schedule.children.all).toHaveLength(1);
  });

  it('is one act, however often it is asked for', async () => {
    const { clock, start } = createStage();
    const schedule = await start();
    await clock.advance(MINUTE);
    await Promise.all([schedule.handle.cancel('first'), schedule.handle.cancel('second')]);
    expect(schedule.children.all[0]?.cancelReasons).toEqual(['first']);
    expect((await schedule.handle.result).output).toBe('fired 1 time');
  });

  it('says so when the child cannot be cancelled', async () => {
    const { clock, start } = createStage();
    const schedule = await start();
    await clock.advance(MINUTE);
    const [child] = schedule.children.all;
    if (child !== undefined) child.onCancel = () => Promise.reject(new Error('it clings'));
    await expect(schedule.handle.cancel()).rejects.toThrow('it clings');
    let hasEnded = false;
    void schedule.handle.result.then(() => (hasEnded = true));
    await settled();
    expect(hasEnded).toBe(false);
    child?.end();
    await schedule.handle.result;
  });

  it('before it has opened fires nothing and arms nothing', async () => {
    const { clock, store, start } = createStage();
    const { load } = store;
    let open = (): void => undefined;
    Object.assign(store, {
      load: async (scheduleId: string) => {
        await new Promise<void>((resolve) => (open = resolve));
        return load(scheduleId);
      },
    });
    const schedule = await start();
    const cancelled = schedule.handle.cancel();
    open();
    await cancelled;
    await clock.advance(HOUR);
    expect([schedule.children.all, clock.pendingTimers, schedule.events]).toEqual([[], 0, []]);
    expect((await schedule.handle.result).output).toBe('fired 0 times');
  });

  it('in the moment between claim and fire starts no child, and the slot is spent', async () => {
    const { clock, store, start, outcomes } = createStage();
    const schedule = await start();
    const { append } = store;
    let cancelled: Promise<void> | undefined;
    Object.assign(store, {
      append: async (...given: Parameters<typeof append>) => {
        const held = await append(...given);
        if (given[1].some(({ type }) => type === 'slot.claimed')) cancelled = Promise.resolve(schedule.handle.cancel());
        return held;
      },
    });
    await clock.advance(MINUTE);
    await cancelled;
    expect([schedule.children.all, await outcomes()]).toEqual([[], ['00:01 refused']]);
  });

  it('in the moment before a due slot is decided leaves the slot to the next start', async () => {
    const { clock, store, start, outcomes } = createStage();
    const schedule = await start();
    const { load } = store;
    let cancelled: Promise<void> | undefined;
    Object.assign(store, {
      load: (scheduleId: string) => {
        cancelled ??= Promise.resolve(schedule.handle.cancel());
        return load(scheduleId);
      },
    });
    await clock.advance(MINUTE);
    await cancelled;
    expect(await outcomes()).toEqual([]);
    const next = await start();
    await settled();
    expect(await outcomes()).toEqual(['00:01 fired']);
    await next.handle.cancel();
  });

  it('refuses every command after it', async () => {
    const { start } = createStage();
    const { handle } = await start();
    await handle.cancel();
    for (const command of [handle.pause?.(), handle.resume?.(), handle.edit?.({ overlap: 'queue' })]) {
      await expect(command).rejects.toMatchObject({ category: 'validation', code: 'SCHEDULE_ENDED' });
    }
  });
});

describe('the wall clock', () => {
  it('set forward past some slots lets the newest fire and records the others as missed', async () => {
    const { clock, start, outcomes } = createStage();
    const schedule = await start({ cronExpression: '*/10 * * * *' });
    clock.jumpWallClock(35 * MINUTE);
    await clock.advance(MINUTE);
    expect(await outcomes()).toEqual(['00:10 missed (late)', '00:20 missed (late)', '00:30 fired']);
    await schedule.handle.cancel();
  });

  it('set forward makes nothing fire that was missed under the policy none', async () => {
    const { clock, start, outcomes } = createStage();
    const schedule = await start({ cronExpression: '*/10 * * * *', catchUp: 'none' });
    clock.jumpWallClock(35 * MINUTE);
    await clock.advance(5 * MINUTE);
    expect(await outcomes()).toEqual([
      '00:10 missed (late)',
      '00:20 missed (late)',
      '00:30 missed (late)',
      '00:40 fired',
    ]);
    await schedule.handle.cancel();
  });

  it('set back makes nothing fire early or twice', async () => {
    const { clock, start, outcomes } = createStage();
    const children = new ManualChildren();
    children.endAtOnce = true;
    const schedule = await start({ cronExpression: '*/10 * * * *' }, children);
    await clock.advance(10 * MINUTE);
    clock.jumpWallClock(-15 * MINUTE);
    await clock.advance(24 * MINUTE);
    expect(await outcomes()).toEqual(['00:10 fired']);
    await clock.advance(MINUTE);
    expect(await outcomes()).toEqual(['00:10 fired', '00:20 fired']);
    await schedule.handle.cancel();
  });

  it('is checked often enough that a sleep of the machine costs no slot that follows it', async () => {
    const { clock, start, outcomes } = createStage();
    const schedule = await start({ cronExpression: '0 9 * * *', catchUp: 'none' });
    await clock.advance(HOUR);
    // Steady time stood still for almost eight hours.
    clock.jumpWallClock(8 * HOUR - 30 * SECOND);
    await clock.advance(2 * MINUTE);
    expect(await outcomes()).toEqual(['09:00 fired']);
    await schedule.handle.cancel();
  });

  it('is stamped on every record', async () => {
    const { clock, start, records } = createStage();
    const schedule = await start({ cronExpression: '*/10 * * * *' });
    clock.jumpWallClock(15 * MINUTE);
    await clock.advance(MINUTE);
    expect((await records()).at(-1)).toMatchObject({ type: 'slot.fired', slot: at(10 * MINUTE), at: at(16 * MINUTE) });
    await schedule.handle.cancel();
  });
});
