/**
 * One layout for two versions of a chart: what is in both stands in the same place, and each version leaves free what
 * it does not have. The order of the two does not matter.
 */
import type { DiagramPlan, PlannedEdge, PlannedNode } from './diagram-plan.ts';
import type { PlacedDiagram, PlacedEdge, PlacedNode } from './placed-diagram.ts';
import type { Ends } from './plan-edges.ts';
import { runsBackward } from './plan-chart.ts';

/** All nodes and edges of both, each as large as either needs. */
export function unionOf(one: DiagramPlan, other: DiagramPlan): DiagramPlan {
  const nodes = joined([...one.nodes, ...other.nodes], ({ key }) => key, largerNode);
  const byKey = new Map(nodes.map((node) => [node.key, node]));
  const edges = joined([...one.edges, ...other.edges], keyOfEnds, largerEdge);
  return {
    nodes: nodes.toSorted((left, right) => left.order - right.order || (left.key < right.key ? -1 : 1)),
    edges: edges
      .map((edge) => ({ ...edge, key: keyOfEnds(edge), isBackward: runsBackward(edge, byKey) }))
      .toSorted((left, right) => (left.key < right.key ? -1 : 1)),
    rows: one.rows.length < other.rows.length ? other.rows : one.rows,
    isTight: one.isTight,
  };
}

/** What one version has, in the places that the union has found. Its lines under the title take as much as theirs. */
export function halfOf(placed: PlacedDiagram, plan: DiagramPlan): PlacedDiagram {
  const nodes = new Map(plan.nodes.map((node) => [node.key, node]));
  const edges = new Map(plan.edges.map((edge) => [keyOfEnds(edge), edge]));
  const free = Array.from({ length: placed.rows.length - plan.rows.length }, () => ({ parts: [], indent: 0 }));
  return {
    ...placed,
    nodes: placed.nodes.flatMap((each): PlacedNode[] => {
      const own = nodes.get(each.key);
      return own === undefined ? [] : [{ ...each, ...own }];
    }),
    edges: placed.edges.flatMap(({ label, ...each }): PlacedEdge[] => {
      const own = edges.get(each.key);
      if (own === undefined) return [];
      return [{ ...each, ...own, ...(own.rows.length === 0 ? {} : { label }) }];
    }),
    rows: [...plan.rows, ...free],
  };
}

function joined<Part>(
  parts: readonly Part[],
  keyOf: (part: Part) => string,
  larger: (one: Part, other: Part) => Part,
): Part[] {
  const byKey = new Map<string, Part>();
  for (const part of parts) {
    const known = byKey.get(keyOf(part));
    byKey.set(keyOf(part), known === undefined ? part : larger(known, part));
  }
  return [...byKey.values()];
}

function keyOfEnds({ source, target }: Ends): string {
  return JSON.stringify([source, target]);
}

function largerNode(one: PlannedNode, other: PlannedNode): PlannedNode {
  const isOuter = other.shape === 'compound' || other.shape === 'region';
  return {
    ...(isOuter ? other : one),
    width: Math.max(one.width, other.width),
    height: Math.max(one.height, other.height),
    order: Math.max(one.order, other.order),
  };
}

function largerEdge(one: PlannedEdge, other: PlannedEdge): PlannedEdge {
  return {
    ...(one.rows.length < other.rows.length ? other : one),
    labelWidth: Math.max(one.labelWidth, other.labelWidth),
    labelHeight: Math.max(one.labelHeight, other.labelHeight),
  };
}
