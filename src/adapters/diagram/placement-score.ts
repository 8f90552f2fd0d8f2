/** Judges layouts: what must hold of every picture, and how well one reads beside another. */
import { PAGE_WIDTH } from './metrics.ts';
import { contains, overlap, textBoxOf } from './placed-diagram.ts';
import type { Box, PlacedDiagram, PlacedEdge, PlacedNode, Point } from './placed-diagram.ts';

/** What is wrong with a picture, as sentences; none where it can be shown. */
export function faultsOf({ width, height, nodes, edges }: PlacedDiagram): string[] {
  const page: Box = { x: 0, y: 0, width, height };
  const labels = edges.flatMap(({ key, label }) => (label === undefined ? [] : [{ key, box: label }]));
  const faults: string[] = [];
  for (const { key, box } of [...nodes, ...labels]) if (!contains(page, box)) faults.push(`${key} is outside of the picture`);
  for (const { key, points } of edges) if (points.some((point) => !contains(page, { ...point, width: 0, height: 0 }))) faults.push(`${key} runs outside of the picture`);
  for (const [index, left] of labels.entries()) {
    for (const right of labels.slice(index + 1)) if (overlap(left.box, right.box)) faults.push(`the labels of ${left.key} and ${right.key} overlap`);
    // A label may stand inside an outer state, away from its heading, and on nothing else.
    for (const node of nodes) if (overlap(left.box, textBoxOf(node)) || cutsBorder(left.box, node)) faults.push(`the label of ${left.key} overlaps ${node.key}`);
  }
  return [...faults, ...nodeFaults(nodes)];
}

function cutsBorder(label: Box, { box }: PlacedNode): boolean {
  return overlap(label, box) && !contains(box, label);
}

function nodeFaults(nodes: readonly PlacedNode[]): string[] {
  const faults: string[] = [];
  for (const [index, left] of nodes.entries()) {
    const { box, width, height } = left;
    if (width > box.width + 1 || height > box.height + 1) faults.push(`${left.key} is too small for its text`);
    for (const right of nodes.slice(index + 1)) {
      const isNested = contains(box, right.box) || contains(right.box, box);
      if (overlap(box, right.box) && !isNested) faults.push(`${left.key} and ${right.key} overlap`);
    }
  }
  return faults;
}

/** The less, the better. Crossings and lines through text cost most, then what is wider than a page, then length. */
export function costOf(diagram: PlacedDiagram): number {
  const { width, height, edges } = diagram;
  const bends = edges.reduce((sum, { points }) => sum + Math.max(0, points.length - 2), 0);
  const length = edges.reduce((sum, edge) => sum + lengthOf(edge), 0);
  const overWidth = Math.max(0, width - PAGE_WIDTH + 2 * 16);
  return crossingsOf(edges) * 90 + struckOf(diagram) * 120 + bends * 9 + length * 0.12 + overWidth * 12 + Math.max(0, height - 900) * 0.5 + (width * height) / 1500;
}

function lengthOf({ points }: PlacedEdge): number {
  return points.reduce((sum, point, index) => sum + (index === 0 ? 0 : Math.abs(point.x - (points[index - 1]?.x ?? 0)) + Math.abs(point.y - (points[index - 1]?.y ?? 0))), 0);
}

interface Segment {
  readonly from: Point;
  readonly to: Point;
}

function segmentsOf({ points }: PlacedEdge): Segment[] {
  return points.slice(1).map((to, index) => ({ from: points[index] ?? to, to }));
}

/** How often edges cross. */
export function crossingsOf(edges: readonly PlacedEdge[]): number {
  const drawn = edges.map(segmentsOf);
  let crossings = 0;
  for (const [index, left] of drawn.entries()) {
    for (const right of drawn.slice(index + 1)) for (const one of left) for (const other of right) if (cross(one, other) || cross(other, one)) crossings += 1;
  }
  return crossings;
}

/** An upright line and a level one, neither of which ends at the other. */
function cross(upright: Segment, level: Segment): boolean {
  const [x, y] = [upright.from.x, level.from.y];
  if (Math.abs(upright.to.x - x) > 0.1 || Math.abs(level.to.y - y) > 0.1) return false;
  return isBetween(x, level.from.x, level.to.x) && isBetween(y, upright.from.y, upright.to.y);
}

function isBetween(value: number, one: number, other: number): boolean {
  return value > Math.min(one, other) + 0.1 && value < Math.max(one, other) - 0.1;
}

/** How often a line runs through text that is not its own. */
function struckOf({ nodes, edges }: PlacedDiagram): number {
  let struck = 0;
  for (const edge of edges) {
    const texts = [...edges.flatMap(({ key, label }) => (label === undefined || key === edge.key ? [] : [label])), ...nodes.filter(({ key }) => key !== edge.source && key !== edge.target).map(textBoxOf)];
    for (const segment of segmentsOf(edge)) for (const text of texts) if (overlap(boxAround(segment), text)) struck += 1;
  }
  return struck;
}

function boxAround({ from, to }: Segment): Box {
  return { x: Math.min(from.x, to.x), y: Math.min(from.y, to.y), width: Math.max(1, Math.abs(from.x - to.x)), height: Math.max(1, Math.abs(from.y - to.y)) };
}
