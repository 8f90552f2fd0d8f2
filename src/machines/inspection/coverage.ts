/**
 * How much of a chart was seen at work: its transitions, which of them followed each other, and its guards both ways.
 */
import { RuntimeError } from '../errors.ts';
import type { ChartCoverage, ChartHits } from './chart-change.ts';
import type { ChartDescription, ChartTransition } from './chart-description.ts';
import { indexChart } from './chart-index.ts';
import { ROOT } from './chart-states.ts';
import { followersOf } from './coverage-pairs.ts';
import { enteredWith } from './reachability.ts';

type Share = ChartCoverage['transitions'];

/** @param hits those of this chart; undefined where it was not seen */
export function coverageOf(description: ChartDescription, hits: ChartHits | undefined): ChartCoverage {
  const { transitions = {}, pairs = {} } = hits ?? {};
  const wasSeen = ({ id }: ChartTransition): boolean => Object.hasOwn(transitions, id) && (transitions[id] ?? 0) > 0;
  const following = followersOf(description).flatMap(({ first, followers }) =>
    followers.map((second) => pairId(first, second)),
  );
  const ways = guardWays(description, wasSeen);
  return {
    chart: description.id,
    // A forbidden event is one that nothing comes of: the code that drives the chart need not even send it.
    transitions: shareOf(
      description.transitions.filter(({ forbids }) => !forbids).map((each) => [each.id, wasSeen(each)]),
    ),
    states: shareOf(statesSeen(description, wasSeen)),
    pairs: shareOf(following.map((id) => [id, Object.hasOwn(pairs, id) && (pairs[id] ?? 0) > 0])),
    guards: shareOf(ways),
    unknown: unknownIds(description, transitions, pairs),
  };
}

/**
 * What a history state remembers was entered before, by another transition. States that are left at once count too.
 */
function statesSeen(
  description: ChartDescription,
  wasSeen: (transition: ChartTransition) => boolean,
): [string, boolean][] {
  const index = indexChart(description);
  const seen = description.transitions.filter(wasSeen);
  const entered = new Set([
    ...(seen.length === 0 ? [] : enteredWith(index, ROOT)),
    ...seen.flatMap(({ source, targets }) => [
      ...index.lineage(source).map(({ id }) => id),
      ...(targets[0] !== undefined && targets.length === 1
        ? enteredWith(index, targets[0])
        : targets.flatMap((target) => index.lineage(target).map(({ id }) => id))),
    ]),
  ]);
  const all = description.states.filter(({ id, kind }) => id !== ROOT && kind !== 'history');
  return all.map(({ id }) => [id, entered.has(id)]);
}

/** The key of a pair in `ChartHits.pairs`. */
export function pairId(first: string, second: string): string {
  return `${first} > ${second}`;
}

/**
 * That a guard has refused is seen by what was taken in place of it: a later transition of the same state for the same
 * event. Where there is none, it cannot be seen.
 */
function guardWays(
  { transitions }: ChartDescription,
  wasSeen: (transition: ChartTransition) => boolean,
): [string, boolean][] {
  return transitions.flatMap((transition): [string, boolean][] => {
    const { id, source, event, index, guard } = transition;
    if (guard === undefined) return [];
    const later = transitions.filter(
      (other) => other.source === source && other.event === event && other.index > index,
    );
    const taken: [string, boolean] = [`${id} (taken)`, wasSeen(transition)];
    return later.length === 0 ? [taken] : [taken, [`${id} (passed over)`, later.some(wasSeen)]];
  });
}

function shareOf(all: readonly (readonly [string, boolean])[]): Share {
  const missing = all.flatMap(([id, isSeen]) => (isSeen ? [] : [id]));
  return { seen: all.length - missing.length, all: all.length, missing };
}

function unknownIds(
  description: ChartDescription,
  transitions: ChartHits['transitions'],
  pairs: ChartHits['pairs'],
): readonly string[] {
  const known = new Set(description.transitions.map(({ id }) => id));
  const sighted = [...Object.keys(transitions), ...Object.keys(pairs).flatMap((pair) => pair.split(' > '))];
  return [...new Set(sighted)].filter((id) => !known.has(id)).toSorted();
}

/** What a chart lacks of the share of its transitions that is asked for. */
export interface FloorProblem {
  readonly chart: string;
  /** Share of the transitions that were seen, in percent. */
  readonly percent: number;
  readonly missing: readonly string[];
  /** One sentence for people. */
  readonly says: string;
}

/** @param floor in percent, from 0 to 100 @throws RuntimeError COVERAGE_FLOOR_INVALID */
export function floorProblems(coverages: readonly ChartCoverage[], floor: number): readonly FloorProblem[] {
  refuseBadFloor(floor);
  return coverages.flatMap(({ chart, transitions: { seen, all, missing } }): FloorProblem[] => {
    const percent = all === 0 ? 100 : (100 * seen) / all;
    if (percent >= floor) return [];
    // Rounded down: what is not reached must not read as if it were.
    return [
      {
        chart,
        percent,
        missing,
        says: `${chart}: ${seen} of ${all} transitions were seen (${Math.floor(percent * 10) / 10} %), ${floor} % are asked for; missing: ${missing.join(', ')}`,
      },
    ];
  });
}

/** @throws RuntimeError COVERAGE_FLOOR_INVALID */
export function refuseBadFloor(floor: number): void {
  if (floor >= 0 && floor <= 100) return;
  throw new RuntimeError('COVERAGE_FLOOR_INVALID', `expected a floor from 0 to 100 percent, received ${floor}`, {
    category: 'validation',
    hint: 'Write 100 when every transition has to be taken.',
  });
}
