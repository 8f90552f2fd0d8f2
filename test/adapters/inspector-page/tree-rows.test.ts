/** The rows of the tree are those of a walk through it, whatever is open, and however they are found. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LINGER_MS } from '../../../src/adapters/inspector-page/tree/shown-children.ts';
import { TreeModel } from '../../../src/adapters/inspector-page/tree/tree-model.ts';
import type { TreeCheck } from '../../../src/adapters/inspector-page/tree/tree-model.ts';
import type { TreeRows } from '../../../src/adapters/inspector-page/tree/tree-rows.ts';
import type { InspectionRecord } from '../../../src/machines/inspection-log/inspection-record.ts';
import { InspectionTimeline } from '../../../src/machines/inspection-log/inspection-timeline.ts';
import type { InspectionWorld } from '../../../src/machines/inspection-log/inspection-world.ts';

const SECOND = 1_000;

/** One actor is made, or ends, each second. */
interface Told {
  /** Which of those before is its parent; -1: none. Of one that ends: which. */
  readonly of: number;
  readonly ends: boolean;
}

const stories = fc.array(fc.record({ of: fc.integer({ min: -1, max: 40 }), ends: fc.boolean() }), {
  minLength: 1,
  maxLength: 60,
});

function recordsOf(story: readonly Told[]): readonly InspectionRecord[] {
  let actors = 0;
  return story.map(({ of, ends }, index): InspectionRecord => {
    const common = { s: index + 1, t: (index + 1) * SECOND };
    if (ends && actors > 0) return { ...common, k: 'snap', a: `b:${Math.abs(of) % actors}`, status: 'done' };
    const parent = of < 0 || actors === 0 ? undefined : `b:${of % actors}`;
    actors += 1;
    return {
      ...common,
      k: 'actor',
      a: `b:${actors - 1}`,
      id: `actor ${actors}`,
      status: 'active',
      ...(parent === undefined ? {} : { parent }),
    };
  });
}

function timelineOf(records: readonly InspectionRecord[]): InspectionTimeline {
  const timeline = new InspectionTimeline();
  timeline.append(records);
  return timeline;
}

interface Shown {
  readonly key: string;
  readonly level: number;
}

/** As one would walk: all children of an actor, those of them that have rows, and what is in those that are open. */
function walked({ world, opened, isHiding, time }: TreeCheck, key?: string, level = 1): readonly Shown[] {
  const all = key === undefined ? world.roots() : world.children(key);
  const rows: Shown[] = [];
  for (const actor of all) {
    if (isHiding && actor.status !== 'active' && time - actor.since.t >= LINGER_MS) continue;
    rows.push({ key: actor.key, level });
    if (opened.get(actor.key) ?? (level === 1 && world.roots().length <= 50))
      rows.push(...walked({ world, opened, isHiding, time } as TreeCheck, actor.key, level + 1));
  }
  return rows;
}

function listed(rows: TreeRows): readonly Shown[] {
  return Array.from({ length: rows.count }, (_, index) => ({
    key: rows.row(index)?.key ?? '',
    level: rows.row(index)?.level ?? 0,
  }));
}

function expectWalked(rows: TreeRows, check: TreeCheck): void {
  const wanted = walked(check);
  expect(listed(rows)).toEqual(wanted);
  expect(wanted.map(({ key }) => rows.indexOf(key))).toEqual(wanted.map((_, index) => index));
  expect(rows.row(rows.count)).toBeUndefined();
}

function viewOf(timeline: InspectionTimeline, world: InspectionWorld, more: Partial<TreeCheck> = {}): TreeCheck {
  return {
    timeline,
    world,
    isLive: true,
    time: world.moment?.t ?? 0,
    isHiding: false,
    opened: new Map(),
    chosen: undefined,
    ...more,
  };
}

const openings = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 40 }), fc.boolean()), { maxLength: 25 })
  .map((pairs) => new Map(pairs.map(([actor, isOpen]) => [`b:${actor}`, isOpen] as const)));

describe('the rows of a tree', () => {
  it('are those of a walk through what is open', () => {
    fc.assert(
      fc.property(stories, openings, fc.nat({ max: 60 }), (story, opened, moment) => {
        const timeline = timelineOf(recordsOf(story));
        const check = viewOf(timeline, timeline.at(moment), { opened, isLive: false });
        expectWalked(new TreeModel().rows(check), check);
      }),
      { numRuns: 60 },
    );
  });

  it('are the same where they were brought forward from one moment to the next as where they are found anew', () => {
    fc.assert(
      fc.property(
        stories,
        openings,
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 20 }),
        (story, opened, portions) => {
          const [timeline, model] = [new InspectionTimeline(), new TreeModel()];
          let records = recordsOf(story);
          for (const portion of [...portions, records.length]) {
            timeline.append(records.slice(0, portion));
            records = records.slice(portion);
            const check = viewOf(timeline, timeline.at(Number.MAX_SAFE_INTEGER), { opened, isHiding: true });
            expectWalked(model.rows(check), check);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('are right for each moment that is jumped to, whatever was checked before', () => {
    fc.assert(
      fc.property(
        stories,
        openings,
        fc.array(fc.tuple(fc.nat({ max: 60 }), fc.boolean()), { minLength: 1, maxLength: 10 }),
        (story, opened, jumps) => {
          const [timeline, model] = [timelineOf(recordsOf(story)), new TreeModel()];
          for (const [moment, isLive] of jumps) {
            const check = viewOf(timeline, timeline.at(isLive ? Number.MAX_SAFE_INTEGER : moment), {
              opened,
              isHiding: true,
              isLive,
            });
            expectWalked(model.rows(check), check);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('keep what is chosen, and what is above it, though it is over and everything over is hidden', () => {
    const made = (s: number, a: string, parent?: string): InspectionRecord => ({
      s,
      t: s * SECOND,
      k: 'actor',
      a,
      id: a,
      status: 'active',
      ...(parent === undefined ? {} : { parent }),
    });
    const ended = (s: number, a: string): InspectionRecord => ({ s, t: s * SECOND, k: 'snap', a, status: 'done' });
    const timeline = timelineOf([
      made(1, 'root'),
      made(2, 'one', 'root'),
      made(3, 'inner', 'one'),
      made(4, 'two', 'root'),
      ended(5, 'inner'),
      ended(6, 'one'),
      made(90, 'three', 'root'),
    ]);
    const opened = new Map([['one', true]]);
    const shown = (chosen: string | undefined): readonly string[] =>
      listed(new TreeModel().rows(viewOf(timeline, timeline.at(90), { isHiding: true, opened, chosen }))).map(
        ({ key }) => key,
      );
    expect(shown(undefined)).toEqual(['root', 'two', 'three']);
    expect(shown('inner')).toEqual(['root', 'one', 'inner', 'two', 'three']);
  });

  it('let what has ended stay for a moment, and go without anything being told', () => {
    const timeline = timelineOf(
      recordsOf([
        { of: -1, ends: false },
        { of: 0, ends: false },
        { of: 1, ends: true },
      ]),
    );
    const model = new TreeModel();
    const countAt = (time: number): number =>
      model.rows(viewOf(timeline, timeline.at(3), { isHiding: true, time })).count;
    expect(countAt(3 * SECOND)).toBe(2);
    expect(countAt(3 * SECOND + LINGER_MS - 1)).toBe(2);
    expect(countAt(3 * SECOND + LINGER_MS)).toBe(1);
  });

  it('are found without reading all children: twenty thousand take no more reads than a hundred', () => {
    const reads = (count: number): number => {
      const story = Array.from({ length: count }, (_, index): Told => ({ of: index === 0 ? -1 : 0, ends: false }));
      const timeline = timelineOf(recordsOf(story));
      const model = new TreeModel();
      model.rows(viewOf(timeline, timeline.at(count), { isHiding: true }));
      timeline.append([
        { s: count + 1, t: (count + 1) * SECOND, k: 'actor', a: 'b:new', parent: 'b:0', id: 'new', status: 'active' },
      ]);
      const world = timeline.at(count + 1);
      let checked = 0;
      const counting = new Proxy(world, {
        get: (target, name) => {
          checked += 1;
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === 'function' ? (value.bind(target) as unknown) : value;
        },
      });
      expect(model.rows(viewOf(timeline, counting, { isHiding: true })).count).toBe(count + 1);
      return checked;
    };
    expect(reads(20_000)).toBe(reads(100));
  });
});
