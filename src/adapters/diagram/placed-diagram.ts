/** A picture that is laid out: where everything stands, in pixels from its upper left corner. */
import type { DiagramPlan, PlannedEdge, PlannedNode } from './diagram-plan.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

export interface PlacedNode extends PlannedNode {
  readonly box: Box;
  /** Where its heading starts, of what has others in it: its left edge, unless a line runs there. */
  readonly headingX?: number;
  /** How many nodes are around it. */
  readonly depth: number;
}

export interface PlacedEdge extends PlannedEdge {
  /** From source to target; at least two. */
  readonly points: readonly Point[];
  /** Where its lines of text stand; absent where it has none. */
  readonly label?: Box | undefined;
}

export interface PlacedDiagram {
  readonly width: number;
  readonly height: number;
  /** Outer ones before those inside them. */
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
  readonly rows: DiagramPlan['rows'];
}

/** What text of a node takes up: all of a leaf, the heading of what has others in it. */
export function textBoxOf({ box, shape, width, height, headingX = box.x }: PlacedNode): Box {
  return shape === 'compound' || shape === 'region' ? { x: headingX, y: box.y, width, height } : box;
}

export function overlap(left: Box, right: Box, tolerance = 0.5): boolean {
  return (
    left.x + tolerance < right.x + right.width &&
    right.x + tolerance < left.x + left.width &&
    left.y + tolerance < right.y + right.height &&
    right.y + tolerance < left.y + left.height
  );
}

export function contains(outer: Box, inner: Box, tolerance = 0.5): boolean {
  return (
    inner.x >= outer.x - tolerance &&
    inner.y >= outer.y - tolerance &&
    inner.x + inner.width <= outer.x + outer.width + tolerance &&
    inner.y + inner.height <= outer.y + outer.height + tolerance
  );
}
