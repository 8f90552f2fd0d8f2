/**
 * Takes small steps out of edges: where a line leaves or reaches its node a few pixels beside where it goes on, it is
 * moved along the border of the node.
 */
import { contains, overlap } from './placed-diagram.ts';
import type { Box, PlacedDiagram, PlacedEdge, Point } from './placed-diagram.ts';

/** Pixels. Longer steps are there for a reason. */
const SMALL_STEP = 14;
/** From the corners of a node, and from other lines. */
const CORNER_ROOM = 10;
const LINE_ROOM = 7;

export function tidied(diagram: PlacedDiagram): PlacedDiagram {
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
