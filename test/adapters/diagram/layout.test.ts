/** Layouts: nothing overlaps that has no business there, and everything is in the picture. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkedChart } from '../../../src/adapters/diagram/checked-chart.ts';
import { faultsOf, layOut } from '../../../src/adapters/diagram/elk-layout.ts';
import { MARGIN, PAGE_WIDTH } from '../../../src/adapters/diagram/metrics.ts';
import type { PlacedDiagram, PlacedEdge, Point } from '../../../src/adapters/diagram/placed-diagram.ts';
import { planChart } from '../../../src/adapters/diagram/plan-chart.ts';
import { modelRuns } from '../../support/model-runs.ts';
import { ourCharts } from './our-charts.ts';
import { randomChart } from './random-chart.ts';

const SLOW_MACHINE_MS = 120_000;
const NO_MARKS = new Map<string, never>();

async function placed(chart: (typeof ourCharts)[number], isTight = false): Promise<PlacedDiagram> {
  const diagram = await layOut(planChart(checkedChart(chart), { marks: NO_MARKS, isTight }));
  if (diagram === undefined) throw new Error(`no layout was found for ${chart.id}`);
  return diagram;
}

interface Segment {
  readonly from: Point;
  readonly to: Point;
}

/** How often edges cross. */
function crossingsOf(edges: readonly PlacedEdge[]): number {
  const drawn = edges.map(({ points }) =>
    points.slice(1).map((to, index): Segment => ({ from: points[index] ?? to, to })),
  );
  return drawn.flatMap((left, index) =>
    drawn
      .slice(index + 1)
      .flatMap((right) => left.flatMap((one) => right.filter((other) => cross(one, other) || cross(other, one)))),
  ).length;
}

/** An upright line and a level one, neither of which ends at the other. */
function cross(upright: Segment, level: Segment): boolean {
  const [x, y] = [upright.from.x, level.from.y];
  if (Math.abs(upright.to.x - x) > 0.1 || Math.abs(level.to.y - y) > 0.1) return false;
  return isBetween(x, level.from.x, level.to.x) && isBetween(y, upright.from.y, upright.to.y);
}

function isBetween(value: number, one: number, other: number): boolean {
  return value > Math.min(one, other) + 0.1 && value < Math.max(one, other) - 0.1;
}

describe('the layout of each of our charts', () => {
  it.each(ourCharts.map((chart) => [chart.id, chart] as const))(
    'of %s fits a page, and no label touches another one or a state that is not its own',
    async (_id, chart) => {
      const roomy = await placed(chart);
      const diagram = roomy.width + 2 * MARGIN <= PAGE_WIDTH ? roomy : await placed(chart, true);
      expect(faultsOf(diagram)).toEqual([]);
      expect(diagram.width + 2 * MARGIN).toBeLessThanOrEqual(PAGE_WIDTH + 30);
      expect(crossingsOf(diagram.edges)).toBeLessThanOrEqual(12);
      const drawn = new Set(diagram.edges.flatMap(({ transitions }) => transitions));
      const inside = new Set(
        [...diagram.nodes.flatMap(({ rows }) => rows), ...diagram.rows].map(({ transition }) => transition),
      );
      expect(chart.transitions.filter(({ id }) => !drawn.has(id) && !inside.has(id))).toEqual([]);
      expect(
        chart.states.filter(
          ({ id, parent }) => parent !== undefined && !diagram.nodes.some(({ state }) => state === id),
        ),
      ).toEqual([]);
    },
    SLOW_MACHINE_MS,
  );
});

describe('the layout of any chart', () => {
  // Layouts take processor time: this is a limit for a loaded machine.
  it(
    'is found, and has no label on another one or on a state that is not its own',
    async () => {
      await fc.assert(
        fc.asyncProperty(randomChart, async (chart) => {
          expect(faultsOf(await placed(chart))).toEqual([]);
        }),
        modelRuns(4),
      );
    },
    SLOW_MACHINE_MS,
  );

  it(
    'is the same each time',
    async () => {
      await fc.assert(
        fc.asyncProperty(randomChart, async (chart) => {
          expect(JSON.stringify(await placed(chart))).toBe(JSON.stringify(await placed(chart)));
        }),
        modelRuns(1),
      );
    },
    SLOW_MACHINE_MS,
  );
});

describe('the judge of layouts', () => {
  const node = (key: string, x: number, y: number) => ({
    key,
    shape: 'leaf' as const,
    state: key,
    name: key,
    rows: [],
    width: 40,
    height: 30,
    order: 2,
    depth: 0,
    box: { x, y, width: 40, height: 30 },
  });
  const edge = (
    key: string,
    points: PlacedDiagram['edges'][number]['points'],
    label?: PlacedDiagram['edges'][number]['label'],
  ) => ({
    key,
    source: 'a',
    target: 'b',
    rows: [],
    transitions: [key],
    isError: false,
    isBackward: false,
    labelWidth: 20,
    labelHeight: 10,
    points,
    ...(label === undefined ? {} : { label }),
  });
  const diagram = (parts: Partial<PlacedDiagram>): PlacedDiagram => ({
    width: 200,
    height: 200,
    nodes: [node('a', 0, 0), node('b', 0, 100)],
    edges: [],
    rows: [],
    ...parts,
  });
  const line = [
    { x: 20, y: 30 },
    { x: 20, y: 100 },
  ];

  it('finds nothing wrong with two states and a line', () => {
    expect(faultsOf(diagram({ edges: [edge('go', line, { x: 10, y: 60, width: 20, height: 10 })] }))).toEqual([]);
  });

  it.each([
    [
      'a label on a state',
      diagram({ edges: [edge('go', line, { x: 10, y: 95, width: 20, height: 10 })] }),
      ['the label of go overlaps b'],
    ],
    [
      'two labels on each other',
      diagram({
        edges: [
          edge('go', line, { x: 10, y: 60, width: 20, height: 10 }),
          edge('stop', line, { x: 15, y: 65, width: 20, height: 10 }),
        ],
      }),
      ['the labels of go and stop overlap'],
    ],
    ['a state outside of the picture', diagram({ nodes: [node('a', 180, 0)] }), ['a is outside of the picture']],
    [
      'a line outside of the picture',
      diagram({
        edges: [
          edge('go', [
            { x: 20, y: -5 },
            { x: 20, y: 100 },
          ]),
        ],
      }),
      ['go runs outside of the picture'],
    ],
    ['states on each other', diagram({ nodes: [node('a', 0, 0), node('b', 20, 10)] }), ['a and b overlap']],
    [
      'a box that is too small',
      diagram({ nodes: [{ ...node('a', 0, 0), width: 90 }] }),
      ['a is too small for its text'],
    ],
  ])('finds %s', (_what, faulty, faults) => {
    expect(faultsOf(faulty)).toEqual(faults);
  });

  it('is told by this test how often lines cross', () => {
    const crossing = diagram({
      edges: [
        edge('go', line),
        edge('stop', [
          { x: 0, y: 60 },
          { x: 60, y: 60 },
        ]),
      ],
    });
    const apart = diagram({
      edges: [
        edge('go', line),
        edge('stop', [
          { x: 60, y: 60 },
          { x: 120, y: 60 },
        ]),
      ],
    });
    expect([crossingsOf(crossing.edges), crossingsOf(apart.edges)]).toEqual([1, 0]);
  });
});
