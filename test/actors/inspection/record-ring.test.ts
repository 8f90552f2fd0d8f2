/** The ring against the plainest thing that does the same: a list of all records, of which the newest are kept. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecordOwner } from '../../../src/actors/inspection/record-owner.ts';
import { RecordRing } from '../../../src/actors/inspection/record-ring.ts';
import { KIND, RecordRow, marksOf } from '../../../src/actors/inspection/record-row.ts';
import type { RowDetails } from '../../../src/actors/inspection/record-row.ts';
import { readRecord } from '../../../src/machines/inspection-log/read-record.ts';
import type { InspectionRecord } from '../../../src/machines/inspection-log/inspection-record.ts';

type Kind = keyof typeof KIND;
interface Told {
  readonly actor: number;
  readonly kind: Exclude<Kind, 'machine' | 'actor'>;
  readonly status: 'active' | 'done' | 'stopped' | 'error';
  readonly state: string;
  readonly size: number;
}

const DETAILS: { readonly [Each in Told['kind']]: RowDetails[Each] } = {
  event: 'x:0',
  step: ['a|GO|0'],
  snap: { message: 'broken' },
  action: undefined,
  emit: undefined,
  timer: { id: 'soon', delayMs: 5, dueAt: 7 },
  cancel: { id: 'soon' },
  error: { message: 'broken' },
};

function rowOf(owner: RecordOwner, kind: Kind, told: Partial<Told> & { readonly t: number }): RecordRow {
  const row = new RecordRow();
  row.marks = marksOf(KIND[kind], told.status ?? 'active', (told.size ?? 0) > 500);
  row.t = told.t;
  row.owner = owner;
  row.e = kind === 'event' || kind === 'step' ? told.t : 0;
  row.name = ['event', 'step', 'action', 'emit'].includes(kind) ? 'GO' : undefined;
  row.details = kind === 'actor' || kind === 'machine' ? undefined : DETAILS[kind];
  row.value = kind === 'step' || kind === 'snap' ? (told.state ?? 'a') : undefined;
  row.data = told.size === undefined ? undefined : { size: told.size };
  row.size = told.size ?? 0;
  return row;
}

/** How the actors stand after records that are told in full. */
function standsAfter(records: readonly InspectionRecord[]): ReadonlyMap<string, unknown> {
  const stands = new Map<string, unknown>();
  for (const record of records) {
    if (record.k === 'actor' && record.status === 'active') stands.set(record.a, record.value);
    else if (record.k === 'error') stands.delete(record.a);
    else if ((record.k === 'step' || record.k === 'snap') && record.status !== 'active') stands.delete(record.a);
    else if ((record.k === 'step' || record.k === 'snap') && stands.has(record.a)) stands.set(record.a, record.value);
  }
  return stands;
}

const anyTold: fc.Arbitrary<Told> = fc.record({
  actor: fc.nat(5),
  kind: fc.constantFrom(...(Object.keys(DETAILS) as Told['kind'][])),
  status: fc.constantFrom('active', 'active', 'active', 'done', 'stopped', 'error'),
  state: fc.constantFrom('a', 'b', 'c'),
  size: fc.nat(1_000),
});

/** Tells each actor before the first record about it, and again after its end. */
function fill(told: readonly Told[], ring: RecordRing): void {
  const owners = new Map<number, RecordOwner>();
  let t = 0;
  for (const each of told) {
    let owner = owners.get(each.actor);
    if (owner === undefined) {
      owner = new RecordOwner(`x:${each.actor}:${t}`);
      owner.id = `actor ${each.actor}`;
      owner.kind = each.actor === 0 ? 'task' : 'other';
      owner.value = 'start';
      owners.set(each.actor, owner);
      ring.add(rowOf(owner, 'actor', { t: (t += 1) }));
    }
    ring.add(rowOf(owner, each.kind, { ...each, t: (t += 1) }));
    if (each.kind === 'error' || ((each.kind === 'step' || each.kind === 'snap') && each.status !== 'active'))
      owners.delete(each.actor);
  }
}

describe('a ring of records', () => {
  it('keeps the newest within its bounds, and before them says of exactly those who lived then how they stood', () => {
    fc.assert(
      fc.property(
        fc.array(anyTold, { maxLength: 120 }),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 200, max: 10_000 }),
        fc.integer({ min: 1, max: 4 }),
        (told, records, characters, page) => {
          const all = new RecordRing('b', { records: 1_000, characters: 1_000_000_000 });
          const ring = new RecordRing('b', { records, characters });
          fill(told, all);
          fill(told, ring);
          expect(ring.next).toBe(all.next);
          const whole = all.slice(1, 1_000);
          const kept = ring.slice(1, 1_000);
          expect(kept).toEqual(whole.slice(whole.length - kept.length));
          expect(kept.length).toBeLessThanOrEqual(records);
          if (kept.length > 1) expect(ring.characters).toBeLessThanOrEqual(characters);
          const pages = [...ring.prelude(page)];
          const prelude = pages.flat();
          expect(pages.every(({ length }) => length <= page)).toBe(true);
          expect(prelude.map(({ s }) => s)).toEqual(prelude.map((_, index) => ring.first + index));
          expect(ring.first + prelude.length).toBe(ring.oldest);
          expect(standsAfter(prelude)).toEqual(standsAfter(whole.slice(0, whole.length - kept.length)));
        },
      ),
    );
  });

  it('gives records that the format takes, of every kind', () => {
    fc.assert(
      fc.property(fc.array(anyTold, { maxLength: 60 }), (told) => {
        const ring = new RecordRing('b', { records: 1_000, characters: 1_000_000 });
        fill(told, ring);
        const refused = ring.slice(1, 1_000).filter((record) => {
          const read = readRecord(JSON.parse(JSON.stringify(record)));
          return !('record' in read) || read.unknownFields.length > 0;
        });
        expect(refused).toEqual([]);
      }),
    );
  });

  it('goes round more than one of its pieces without losing count', () => {
    const ring = new RecordRing('b', { records: 10_001, characters: 1_000_000_000 });
    const owner = new RecordOwner('x:1');
    for (let t = 1; t <= 35_000; t += 1) ring.add(rowOf(owner, 'event', { t, size: 1 }));
    expect([ring.oldest, ring.next, ring.characters]).toEqual([35_001 - 10_001, 35_001, 10_001 * 161]);
    const kept = ring.slice(0, 20_000);
    expect(kept.map(({ s, t }) => s === t)).not.toContain(false);
    expect(kept).toHaveLength(10_001);
    expect(ring.slice(34_999, 10).map(({ s }) => s)).toEqual([34_999, 35_000]);
  });

  it('grows as it is needed: one for millions costs little while it is empty', () => {
    const before = process.memoryUsage();
    const ring = new RecordRing('b', { records: 10_000_000, characters: 1_073_741_824 });
    ring.add(rowOf(new RecordOwner('x:1'), 'event', { t: 1 }));
    const after = process.memoryUsage();
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(1_000_000);
    expect(ring.slice(1, 10)).toHaveLength(1);
  });
});
