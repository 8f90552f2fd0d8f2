/**
 * What has changed between two versions of a chart, as semantic versions count it.
 *
 * Major: somebody who sends to the chart, waits for its states or restores what it stored may break. Minor: there is more. Patch: it reads differently.
 * A description knows names only: two inline guards are taken for the same.
 */
import type { Bump, ChartChange, ChartDiff } from './chart-change.ts';
import type { ChartDescription } from './chart-description.ts';
import { eventChanges } from './diff-events.ts';
import { matchStates } from './diff-renames.ts';
import { stateChanges } from './diff-states.ts';
import { transitionChanges } from './diff-transitions.ts';

const WEIGHTS = { none: 0, patch: 1, minor: 2, major: 3 } as const satisfies Record<Bump, number>;

/** The greater, the heavier. */
export function weightOf(bump: Bump): number {
  return WEIGHTS[bump];
}

export function diffCharts(before: ChartDescription, after: ChartDescription): ChartDiff {
  const match = matchStates(before, after);
  const changes = [...wholeChanges(before, after), ...stateChanges(match), ...eventChanges(before, after), ...transitionChanges(match)].toSorted(byWeight);
  return { chart: after.id, bump: changes[0]?.bump ?? 'none', changes };
}

/** What is said of a chart as a whole. */
function wholeChanges(before: ChartDescription, after: ChartDescription): ChartChange[] {
  const aspects: readonly (readonly [string, (chart: ChartDescription) => unknown])[] = [
    ['is called', (chart) => chart.id],
    ['has the version', (chart) => chart.version],
    ['is described as', (chart) => chart.description],
    ['says of events that nothing takes', (chart) => chart.unhandled],
    ['lets stand', (chart) => chart.waivers.map(({ state, rule, event, because }) => JSON.stringify([state, rule, event, because])).toSorted()],
  ];
  return aspects.flatMap(([verb, read]): ChartChange[] =>
    JSON.stringify(read(before)) === JSON.stringify(read(after)) ? [] : [{ bump: 'patch', kind: 'description', says: `What the chart ${verb} reads differently.` }],
  );
}

function byWeight(one: ChartChange, other: ChartChange): number {
  return weightOf(other.bump) - weightOf(one.bump) || compare(one.kind, other.kind) || compare(one.before ?? one.after ?? '', other.before ?? other.after ?? '') || compare(one.says, other.says);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
