/** The line of time: every record has a place on it, and every place a record. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Axis, fittingKind } from '../../../src/adapters/inspector-page/time/axis.ts';
import type { AxisKind } from '../../../src/adapters/inspector-page/time/axis.ts';
import { timeMarks } from '../../../src/adapters/inspector-page/time/time-marks.ts';
import type { InspectionRecord } from '../../../src/machines/inspection-log/inspection-record.ts';
import { InspectionTimeline } from '../../../src/machines/inspection-log/inspection-timeline.ts';

const MINUTE = 60_000;

function timelineOf(
  times: readonly number[],
  more: (index: number) => Partial<InspectionRecord> = () => ({}),
): InspectionTimeline {
  const timeline = new InspectionTimeline();
  timeline.append(
    times.map(
      (t, index) => ({ s: index + 1, t, k: 'emit', a: 'b:1', type: 'said', ...more(index) }) as InspectionRecord,
    ),
  );
  return timeline;
}

function axisOf(timeline: InspectionTimeline, kind: AxisKind, actor?: string): Axis {
  return Axis.of({ timeline, kind, slices: 50, marks: 6, actor }) as Axis;
}

const ascending = fc
  .array(fc.nat({ max: 10 * MINUTE }), { minLength: 1, maxLength: 60 })
  .map((gaps) => gaps.reduce<number[]>((times, gap) => [...times, (times.at(-1) ?? 1_000_000) + gap], []));

describe('the line of time', () => {
  it.each(['time', 'records'] as const)(
    'by %s leads from each record to a place, and from there to a record of that time',
    (kind) => {
      fc.assert(
        fc.property(ascending, (times) => {
          const timeline = timelineOf(times);
          const axis = axisOf(timeline, kind);
          let before = 0;
          for (const [index, time] of times.entries()) {
            const place = axis.placeOf(index + 1);
            expect(place).toBeGreaterThanOrEqual(before);
            expect(place).toBeLessThanOrEqual(1);
            before = place;
            const record = timeline.record(axis.recordAt(place));
            if (kind === 'records' && times.length > 1) expect(record?.s).toBe(index + 1);
            // What is computed with fractions may be a millisecond off.
            else if (times.length > 1)
              expect(Math.abs((record?.t ?? 0) - time) <= 1 || (record?.t ?? 0) <= time).toBe(true);
          }
          expect(axis.recordAt(1)).toBe(times.length);
          for (const { height } of axis.slices) expect(height >= 0 && height <= 1).toBe(true);
          for (const { at } of [...axis.marks, ...axis.pauses]) expect(at >= 0 && at <= 1).toBe(true);
        }),
      );
    },
  );

  it('marks what failed and what the chosen actor did', () => {
    const timeline = timelineOf(
      [0, 10, 20, 30, 100].map((each) => each * MINUTE),
      (index) => (index === 4 ? { k: 'error', a: 'b:2', message: 'it broke' } : {}),
    );
    const { slices } = axisOf(timeline, 'time', 'b:2');
    expect(slices.map(({ hasFailure }) => hasFailure).lastIndexOf(true)).toBe(slices.length - 1);
    expect(slices.filter(({ hasFailure }) => hasFailure)).toHaveLength(1);
    expect(slices.filter(({ isOfActor }) => isOfActor)).toHaveLength(1);
  });

  it('says how long each pause was, and the longest where there is no space for all', () => {
    const times = [0, 1, 2, 2 + 3 * MINUTE, 3 + 3 * MINUTE, 3 + 123 * MINUTE, 4 + 123 * MINUTE];
    const { pauses } = axisOf(timelineOf(times), 'records');
    expect(pauses.map(({ text }) => text)).toEqual(['3 min', '2 h']);
    const crowded = Axis.of({ timeline: timelineOf(times), kind: 'records', slices: 10, marks: 1, actor: undefined });
    expect(crowded?.pauses.map(({ text }) => text)).toEqual(['', '2 h']);
    expect(axisOf(timelineOf(times), 'time').pauses).toEqual([]);
  });

  it('tells times apart on it, by record, and leaves out what is told twice', () => {
    const told = (times: readonly number[]): readonly string[] =>
      axisOf(timelineOf(times), 'records').marks.map(({ text }) => text);
    expect(told([0, 1, 2, 3, 4, 5, 6].map((each) => each * 1_000)).every((text) => /^\d\d:\d\d:\d\d$/.test(text))).toBe(
      true,
    );
    const close = told([0, 100, 200, 200, 200, 500, 600]);
    expect(close[0]).toMatch(/\.\d{3}$/);
    expect(close).toContain('');
    expect(close.filter((text, index) => text !== '' && text === close[index - 1])).toEqual([]);
  });

  it('is by record for sessions, and where pauses would take most of the line', () => {
    const busy = timelineOf([0, 1, 2, 3].map((each) => each * 30_000));
    expect(fittingKind(busy, false)).toBe('time');
    expect(fittingKind(busy, true)).toBe('records');
    expect(fittingKind(timelineOf([0, 1, 2, 100 * MINUTE]), false)).toBe('records');
    expect(
      Axis.of({ timeline: new InspectionTimeline(), kind: 'time', slices: 5, marks: 1, actor: undefined }),
    ).toBeUndefined();
  });

  it('takes records whose clock jumps back, and those of a single instant', () => {
    const jumping = axisOf(timelineOf([5_000, 9_000, 1_000, 2_000, 9_500]), 'time');
    for (const place of [-1, 0, 0.3, 0.5, 1, 2, Number.NaN])
      expect(jumping.recordAt(Number.isNaN(place) ? 0 : place)).toBeGreaterThan(0);
    const instant = axisOf(timelineOf([7, 7, 7]), 'time');
    expect([instant.placeOf(1), instant.placeOf(3), instant.recordAt(0.5)]).toEqual([1, 1, 3]);
  });
});

describe('the marks of a span', () => {
  it('are round times, no more than there is space for', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 2_000_000_000 }),
        fc.integer({ min: 1, max: 400 * 24 * 60 * MINUTE }),
        fc.integer({ min: 1, max: 12 }),
        (from, span, most) => {
          const marks = timeMarks(from, from + span, most);
          expect(marks.length).toBeLessThanOrEqual(most + 1);
          for (const { at } of marks) expect(at >= 0 && at <= 1).toBe(true);
        },
      ),
    );
    expect(timeMarks(0, 10 * MINUTE, 5).map(({ text }) => text)).toEqual([
      '00:00',
      '00:02',
      '00:04',
      '00:06',
      '00:08',
      '00:10',
    ]);
    expect(timeMarks(0, 4_000, 4).map(({ text }) => text)).toEqual([
      '00:00:00',
      '00:00:01',
      '00:00:02',
      '00:00:03',
      '00:00:04',
    ]);
    expect(timeMarks(5, 5, 5)).toEqual([]);
  });
});
