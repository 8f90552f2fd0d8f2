/** Failures and pauses of a recording are found once, and as they come. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isFailure, toneOf } from '../../../src/adapters/inspector-page/model/outcomes.ts';
import { PAUSE_MS, RecordIndex, placeAfter } from '../../../src/adapters/inspector-page/model/record-index.ts';
import type { InspectionRecord } from '../../../src/machines/inspection-log/inspection-record.ts';
import { InspectionTimeline } from '../../../src/machines/inspection-log/inspection-timeline.ts';

const failed = (s: number, a = `b:${s}`): InspectionRecord => ({ s, t: s, k: 'error', a, message: 'it broke' });
const quiet = (s: number, t = s): InspectionRecord => ({ s, t, k: 'emit', a: 'b:quiet', type: 'said' });

describe('the index of a recording', () => {
  it('finds the failures around each moment, however the records came', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 80 }), fc.integer({ min: 1, max: 30 }), (story, portion) => {
        const records = story.map((breaks, index) => (breaks ? failed(index + 1) : quiet(index + 1)));
        const timeline = new InspectionTimeline();
        const index = new RecordIndex(timeline);
        for (let at = 0; at < records.length; at += portion) {
          timeline.append(records.slice(at, at + portion));
          index.bringUp();
        }
        const numbers = records.filter(({ k }) => k === 'error').map(({ s }) => s);
        expect(index.failures.map(({ s }) => s)).toEqual(numbers);
        for (let s = 0; s <= records.length + 1; s += 1) {
          expect(index.failedBy(s)).toBe(numbers.filter((each) => each <= s).length);
          expect(index.failureFrom(s, 'on')?.s).toBe(numbers.find((each) => each > s));
          expect(index.failureFrom(s, 'back')?.s).toBe(numbers.findLast((each) => each < s));
        }
      }),
    );
  });

  it('tells the failure of one actor once, though it breaks and ends', () => {
    const timeline = new InspectionTimeline();
    const index = new RecordIndex(timeline);
    timeline.append([
      failed(1, 'b:1'),
      { s: 2, t: 2, k: 'snap', a: 'b:1', status: 'error', error: { message: 'it broke' } },
      failed(3, 'b:2'),
    ]);
    index.bringUp();
    expect(index.failures).toEqual([
      { s: 1, actor: 'b:1' },
      { s: 3, actor: 'b:2' },
    ]);
  });

  it('tells it once though others speak between, and again where it went on and failed anew', () => {
    const timeline = new InspectionTimeline();
    const index = new RecordIndex(timeline);
    const step = (s: number, status: 'active' | 'done', value: string): InspectionRecord => ({
      s,
      t: s,
      k: 'step',
      a: 'b:1',
      type: 'GO',
      taken: ['t'],
      value,
      status,
    });
    timeline.append([
      step(1, 'done', 'failed'),
      failed(2, 'b:2'),
      { s: 3, t: 3, k: 'snap', a: 'b:1', value: 'failed', status: 'done', output: { outcome: 'failed' } },
      step(4, 'active', 'working'),
      step(5, 'done', 'failed'),
    ]);
    index.bringUp();
    expect(index.failures.map(({ s }) => s)).toEqual([1, 2, 5]);
  });

  it('forgets with the recording', () => {
    const timeline = new InspectionTimeline({ maxRecords: 10 });
    const index = new RecordIndex(timeline);
    for (let s = 1; s <= 10_000; s += 1) timeline.append([failed(s)]);
    index.bringUp();
    expect(index.failures[0]?.s).toBe(timeline.first?.s);
    expect(index.failures.at(-1)?.s).toBe(10_000);
  });

  it('knows where nothing happened for long, and for how long in all', () => {
    const timeline = new InspectionTimeline();
    const index = new RecordIndex(timeline);
    timeline.append([quiet(1, 0), quiet(2, PAUSE_MS), quiet(3, 2 * PAUSE_MS + 1), quiet(4, 5 * PAUSE_MS)]);
    index.bringUp();
    expect(index.pauses).toEqual([
      { s: 3, ms: PAUSE_MS + 1 },
      { s: 4, ms: 3 * PAUSE_MS - 1 },
    ]);
    expect(index.pausedMs).toBe(4 * PAUSE_MS);
  });
});

describe('what a state means', () => {
  it.each([
    ['active', 'running', 'running'],
    ['active', { running: 'waiting_permission' }, 'waiting'],
    ['active', 'awaiting_input', 'waiting'],
    ['active', { idle: 'requires_action' }, 'waiting'],
    ['active', 'failed', 'running'],
    ['done', 'completed', 'completed'],
    ['done', 'failed', 'failed'],
    ['done', { settled: 'timed_out' }, 'failed'],
    ['done', undefined, 'completed'],
    ['error', 'running', 'failed'],
    ['stopped', 'failed', 'cancelled'],
    ['done', 'denied', 'refused'],
    ['done', 'unknown', 'unknown'],
  ] as const)('%s in %j is %s', (status, value, tone) => {
    expect(toneOf({ status, value })).toBe(tone);
  });

  it('is a failure only where it is over', () => {
    expect(
      isFailure({ s: 1, t: 1, k: 'step', a: 'b:1', type: 'FAIL', taken: [], value: 'failed', status: 'done' }),
    ).toBe(true);
    expect(
      isFailure({ s: 1, t: 1, k: 'step', a: 'b:1', type: 'FAIL', taken: [], value: 'failed', status: 'active' }),
    ).toBe(false);
  });
});

describe('a place in a list that ascends', () => {
  it('is after all that stand at the number or before', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat({ max: 50 })).map((list) => list.toSorted((one, other) => one - other)),
        fc.nat({ max: 50 }),
        (list, seq) => {
          expect(
            placeAfter(
              list.map((s) => ({ s })),
              seq,
            ),
          ).toBe(list.filter((each) => each <= seq).length);
        },
      ),
    );
  });
});
