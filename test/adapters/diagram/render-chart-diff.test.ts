/** Two versions of a chart beside each other. */
import { describe, expect, it } from 'vitest';
import { marksBetween, renderChartDiff } from '../../../src/adapters/diagram/render-chart-diff.ts';
import type { ChartDescription } from '../../../src/machines/inspection/chart-description.ts';
import { diffCharts } from '../../../src/machines/inspection/diff-charts.ts';
import { ourChart } from './our-charts.ts';
import { markupFaults, valuesOf } from './svg-check.ts';

const before = ourChart('lease');
const after: ChartDescription = {
  ...before,
  states: before.states.map((state) =>
    state.id === 'lost'
      ? { ...state, id: 'gone', key: 'gone' }
      : state.id === 'held'
        ? { ...state, description: 'It writes.' }
        : state,
  ),
  transitions: before.transitions
    .filter(({ id }) => id !== 'seeking|REFUSE|0')
    .map((transition) => ({
      ...transition,
      id: transition.id.replace('lost|', 'gone|'),
      source: transition.source === 'lost' ? 'gone' : transition.source,
      targets: transition.targets.map((target) => (target === 'lost' ? 'gone' : target)),
    })),
};

function withoutState(chart: ChartDescription, gone: string): ChartDescription {
  return {
    ...chart,
    states: chart.states.filter(({ id }) => id !== gone),
    transitions: chart.transitions.filter(({ source, targets }) => source !== gone && !targets.includes(gone)),
  };
}

/** By state where its box stands in its half, below the heading of the half. */
function halvesOf(svg: string): readonly ReadonlyMap<string, string>[] {
  return svg.split('>After<').map((half) => {
    const below = / transform="translate\(0 (?<y>[\d.]+)\)"/.exec(half)?.groups?.['y'] ?? '0';
    const boxes = half.matchAll(/data-state="(?<state>[^"]+)".*?<rect[^>]* x="(?<x>[\d.]+)" y="(?<y>[\d.]+)"/g);
    return new Map(
      [...boxes].map(({ groups = {} }) => [groups['state'] ?? '', `${groups['x']} ${groups['y']} ${below}`]),
    );
  });
}

describe('the picture of a change', () => {
  it('shows both versions, with what is gone on the left and what is new on the right', async () => {
    const svg = await renderChartDiff(before, after);
    expect(markupFaults(svg)).toEqual([]);
    expect(svg).toMatch(/>Before<.*>− lost<.*>After<.*>\+ gone</);
    expect(svg).toMatch(/is-removed" data-transition="seeking\|REFUSE\|0"/);
    expect(svg).toContain('Removed: lost.');
    expect(valuesOf(svg, 'id')).toHaveLength(2);
  });

  it('calls a renamed state changed where the comparison says that it was renamed', () => {
    const diff = {
      chart: 'lease',
      bump: 'major',
      changes: [
        { bump: 'major', kind: 'state-renamed', before: 'lost', after: 'gone', says: 'lost is called gone now' },
      ],
    } as const;
    const marks = marksBetween(before, after, diff);
    expect([marks.before.get('lost'), marks.after.get('gone')]).toEqual(['changed', 'changed']);
  });

  it('goes by what diffCharts found', async () => {
    expect(await renderChartDiff(before, after, diffCharts(before, after))).toContain('is-changed" data-state="held"');
  });

  it('has every state that is in both in the same place', async () => {
    for (const [older, newer] of [
      [before, after],
      [ourChart('task'), withoutState(ourChart('task'), 'failed')],
    ] as const) {
      const [left, right] = halvesOf(await renderChartDiff(older, newer));
      const shared = [...(left?.keys() ?? [])].filter((state) => right?.has(state));
      expect(shared.length).toBeGreaterThan(2);
      for (const state of shared) expect([state, left?.get(state)]).toEqual([state, right?.get(state)]);
      expect([...(left?.keys() ?? [])].some((state) => right?.has(state) !== true)).toBe(true);
    }
  });

  it('says so where nothing differs, and is the same each time', async () => {
    const svg = await renderChartDiff(before, before);
    expect(svg).toContain('Nothing differs.');
    expect(svg).not.toMatch(/class="wk-(?:state|transition) is-/);
    expect(await renderChartDiff(before, before)).toBe(svg);
  });
});
