/** However long a session has lived, an evaluation and its history check the end of the log only, and say so. */
import { describe, expect, it } from 'vitest';
import { readHistory } from '../../../src/actors/outcome/outcome-history.ts';
import { readWork } from '../../../src/actors/outcome/read-work.ts';
import type { EventReader } from '../../../src/actors/outcome/read-work.ts';
import type { SessionEvent } from '../../../src/machines/session/session-event.ts';
import { SESSION_ID, eventAt, message } from '../../support/session-events.ts';

const LENGTH = 100_000;
const outcome = { title: 'It works.', seq: 10, by: 'person' } as const;

/** A log that is made as it is read, and counts what was read of it. */
function longLog(eventOf: (seq: number) => SessionEvent): {
  readonly reader: EventReader;
  readonly count: () => number;
} {
  let count = 0;
  return {
    reader: {
      async read(_sessionId, { from = 1, limit = 1_000 } = {}) {
        const events = Array.from({ length: Math.max(0, Math.min(limit, LENGTH - from + 1)) }, (_, index) =>
          eventOf(from + index),
        );
        count += events.length;
        return events;
      },
    },
    count: () => count,
  };
}

const evaluation = (seq: number): SessionEvent =>
  eventAt(seq, {
    type: 'outcome.evaluated',
    data: { verdict: 'fail', because: 'x', evidence: [], throughSeq: seq - 1, evaluators: ['log'] },
  });
const chat = eventAt(1, message('x'));

describe('a session of 100,000 events', () => {
  it('is evaluated by the newest of them, as one of which not everything is known', async () => {
    const { reader, count } = longLog((seq) => ({ ...chat, seq }));
    const record = await readWork(reader, { sessionId: SESSION_ID, head: LENGTH, outcome, forkOf: undefined });
    expect([count(), record.isWhole, record.throughSeq]).toEqual([20_000, false, LENGTH]);
    const recent = await readWork(reader, {
      sessionId: SESSION_ID,
      head: LENGTH,
      outcome: { ...outcome, seq: LENGTH - 50 },
      forkOf: undefined,
    });
    expect([count(), recent.isWhole]).toEqual([20_050, true]);
  });

  it('has a history that reads no further back than it must', async () => {
    const often = longLog((seq) => (seq % 100 === 0 ? evaluation(seq) : { ...chat, seq }));
    const history = await readHistory(often.reader, { sessionId: SESSION_ID, head: LENGTH, outcome }, 5);
    expect(history.entries.map(({ seq }) => seq)).toEqual([99_600, 99_700, 99_800, 99_900, 100_000]);
    expect([often.count(), history.trend, history.fromSeq]).toEqual([1_000, 'same', 99_600]);
    const seldom = longLog((seq) => (seq === 5 ? evaluation(seq) : { ...chat, seq }));
    expect(await readHistory(seldom.reader, { sessionId: SESSION_ID, head: LENGTH, outcome }, 5)).toEqual({
      entries: [],
      trend: 'same',
      fromSeq: 80_001,
    });
    expect(seldom.count()).toBe(20_000);
  });
});
