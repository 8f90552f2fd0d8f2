import fc from 'fast-check';
import { createMachine } from 'xstate';
import { describe, expect, it } from 'vitest';
import type { ChartHits } from '../../../src/machines/inspection/chart-change.ts';
import { coverageOf, floorProblems, pairId } from '../../../src/machines/inspection/coverage.ts';
import { followersOf } from '../../../src/machines/inspection/coverage-pairs.ts';
import { describeChart } from '../../../src/machines/inspection/describe-chart.ts';
import { exploreChart } from '../../../src/machines/inspection/explore-chart.ts';
import { mergeHits, parseHits } from '../../../src/machines/inspection/hits.ts';
import { randomChart } from './random-machines.ts';

const lamp = describeChart(
  createMachine({
    id: 'lamp',
    initial: 'off',
    on: { SELL: '.sold' },
    states: {
      off: { on: { SWITCH: [{ guard: 'hasPower', target: 'on' }, { target: 'dead' }] } },
      on: {
        initial: 'dim',
        states: { dim: { on: { TURN: 'bright' } }, bright: { on: { SWITCH: undefined } } },
        on: { SWITCH: 'off' },
      },
      dead: {},
      sold: { type: 'final' },
    },
  }),
);

function seen(transitions: readonly string[], pairs: readonly string[] = []): ChartHits {
  const counts = (ids: readonly string[]): Record<string, number> => Object.fromEntries(ids.map((id) => [id, 1]));
  return { chart: 'lamp', transitions: counts(transitions), pairs: counts(pairs) };
}

const followersIn = (id: string): readonly string[] | undefined =>
  followersOf(lamp).find(({ first }) => first === id)?.followers;

describe('what can follow a transition', () => {
  it('starts in the leaf that is entered, and what the states around it take is among it', () => {
    expect(followersIn('off|SWITCH|0')).toEqual(['|SELL|0', 'on|SWITCH|0', 'on.dim|TURN|0']);
  });

  it('leaves out what an inner state takes instead', () => {
    expect(followersIn('on.dim|TURN|0')).toEqual(['|SELL|0', 'on.bright|SWITCH|0']);
  });

  it('is nothing after the end', () => {
    expect(followersIn('|SELL|0')).toEqual([]);
  });

  it('holds for whatever a machine really takes, of any chart', () => {
    fc.assert(
      fc.property(randomChart, (chart) => {
        const description = describeChart(chart.machine, { events: chart.events ?? {} });
        const possible = new Map(followersOf(description).map(({ first, followers }) => [first, new Set(followers)]));
        for (const [first, second] of walked(chart, description))
          expect(possible.get(first)?.has(second), `${first} > ${second}`).toBe(true);
      }),
      { numRuns: 40 },
    );
  });
});

/** Of machines that can be in many. */
const MAX_SNAPSHOTS = 12;

/**
 * Pairs that are really taken one after the other, from the first snapshots that can be found; the first alone for its
 * event, since what is taken at once has no order.
 */
function walked(
  chart: Parameters<typeof exploreChart>[0],
  description: Parameters<typeof exploreChart>[1],
): readonly (readonly [string, string])[] {
  const { snapshots, explored } = exploreChart(chart, description);
  const events = description.events.map(({ type }) => ({ type }));
  return snapshots
    .filter(({ snapshot }) => snapshot.status === 'active')
    .slice(0, MAX_SNAPSHOTS)
    .flatMap(({ snapshot }) =>
      events.flatMap((event) => {
        const { snapshot: next, taken } = explored.step(snapshot, event);
        const [first] = taken;
        if (next === undefined || next.status !== 'active' || taken.length !== 1 || first === undefined) return [];
        return events.flatMap((after) =>
          explored
            .step(next, after)
            .taken.slice(0, 1)
            .map((second) => [first, second] as const),
        );
      }),
    );
}

describe('the coverage of a chart', () => {
  it('lists what was never seen; a forbidden event is nothing that could be', () => {
    const { transitions, pairs } = coverageOf(
      lamp,
      seen(['off|SWITCH|0', 'on|SWITCH|0'], ['off|SWITCH|0 > on|SWITCH|0']),
    );
    expect(transitions).toEqual({ seen: 2, all: 5, missing: ['|SELL|0', 'off|SWITCH|1', 'on.dim|TURN|0'] });
    expect(pairs.seen).toBe(1);
    expect(pairs.missing).toContain(pairId('off|SWITCH|0', 'on.dim|TURN|0'));
  });

  it('knows of a guard that it has refused by what was taken in its place', () => {
    expect(coverageOf(lamp, seen(['off|SWITCH|0'])).guards).toEqual({
      seen: 1,
      all: 2,
      missing: ['off|SWITCH|0 (passed over)'],
    });
    expect(coverageOf(lamp, seen(['off|SWITCH|1'])).guards).toEqual({
      seen: 1,
      all: 2,
      missing: ['off|SWITCH|0 (taken)'],
    });
  });

  it('names what another version of the chart was seen to do', () => {
    expect(coverageOf(lamp, seen(['off|KICK|0'], ['off|KICK|0 > toString|X|0'])).unknown).toEqual([
      'off|KICK|0',
      'toString|X|0',
    ]);
  });

  it('is nothing where nobody has seen the chart', () => {
    expect(coverageOf(lamp, undefined).transitions.seen).toBe(0);
  });

  it('falls below a floor in words that name what is missing', () => {
    const half = coverageOf(lamp, seen(['off|SWITCH|0', 'off|SWITCH|1', 'on|SWITCH|0', 'on.dim|TURN|0']));
    expect(floorProblems([half], 80)).toEqual([]);
    expect(floorProblems([half], 100)).toMatchObject([
      {
        chart: 'lamp',
        missing: ['|SELL|0'],
        says: 'lamp: 4 of 5 transitions were seen (80 %), 100 % are asked for; missing: |SELL|0',
      },
    ]);
  });

  it.each([-1, 101, Number.NaN])('has no floor of %s percent', (floor) => {
    expect(() => floorProblems([], floor)).toThrow(/expected a floor from 0 to 100 percent/);
  });
});

describe('what several have seen', () => {
  it('is added up, chart by chart', () => {
    const one: ChartHits = { chart: 'b', transitions: { x: 1 }, pairs: {} };
    expect(
      mergeHits([one, { chart: 'a', transitions: {}, pairs: { 'x > y': 2 } }, { ...one, transitions: { x: 2, w: 1 } }]),
    ).toEqual([
      { chart: 'a', transitions: {}, pairs: { 'x > y': 2 } },
      { chart: 'b', transitions: { w: 1, x: 3 }, pairs: {} },
    ]);
  });

  it.each([
    ['{', /it is no JSON/],
    ['[]', /expected "1-1.json" to hold what a test run has seen of charts/],
    [
      '{"format":"chart-hits/1","charts":[{"chart":"a","transitions":{"x":-1},"pairs":{}}]}',
      /charts\[0\].transitions.x/,
    ],
    ['{"format":"chart-hits/1","charts":[],"more":1}', /[Uu]nrecognized key/],
  ])('is refused where a file of it is %s', (text, says) => {
    expect(() => parseHits(text, '1-1.json')).toThrow(says);
  });
});
