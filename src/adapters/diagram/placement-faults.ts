/** What must hold of every picture. */
import { contains, overlap, textBoxOf } from './placed-diagram.ts';
import type { Box, PlacedDiagram, PlacedNode } from './placed-diagram.ts';

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
