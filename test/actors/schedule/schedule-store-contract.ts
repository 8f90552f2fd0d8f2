/** What every store of schedules does. Each implementation runs these tests. */
import { describe, expect, it } from 'vitest';
import type { ScheduleStore } from '../../../src/actors/schedule/schedule-store.ts';
import { EMPTY_HISTORY } from '../../../src/machines/schedule/slot-ledger.ts';
import { instantOf } from '../../../src/machines/schedule/slot-record.ts';
import type { ScheduleRecord } from '../../../src/machines/schedule/slot-record.ts';

export const minute = (count: number): string => instantOf(Date.UTC(2026, 0, 1) + count * 60_000);

export const planned = (at = 0): ScheduleRecord => ({
  v: 1,
  type: 'schedule.planned',
  at: minute(at),
  cronExpression: '* * * * *',
  timezone: 'UTC',
});
export const claimed = (slot: number, owner = 'a'): ScheduleRecord => ({
  v: 1,
  type: 'slot.claimed',
  at: minute(slot),
  slot: minute(slot),
  owner,
});
export const fired = (slot: number, owner = 'a'): ScheduleRecord => ({
  v: 1,
  type: 'slot.fired',
  at: minute(slot),
  slot: minute(slot),
  owner,
  childTaskId: `task_${slot}`,
});

export async function recordsOf(store: ScheduleStore, scheduleId: string): Promise<ScheduleRecord[]> {
  const records: ScheduleRecord[] = [];
  for await (const record of store.records(scheduleId)) records.push(record);
  return records;
}

/**
 * @param open a store of its own, or with `beside` a second one over the same records, as another process would have
 */
export function describeScheduleStore(name: string, open: (beside?: ScheduleStore) => ScheduleStore): void {
  describe(`${name} keeps schedules so that`, () => {
    it('one that nobody has recorded has the empty history, and asking does not create it', async () => {
      const store = open();
      expect(await store.load('nightly')).toEqual(EMPTY_HISTORY);
      expect(await recordsOf(store, 'nightly')).toEqual([]);
    });

    it('records come back as they were given, in order', async () => {
      const store = open();
      const records = [planned(), claimed(1), fired(1), claimed(2)];
      expect(await store.append('nightly', records.slice(0, 3))).toEqual([true, true, true]);
      expect(await store.append('nightly', records.slice(3))).toEqual([true]);
      expect(await recordsOf(store, 'nightly')).toEqual(records);
    });

    it('no records are no write', async () => {
      const store = open();
      expect(await store.append('nightly', [])).toEqual([]);
      expect(await store.load('nightly')).toEqual(EMPTY_HISTORY);
    });

    it('the history is what they add up to', async () => {
      const store = open();
      await store.append('nightly', [planned(), claimed(1), fired(1), claimed(2)]);
      expect(await store.load('nightly')).toEqual({
        plan: { cronExpression: '* * * * *', timezone: 'UTC' },
        paused: false,
        through: minute(2),
        queued: [],
        claims: [{ slot: minute(2), owner: 'a', interrupted: false }],
      });
    });

    it('a slot is claimed once', async () => {
      const store = open();
      expect(await store.append('nightly', [claimed(1, 'a')])).toEqual([true]);
      expect(await store.append('nightly', [claimed(1, 'b')])).toEqual([false]);
      expect(await store.append('nightly', [claimed(1, 'a')])).toEqual([true]);
    });

    it('a slot is claimed once by many who try at the same moment', async () => {
      const store = open();
      const claims = await Promise.all(
        Array.from({ length: 20 }, (_, owner) =>
          (owner % 2 === 0 ? store : open(store)).append('nightly', [claimed(1, `run_${owner}`)]),
        ),
      );
      expect(claims.flat().filter((held) => held)).toHaveLength(1);
      expect(await recordsOf(store, 'nightly')).toHaveLength(20);
    });

    it('what one has written, the other sees', async () => {
      const store = open();
      const other = open(store);
      await store.append('nightly', [planned(), claimed(1)]);
      expect(await other.append('nightly', [claimed(1, 'b'), claimed(2, 'b')])).toEqual([false, true]);
      expect((await store.load('nightly')).through).toBe(minute(2));
    });

    it('schedules do not mix, whatever their names', async () => {
      const store = open();
      const ids = [
        'nightly',
        'Nightly',
        'nightly ',
        '../nightly',
        'a/b',
        'a\\b',
        '..',
        '.',
        'con',
        '\u00e9',
        'e\u0301',
        'x'.repeat(500),
        '\0',
        '🕑',
        '%2e',
        'nightly\n',
      ];
      for (const [index, id] of ids.entries()) await store.append(id, [claimed(index + 1)]);
      for (const [index, id] of ids.entries()) expect(await recordsOf(store, id)).toEqual([claimed(index + 1)]);
    });
  });
}
