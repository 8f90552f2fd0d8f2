/** Records as a sequence diagram. */
import { describe, expect, it } from 'vitest';
import { InspectionTimeline } from '../../../src/machines/inspection-log/inspection-timeline.ts';
import type { InspectionRecord } from '../../../src/machines/inspection-log/inspection-record.ts';
import { ActorNames } from '../../../src/adapters/inspector-page/events/record-words.ts';
import { OTHERS, OUTSIDE, sequenceOf } from '../../../src/adapters/inspector-page/events/sequence.ts';
import type { Sequence, SequenceOptions } from '../../../src/adapters/inspector-page/events/sequence.ts';
import {
  TIME_WIDTH,
  columnMiddle,
  labelBeside,
  labelBetween,
  lifelinesFor,
  linesIn,
} from '../../../src/adapters/inspector-page/events/sequence-places.ts';

let number = 0;
const said = (rest: object): InspectionRecord => {
  number += 1;
  return { s: number, t: number, ...rest } as unknown as InspectionRecord;
};
const key = (index: number): string => `b:x:${index}`;
const made = (index: number, parent?: number): InspectionRecord =>
  said({
    k: 'actor',
    a: key(index),
    ...(parent === undefined ? {} : { parent: key(parent) }),
    id: `task_${index}`,
    kind: 'task',
    chart: 'task',
    value: 'queued',
    status: 'active',
  });
const sent = (to: number, e: number, type: string, from?: number): InspectionRecord =>
  said({ k: 'event', a: key(to), e, type, ...(from === undefined ? {} : { from: key(from) }) });
const stepped = (
  index: number,
  e: number,
  type: string,
  taken: readonly string[],
  value: string,
  status = 'active',
): InspectionRecord => said({ k: 'step', a: key(index), e, type, taken, value, status });

function drawn(
  records: readonly InspectionRecord[],
  { chosen, most = 8, broughtIn = [] }: Partial<Pick<SequenceOptions, 'chosen' | 'most' | 'broughtIn'>> = {},
): Sequence {
  const timeline = new InspectionTimeline();
  timeline.append(records);
  return sequenceOf({
    records,
    names: new ActorNames(timeline.at(Infinity)),
    chosen,
    broughtIn,
    most,
    moment: records.at(-1)?.s ?? 0,
    bornAt: (each) => timeline.sequence(each).at(0)?.s ?? 0,
  });
}

const shortly = ({ rows }: Sequence): string[] =>
  rows.map(
    ({ kind, from, to, label, isIgnored }) =>
      `${kind} ${from.slice(-1)}${to.slice(-1)} ${label}${isIgnored ? ' (ignored)' : ''}`,
  );

describe('a sequence diagram', () => {
  it('tells what was said, what it led to, and what was ignored', () => {
    const records = [
      made(0),
      made(1, 0),
      sent(1, 1, 'START', 0),
      stepped(1, 1, 'START', ['queued|START|0'], 'running'),
      sent(1, 2, 'WAKE'),
      stepped(1, 2, 'WAKE', [], 'running'),
      sent(1, 3, 'COMPLETE', 0),
      stepped(1, 3, 'COMPLETE', ['running|COMPLETE|0'], 'completed', 'done'),
      said({ k: 'snap', a: key(1), value: 'completed', status: 'done' }),
    ];
    const sequence = drawn(records);
    expect(shortly(sequence)).toEqual([
      'made 01 makes task_1',
      'message 01 START',
      'step 11 running',
      'message >1 WAKE (ignored)',
      'message 01 COMPLETE',
      'ended 11 completed',
    ]);
    expect(sequence.lifelines.map(({ key: each }) => each)).toEqual([OUTSIDE, key(0), key(1)]);
    expect(sequence.lifelines[2]).toMatchObject({ begins: records[1]?.s, ends: records[7]?.s });
  });

  it('tells what a function came to by the step that it leads to', () => {
    const parent = made(1);
    const call = said({ k: 'actor', a: key(2), parent: key(1), id: '0.task.queued', kind: 'load', status: 'active' });
    const done = 'xstate.done.actor.0.task.queued';
    expect(
      shortly(
        drawn([
          parent,
          call,
          sent(2, 1, 'xstate.promise.resolve', 2),
          sent(1, 2, done, 2),
          stepped(1, 2, done, ['queued|done(load)|0'], 'running'),
          said({ k: 'snap', a: key(2), status: 'done' }),
        ]),
      ),
    ).toEqual(['step 11 load is done → running']);
  });

  it('folds those for whom there is no space, keeps the chosen one and those it talks with, and leaves out what happens among others', () => {
    const records = [
      made(0),
      ...Array.from({ length: 20 }, (_, index) => made(index + 1, 0)),
      sent(3, 1, 'HELLO', 2),
      ...Array.from({ length: 30 }, (_, index) => sent(18, index + 2, 'NOISE', 19)),
    ];
    const sequence = drawn(records, { chosen: key(2), most: 4 });
    const keys = sequence.lifelines.map(({ key: each }) => each);
    expect(keys).toContain(key(2));
    expect(keys).toContain(key(3));
    expect(keys.at(-1)).toBe(OTHERS);
    expect(keys).toHaveLength(4);
    expect(sequence.others).toHaveLength(18);
    expect(sequence.leftOut).toBe(30);
    expect(new Set(sequence.rows.flatMap(({ from, to }) => [from, to]))).toEqual(new Set(keys));
  });

  it('names those for whom there is no space, with how much they do, and brings in those that are wanted, the latest first', () => {
    const records = [
      made(0),
      ...Array.from({ length: 20 }, (_, index) => made(index + 1, 0)),
      sent(3, 1, 'HELLO', 2),
      ...Array.from({ length: 30 }, (_, index) => sent(18, index + 2, 'NOISE', 19)),
    ];
    const { others } = drawn(records, { chosen: key(2), most: 4 });
    expect(others.find((each) => each.key === key(18))).toEqual({ key: key(18), rows: 31 });
    expect(others.find((each) => each.key === key(7))).toEqual({ key: key(7), rows: 1 });
    const sequence = drawn(records, { chosen: key(2), most: 4, broughtIn: [key(7), key(18), key(99)] });
    expect(sequence.lifelines.map((each) => each.key)).toEqual([key(2), key(7), key(18), OTHERS]);
    expect(sequence.others.map((each) => each.key)).not.toContain(key(18));
    const last = drawn(records, { chosen: key(2), most: 3, broughtIn: [key(7), key(18)] });
    expect(last.lifelines.map((each) => each.key)).toEqual([key(2), key(18), OTHERS]);
  });
});

describe('the places of a sequence diagram', () => {
  it('are within the picture, however long a label is', () => {
    for (const width of [260, 400, 700]) {
      const last = columnMiddle(width, 8, 7);
      expect(last).toBeLessThan(width);
      const between = labelBetween('a very long label '.repeat(20), TIME_WIDTH, last, width);
      expect(between.x).toBeGreaterThan(TIME_WIDTH);
      expect(between.x).toBeLessThan(width);
      expect(labelBeside('a very long label '.repeat(20), last, width)).toMatchObject({ anchor: 'end' });
      expect(lifelinesFor(width)).toBeGreaterThanOrEqual(4);
    }
    expect(lifelinesFor(4_000)).toBe(8);
  });

  it('end a line where its actor begins and ends', () => {
    const row = { kind: 'step', seq: 5, t: 0, from: 'a', to: 'a', label: '', isIgnored: false } as const;
    expect(linesIn({ key: 'a', begins: 5 }, row)).toEqual({ above: false, below: true });
    expect(linesIn({ key: 'a', ends: 5 }, row)).toEqual({ above: true, below: false });
    expect(linesIn({ key: 'a', begins: 6 }, row)).toEqual({ above: false, below: false });
    expect(linesIn({ key: 'a', ends: 4 }, row)).toEqual({ above: false, below: false });
  });
});
