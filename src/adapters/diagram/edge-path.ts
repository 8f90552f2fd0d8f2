/** The path of an edge: rounded at its bends, open where its label stands, with a tip at its end. */
import type { Box, Point } from './placed-diagram.ts';
import { numberText } from './svg-text.ts';

const CORNER = 7;
const TIP_LENGTH = 8;
const TIP_HALF = 3.6;
/** Between a line and the label that it stops at. */
const GAP = 1;

/** The line without its tip, as the data of an SVG path. */
export function runOf(points: readonly Point[], label: Box | undefined): string {
  const shown = withoutTip(points);
  const pieces =
    label === undefined
      ? [shown]
      : cutAt(shown, {
          x: label.x - GAP,
          y: label.y - GAP,
          width: label.width + 2 * GAP,
          height: label.height + 2 * GAP,
        });
  return pieces.map(rounded).join('');
}

/** The tip at the end, as the data of an SVG path. */
export function tipOf(points: readonly Point[]): string {
  const [before, end] = [points.at(-2), points.at(-1)];
  if (before === undefined || end === undefined) return '';
  const { x, y } = directionOf(before, end);
  const [baseX, baseY] = [end.x - x * TIP_LENGTH, end.y - y * TIP_LENGTH];
  return `M${at(end)}L${at({ x: baseX - y * TIP_HALF, y: baseY + x * TIP_HALF })}L${at({ x: baseX + y * TIP_HALF, y: baseY - x * TIP_HALF })}Z`;
}

function withoutTip(points: readonly Point[]): Point[] {
  const [before, end] = [points.at(-2), points.at(-1)];
  if (before === undefined || end === undefined) return [...points];
  const { x, y } = directionOf(before, end);
  return [...points.slice(0, -1), { x: end.x - x * (TIP_LENGTH - 1), y: end.y - y * (TIP_LENGTH - 1) }];
}

/** The parts of a line that lie outside of a box. Lines run upright or level. */
function cutAt(points: readonly Point[], box: Box): Point[][] {
  const pieces: Point[][] = [];
  let piece: Point[] = [];
  const close = (): void => {
    if (piece.length > 1) pieces.push(piece);
    piece = [];
  };
  for (const [index, to] of points.slice(1).entries()) {
    const from = points[index] ?? to;
    const inside = spanInside(from, to, box);
    if (piece.length === 0 && (inside === undefined || inside.enters > 0)) piece = [from];
    if (inside === undefined) {
      piece.push(to);
      continue;
    }
    if (inside.enters > 0) piece.push(between(from, to, inside.enters));
    close();
    if (inside.leaves < 1) piece = [between(from, to, inside.leaves), to];
  }
  close();
  return pieces;
}

/** Where a line enters and leaves a box, as parts of its length. */
function spanInside(
  from: Point,
  to: Point,
  box: Box,
): { readonly enters: number; readonly leaves: number } | undefined {
  let [enters, leaves] = [0, 1];
  for (const [start, delta, low, high] of [
    [from.x, to.x - from.x, box.x, box.x + box.width],
    [from.y, to.y - from.y, box.y, box.y + box.height],
  ] as const) {
    if (Math.abs(delta) < 0.01) {
      if (start <= low || start >= high) return undefined;
      continue;
    }
    const [one, other] = [(low - start) / delta, (high - start) / delta];
    enters = Math.max(enters, Math.min(one, other));
    leaves = Math.min(leaves, Math.max(one, other));
  }
  return enters < leaves ? { enters, leaves } : undefined;
}

function between(from: Point, to: Point, part: number): Point {
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
}

function rounded(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  const steps = rest.map((point, index) => {
    const [before, after] = [points[index] ?? point, rest[index + 1]];
    if (after === undefined) return `L${at(point)}`;
    const radius = Math.min(CORNER, distance(before, point) / 2, distance(point, after) / 2);
    const [arriving, leaving] = [directionOf(before, point), directionOf(point, after)];
    return `L${at({ x: point.x - arriving.x * radius, y: point.y - arriving.y * radius })}Q${at(point)} ${at({ x: point.x + leaving.x * radius, y: point.y + leaving.y * radius })}`;
  });
  return `M${at(first)}${steps.join('')}`;
}

function distance(from: Point, to: Point): number {
  return Math.hypot(to.x - from.x, to.y - from.y);
}

function directionOf(from: Point, to: Point): Point {
  const length = distance(from, to);
  return length === 0 ? { x: 0, y: 1 } : { x: (to.x - from.x) / length, y: (to.y - from.y) / length };
}

function at({ x, y }: Point): string {
  return `${numberText(x)} ${numberText(y)}`;
}
