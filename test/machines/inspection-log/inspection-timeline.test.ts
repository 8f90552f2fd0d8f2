/** Every moment that is remembered reads as if everything up to it had just been replayed. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InspectionTimeline } from '../../../src/machines/inspection-log/inspection-timeline.ts';
import type { InspectionWorld } from '../../../src/machines/inspection-log/inspection-world.ts';
import type { InspectionRecord } from '../../../src/machines/inspection-log/inspection-record.ts';
import { NaiveReplay } from './naive-replay.ts';
import type { NaiveWorld } from './naive-replay.ts';
import { randomRecords } from './random-records.ts';

function timelineOf(records: readonly InspectionRecord[], maxRecords?: number): InspectionTimeline {
  const timeline = new InspectionTimeline({ maxRecords });
  timeline.append(records);
  return timeline;
}

function expectSame(world: InspectionWorld, naive: NaiveWorld): void {
  expect(world.actors()).toEqual([...naive.actors.values()]);
  for (const [parent, children] of naive.children) {
    const told = parent === '' ? world.roots() : world.children(parent);
    expect(told.map(({ key }) => key).toSorted()).toEqual(children.toSorted());
    if (parent !== '') expect(told.map(({ key }) => key)).toEqual(children);
  }
  expect(world.inFlight().map(({ s }) => s)).toEqual(naive.inFlight);
  const { active, done, error, stopped, inFlight } = world.counts;
  const statuses = [...naive.actors.values()].map(({ status }) => status);
  const countOf = (status: string): number => statuses.filter((each) => each === status).length;
  expect({ active, done, error, stopped, inFlight }).toEqual({
    active: countOf('active'),
    done: countOf('done'),
    error: countOf('error'),
    stopped: countOf('stopped'),
    inFlight: naive.inFlight.length,
  });
}

const record = (s: number, rest: object): InspectionRecord => ({ s, t: 1_000 + s, ...rest }) as InspectionRecord;

/**
 * A supervisor is asked for a task, makes it, starts it; the task sets a timer, which ends it; the supervisor hears of
 * it.
 */
const STORY: readonly InspectionRecord[] = [
  record(1, { k: 'actor', a: 'b:x:0', id: 'supervisor', chart: 'supervisor', value: 'open', status: 'active' }),
  record(2, { k: 'event', a: 'b:x:0', e: 1, type: 'SPAWN', data: { label: 'build' } }),
  record(3, {
    k: 'actor',
    a: 'b:x:1',
    parent: 'b:x:0',
    id: 'task-1',
    kind: 'task',
    chart: 'task',
    value: 'queued',
    status: 'active',
    facts: { label: 'Build it' },
  }),
  record(4, { k: 'step', a: 'b:x:0', e: 1, type: 'SPAWN', taken: ['open|SPAWN|0'], value: 'open', status: 'active' }),
  record(5, { k: 'event', a: 'b:x:1', e: 2, from: 'b:x:0', type: 'START' }),
  record(6, { k: 'timer', a: 'b:x:1', id: 'after.soon', delayMs: 5, dueAt: 1_020 }),
  record(7, {
    k: 'step',
    a: 'b:x:1',
    e: 2,
    type: 'START',
    taken: ['queued|START|0'],
    value: 'running',
    status: 'active',
  }),
  record(8, { k: 'event', a: 'b:x:1', e: 3, from: 'b:x:1', type: 'after.soon' }),
  record(9, {
    k: 'step',
    a: 'b:x:1',
    e: 3,
    type: 'after.soon',
    taken: ['running|after(soon)|0'],
    value: 'completed',
    status: 'done',
  }),
  record(10, { k: 'event', a: 'b:x:0', e: 4, from: 'b:x:1', type: 'ENDED' }),
  record(11, { k: 'step', a: 'b:x:0', e: 4, type: 'ENDED', taken: [], value: 'open', status: 'active' }),
  record(12, { k: 'snap', a: 'b:x:1', value: 'completed', status: 'done', output: 1 }),
];

/** Where the task of it was made. */
const STORY_TASK = { s: 3, t: 1_003 };

describe('a timeline', () => {
  it('says of every moment what a replay up to it says', () => {
    fc.assert(
      fc.property(randomRecords(60), (records) => {
        const timeline = timelineOf(records);
        const replay = new NaiveReplay();
        for (const each of records) {
          replay.add(each);
          expectSame(timeline.at(each.s), replay.world);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('says the same of a moment across the edges of its blocks', () => {
    fc.assert(
      fc.property(randomRecords(40, 20), fc.integer({ min: 4_080, max: 4_110 }), (records, before) => {
        const filler = Array.from({ length: before }, (_, index) =>
          record(index + 1, { k: 'event', a: 'b1:x:0', e: 1, type: 'START' }),
        );
        const all = [...filler, ...records.map((each) => ({ ...each, s: each.s + before }))];
        const timeline = timelineOf(all);
        const replay = new NaiveReplay();
        for (const each of all) replay.add(each);
        expectSame(timeline.at(all.length), replay.world);
      }),
      { numRuns: 5 },
    );
  });

  it('is the same however the records came', () => {
    fc.assert(
      fc.property(randomRecords(60), fc.array(fc.integer({ min: 0, max: 60 })), (records, cuts) => {
        const timeline = new InspectionTimeline();
        // Each batch begins with some that came before.
        for (const cut of cuts.toSorted((one, other) => one - other))
          timeline.append(records.slice(Math.max(0, timeline.length - 3), cut));
        timeline.append(records);
        expect(timeline.at(Infinity).actors()).toEqual(timelineOf(records).at(Infinity).actors());
        expect(timeline.length).toBe(records.length);
      }),
    );
  });

  it('knows nothing of what had not happened yet', () => {
    const world = timelineOf(STORY).at(0);
    expect(world.moment).toBeUndefined();
    expect([world.actors(), world.roots(), world.children('b:x:0'), world.inFlight(), world.actor('b:x:0')]).toEqual([
      [],
      [],
      [],
      [],
      undefined,
    ]);
    expect(new InspectionTimeline().at(5).counts).toMatchObject({ active: 0, events: 0 });
  });

  it('says since when an actor is where it is, and what brought it there', () => {
    const timeline = timelineOf(STORY);
    expect(timeline.at(8).actor('b:x:1')).toMatchObject({
      parent: 'b:x:0',
      id: 'task-1',
      kind: 'task',
      value: 'running',
      status: 'active',
      from: STORY_TASK,
      since: { s: 7, t: 1_007 },
      lastTransition: { taken: ['queued|START|0'] },
    });
    expect(timeline.at(12).actor('b:x:1')).toMatchObject({ status: 'done', from: STORY_TASK, since: { s: 9 } });
    expect(timeline.at(12).actor('b:x:0')).toMatchObject({ since: { s: 1 }, lastTransition: { s: 4 }, childCount: 1 });
  });

  it('tells what led to what', () => {
    const timeline = timelineOf(STORY);
    const causes = STORY.map(({ s }) => timeline.causeOf(s)?.s);
    expect(causes).toEqual([undefined, undefined, 2, 2, 4, 5, 5, 6, 8, 9, 10, 9]);
    expect(timeline.effectsOf(2).map(({ s }) => s)).toEqual([3, 4]);
    expect(timeline.effectsOf(9).map(({ s }) => s)).toEqual([10, 12]);
    expect(timeline.effectsOf(99)).toEqual([]);
  });

  it('never has an effect before its cause, and each effect has one cause', () => {
    fc.assert(
      fc.property(randomRecords(80), (records) => {
        const timeline = timelineOf(records);
        for (const { s } of records) {
          const cause = timeline.causeOf(s);
          if (cause === undefined) continue;
          expect(cause.s).toBeLessThan(s);
          expect(timeline.effectsOf(cause.s).filter((effect) => effect.s === s)).toHaveLength(1);
        }
      }),
    );
  });

  it('finds actors and records by text, whatever the case', () => {
    const timeline = timelineOf(STORY);
    const world = timeline.at(12);
    expect(world.actors({ text: 'BUILD' }).map(({ key }) => key)).toEqual(['b:x:1']);
    expect(world.actors({ text: 'complet' }).map(({ key }) => key)).toEqual(['b:x:1']);
    expect(timeline.at(7).actors({ text: 'complet' })).toEqual([]);
    expect(world.actors({ status: 'active' }).map(({ key }) => key)).toEqual(['b:x:0']);
    expect(timeline.records({ text: 'spawn' }).map(({ s }) => s)).toEqual([2, 4]);
    expect(timeline.records({ actor: 'b:x:1', from: 4, to: 9, take: 'last', limit: 2 }).map(({ s }) => s)).toEqual([
      8, 9,
    ]);
    expect(timeline.records({ actor: 'nobody' })).toEqual([]);
  });

  it('steps over missing numbers and goes by time', () => {
    const timeline = timelineOf(STORY.filter(({ s }) => s !== 5 && s !== 6));
    expect(timeline.at(6).moment?.s).toBe(4);
    expect(timeline.record(6)).toBeUndefined();
    expect(timeline.causeOf(6)).toBeUndefined();
    expect([timeline.move(4, 1)?.s, timeline.move(7, -1)?.s, timeline.move(1, -1)?.s, timeline.move(12, 5)?.s]).toEqual(
      [7, 4, 1, 12],
    );
    expect(timeline.atTime(1_009).moment?.s).toBe(9);
    expect(timeline.atTime(5).moment).toBeUndefined();
  });

  it('makes no circle of what claims to be its own ancestor', () => {
    const circle = ['b:x:1', 'b:x:2', 'b:x:0'].map((parent, index) =>
      record(index + 1, { k: 'actor', a: `b:x:${index}`, parent, id: 'a', status: 'active' }),
    );
    const world = timelineOf([
      ...circle,
      record(4, { k: 'actor', a: 'b:x:9', parent: 'b:x:9', id: 'own', status: 'active' }),
    ]).at(4);
    expect(world.roots().map(({ key }) => key)).toEqual(['b:x:2', 'b:x:9']);
    expect(world.children('b:x:2').map(({ key }) => key)).toEqual(['b:x:1']);
  });

  it('keeps up with an actor that 60,000 events wait for, of which some are lost', () => {
    const COUNT = 60_000;
    const actor = record(1, { k: 'actor', a: 'b:x:0', id: 'flooded', chart: 'c', value: 'open', status: 'active' });
    const sent = Array.from({ length: COUNT }, (_, index) =>
      record(2 + index, { k: 'event', a: 'b:x:0', e: index + 1, type: 'GO' }),
    );
    const processed = Array.from({ length: COUNT / 2 }, (_, index) =>
      record(2 + COUNT + index, {
        k: 'step',
        a: 'b:x:0',
        e: index % 3 === 0 ? COUNT + 9 : index + 1,
        type: 'GO',
        taken: [],
        value: 'open',
        status: 'active',
      }),
    );
    const timeline = timelineOf([actor, ...sent, ...processed]);
    expect(timeline.at(1 + COUNT).counts.inFlight).toBe(COUNT);
    expect(timeline.at(Infinity).counts).toMatchObject({ inFlight: COUNT / 2, ignored: COUNT / 2 });
    expect(timeline.at(Infinity).inFlight(1)).toMatchObject([{ e: COUNT / 2 + 1 }]);
    expect(timeline.causeOf(2 + COUNT + 1)).toMatchObject({ k: 'event', e: 2 });
  });

  it('refuses a limit that is none', () => {
    expect(() => new InspectionTimeline({ maxRecords: 0 })).toThrow(
      expect.objectContaining({ code: 'INSPECTION_LIMIT_INVALID' }),
    );
  });
});

describe('a timeline that has more than it keeps', () => {
  /** Tasks, one after the other, under one supervisor: three records each. */
  function lives(count: number): InspectionRecord[] {
    const supervisor = record(1, {
      k: 'actor',
      a: 'b:x:0',
      id: 'supervisor',
      chart: 's',
      value: 'open',
      status: 'active',
    });
    const tasks = Array.from({ length: count }, (_, index) => {
      const a = `b:x:${index + 1}`;
      const s = 2 + index * 3;
      return [
        record(s, { k: 'actor', a, parent: 'b:x:0', id: a, chart: 'task', value: 'queued', status: 'active' }),
        record(s + 1, { k: 'event', a, from: 'b:x:0', e: index + 1, type: 'END' }),
        record(s + 2, {
          k: 'step',
          a,
          e: index + 1,
          type: 'END',
          taken: ['queued|END|0'],
          value: 'completed',
          status: 'done',
        }),
      ];
    });
    return [supervisor, ...tasks.flat()];
  }

  it('forgets the oldest records, and the actors that were over by then', () => {
    const records = lives(10_000);
    const timeline = timelineOf(records, 5_000);
    expect(timeline.length).toBeGreaterThanOrEqual(5_000);
    expect(timeline.length).toBeLessThan(5_000 + 4_096);
    const world = timeline.at(Infinity);
    const known = world.actors({ limit: Infinity });
    expect(known[0]).toMatchObject({ key: 'b:x:0', value: 'open', since: { s: 1 } });
    expect(known.length).toBeLessThan(4_000);
    expect(world.children('b:x:0', { limit: Infinity }).map(({ key }) => key)).toEqual(
      known.slice(1).map(({ key }) => key),
    );
    // What happened is counted all the same.
    expect(world.counts).toMatchObject({ done: 10_000, active: 1, events: 10_000, steps: 10_000, inFlight: 0 });
  });

  it('says of the moments that it remembers what it said when it remembered all', () => {
    const records = lives(5_000);
    const [whole, part] = [timelineOf(records), timelineOf(records, 2_000)];
    const first = part.first?.s ?? 0;
    expect(first).toBeGreaterThan(1);
    for (const s of [first, first + 1, first + 1_000, records.length]) {
      const known = part.at(s).actors({ limit: Infinity });
      const keys = new Set(known.map(({ key }) => key));
      expect(known.filter(({ key }) => key !== 'b:x:0')).toEqual(
        whole
          .at(s)
          .actors({ limit: Infinity })
          .filter(({ key }) => key !== 'b:x:0' && keys.has(key)),
      );
      expect(part.at(s).counts).toEqual(whole.at(s).counts);
      expect(part.at(s).inFlight()).toEqual(whole.at(s).inFlight());
    }
    expect(part.at(first - 1).moment).toBeUndefined();
    expect(part.causeOf(first)).toBeUndefined();
  });

  it('survives whatever comes, with links into what is forgotten', () => {
    fc.assert(
      fc.property(
        randomRecords(500, 300).map((records) =>
          Array.from({ length: 30 }, (_, round) =>
            records.map((each) => ({ ...each, s: each.s + round * records.length })),
          ).flat(),
        ),
        (records) => {
          const timeline = timelineOf(records, 100);
          const world = timeline.at(Infinity);
          for (const { s } of timeline.records({ limit: 500 })) timeline.effectsOf(s);
          const { active, done, error, stopped } = world.counts;
          expect(active + done + error + stopped).toBeGreaterThanOrEqual(world.actors().length);
          expect(world.inFlight(Infinity).length).toBe(world.counts.inFlight);
        },
      ),
      { numRuns: 5 },
    );
  });
});
