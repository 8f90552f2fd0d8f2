/**
 * Which transitions of a chart can come right after which. Guards are taken as open: what a chart alone cannot rule out
 * is possible.
 */
import { ROOT, childrenOf, lineageOf } from './chart-states.ts';
import type { ChartDescription, ChartState, ChartTransition } from './chart-description.ts';

export interface Followers {
  readonly first: string;
  readonly followers: readonly string[];
}

/** In the order of the description. */
export function followersOf(chart: ChartDescription): readonly Followers[] {
  const leafTransitions = new Map<string, readonly string[]>();
  const possibleIn = (leaf: ChartState): readonly string[] => {
    const known = leafTransitions.get(leaf.id) ?? transitionsIn(chart, leaf);
    leafTransitions.set(leaf.id, known);
    return known;
  };
  const order = new Map(chart.transitions.map(({ id }, index) => [id, index]));
  return chart.transitions.map((transition) => {
    const followers = new Set(leavesAfter(chart, transition).flatMap(possibleIn));
    return {
      first: transition.id,
      followers: [...followers].toSorted((one, other) => (order.get(one) ?? 0) - (order.get(other) ?? 0)),
    };
  });
}

/** Every leaf in which the machine may be after the transition, in regions beside it too. */
function leavesAfter(chart: ChartDescription, { source, targets }: ChartTransition): readonly ChartState[] {
  const places =
    targets.length === 0 ? leavesBelow(chart, source) : targets.flatMap((target) => leavesEntered(chart, target));
  const beside = (targets.length === 0 ? [source] : targets).flatMap((id) => leavesBeside(chart, id));
  return [...places, ...beside];
}

function leavesEntered(chart: ChartDescription, id: string): readonly ChartState[] {
  const state = chart.states.find((each) => each.id === id);
  if (state === undefined) return [];
  switch (state.kind) {
    case 'atomic':
    case 'final':
      return [state];
    case 'compound':
      return state.initial === undefined ? [] : leavesEntered(chart, state.initial);
    case 'parallel':
      return childrenOf(chart, id).flatMap((child) => leavesEntered(chart, child.id));
    case 'history':
      return leavesBelow(chart, state.parent ?? ROOT);
  }
}

function leavesBelow(chart: ChartDescription, id: string): readonly ChartState[] {
  const state = chart.states.find((each) => each.id === id);
  if (state?.kind === 'atomic' || state?.kind === 'final') return [state];
  return childrenOf(chart, id).flatMap((child) => leavesBelow(chart, child.id));
}

/** The leaves of the regions that work beside the one in which a state lies; each of these may be active. */
function leavesBeside(chart: ChartDescription, id: string): readonly ChartState[] {
  const line = lineageOf(chart, id);
  return line.flatMap((state, index) => {
    const outer = line[index + 1];
    return outer?.kind === 'parallel'
      ? childrenOf(chart, outer.id)
          .filter((child) => child.id !== state.id)
          .flatMap((child) => leavesBelow(chart, child.id))
      : [];
  });
}

/**
 * What may be taken in a leaf: its own transitions and those of the states around it, less those that never get their
 * turn.
 */
function transitionsIn(chart: ChartDescription, leaf: ChartState): readonly string[] {
  // A machine that has come to its end takes nothing.
  if (leaf.kind === 'final' && leaf.parent === ROOT) return [];
  const decided: string[] = [];
  return lineageOf(chart, leaf.id).flatMap((state) => {
    const own = chart.transitions.filter(
      ({ source, event }) => source === state.id && !decided.some((before) => covers(before, event)),
    );
    const open = own.filter(
      ({ event, index }) =>
        !own.some((other) => other.event === event && other.index < index && other.guard === undefined),
    );
    decided.push(...own.filter(({ guard }) => guard === undefined).map(({ event }) => event));
    return open.map(({ id }) => id);
  });
}

/** Whether a state that takes every `taken` leaves no `event` to the states around it. */
function covers(taken: string, event: string): boolean {
  if (taken === event || taken === '*') return event !== 'always';
  return taken.endsWith('.*') && (event.startsWith(taken.slice(0, -1)) || event === taken.slice(0, -2));
}
