/** Lays a planned picture out with ELK, which is loaded with the first picture: it is big, and few processes draw. */
import type { DiagramPlan } from './diagram-plan.ts';
import { elkGraphOf, placedOf } from './elk-graph.ts';
import type { LayoutChoice } from './elk-graph.ts';
import { placedByElk } from './elk-thread.ts';
import type { LayoutTime } from './elk-thread.ts';
import type { PlacedDiagram } from './placed-diagram.ts';
import { withHeadings } from './place-headings.ts';
import { costOf, faultsOf } from './placement-score.ts';
import { tidied } from './tidy-edges.ts';

/** All are tried, and the best is taken. These are the ones that won most often among all that ELK has. */
const CHOICES: readonly LayoutChoice[] = [
  { direction: 'DOWN', placement: 'NETWORK_SIMPLEX', labels: 'MEDIAN_LAYER', seed: 1, isCompacted: true },
  { direction: 'DOWN', placement: 'NETWORK_SIMPLEX', labels: 'MEDIAN_LAYER', seed: 2, isCompacted: true },
  { direction: 'DOWN', placement: 'NETWORK_SIMPLEX', labels: 'SPACE_EFFICIENT_LAYER', seed: 2, isCompacted: true },
];

/** Only few states fit beside each other in a page. */
const SIDEWAYS: LayoutChoice = { direction: 'RIGHT', placement: 'NETWORK_SIMPLEX', labels: 'MEDIAN_LAYER', seed: 1, isCompacted: false };
const FEW_NODES = 8;

/** Tried where none of the others has a layout without faults, until one has: pushing together goes wrong where much is nested. */
const OTHERWISE: readonly LayoutChoice[] = [
  ...CHOICES.map((choice) => ({ ...choice, isCompacted: false })),
  { direction: 'DOWN', placement: 'BRANDES_KOEPF', labels: 'MEDIAN_LAYER', seed: 1, isCompacted: false },
  SIDEWAYS,
];

/** With more nodes and edges than this the first layout without faults is taken, because each takes long. */
const MANY_PARTS = 220;

/** Milliseconds for one picture, much more than any chart takes that people have drawn. */
export const AMPLE_LAYOUT_MS = 120_000;

/** The best layout without faults that was found in time; undefined when there is none. Same plan, same layout, where time is ample: chance has a seed. */
export async function layOut(plan: DiagramPlan, time: LayoutTime = { leftMs: AMPLE_LAYOUT_MS }): Promise<PlacedDiagram | undefined> {
  const isBig = plan.nodes.length + plan.edges.length > MANY_PARTS;
  const tried = plan.nodes.length <= FEW_NODES ? [...CHOICES, SIDEWAYS] : CHOICES;
  return (await bestOf(plan, time, { tried, until: isBig ? 'first' : 'all' })) ?? bestOf(plan, time, { tried: OTHERWISE, until: 'first' });
}

interface Search {
  readonly tried: readonly LayoutChoice[];
  readonly until: 'first' | 'all';
}

async function bestOf(plan: DiagramPlan, time: LayoutTime, { tried, until }: Search): Promise<PlacedDiagram | undefined> {
  let best: { readonly placed: PlacedDiagram; readonly cost: number } | undefined;
  for (const choice of tried) {
    const placed = await placedBy(plan, time, choice);
    if (placed === undefined || faultsOf(placed).length > 0) continue;
    if (until === 'first') return placed;
    const cost = costOf(placed);
    if (best === undefined || cost < best.cost) best = { placed, cost };
  }
  return best?.placed;
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
