/** Records by their place, of all actors and of one. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InspectionTimeline } from '../../../src/machines/inspection-log/inspection-timeline.ts';
import { randomRecords } from './random-records.ts';

describe('a sequence of records', () => {
  it('has each at its place, of all actors and of one', () => {
    fc.assert(
      fc.property(randomRecords(60), fc.nat(80), (records, seq) => {
        const timeline = new InspectionTimeline();
        timeline.append(records);
        for (const actor of [undefined, ...new Set(records.map(({ a }) => a))]) {
          const wanted = timeline.records({ actor });
          const sequence = timeline.sequence(actor);
          expect(Array.from({ length: sequence.length }, (_, index) => sequence.at(index))).toEqual(wanted);
          expect(sequence.indexUpTo(seq)).toBe(wanted.filter(({ s }) => s <= seq).length - 1);
          expect([sequence.at(-1), sequence.at(sequence.length), sequence.vanished]).toEqual([undefined, undefined, 0]);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('counts what was forgotten before it', () => {
    const timeline = new InspectionTimeline({ maxRecords: 1_000 });
    timeline.append(
      Array.from(
        { length: 12_000 },
        (_, index) =>
          ({ k: 'emit', s: index + 1, t: 1, a: index % 2 === 0 ? 'b:x:0' : 'b:x:1', type: 'said' }) as const,
      ),
    );
    for (const [actor, all] of [
      [undefined, 12_000],
      ['b:x:0', 6_000],
      ['b:x:1', 6_000],
    ] as const) {
      const sequence = timeline.sequence(actor);
      expect(sequence.vanished).toBeGreaterThan(0);
      expect(sequence.vanished + sequence.length).toBe(all);
    }
    expect(timeline.sequence('nobody')).toMatchObject({ length: 0, vanished: 0 });
  });
});
