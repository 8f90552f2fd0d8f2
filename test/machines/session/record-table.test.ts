import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecordTable } from '../../../src/machines/session/record-table.ts';

/** Few times and few tails, so that ids repeat, share a millisecond and come out of order. */
const uuid = fc
  .tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 5 }))
  .map(([time, counter, node]) => {
    const digits = (0x0190_0000_0000 + time * 0x1_0001).toString(16).padStart(12, '0');
    return `${digits.slice(0, 8)}-${digits.slice(8)}-700${counter}-8000-00000000000${node}`;
  });
const id = fc.oneof(
  { weight: 9, arbitrary: uuid },
  { weight: 1, arbitrary: fc.constantFrom('', 'not-a-uuid', '01900000-0000-7000-8000-00000000000g') },
);

describe('a table of records', () => {
  it('finds each record by its id and by its events, in whatever order the ids come, and none that is not there', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(id, fc.integer({ min: 1, max: 3 })), { maxLength: 700 }),
        fc.array(id, { maxLength: 20 }),
        (records, others) => {
          const table = new RecordTable();
          const model = new Map<string, number>();
          const places: { readonly id: string; readonly firstSeq: number; readonly count: number }[] = [];
          let firstSeq = 1;
          for (const [name, count] of records) {
            expect(table.find(name)).toBe(model.get(name));
            if (model.has(name)) continue;
            model.set(name, table.add(name, { firstSeq, count }));
            places.push({ id: name, firstSeq, count });
            firstSeq += count;
          }
          for (const [number, place] of places.entries()) {
            expect({ id: table.idAt(number), ...table.placeAt(number) }).toEqual(place);
            expect(table.numberOf(place.firstSeq + place.count - 1)).toBe(number);
          }
          for (const name of [...model.keys(), ...others]) expect(table.find(name)).toBe(model.get(name));
          expect(table.size).toBe(model.size);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('keeps numbers beyond 32 bits', () => {
    const table = new RecordTable();
    const firstSeq = 2 ** 40 + 5;
    table.add('01900000-0000-7000-8000-000000000001', { firstSeq, count: 2 });
    expect(table.placeAt(0)).toEqual({ firstSeq, count: 2 });
  });

  it('tells ids apart that differ in their last digit only', () => {
    const table = new RecordTable();
    table.add('01900000-0000-7000-8000-00000000000f', { firstSeq: 1, count: 1 });
    expect(table.find('01900000-0000-7000-8000-00000000000e')).toBeUndefined();
    expect(table.find('01900000-0000-7000-8000-00000000000f')).toBe(0);
  });
});
