/** How a leaf state is left: which transitions do it, and where they lead. Guards are not asked. */
import { ROOT } from './chart-states.ts';
import type { ChartState, ChartTransition } from './chart-description.ts';
import type { ChartIndex } from './chart-index.ts';
import type { MatrixCell } from './chart-audit.ts';
import { canComplete, enteredWith, shadowedTransitions } from './reachability.ts';

export interface Leaving {
  /** The transitions after which the leaf is no longer active. */
  readonly exits: (leaf: string) => readonly ChartTransition[];
  /** Whether the machine may be over when this leaf is active. */
  readonly isEnd: (leaf: ChartState) => boolean;
  /** Whether the chart can come to an end at all. */
  readonly hasEnd: boolean;
  /** Whether a path of transitions leads from the leaf to an end. */
  readonly canEnd: (leaf: string) => boolean;
}

export function leavingOf(index: ChartIndex, matrix: readonly MatrixCell[]): Leaving {
  const found = foundOf(index, matrix);
  const exits = new Map(index.leaves.map((leaf) => [leaf.id, exitsOf(index, found, leaf)]));
  const isEnd = (leaf: ChartState): boolean => leaf.kind === 'final' && isOutermost(index, leaf);
  const ending = endingFrom(
    found,
    exits,
    index.leaves.filter(isEnd).map(({ id }) => id),
  );
  const all = new Set(index.chart.states.map(({ id }) => id));
  return {
    exits: (leaf) => exits.get(leaf) ?? [],
    isEnd,
    hasEnd: canComplete(index, ROOT, all),
    canEnd: (leaf) => ending.has(leaf),
  };
}

/** Directly in the root, or in a region of a root that is parallel, however many parallel states are between. */
function isOutermost(index: ChartIndex, { parent }: ChartState): boolean {
  if (parent === undefined) return false;
  const [, ...around] = index.lineage(parent);
  return around.every(({ kind }) => kind === 'parallel');
}

/** What is asked about every leaf, found out once. */
interface Found {
  /** By leaf: the transitions that some event is offered to there. */
  readonly offered: ReadonlyMap<string, ReadonlySet<string>>;
  readonly known: ReadonlySet<string>;
  readonly shadowed: ReadonlySet<string>;
  /** What is entered with a target. */
  readonly entered: (target: string) => ReadonlySet<string>;
}

function foundOf(index: ChartIndex, matrix: readonly MatrixCell[]): Found {
  const offered = new Map<string, Set<string>>();
  for (const { state, transitions } of matrix) {
    const own = offered.get(state) ?? new Set<string>();
    offered.set(state, own);
    for (const id of transitions) own.add(id);
  }
  const entered = new Map<string, ReadonlySet<string>>();
  return {
    entered: (target) => {
      const states = entered.get(target) ?? enteredWith(index, target);
      entered.set(target, states);
      return states;
    },
    offered,
    known: new Set(index.chart.events.map(({ type }) => type)),
    shadowed: new Set(shadowedTransitions(index).map((each) => each.shadowed.id)),
  };
}

function exitsOf(
  index: ChartIndex,
  { offered, known, shadowed, entered }: Found,
  leaf: ChartState,
): readonly ChartTransition[] {
  const own = index
    .lineage(leaf.id)
    .flatMap(({ id }) => index.transitionsOf(id))
    .filter((transition) => {
      const { kind, event, targets, id } = transition;
      if (targets.length === 0 || shadowed.has(id) || (kind === 'done' && leaf.kind !== 'final')) return false;
      if (kind === 'event' && known.has(event) && offered.get(leaf.id)?.has(id) !== true) return false;
      return !targets.some((target) => entered(target).has(leaf.id));
    });
  return [...own, ...besideExits(index, leaf)];
}

/** A region beside that leaves the parallel state takes all of them with it. */
function besideExits(index: ChartIndex, leaf: ChartState): readonly ChartTransition[] {
  return index
    .regionsBeside(leaf.id)
    .flatMap(({ parallel, other }) =>
      index.chart.transitions.filter(
        ({ source, targets }) =>
          index.isWithin(source, other) &&
          targets.length > 0 &&
          targets.every((target) => !index.isWithin(target, parallel)),
      ),
    );
}

/** The ends, and the leaves from which a path of transitions leads to one. */
function endingFrom(
  { entered }: Found,
  exits: ReadonlyMap<string, readonly ChartTransition[]>,
  ends: readonly string[],
): ReadonlySet<string> {
  const leadingTo = new Map<string, string[]>();
  for (const [leaf, leaving] of exits)
    for (const id of new Set(leaving.flatMap(({ targets }) => targets.flatMap((target) => [...entered(target)])))) {
      const before = leadingTo.get(id);
      if (before === undefined) leadingTo.set(id, [leaf]);
      else before.push(leaf);
    }
  const ending = new Set(ends);
  // A set goes on to what is added while it is gone through.
  for (const id of ending) for (const leaf of leadingTo.get(id) ?? []) ending.add(leaf);
  return ending;
}
