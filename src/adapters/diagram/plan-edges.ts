/**
 * Turns the transitions of a chart into the edges of its picture. One edge stands for all transitions between the same
 * two nodes, with a line for each. No edge runs between a node and one inside it: what an outer state does to an inner
 * one starts at a sign in the outer one, and what enters an outer state from within ends at the dot from which its
 * first state is entered.
 */
import { ROOT } from '../../machines/inspection/chart-states.ts';
import type { ChartState, ChartTransition } from '../../machines/inspection/chart-description.ts';
import type { PlannedEdge, Row } from './diagram-plan.ts';
import { labelSize } from './metrics.ts';
import { keyOf } from './plan-nodes.ts';
import { transitionRows } from './wording.ts';
import type { Wording } from './wording.ts';

/** On one edge; the others are counted. */
const MOST_ROWS = 16;

/** From where to where, by keys of nodes. */
export interface Ends {
  readonly source: string;
  readonly target: string;
}

/** The ends of each edge that a transition needs: one for each target. */
function endsOf({ source, targets }: ChartTransition, byId: ReadonlyMap<string, ChartState>): Ends[] {
  return [...new Set(targets)].flatMap((target): Ends[] => {
    // Where it enters others too, that it enters itself again is what their edges say.
    if (target === source) return [];
    if (isAround(source, target, byId)) return [{ source: keyOf.anywhere(source), target: keyOf.state(target) }];
    if (isAround(target, source, byId)) return [{ source: keyOf.state(source), target: keyOf.start(target) }];
    return [{ source: keyOf.state(source), target: keyOf.state(target) }];
  });
}

function isAround(outer: string, inner: string, byId: ReadonlyMap<string, ChartState>): boolean {
  if (outer === ROOT) return inner !== ROOT;
  for (let state = byId.get(inner); state?.parent !== undefined; state = byId.get(state.parent))
    if (state.parent === outer) return true;
  return false;
}

/** One edge for each pair of ends, in the order of the transitions. */
export function joinedEdges(
  transitions: readonly ChartTransition[],
  byId: ReadonlyMap<string, ChartState>,
  wording: Wording,
): PlannedEdge[] {
  const joined = new Map<string, { readonly ends: Ends; readonly transitions: ChartTransition[] }>();
  for (const transition of transitions) {
    for (const ends of endsOf(transition, byId)) {
      const key = JSON.stringify([ends.source, ends.target]);
      const group = joined.get(key);
      if (group === undefined) joined.set(key, { ends, transitions: [transition] });
      else group.transitions.push(transition);
    }
  }
  return [...joined.values()].map(({ ends, transitions: members }, index) => {
    const rows = bounded(members.flatMap((transition) => transitionRows(transition, wording)));
    const { width, height } = labelSize(rows);
    return {
      key: `edge:${index}`,
      ...ends,
      rows,
      transitions: members.map(({ id }) => id),
      isError: members.every(({ kind }) => kind === 'invoke-error'),
      isBackward: false,
      labelWidth: width,
      labelHeight: height,
    };
  });
}

function bounded(rows: readonly Row[]): Row[] {
  if (rows.length <= MOST_ROWS) return [...rows];
  return [
    ...rows.slice(0, MOST_ROWS - 1),
    { parts: [{ text: `and ${rows.length - MOST_ROWS + 1} more`, tone: 'quiet' }], indent: 0 },
  ];
}
