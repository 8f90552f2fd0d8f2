/** Turns the plan of a picture into a graph as ELK reads it, and what ELK answers into places. */
import type { ElkExtendedEdge, ElkNode, LayoutOptions } from 'elkjs/lib/elk-api.js';
import type { DiagramPlan, PlannedEdge, PlannedNode } from './diagram-plan.ts';
import type { Box, PlacedDiagram, PlacedEdge, PlacedNode, Point } from './placed-diagram.ts';

export interface LayoutChoice {
  readonly direction: 'DOWN' | 'RIGHT';
  readonly placement: 'BRANDES_KOEPF' | 'NETWORK_SIMPLEX';
  /** Whether what is laid out is pushed together along its edges afterwards. */
  readonly isCompacted: boolean;
}

/**
 * Of those that were tried, the one with which our charts read best: least crossings, least over the width of a page.
 */
const SEED = '12';

/** Around what lies in a state, in pixels. */
const INNER_MARGIN = 14;

/** Pixels between nodes, between lines, and between a line and a node. */
const ROOMY = { nodes: '22', lines: '12', beside: '14' } as const;
const TIGHT = { nodes: '8', lines: '7', beside: '6' } as const;

/**
 * ELK reads options of compound nodes from the nodes themselves, not from what is around them: they are repeated on
 * each.
 */
function optionsOf({ direction, placement, isCompacted }: LayoutChoice, isTight: boolean): LayoutOptions {
  const { nodes, lines, beside } = isTight ? TIGHT : ROOMY;
  return {
    'elk.algorithm': 'layered',
    'elk.direction': direction,
    'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
    'elk.randomSeed': SEED,
    'elk.edgeRouting': 'ORTHOGONAL',
    'elk.json.shapeCoords': 'ROOT',
    'elk.json.edgeCoords': 'ROOT',
    'elk.layered.thoroughness': '7',
    'elk.layered.nodePlacement.strategy': placement,
    'elk.layered.nodePlacement.favorStraightEdges': 'true',
    'elk.layered.edgeLabels.centerLabelPlacementStrategy': 'MEDIAN_LAYER',
    'elk.layered.compaction.postCompaction.strategy': isCompacted ? 'EDGE_LENGTH' : 'NONE',
    'elk.spacing.nodeNode': nodes,
    'elk.spacing.edgeNode': beside,
    'elk.spacing.edgeEdge': lines,
    'elk.spacing.edgeLabel': '4',
    'elk.spacing.labelNode': '8',
    'elk.spacing.labelLabel': '6',
    'elk.layered.spacing.nodeNodeBetweenLayers': '26',
    'elk.layered.spacing.edgeNodeBetweenLayers': '14',
    'elk.layered.spacing.edgeEdgeBetweenLayers': '12',
  };
}

export function elkGraphOf(plan: DiagramPlan, choice: LayoutChoice): ElkNode {
  const options = optionsOf(choice, plan.isTight);
  const childrenOf = (parent: string | undefined): ElkNode[] =>
    plan.nodes
      .filter((node) => node.parent === parent)
      .map((node) => elkNodeOf(node, childrenOf(node.key), options, choice));
  return {
    id: 'root',
    layoutOptions: { ...options, 'elk.padding': '[top=0,left=0,bottom=0,right=0]' },
    children: childrenOf(undefined),
    edges: plan.edges.map(elkEdgeOf),
  };
}

function elkNodeOf(
  { key, width, height }: PlannedNode,
  children: ElkNode[],
  options: LayoutOptions,
  { direction }: LayoutChoice,
): ElkNode {
  if (children.length === 0) return { id: key, width, height };
  // ELK turns compound nodes with the direction, and their smallest size with them.
  const smallest = direction === 'DOWN' ? `(${height},${width})` : `(${width},${height})`;
  return {
    id: key,
    children,
    layoutOptions: {
      ...options,
      'elk.padding': `[top=${height + INNER_MARGIN / 2},left=${INNER_MARGIN},bottom=${INNER_MARGIN},right=${INNER_MARGIN}]`,
      'elk.nodeSize.constraints': '[MINIMUM_SIZE]',
      'elk.nodeSize.minimum': smallest,
    },
  };
}

function elkEdgeOf({ key, source, target, isBackward, rows, labelWidth, labelHeight }: PlannedEdge): ElkExtendedEdge {
  const label = {
    text: key,
    width: labelWidth,
    height: labelHeight,
    layoutOptions: { 'elk.edgeLabels.inline': 'true', 'elk.edgeLabels.placement': 'CENTER' },
  };
  return {
    id: key,
    sources: [isBackward ? target : source],
    targets: [isBackward ? source : target],
    labels: rows.length === 0 ? [] : [label],
  };
}

/** @throws Error when ELK left something without a place */
export function placedOf(plan: DiagramPlan, laidOut: ElkNode): PlacedDiagram {
  const boxes = new Map<string, Box>();
  const depths = new Map<string, number>();
  const visit = (node: ElkNode, depth: number): void => {
    boxes.set(node.id, boxOf(node));
    depths.set(node.id, depth);
    for (const child of node.children ?? []) visit(child, depth + 1);
  };
  for (const child of laidOut.children ?? []) visit(child, 0);
  const nodes = plan.nodes.map((node): PlacedNode => ({
    ...node,
    box: known(boxes.get(node.key), node.key),
    depth: depths.get(node.key) ?? 0,
  }));
  const edges = new Map((laidOut.edges ?? []).map((edge) => [edge.id, edge]));
  return {
    width: known(laidOut.width, 'the width'),
    height: known(laidOut.height, 'the height'),
    nodes: nodes.toSorted((left, right) => left.depth - right.depth),
    edges: plan.edges.map((edge) => placedEdge(edge, known(edges.get(edge.key), edge.key))),
    rows: plan.rows,
  };
}

function placedEdge(edge: PlannedEdge, { sections = [], labels = [] }: ElkExtendedEdge): PlacedEdge {
  const [section] = sections;
  const { startPoint, bendPoints = [], endPoint } = known(section, edge.key);
  const points: Point[] = [startPoint, ...bendPoints, endPoint].map(({ x, y }) => ({ x, y }));
  const [label] = labels;
  return {
    ...edge,
    points: edge.isBackward ? points.toReversed() : points,
    ...(label === undefined ? {} : { label: boxOf(label) }),
  };
}

function boxOf({ x, y, width, height }: Partial<Box>): Box {
  return { x: known(x, 'x'), y: known(y, 'y'), width: known(width, 'width'), height: known(height, 'height') };
}

function known<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined || (typeof value === 'number' && !Number.isFinite(value)))
    throw new Error(`the layout has no place for ${what}`);
  return value;
}
