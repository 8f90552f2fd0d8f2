import { describe, expect, it } from 'vitest';
import { createMemoryScheduleStore } from '../../../src/actors/schedule/memory-schedule-store.ts';
import { isRecordFailure, ScheduleJournal, ScheduleLog } from '../../../src/actors/schedule/schedule-journal.ts';
import type { ScheduleStore } from '../../../src/actors/schedule/schedule-store.ts';
import { claimed, fired, recordsOf } from './schedule-store-contract.ts';

function journalOver(store: ScheduleStore = createMemoryScheduleStore()) {
  const log = new ScheduleLog('task_1', 10_000);
  return { store, log, journal: new ScheduleJournal({ store, scheduleId: 'nightly', log }) };
}

describe('the journal of a schedule', () => {
  it('stores what is owed before what is new, and answers for what is new', async () => {
    const { store, journal } = journalOver();
    await journal.append([claimed(1)]);
    await store.append('nightly', [claimed(2, 'other')]);
    journal.owe(fired(1));
    expect(await journal.append([claimed(2), claimed(3)])).toEqual([false, true]);
    expect(await recordsOf(store, 'nightly')).toEqual([
      claimed(1),
      claimed(2, 'other'),
      fired(1),
      claimed(2),
      claimed(3),
    ]);
    expect([journal.count('slot.fired'), journal.count('slot.claimed'), journal.isBehind]).toEqual([1, 2, false]);
  });

  it('keeps owing what comes up while it writes', async () => {
    const { store, journal } = journalOver();
    const writing = journal.append([claimed(1)]);
    journal.owe(fired(1));
    await writing;
    expect(journal.isBehind).toBe(true);
    expect(await journal.settleDebts()).toBe(true);
    expect((await recordsOf(store, 'nightly')).at(-1)).toEqual(fired(1));
  });

  it('owes what cannot be stored, throws what was to be decided, and says both in plain words', async () => {
    const broken: ScheduleStore = {
      ...createMemoryScheduleStore(),
      append: () => Promise.reject(new Error('the disk is full')),
    };
    const { journal, log } = journalOver(broken);
    journal.owe(fired(1));
    expect([await journal.settleDebts(), journal.isBehind]).toEqual([false, true]);
    expect(log.page().lines).toEqual([
      '[system] the records of schedule "nightly" could not be stored: the disk is full',
    ]);
    const failure: unknown = await journal.append([claimed(2)]).catch((thrown: unknown) => thrown);
    expect([isRecordFailure(failure), isRecordFailure(new Error('other'))]).toEqual([true, false]);
    expect(failure).toMatchObject({ category: 'storage', hint: expect.stringContaining('not fired until') as string });
  });
});
