/** Lays a planned picture out with ELK, which is loaded with the first picture: it is big, and few processes draw. */
import type { DiagramPlan } from './diagram-plan.ts';
import type { LayoutChoice } from './elk-graph.ts';
import { elkGraphOf, placedOf } from './elk-graph.ts';
import type { LayoutTime } from './elk-thread.ts';
import { placedByElk } from './elk-thread.ts';
import type { Box, PlacedDiagram, PlacedEdge, PlacedNode, Point } from './placed-diagram.ts';
import { contains, overlap, textBoxOf } from './placed-diagram.ts';

// Takes small steps out of edges: where a line leaves or reaches its node a few pixels beside where it goes on, it is
// moved along the border of the node.

/** Pixels. Longer steps are there for a reason. */
const SMALL_STEP = 14;
/** From the corners of a node, and from other lines. */
const CORNER_ROOM = 10;
const LINE_ROOM = 7;

function tidied(diagram: PlacedDiagram): PlacedDiagram {
  let { edges } = diagram;
  const boxes = new Map(diagram.nodes.map(({ key, box }) => [key, box]));
  for (const { key } of edges) {
    const edge = edges.find((each) => each.key === key);
    if (edge === undefined) continue;
    const others = edges.filter((each) => each.key !== key);
    const atStart = withoutStep(edge, edge.points, boxes.get(edge.source), others);
    const atEnd = withoutStep(edge, atStart.toReversed(), boxes.get(edge.target), others).toReversed();
    edges = edges.map((each) => (each.key === key ? { ...each, points: atEnd } : each));
  }
  return { ...diagram, edges };
}

/** The line, which starts at the box, without its first step, where that is small and nothing is in the way. */
function withoutStep(
  { label }: PlacedEdge,
  points: readonly Point[],
  box: Box | undefined,
  others: readonly PlacedEdge[],
): readonly Point[] {
  const [start, turn, step, end, ...rest] = points;
  if (box === undefined || start === undefined || turn === undefined || step === undefined || end === undefined)
    return points;
  const isUpright = isSame(start.x, turn.x) && isSame(turn.y, step.y) && isSame(step.x, end.x);
  const isLevel = isSame(start.y, turn.y) && isSame(turn.x, step.x) && isSame(step.y, end.y);
  if (!isUpright && !isLevel) return points;
  const moved: Point = isUpright ? { x: step.x, y: start.y } : { x: start.x, y: step.y };
  const shift = Math.abs(isUpright ? step.x - start.x : step.y - start.y);
  // Between two turns it has to go on in the same way, or it would cross itself.
  const goesOn = isUpright
    ? Math.sign(end.y - step.y) === Math.sign(turn.y - start.y)
    : Math.sign(end.x - step.x) === Math.sign(turn.x - start.x);
  if (shift > SMALL_STEP || !goesOn || !isOnSide(moved, box, isUpright) || isBlocked(moved, step, label, others))
    return points;
  return [moved, end, ...rest];
}

function isOnSide(point: Point, { x, y, width, height }: Box, isUpright: boolean): boolean {
  return isUpright
    ? point.x >= x + CORNER_ROOM && point.x <= x + width - CORNER_ROOM
    : point.y >= y + CORNER_ROOM && point.y <= y + height - CORNER_ROOM;
}

function isBlocked(from: Point, to: Point, label: Box | undefined, others: readonly PlacedEdge[]): boolean {
  const strip = grown(boxOf(from, to), LINE_ROOM);
  if (label !== undefined && overlap(grown(boxOf(from, to), 1), label)) return true;
  return others.some(
    (other) =>
      (other.label !== undefined && overlap(strip, other.label)) || segmentsRunBeside(strip, from, to, other.points),
  );
}

/** Lines across are no matter: they were crossed before too. */
function segmentsRunBeside(strip: Box, from: Point, to: Point, points: readonly Point[]): boolean {
  const isUpright = isSame(from.x, to.x);
  return points.slice(1).some((end, index) => {
    const start = points[index] ?? end;
    const isParallel = isUpright ? isSame(start.x, end.x) : isSame(start.y, end.y);
    const segment = grown(boxOf(start, end), 0.5);
    return isParallel && (overlap(strip, segment) || contains(strip, segment));
  });
}

function boxOf(from: Point, to: Point): Box {
  return {
    x: Math.min(from.x, to.x),
    y: Math.min(from.y, to.y),
    width: Math.abs(from.x - to.x),
    height: Math.abs(from.y - to.y),
  };
}

function grown({ x, y, width, height }: Box, by: number): Box {
  return { x: x - by, y: y - by, width: width + 2 * by, height: height + 2 * by };
}

function isSame(left: number, right: number): boolean {
  return Math.abs(left - right) < 0.1;
}

// What must hold of every picture.

/** What is wrong with a picture, as sentences; none where it can be shown. */
export function faultsOf({ width, height, nodes, edges }: PlacedDiagram): string[] {
  const page: Box = { x: 0, y: 0, width, height };
  const labels = edges.flatMap(({ key, label }) => (label === undefined ? [] : [{ key, box: label }]));
  const faults: string[] = [];
  for (const { key, box } of [...nodes, ...labels])
    if (!contains(page, box)) faults.push(`${key} is outside of the picture`);
  for (const { key, points } of edges)
    if (points.some((point) => !contains(page, { ...point, width: 0, height: 0 })))
      faults.push(`${key} runs outside of the picture`);
  for (const [index, left] of labels.entries()) {
    for (const right of labels.slice(index + 1))
      if (overlap(left.box, right.box)) faults.push(`the labels of ${left.key} and ${right.key} overlap`);
    // A label may stand inside an outer state, away from its heading, and on nothing else.
    for (const node of nodes)
      if (overlap(left.box, textBoxOf(node)) || cutsBorder(left.box, node))
        faults.push(`the label of ${left.key} overlaps ${node.key}`);
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

// Puts the headings of outer states where no line runs through them: as far left as there is room between the lines.

/** Between a heading and a line. */
const ROOM = 4;

function withHeadings(diagram: PlacedDiagram): PlacedDiagram {
  return {
    ...diagram,
    nodes: diagram.nodes.map((node) =>
      node.shape === 'compound' || node.shape === 'region'
        ? { ...node, headingX: headingX(node, diagram.edges) }
        : node,
    ),
  };
}

function headingX({ box, width, height }: PlacedNode, edges: readonly PlacedEdge[]): number {
  const band: Box = { ...box, height };
  const taken = edges.flatMap((edge) => spansIn(band, edge)).toSorted((left, right) => left[0] - right[0]);
  let x = box.x;
  for (const [from, to] of taken) {
    // The width holds the padding on both sides, which is room enough on the left and right.
    if (x + width - 2 * ROOM <= from) return x;
    x = Math.max(x, to - ROOM);
  }
  return x + width <= box.x + box.width ? x : box.x;
}

/** From where to where lines and labels lie in a band. */
function spansIn(band: Box, { points, label }: PlacedEdge): (readonly [number, number])[] {
  const spans = points.slice(1).flatMap((to, index): (readonly [number, number])[] => {
    const from = points[index] ?? to;
    const isInside =
      Math.max(from.y, to.y) > band.y + 1 &&
      Math.min(from.y, to.y) < band.y + band.height &&
      Math.max(from.x, to.x) > band.x &&
      Math.min(from.x, to.x) < band.x + band.width;
    return isInside ? [[Math.min(from.x, to.x), Math.max(from.x, to.x)]] : [];
  });
  const isLabelInside =
    label !== undefined &&
    label.y < band.y + band.height &&
    label.y + label.height > band.y &&
    label.x < band.x + band.width &&
    label.x + label.width > band.x;
  return isLabelInside ? [...spans, [label.x, label.x + label.width]] : spans;
}

/**
 * The first that has no faults is taken: pushing together goes wrong where much is nested, and the last two where
 * hardly anything else goes right.
 */
const CHOICES: readonly LayoutChoice[] = [
  { direction: 'DOWN', placement: 'NETWORK_SIMPLEX', isCompacted: true },
  { direction: 'DOWN', placement: 'NETWORK_SIMPLEX', isCompacted: false },
  { direction: 'DOWN', placement: 'BRANDES_KOEPF', isCompacted: false },
  { direction: 'RIGHT', placement: 'NETWORK_SIMPLEX', isCompacted: false },
];

/** Milliseconds for one picture, much more than any chart takes that people have drawn. */
export const AMPLE_LAYOUT_MS = 120_000;

/**
 * A layout without faults; undefined when none was found in time. Same plan, same layout, where time is ample: chance
 * has a seed.
 */
export async function layOut(
  plan: DiagramPlan,
  time: LayoutTime = { leftMs: AMPLE_LAYOUT_MS },
): Promise<PlacedDiagram | undefined> {
  for (const choice of CHOICES) {
    const placed = await placedBy(plan, time, choice);
    if (placed !== undefined && faultsOf(placed).length === 0) return placed;
  }
  return undefined;
}

/** Whatever goes wrong with what ELK has made means only that this way does not work. */
async function placedBy(plan: DiagramPlan, time: LayoutTime, choice: LayoutChoice): Promise<PlacedDiagram | undefined> {
  try {
    const placed = await placedByElk(elkGraphOf(plan, choice), time);
    return placed === undefined ? undefined : withHeadings(tidied(placedOf(plan, placed)));
  } catch {
    return undefined;
  }
}
