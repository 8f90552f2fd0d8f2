/**
 * Puts the headings of outer states where no line runs through them: as far left as there is room between the lines.
 */
import type { Box, PlacedDiagram, PlacedEdge, PlacedNode } from './placed-diagram.ts';

/** Between a heading and a line. */
const ROOM = 4;

export function withHeadings(diagram: PlacedDiagram): PlacedDiagram {
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
