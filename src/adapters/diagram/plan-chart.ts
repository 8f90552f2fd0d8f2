/**
 * Plans the picture of a chart: which nodes and edges it has, what is written in them, and in which direction each edge
 * is read.
 */
import { ROOT } from '../../machines/inspection/chart-states.ts';
import type { ChartDescription, ChartState, ChartTransition } from '../../machines/inspection/chart-description.ts';
import type { DiagramPlan, Marks, PlannedEdge, PlannedNode, Row } from './diagram-plan.ts';
import { joinedEdges } from './plan-edges.ts';
import type { Ends } from './plan-edges.ts';
import { anywhereNode, hasChildren, innerRows, keyOf, startNode, stateNode, staysInside } from './plan-nodes.ts';
import type { StateContext } from './plan-nodes.ts';
import { readingOrder } from './reading-order.ts';
import { otherwiseOf } from './wording.ts';

/** How wide a line of text may be, in pixels. */
const WIDEST_ROW = { roomy: 190, tight: 112, free: 480 } as const;

export function planChart(
  description: ChartDescription,
  { marks, isTight }: { readonly marks: Marks; readonly isTight: boolean },
): DiagramPlan {
  const { states, transitions } = description;
  const byId = new Map(states.map((state) => [state.id, state]));
  const context: StateContext = {
    order: readingOrder(description),
    wording: { marks, widestRow: isTight ? WIDEST_ROW.tight : WIDEST_ROW.roomy, otherwise: otherwiseOf(transitions) },
    byId,
  };
  const insideOf = (id: string): ChartTransition[] =>
    transitions.filter((transition) => transition.source === id && staysInside(transition));
  const isSingle = !hasChildren(ROOT, description);
  const drawn = states.filter(({ id }) => id !== ROOT || isSingle);
  const nodes = drawn.map((state) => stateNode(state, insideOf(state.id), context));
  const leaving = transitions.filter((transition) => !staysInside(transition));
  const edges = joinedEdges(leaving, byId, context.wording);
  const all = [...nodes, ...signsOf(states, edges)];
  const starts = states.flatMap(({ id, kind, initial }) =>
    kind === 'compound' && initial !== undefined ? [startEdge(id, initial)] : [],
  );
  const root = byId.get(ROOT);
  const rows =
    root === undefined || isSingle
      ? []
      : everywhere(innerRows(root, insideOf(ROOT), { ...context.wording, widestRow: WIDEST_ROW.free }));
  const byKey = new Map(all.map((node) => [node.key, node]));
  return {
    nodes: inReadingOrder(all),
    edges: [...edges.map((edge) => ({ ...edge, isBackward: runsBackward(edge, byKey) })), ...starts],
    rows,
    isTight,
  };
}

/** What stands under the title belongs to no state that one can see. */
function everywhere(rows: readonly Row[]): Row[] {
  return rows.map((row) =>
    row.transition === undefined || row.indent > 0
      ? row
      : { ...row, parts: [{ text: 'in every state: ', tone: 'quiet' }, ...row.parts] },
  );
}

/** Dots for all states that have a first one, and those signs that edges start from or end at. */
function signsOf(states: readonly ChartState[], edges: readonly PlannedEdge[]): PlannedNode[] {
  const used = new Set(edges.flatMap(({ source, target }) => [source, target]));
  return states.flatMap(({ id, kind, initial }) => [
    ...((kind === 'compound' && initial !== undefined) || used.has(keyOf.start(id)) ? [startNode(id)] : []),
    ...(used.has(keyOf.anywhere(id)) ? [anywhereNode(id)] : []),
  ]);
}

function startEdge(inside: string, initial: string): PlannedEdge {
  return {
    key: `first:${inside}`,
    source: keyOf.start(inside),
    target: keyOf.state(initial),
    rows: [],
    transitions: [],
    isError: false,
    isBackward: false,
    labelWidth: 0,
    labelHeight: 0,
  };
}

function inReadingOrder(nodes: readonly PlannedNode[]): PlannedNode[] {
  return nodes.toSorted((left, right) => left.order - right.order || (left.key < right.key ? -1 : 1));
}

/**
 * An edge runs backward where, among the nodes that lie beside each other around its ends, that of its target is read
 * first.
 */
export function runsBackward(ends: Ends, byKey: ReadonlyMap<string, PlannedNode>): boolean {
  const [from, to] = branchesOf(ends, byKey);
  return (
    from !== undefined && to !== undefined && (from.order > to.order || (from.order === to.order && from.key > to.key))
  );
}

function branchesOf(
  { source, target }: Ends,
  byKey: ReadonlyMap<string, PlannedNode>,
): readonly [PlannedNode | undefined, PlannedNode | undefined] {
  const [left, right] = [lineOf(source, byKey), lineOf(target, byKey)];
  let depth = 0;
  while (depth < left.length && left[depth]?.key === right[depth]?.key) depth += 1;
  return [left[depth], right[depth]];
}

/** From the outermost node to the one itself. */
function lineOf(key: string, byKey: ReadonlyMap<string, PlannedNode>): PlannedNode[] {
  const line: PlannedNode[] = [];
  for (
    let node = byKey.get(key);
    node !== undefined;
    node = node.parent === undefined ? undefined : byKey.get(node.parent)
  )
    line.unshift(node);
  return line;
}
