import { expect, it } from 'vitest';
import { createMemoryScheduleStore } from '../../../src/actors/schedule/memory-schedule-store.ts';
import { claimed, describeScheduleStore, fired, minute, recordsOf } from './schedule-store-contract.ts';

describeScheduleStore('memory', (beside) => beside ?? createMemoryScheduleStore());

it('memory drops the oldest records of a long life, and none of what they add up to', async () => {
  const store = createMemoryScheduleStore({ maxRecords: 10 });
  for (let slot = 1; slot <= 100; slot += 1) await store.append('nightly', [claimed(slot), fired(slot)]);
  const records = await recordsOf(store, 'nightly');
  expect(records.length).toBeLessThanOrEqual(20);
  expect(records.at(-1)).toEqual(fired(100));
  expect((await store.load('nightly')).through).toBe(minute(100));
  expect(await store.append('nightly', [claimed(1, 'b')])).toEqual([false]);
});
