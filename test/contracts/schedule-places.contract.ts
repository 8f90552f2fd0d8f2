/**
 * What every place of durable schedules does: of their definitions, and of how they stand. Each implementation runs
 * these tests.
 */
import { describe, expect, it } from 'vitest';
import type { ScheduleDefinitions, ScheduleStates } from '../../src/actors/schedule/durable-ports.ts';
import { newScheduleState } from '../../src/machines/schedule/schedule-state.ts';
import type { ScheduleState } from '../../src/machines/schedule/schedule-state.ts';
import { scheduleDefinition } from '../../src/machines/schedule/schedule-definition.ts';
import type { ScheduleDefinition } from '../../src/machines/schedule/schedule-definition.ts';
import { codeOf } from './event-store.contract.ts';

export const definitionOf = (id = 'nightly', cron = '0 1 * * *'): ScheduleDefinition =>
  scheduleDefinition.parse({
    v: 1,
    id,
    cron,
    timezone: 'UTC',
    target: { kind: 'command', command: 'true', cwd: '/' },
    createdAt: '2026-01-01T00:00:00.000Z',
    series: '5c8d4dbd-dae5-4fe8-96e4-92fa2f4b61b1',
  });

export const stateAfter = (runs: number): ScheduleState => ({ ...newScheduleState('2026-01-01T00:00:00.000Z'), runs });

/** @param open another one over the same, as another process would have */
export function describeScheduleDefinitions(name: string, open: () => ScheduleDefinitions): void {
  describe(`definitions ${name}`, () => {
    it('are there for whoever checks next', async () => {
      await open().add(definitionOf());
      const definitions = open();
      expect(await definitions.list()).toEqual([{ id: 'nightly', definition: definitionOf() }]);
      expect(await definitions.get('nightly')).toEqual(definitionOf());
    });

    it('are none where nobody has added any', async () => {
      const definitions = open();
      expect(await definitions.list()).toEqual([]);
      expect(await codeOf(definitions.get('nightly'))).toBe('SCHEDULE_NOT_FOUND');
      expect(await codeOf(definitions.remove('nightly'))).toBe('SCHEDULE_NOT_FOUND');
      await definitions.ring('nightly');
      expect(await definitions.list()).toEqual([]);
    });

    it('are listed by id, whichever was added first', async () => {
      for (const id of ['b', 'c', 'a']) await open().add(definitionOf(id));
      expect((await open().list()).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    });

    it('of one id are added once, by one of many at the same time', async () => {
      const tries = await Promise.all(
        Array.from({ length: 20 }, (_, minute) => codeOf(open().add(definitionOf('raced', `${minute} 1 * * *`)))),
      );
      expect(tries.filter((code) => code !== 'SCHEDULE_EXISTS')).toHaveLength(1);
      expect(await open().list()).toHaveLength(1);
    });

    it('are gone for everybody when they are removed, and can be added again', async () => {
      await open().add(definitionOf());
      await open().remove('nightly');
      expect(await codeOf(open().remove('nightly'))).toBe('SCHEDULE_NOT_FOUND');
      expect(await open().list()).toEqual([]);
      await open().add(definitionOf('nightly', '5 5 * * *'));
      expect(await open().get('nightly')).toEqual(definitionOf('nightly', '5 5 * * *'));
    });

    it('are seen whole while they are replaced', async () => {
      const definitions = open();
      await definitions.add(definitionOf());
      let isDone = false;
      const writing = (async () => {
        for (let minute = 0; minute < 30; minute += 1)
          await definitions.replace(definitionOf('nightly', `${minute} 1 * * *`));
        isDone = true;
      })();
      while (!isDone) expect((await definitions.list()).map((listing) => 'definition' in listing)).toEqual([true]);
      await writing;
      expect(await open().get('nightly')).toEqual(definitionOf('nightly', '29 1 * * *'));
    });

    it.each(['../definitions/good', 'a/b', '', '.', 'UPPER'])(
      'are none under an id that is none, such as %j',
      async (id) => {
        const definitions = open();
        await definitions.add(definitionOf('good'));
        expect(await codeOf(definitions.get(id))).toBe('SCHEDULE_NOT_FOUND');
        expect(await codeOf(definitions.remove(id))).toBe('SCHEDULE_NOT_FOUND');
      },
    );

    it('tell those who watch of what is added, rung for and removed, by anybody', async () => {
      const [mine, theirs] = [open(), open()];
      let heard = 0;
      const heardMore = async (work: () => Promise<void>): Promise<void> => {
        const before = heard;
        await work();
        while (heard === before) await new Promise((resolve) => setImmediate(resolve));
      };
      let end: () => void = () => undefined;
      await heardMore(async () => {
        end = mine.watch(() => (heard += 1));
      });
      await heardMore(() => theirs.add(definitionOf()));
      await heardMore(() => theirs.ring('nightly'));
      await heardMore(() => theirs.remove('nightly'));
      end();
      expect(heard).toBeGreaterThanOrEqual(4);
    });
  });
}

/** @param open another one over the same, as another process would have */
export function describeScheduleStates(name: string, open: () => ScheduleStates): void {
  describe(`states ${name}`, () => {
    it('are none of a schedule that nobody has recorded', async () => {
      expect(await open().load(definitionOf())).toBeUndefined();
    });

    it('are those that were recorded last, and follow the revision that was seen', async () => {
      expect(await open().record(definitionOf(), 0, stateAfter(1))).toBe(true);
      expect(await open().record(definitionOf(), 0, stateAfter(2))).toBe(false);
      expect(await open().record(definitionOf(), 1, stateAfter(3))).toBe(true);
      expect(await open().load(definitionOf())).toEqual({ revision: 2, state: stateAfter(3) });
    });

    it('are replaced by one of many who have seen the same', async () => {
      const stores = Array.from({ length: 8 }, open);
      const add = async (store: ScheduleStates): Promise<void> => {
        for (let count = 0; count < 10;) {
          const { revision, state: before } = (await store.load(definitionOf())) ?? {
            revision: 0,
            state: stateAfter(0),
          };
          if (await store.record(definitionOf(), revision, stateAfter(before.runs + 1))) count += 1;
        }
      };
      await Promise.all(stores.map(add));
      expect(await open().load(definitionOf())).toEqual({ revision: 80, state: stateAfter(80) });
    });

    it('are not those of an earlier schedule of the same id', async () => {
      await open().record(definitionOf(), 0, stateAfter(1));
      expect(await open().load({ ...definitionOf(), series: '00000000-0000-4000-8000-000000000000' })).toBeUndefined();
    });
  });
}
