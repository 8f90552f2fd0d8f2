/** What a tab keeps of payloads, and what it says of those that it let go. */
import { describe, expect, it } from 'vitest';
import { PayloadBudget, RecordingNotes } from '../../../src/adapters/inspector-page/model/recording.ts';
import type { InspectionRecord } from '../../../src/machines/inspection-log/inspection-record.ts';

const record = (s: number): InspectionRecord => ({
  s,
  t: s,
  k: 'event',
  a: 'b:1',
  e: s,
  type: 'SAY',
  data: { text: 'long' },
});

describe('the payloads of a recording', () => {
  it('are let go from the oldest on, when they are more than the tab keeps; the records stay', () => {
    const records = [1, 2, 3, 4, 5].map(record);
    const budget = new PayloadBudget(250);
    const gone = records.map((each) => budget.add([each], 100));
    expect(gone).toEqual([undefined, undefined, 1, 2, 3]);
    expect(records.map((each) => 'data' in each)).toEqual([false, false, false, true, true]);
    expect(records[0]).toEqual({ s: 1, t: 1, k: 'event', a: 'b:1', e: 1, type: 'SAY', cut: true });
  });

  it('of one piece stay, however long it is', () => {
    const one = record(1);
    expect(new PayloadBudget(10).add([one], 1_000)).toBeUndefined();
    expect(one).toEqual(record(1));
  });
});

describe('the notes of a recording', () => {
  it('are sentences of which the newest number counts', () => {
    const notes = new RecordingNotes();
    notes.add('missed', 0);
    expect(notes.texts.value).toEqual([]);
    notes.add('missed', 1);
    notes.add('missed', 2);
    notes.tell('begun', 1_001);
    expect(notes.texts.value).toEqual([
      '3 records on the way are missing: they were gone before they could be read.',
      'The 1,000 records before number 1,001 are missing: the recording program keeps only the newest.',
    ]);
    notes.clear();
    expect(notes.texts.value).toEqual([]);
  });
});
