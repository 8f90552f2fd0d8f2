import { describe, expect, it } from 'vitest';
import { instantOf } from '../../../src/machines/schedule/slot-record.ts';
import type { ScheduleRecord } from '../../../src/machines/schedule/slot-record.ts';
import { settled } from '../../support/manual-runner.ts';
import { HOUR, MINUTE, ManualChildren, START, at, createStage } from './schedule-stage.ts';
import type { LiveSchedule, Stage } from './schedule-stage.ts';

type Changes = Parameters<Stage['start']>[0];

const instantly = (): ManualChildren => {
  const children = new ManualChildren();
  children.endAtOnce = true;
  return children;
};

/** Runs `nightly` for two minutes, leaves it down for three, and starts it again. */
async function downForThreeMinutes(stage: Stage, before: Changes, after: Changes): Promise<LiveSchedule> {
  const first = await stage.start(before, instantly());
  await stage.clock.advance(2 * MINUTE);
  await first.handle.cancel('shutdown');
  await stage.clock.advance(3 * MINUTE + 30_000);
  return stage.start(after, instantly());
}

describe('a schedule that starts again under its name', () => {
  it.each([
    ['none', 'none' as const, ['00:03 missed (down)', '00:04 missed (down)', '00:05 missed (down)']],
    ['latest', 'latest' as const, ['00:03 missed (down)', '00:04 missed (down)', '00:05 fired']],
    ['latest, unless it says otherwise', undefined, ['00:03 missed (down)', '00:04 missed (down)', '00:05 fired']],
    ['all, up to two', { all: 2 }, ['00:03 missed (down)', '00:04 fired', '00:05 fired']],
    ['all', { all: 100 }, ['00:03 fired', '00:04 fired', '00:05 fired']],
  ])('catches up %s', async (_name, catchUp, expected) => {
    const stage = createStage();
    const second = await downForThreeMinutes(stage, {}, { catchUp });
    await settled();
    expect(await stage.outcomes()).toEqual(['00:01 fired', '00:02 fired', ...expected]);
    await stage.clock.advance(MINUTE);
    expect((await stage.outcomes()).at(-1)).toBe('00:06 fired');
    await second.handle.cancel();
  });

  it('sleeps before it catches up, and its next fire is the next slot', async () => {
    const stage = createStage();
    const second = await downForThreeMinutes(stage, {}, { catchUp: 'latest' });
    expect(second.words()).toEqual(['sleeping', 'waking', 'sleeping']);
    expect(second.nextFireAt()).toBe(at(6 * MINUTE));
    await second.handle.cancel();
  });

  it('catches up one after another, and live slots meet the policy on overlaps', async () => {
    const stage = createStage();
    const first = await stage.start({}, instantly());
    await stage.clock.advance(MINUTE);
    await first.handle.cancel();
    await stage.clock.advance(2 * MINUTE);
    const second = await stage.start({ catchUp: { all: 9 }, overlap: 'skip' });
    await stage.clock.advance(MINUTE);
    expect(second.children.mostRunning).toBe(1);
    expect(await stage.outcomes()).toEqual(['00:01 fired', '00:02 fired', '00:03 queued', '00:04 skipped (overlap)']);
    await second.handle.cancel();
  });

  it('misses nothing when it was not down over a slot', async () => {
    const stage = createStage();
    const first = await stage.start({ cronExpression: '0 * * * *' });
    await stage.clock.advance(MINUTE);
    await first.handle.cancel();
    await stage.clock.advance(MINUTE);
    const second = await stage.start({ cronExpression: '0 * * * *' });
    expect([await stage.outcomes(), second.children.all]).toEqual([[], []]);
    await second.handle.cancel();
  });

  it('knows what it missed even if it never fired before', async () => {
    const stage = createStage();
    const first = await stage.start({ cronExpression: '0 2 * * *' });
    await first.handle.cancel();
    await stage.clock.advance(30 * HOUR);
    const second = await stage.start({ cronExpression: '0 2 * * *' }, instantly());
    await settled();
    expect(
      (await stage.records())
        .filter((record) => 'slot' in record)
        .map((record) => ('slot' in record ? `${record.slot} ${record.type}` : '')),
    ).toEqual([`${at(2 * HOUR)} slot.missed`, `${at(26 * HOUR)} slot.claimed`, `${at(26 * HOUR)} slot.fired`]);
    await second.handle.cancel();
  });

  it('that is new catches up nothing', async () => {
    const stage = createStage();
    const schedule = await stage.start({ catchUp: { all: 9 } });
    expect(schedule.children.all).toEqual([]);
    await schedule.handle.cancel();
  });

  it('with another plan records what the old one would have fired, and fires none of it', async () => {
    const stage = createStage();
    const second = await downForThreeMinutes(stage, {}, { cronExpression: '*/10 * * * *', catchUp: { all: 9 } });
    expect(await stage.outcomes()).toEqual([
      '00:01 fired',
      '00:02 fired',
      '00:03 missed (plan-changed)',
      '00:04 missed (plan-changed)',
      '00:05 missed (plan-changed)',
    ]);
    expect(second.nextFireAt()).toBe(at(10 * MINUTE));
    await second.handle.cancel();
  });

  it('goes by the plan it is started with, also when an edit had put another in force', async () => {
    const stage = createStage();
    const first = await stage.start({ cronExpression: '0 * * * *' });
    await first.handle.edit?.({ cronExpression: '*/10 * * * *' });
    await first.handle.cancel();
    await stage.clock.advance(15 * MINUTE);
    const second = await stage.start({ cronExpression: '0 * * * *' });
    expect([await stage.outcomes(), second.nextFireAt()]).toEqual([['00:10 missed (plan-changed)'], at(HOUR)]);
    await second.handle.cancel();
  });

  it('after a single slot has passed has nothing left to do', async () => {
    const stage = createStage();
    const first = await stage.start({ cronExpression: '2026-01-01T01:00:00' }, instantly());
    await stage.clock.advance(HOUR);
    await first.handle.result;
    const second = await stage.start({ cronExpression: '2026-01-01T01:00:00' });
    expect((await second.handle.result).output).toBe('fired 0 times');
  });

  it('fires a single slot that passed while it was down', async () => {
    const stage = createStage();
    const first = await stage.start({ cronExpression: '2026-01-01T01:00:00' });
    await first.handle.cancel();
    await stage.clock.advance(HOUR);
    const second = await stage.start({ cronExpression: '2026-01-01T01:00:00' }, instantly());
    expect((await second.handle.result).output).toBe('fired 1 time');
  });

  it('names the newest missed slots one by one and the others as a span, after years too', async () => {
    const stage = createStage({ limits: { maxNamedMissed: 2 } });
    const first = await stage.start();
    await first.handle.cancel();
    stage.clock.jumpWallClock(5 * 365 * 24 * HOUR);
    const second = await stage.start({}, instantly());
    await settled();
    const now = START + 5 * 365 * 24 * HOUR;
    expect(
      (await stage.records()).slice(1).map((record) => ({
        type: record.type,
        slot: 'slot' in record ? record.slot : undefined,
        upTo: 'upTo' in record ? record.upTo : undefined,
      })),
    ).toEqual([
      { type: 'slots.missed', slot: undefined, upTo: instantOf(now - 2 * MINUTE) },
      { type: 'slot.missed', slot: instantOf(now - MINUTE), upTo: undefined },
      { type: 'slot.claimed', slot: instantOf(now), upTo: undefined },
      { type: 'slot.fired', slot: instantOf(now), upTo: undefined },
    ]);
    await second.handle.cancel();
    expect((await second.handle.result).output).toBe('fired 1 time, at least 1 missed');
  });

  it('never fires a slot again whose fire was cut short by a crash, and says that its fate is unknown', async () => {
    const stage = createStage();
    const records: ScheduleRecord[] = [
      { v: 1, type: 'schedule.planned', at: at(0), cronExpression: '* * * * *', timezone: 'UTC' },
      { v: 1, type: 'slot.claimed', at: at(MINUTE), slot: at(MINUTE), owner: 'crashed' },
    ];
    await stage.store.append('nightly', records);
    await stage.clock.advance(MINUTE + 30_000);
    const schedule = await stage.start({ catchUp: { all: 9 } });
    expect([schedule.children.all, await stage.outcomes()]).toEqual([[], ['00:01 interrupted']]);
    await schedule.handle.cancel();
  });

  it('leaves what a living run has in hand and in line to that run, and takes over what a dead one left, whenever it died', async () => {
    const dead = new Set<string>();
    const stage = createStage({ owners: { newOwner: () => 'second', isAlive: async (owner) => !dead.has(owner) } });
    const records: ScheduleRecord[] = [
      { v: 1, type: 'schedule.planned', at: at(0), cronExpression: '* * * * *', timezone: 'UTC' },
      { v: 1, type: 'slot.claimed', at: at(MINUTE), slot: at(MINUTE), owner: 'first' },
      { v: 1, type: 'slot.queued', at: at(2 * MINUTE), slot: at(2 * MINUTE), owner: 'first' },
    ];
    await stage.store.append('nightly', records);
    await stage.clock.advance(2 * MINUTE + 30_000);
    const schedule = await stage.start({ catchUp: { all: 9 } }, instantly());
    expect(await stage.outcomes()).toEqual(['00:01 claimed', '00:02 queued']);
    await stage.clock.advance(MINUTE);
    expect(await stage.outcomes()).toEqual(['00:01 claimed', '00:02 queued', '00:03 fired']);
    dead.add('first');
    await stage.clock.advance(MINUTE);
    expect((await stage.outcomes())[0]).toBe('00:01 interrupted');
    expect((await stage.outcomes())[1]).not.toBe('00:02 queued');
    await schedule.handle.cancel();
  });

  it('takes a run of which nobody can tell whether it lives for dead when it has been silent for a minute', async () => {
    const stage = createStage({ owners: { newOwner: () => 'second', isAlive: async () => undefined } });
    const records: ScheduleRecord[] = [
      { v: 1, type: 'schedule.planned', at: at(0), cronExpression: '*/20 * * * * *', timezone: 'UTC' },
      { v: 1, type: 'slot.claimed', at: at(20_000), slot: at(20_000), owner: 'elsewhere' },
    ];
    await stage.store.append('nightly', records);
    await stage.clock.advance(30_000);
    const schedule = await stage.start({ cronExpression: '*/20 * * * * *' }, instantly());
    const first = async (): Promise<ScheduleRecord | undefined> =>
      (await stage.records()).findLast((record) => 'slot' in record && record.slot === at(20_000));
    await stage.clock.advance(50_000);
    expect(await first()).toMatchObject({ type: 'slot.claimed' });
    await stage.clock.advance(20_000);
    expect(await first()).toMatchObject({ type: 'slot.interrupted' });
    await schedule.handle.cancel();
  });

  it('whose record is ahead of the clock waits until the clock has caught up', async () => {
    const stage = createStage();
    await stage.store.append('nightly', [
      { v: 1, type: 'schedule.planned', at: at(0), cronExpression: '* * * * *', timezone: 'UTC' },
      { v: 1, type: 'slot.missed', at: at(0), slot: at(10 * MINUTE), owner: 'ahead', reason: 'late' },
    ]);
    const schedule = await stage.start({ catchUp: { all: 9 } });
    expect(schedule.events.at(-1)).toMatchObject({
      progress: {
        nextFireAt: at(11 * MINUTE),
        currentAction: `the clock is behind the record, which reaches to ${at(10 * MINUTE)}`,
      },
    });
    await stage.clock.advance(11 * MINUTE);
    expect(schedule.children.slots).toEqual([at(11 * MINUTE)]);
    await schedule.handle.cancel();
  });
});

describe('two runs of one schedule at the same time', () => {
  it('are paused and resumed together, from either of them', async () => {
    const stage = createStage();
    const [a, b] = [await stage.start({}, instantly()), await stage.start({}, instantly())];
    await a.handle.pause?.();
    await stage.clock.advance(2 * MINUTE);
    expect([...a.children.slots, ...b.children.slots, b.nextFireAt()]).toEqual([undefined]);
    await b.handle.resume?.();
    await stage.clock.advance(2 * MINUTE);
    expect(await stage.outcomes()).toEqual([
      '00:01 missed (paused)',
      '00:02 missed (paused)',
      '00:03 fired',
      '00:04 fired',
    ]);
    expect(a.nextFireAt()).toBe(at(5 * MINUTE));
    await a.handle.cancel();
    await b.handle.cancel();
  });

  it('fire each slot once between them', async () => {
    const stage = createStage();
    const [a, b] = [await stage.start({}, instantly()), await stage.start({}, instantly())];
    await stage.clock.advance(20 * MINUTE);
    const slots = [...a.children.slots, ...b.children.slots];
    expect([slots.length, new Set(slots).size]).toEqual([20, 20]);
    expect(await stage.outcomes()).toHaveLength(20);
    await a.handle.cancel();
    await b.handle.cancel();
  });

  it('that start together after a gap catch up once between them', async () => {
    const stage = createStage();
    const first = await stage.start({}, instantly());
    await first.handle.cancel();
    await stage.clock.advance(5 * MINUTE);
    const [a, b] = await Promise.all([
      stage.start({ catchUp: { all: 9 } }, instantly()),
      stage.start({ catchUp: { all: 9 } }, instantly()),
    ]);
    await settled();
    const slots = [...a.children.slots, ...b.children.slots];
    expect([slots.length, new Set(slots).size]).toEqual([5, 5]);
    await a.handle.cancel();
    await b.handle.cancel();
  });
});
