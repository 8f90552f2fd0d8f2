/**
 * What has changed between two versions of a chart, as semantic versions count it.
 *
 * Major: code that sends to the chart, waits for its states or restores what it stored may break. Minor: there is more.
 * Patch: it reads differently. A description knows names only: two inline guards are taken for the same.
 */
import type { Bump, ChartChange, ChartDiff } from './chart-change.ts';
import type { ChartDescription } from './chart-description.ts';
import { eventChanges } from './diff-events.ts';
import { matchStates } from './diff-renames.ts';
import type { StateMatch } from './diff-renames.ts';
import { nameOf, stateChanges } from './diff-states.ts';
import { transitionChanges } from './diff-transitions.ts';

const WEIGHTS = { none: 0, patch: 1, minor: 2, major: 3 } as const satisfies Record<Bump, number>;

/** The greater, the heavier. */
export function weightOf(bump: Bump): number {
  return WEIGHTS[bump];
}

export function diffCharts(before: ChartDescription, after: ChartDescription): ChartDiff {
  const match = matchStates(before, after);
  const changes = [
    ...wholeChanges(before, after),
    ...unhandledChanges(before, after),
    ...waiverChanges(match),
    ...stateChanges(match),
    ...eventChanges(before, after),
    ...transitionChanges(match),
  ].toSorted(byWeight);
  return { chart: after.id, bump: changes[0]?.bump ?? 'none', changes };
}

/** What is said of a chart as a whole. */
function wholeChanges(before: ChartDescription, after: ChartDescription): ChartChange[] {
  const aspects: readonly (readonly [string, (chart: ChartDescription) => unknown])[] = [
    ['is called', (chart) => chart.id],
    ['has the version', (chart) => chart.version],
    ['is described as', (chart) => chart.description],
  ];
  return aspects.flatMap(([verb, read]): ChartChange[] =>
    JSON.stringify(read(before)) === JSON.stringify(read(after))
      ? []
      : [{ bump: 'patch', kind: 'description', says: `What the chart ${verb} reads differently.` }],
  );
}

/**
 * A sender that counts on being refused is not told any more, or is refused what was passed over; and audits ask
 * nothing where a chart says `rejected`.
 */
function unhandledChanges({ unhandled: one }: ChartDescription, { unhandled: other }: ChartDescription): ChartChange[] {
  if (one.as !== other.as)
    return [
      {
        bump: 'major',
        kind: 'unhandled',
        says: `An event that nothing takes is ${other.as}; before, it was ${one.as}.`,
      },
    ];
  return one.because === other.because
    ? []
    : [
        {
          bump: 'patch',
          kind: 'description',
          says: 'Why an event that nothing takes is dealt with so reads differently.',
        },
      ];
}

/** What a chart lets stand is no fault of it any more: the reader of the comparison has to see that. */
function waiverChanges({ before, after, translate }: StateMatch): ChartChange[] {
  const reasons = new Map(
    before.waivers.map(({ state, rule, event, because }) => [keyOf(translate(state), rule, event), because]),
  );
  const kept = new Set(after.waivers.map(({ state, rule, event }) => keyOf(state, rule, event)));
  const more = after.waivers.flatMap(({ state, rule, event, because }): ChartChange[] => {
    const known = reasons.get(keyOf(state, rule, event));
    const what = `${rule}${event === '*' ? '' : ` of ${event}`} in ${nameOf(state)}`;
    if (known === undefined)
      return [{ bump: 'minor', kind: 'waiver', after: state, says: `It lets ${what} stand now: ${because}` }];
    return known === because
      ? []
      : [{ bump: 'patch', kind: 'description', after: state, says: `The reason for ${what} reads differently.` }];
  });
  const gone = before.waivers.filter(({ state, rule, event }) => !kept.has(keyOf(translate(state), rule, event)));
  return [
    ...more,
    ...gone.map(({ state, rule }): ChartChange => ({
      bump: 'patch',
      kind: 'waiver',
      before: state,
      says: `It gives no reason any more for ${rule} in ${nameOf(state)}.`,
    })),
  ];
}

function keyOf(state: string, rule: string, event: string): string {
  return JSON.stringify([state, rule, event]);
}

function byWeight(one: ChartChange, other: ChartChange): number {
  return (
    weightOf(other.bump) - weightOf(one.bump) ||
    compare(one.kind, other.kind) ||
    compare(one.before ?? one.after ?? '', other.before ?? other.after ?? '') ||
    compare(one.says, other.says)
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
