/** The records that fit, found little by little, are those that a plain filter finds. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InspectionTimeline } from '../../../src/machines/inspection-log/inspection-timeline.ts';
import type { InspectionRecord } from '../../../src/machines/inspection-log/inspection-record.ts';
import { contextChanges } from '../../../src/adapters/inspector-page/events/context-change.ts';
import { KIND_FILTERS, testOf } from '../../../src/adapters/inspector-page/events/event-filter.ts';
import { FilteredRecords } from '../../../src/adapters/inspector-page/events/filtered-records.ts';
import { HANDLED_BY_LOGIC } from '../../../src/machines/inspection-log/taken-words.ts';
import { ActorNames, recordWords } from '../../../src/adapters/inspector-page/events/record-words.ts';
import { sequenceWindow } from '../../../src/adapters/inspector-page/events/sequence-window.ts';

const emit = (s: number, type: string, a = 'b:x:0'): InspectionRecord => ({ k: 'emit', s, t: s, a, type });
const emits = (from: number, count: number): InspectionRecord[] =>
  Array.from({ length: count }, (_, index) => emit(from + index, (from + index) % 7 === 0 ? 'rare' : 'said'));

function seqsOf(list: FilteredRecords): number[] {
  return Array.from({ length: list.length }, (_, index) => list.at(index)?.s ?? -1);
}

/** A row that stays has the same number together with what vanished, or was added, before it. */
function expectSamePlaces(list: FilteredRecords, places: Map<number, number>): void {
  for (const [index, seq] of seqsOf(list).entries()) {
    expect(index + list.vanished).toBe(places.get(seq) ?? index + list.vanished);
    places.set(seq, index + list.vanished);
  }
}

describe('the records that fit', () => {
  it('are those of a plain filter, whenever it checks, whatever comes and whatever is forgotten', () => {
    const steps = fc.array(
      fc.oneof(
        fc.record({ add: fc.integer({ min: 1, max: 6_000 }) }),
        fc.record({ check: fc.integer({ min: 1, max: 8 }) }),
      ),
      { minLength: 1, maxLength: 12 },
    );
    fc.assert(
      fc.property(steps, (plan) => {
        const timeline = new InspectionTimeline({ maxRecords: 5_000 });
        timeline.append(emits(1, 3_000));
        const all = timeline.sequence();
        const found = new FilteredRecords(all, (record) => 'type' in record && record.type === 'rare');
        const places = new Map<number, number>();
        let next = 3_001;
        for (const step of plan) {
          if ('add' in step) {
            timeline.append(emits(next, step.add));
            next += step.add;
          } else {
            let left = step.check;
            found.check(() => (left -= 1) <= 0);
            expectSamePlaces(found, places);
          }
        }
        found.check(() => false);
        const kept = Array.from({ length: all.length }, (_, index) => all.at(index)?.s ?? 0);
        const wanted = kept.filter((s) => s % 7 === 0);
        expect(seqsOf(found)).toEqual(wanted);
        expect(found.isComplete).toBe(true);
        expect(found.seen).toBe(all.length);
        expectSamePlaces(found, places);
        for (const seq of [0, wanted[0] ?? 0, (wanted.at(-1) ?? 0) + 1])
          expect(found.indexUpTo(seq)).toBe(wanted.filter((s) => s <= seq).length - 1);
      }),
      { numRuns: 40 },
    );
  });

  it('are the newest first, and what comes meanwhile before those', () => {
    const timeline = new InspectionTimeline();
    timeline.append(emits(1, 4_000));
    const found = new FilteredRecords(timeline.sequence(), () => true);
    found.check(() => true);
    expect([found.length, found.at(0)?.s, found.isComplete]).toEqual([512, 3_489, false]);
    timeline.append(emits(4_001, 10));
    found.check(() => true);
    expect([found.length, found.at(found.length - 1)?.s]).toEqual([522, 4_010]);
  });

  it.each(KIND_FILTERS.map(({ id }) => id))('of the kind %s can be asked for together with a text', (kind) => {
    const fits = testOf({ kind, text: 'NOTHING SAYS THIS' });
    expect(fits?.(emit(1, 'said'))).toBe(false);
    expect(testOf({ kind: 'all', text: '  ' })).toBeUndefined();
    expect(testOf({ kind: 'deed', text: 'SAI' })?.(emit(1, 'said'))).toBe(true);
  });
});

describe('the story', () => {
  const at = { s: 1, t: 1, a: 'b:1' } as const;
  const isTold = (record: InspectionRecord): boolean | undefined => testOf({ kind: 'story', text: '' })?.(record);
  const step = { ...at, k: 'step', type: 'GO', value: 'a', status: 'active' } as const;

  it('is what actors with charts did and said, and whatever failed', () => {
    const told: readonly InspectionRecord[] = [
      { ...at, k: 'actor', id: 'task', chart: 'task', status: 'active' },
      { ...at, k: 'event', e: 1, type: 'GO' },
      { ...step, taken: ['a|GO|0'] },
      { ...at, k: 'snap', value: 'waiting', status: 'stopped' },
      { ...at, k: 'snap', status: 'error', error: { message: 'it broke' } },
      { ...at, k: 'error', message: 'it broke' },
      emit(1, 'said'),
    ];
    expect(told.filter((record) => isTold(record) !== true)).toEqual([]);
  });

  it('is not what stands behind it, nor what changed nothing', () => {
    const untold: readonly InspectionRecord[] = [
      { ...at, k: 'actor', id: 'load', kind: 'promise', status: 'active' },
      { ...at, k: 'event', e: 1, type: 'xstate.done.actor.load' },
      { ...step, taken: [] },
      { ...step, taken: ['(own logic)'] },
      { ...at, k: 'snap', status: 'done' },
      { ...at, k: 'snap', value: 'completed', status: 'done' },
    ];
    expect(untold.filter((record) => isTold(record) !== false)).toEqual([]);
  });

  it('is left where a text is searched for', () => {
    expect(testOf({ kind: 'story', text: 'go' })?.({ ...step, taken: [] })).toBe(true);
  });
});

describe('what is different between two contexts', () => {
  it('is told by path', () => {
    expect(
      contextChanges({ a: 1, deep: { x: 1, y: [1, 2] }, gone: true }, { a: 1, deep: { x: 2, y: [1, 3] }, fresh: {} }),
    ).toEqual([
      { path: 'deep.x', kind: 'changed', before: 1, after: 2 },
      { path: 'deep.y.1', kind: 'changed', before: 2, after: 3 },
      { path: 'gone', kind: 'removed', before: true, after: undefined },
      { path: 'fresh', kind: 'added', before: undefined, after: {} },
    ]);
    expect(contextChanges([1], { 0: 1 })).toHaveLength(1);
    expect(contextChanges(Object.fromEntries(Array.from({ length: 500 }, (_, index) => [index, 0])), {})).toHaveLength(
      100,
    );
  });

  it('is nothing for what is the same', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(contextChanges(value, structuredClone(value))).toEqual([]);
      }),
    );
  });
});

describe('a row', () => {
  it('writes out what cannot be seen, and is never empty', () => {
    const names = new ActorNames(new InspectionTimeline().at(1));
    const { name, rest } = recordWords(emit(1, 'say\u202E\u0000this', 'b:x:7'), names);
    expect(name).not.toMatch(/[\u202E\0]/);
    expect(rest).toBe('x:7');
  });

  it('does not call ignored what moves no chart and is no matter of it', () => {
    const names = new ActorNames(new InspectionTimeline().at(1));
    const step = {
      k: 'step' as const,
      s: 1,
      t: 1,
      a: 'b:x:7',
      type: 'user.message',
      taken: [HANDLED_BY_LOGIC],
      value: { idle: 'resting' },
      status: 'active' as const,
    };
    expect(recordWords(step, names)).toMatchObject({
      sign: 'running',
      name: 'user.message',
      rest: 'no change of state · x:7',
    });
    expect(recordWords({ ...step, taken: [] }, names)).toMatchObject({ sign: 'ignored' });
  });
});

describe('the window of the sequence diagram', () => {
  const timeline = new InspectionTimeline();
  timeline.append([emit(1, 'said', 'b:x:9'), ...emits(2, 5_000)]);
  const all = timeline.sequence();

  it('follows the end in strides, and stays where it is while the moment moves within it', () => {
    const live = sequenceWindow(all, { cursor: 'live' });
    expect(live).toEqual({ begin: 4_250, end: 5_001 });
    expect(sequenceWindow(all, { cursor: 4_300, before: live })).toBe(live);
    expect(sequenceWindow(all, { cursor: 2_000, before: live })).toEqual({ begin: 1_299, end: 2_149 });
  });

  it('shows what the chosen actor did last, where it did nothing lately', () => {
    expect(sequenceWindow(all, { cursor: 'live', lastOfChosen: 1 })).toEqual({ begin: 0, end: 150 });
    expect(sequenceWindow(all, { cursor: 'live', lastOfChosen: 5_001 })).toEqual({ begin: 4_250, end: 5_001 });
  });
});
