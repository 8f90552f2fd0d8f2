/**
 * Pairs that race over one slot of a schedule, with the records in the order of a scheduler: the slot has one outcome,
 * and it fires once at most.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryScheduleStore } from '../../../src/actors/schedule/memory-schedule-store.ts';
import type { ScheduleStore } from '../../../src/actors/schedule/schedule-store.ts';
import type { ScheduleRecord } from '../../../src/machines/schedule/slot-record.ts';
import { MINUTE, ManualChildren, createStage } from '../../actors/schedule/schedule-stage.ts';
import type { LiveSchedule, Stage } from '../../actors/schedule/schedule-stage.ts';
import { settled } from '../../support/manual-runner.ts';
import { modelRuns } from '../../support/model-runs.ts';
import { inTurn } from '../../support/racing-store.ts';

interface Slow {
  readonly store: ScheduleStore;
  scheduler: fc.Scheduler | undefined;
}

/**
 * Planted. `credulous`: whoever claims is told that it has the slot. `forgetful`: says that it has stored what it has
 * not.
 */
type Defect = 'credulous' | 'forgetful';

/** Its operations take their turns as soon as there is a scheduler. */
function slowStore(defect?: Defect): Slow {
  const inner = createMemoryScheduleStore();
  const turn = async (name: string): Promise<void> => {
    await slow.scheduler?.schedule(Promise.resolve(), name);
  };
  const slow: Slow = {
    scheduler: undefined,
    store: {
      load: async (id) => {
        await turn('load');
        return inner.load(id);
      },
      append: async (id, records) => {
        await turn(`append ${records.map(({ type }) => type).join(' ')}`);
        if (defect === 'forgetful' && slow.scheduler !== undefined) return records.map(() => true);
        const held = await inner.append(id, records);
        return defect === undefined ? held : records.map(() => true);
      },
      records: (id) => inner.records(id),
    },
  };
  return slow;
}

async function settledDeep(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await settled();
}

/** Both at once, and all that follows. */
async function race(slow: Slow, scheduler: fc.Scheduler, works: readonly (() => Promise<unknown>)[]): Promise<void> {
  slow.scheduler = scheduler;
  await scheduler.waitFor(Promise.all(works.map((work, index) => inTurn(scheduler, `work ${index + 1}`, work)())));
  for (let turn = 0; turn < 20; turn += 1) {
    await scheduler.waitIdle();
    await settled();
  }
  slow.scheduler = undefined;
}

/** The decisions on each slot that were recorded and hold. */
function decisionsIn(records: readonly ScheduleRecord[]): string[] {
  return records.flatMap((record) =>
    record.type === 'slot.claimed' || record.type === 'slot.missed' || record.type === 'slot.skipped'
      ? [record.type]
      : [],
  );
}

async function stop(stage: Stage, ...schedules: readonly LiveSchedule[]): Promise<void> {
  for (const { handle } of schedules) void handle.cancel();
  await settledDeep();
  expect(stage.clock.pendingTimers).toBe(0);
  for (const { children } of schedules) expect(children.running).toBe(0);
}

/** A property is worth something: with the defect it fails. */
async function expectFound<Given>(property: fc.IAsyncProperty<Given>): Promise<void> {
  expect((await fc.check(property, { numRuns: 20, seed: 1, endOnFailure: true })).failed).toBe(true);
}

describe('a pause that races a slot', () => {
  const decidedOnce = (defect?: Defect): fc.IAsyncProperty<[fc.Scheduler, 'pause' | 'resume']> =>
    fc.asyncProperty(
      fc.scheduler(),
      fc.constantFrom('pause' as const, 'resume' as const),
      async (scheduler, command) => {
        const slow = slowStore(defect);
        const stage = createStage({ store: slow.store });
        const live = await stage.start();
        if (command === 'resume') await live.handle.pause?.();
        await race(slow, scheduler, [async () => live.handle[command]?.(), () => stage.clock.advance(MINUTE)]);
        const decisions = decisionsIn(await stage.records());
        expect(decisions).toHaveLength(1);
        expect(live.children.slots).toHaveLength(decisions[0] === 'slot.claimed' ? 1 : 0);
        await live.handle.pause?.();
        await stage.clock.advance(MINUTE);
        await settledDeep();
        expect(live.children.slots).toHaveLength(decisions[0] === 'slot.claimed' ? 1 : 0);
        await stop(stage, live);
      },
    );

  it('lets it fire or records that it was missed, and nothing fires after it', async () => {
    await fc.assert(decidedOnce(), modelRuns(20));
  });

  it('is found to have no record, in a store that forgets it', () => expectFound(decidedOnce('forgetful')));
});

describe('a stop that races a slot', () => {
  const hasItsEnd = (defect?: Defect): fc.IAsyncProperty<[fc.Scheduler, number]> =>
    fc.asyncProperty(fc.scheduler(), fc.nat({ max: 4 }), async (scheduler, turns) => {
      const slow = slowStore(defect);
      const stage = createStage({ store: slow.store });
      const live = await stage.start();
      const cancel = async (): Promise<void> => {
        // The claim of a slot takes its time: a stop that comes at once is always before it.
        for (let turn = 0; turn < turns; turn += 1)
          await settled().then(() => scheduler.schedule(Promise.resolve(), 'later'));
        await live.handle.cancel();
      };
      await race(slow, scheduler, [cancel, () => stage.clock.advance(MINUTE)]);
      await stop(stage, live);
      const records = await stage.records();
      const [claims, fired] = (['slot.claimed', 'slot.fired'] as const).map(
        (type) => records.filter((record) => record.type === type).length,
      );
      expect(claims).toBeLessThanOrEqual(1);
      expect(live.children.slots.length).toBeLessThanOrEqual(claims ?? 0);
      expect(fired).toBeLessThanOrEqual(claims ?? 0);
    });

  it('leaves nothing that runs, and a slot that was claimed has its end in the records', async () => {
    await fc.assert(hasItsEnd(), modelRuns(20));
  });

  it('is found to leave a run that nobody knows of, in a store that forgets the claim', () =>
    expectFound(hasItsEnd('forgetful')));
});

describe('two workers that run one schedule', () => {
  const firesOnce = (defect?: Defect): fc.IAsyncProperty<[fc.Scheduler]> =>
    fc.asyncProperty(fc.scheduler(), async (scheduler) => {
      const slow = slowStore(defect);
      const stage = createStage({ store: slow.store });
      const [one, other] = [await stage.start({}, new ManualChildren()), await stage.start({}, new ManualChildren())];
      await race(slow, scheduler, [() => stage.clock.advance(MINUTE)]);
      const fires = [...one.children.slots, ...other.children.slots];
      try {
        expect([fires.length, decisionsIn(await stage.records()).length]).toEqual([1, 1]);
      } finally {
        await stop(stage, one, other);
      }
    });

  it('fire each slot once, whoever comes first', async () => {
    await fc.assert(firesOnce(), modelRuns(20));
  });

  it('are found to fire it twice when each is told that it has it', () => expectFound(firesOnce('credulous')));
});
