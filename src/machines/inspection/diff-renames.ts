/**
 * Finds for each state of a chart what it is called in the next version: by its id, or under another name by its
 * transitions in and out.
 */
import { ROOT } from './chart-states.ts';
import type { ChartDescription, ChartState } from './chart-description.ts';

export interface StateMatch {
  readonly before: ChartDescription;
  readonly after: ChartDescription;
  /** By id before. A state whose outer state was renamed moves with it and is not among them. */
  readonly renamed: ReadonlyMap<string, string>;
  /** The id in the version after; that of a state that is gone is what it would be. */
  readonly translate: (id: string) => string;
}

export function matchStates(before: ChartDescription, after: ChartDescription): StateMatch {
  const renamed = new Map<string, string>();
  const afterIds = new Set(after.states.map(({ id }) => id));
  const translate = (id: string): string => translated(before, renamed, id);
  // Outer states come first in a description: what is inside of a renamed one has found its place when its turn comes.
  for (const state of before.states) {
    if (afterIds.has(translate(state.id))) continue;
    const candidate = after.states.find((other) => isSame({ before, after, renamed, translate }, state, other));
    if (candidate !== undefined) renamed.set(state.id, candidate.id);
  }
  return { before, after, renamed, translate };
}

function translated(chart: ChartDescription, renamed: ReadonlyMap<string, string>, id: string): string {
  const known = renamed.get(id);
  const state = chart.states.find((each) => each.id === id);
  if (known !== undefined || state?.parent === undefined) return known ?? id;
  const parent = translated(chart, renamed, state.parent);
  return parent === ROOT ? state.key : `${parent}.${state.key}`;
}

function isSame(match: StateMatch, state: ChartState, other: ChartState): boolean {
  const { before, after, renamed, translate } = match;
  const isTaken =
    [...renamed.values()].includes(other.id) || before.states.some(({ id }) => translate(id) === other.id);
  if (isTaken || state.kind !== other.kind || state.parent === undefined || other.parent !== translate(state.parent))
    return false;
  const assumed = new Map([...renamed, [state.id, other.id]]);
  const ways = waysOf(
    before,
    state.id,
    (id) => translated(before, assumed, id),
    new Set(after.states.map(({ id }) => id)),
  );
  const otherWays = waysOf(
    after,
    other.id,
    (id) => id,
    new Set(before.states.map(({ id }) => translated(before, assumed, id))),
  );
  return ways.length > 0 && ways.join('\n') === otherWays.join('\n');
}

/**
 * How a state is come to and left, in the names of the version after; what the other version does not have is called
 * the same wherever it is.
 */
function waysOf(
  chart: ChartDescription,
  id: string,
  translate: (id: string) => string,
  known: ReadonlySet<string>,
): readonly string[] {
  const name = (state: string): string => (known.has(translate(state)) ? translate(state) : '?');
  const isWithin = (state: string): boolean =>
    translate(state) === translate(id) || translate(state).startsWith(`${translate(id)}.`);
  const starts = chart.states.filter(({ initial }) => initial === id).map((state) => `starts ${name(state.id)}`);
  const ways = chart.transitions
    .filter(({ source, targets }) => isWithin(source) || targets.some(isWithin))
    .map(({ source, event, index, guard, targets }) =>
      JSON.stringify([name(source), event, index, guard?.name ?? '', targets.map(name)]),
    );
  return [...starts, ...ways].toSorted();
}
