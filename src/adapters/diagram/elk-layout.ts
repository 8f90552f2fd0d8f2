/** Lays a planned picture out with ELK, which is loaded with the first picture: it is big, and few processes draw. */
import type { ELK } from 'elkjs/lib/elk-api.js';
import type { DiagramPlan } from './diagram-plan.ts';
import { elkGraphOf, placedOf } from './elk-graph.ts';
import type { LayoutChoice } from './elk-graph.ts';
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

let loaded: Promise<ELK> | undefined;

/** The best layout without faults; undefined when there is none. Same plan, same layout: chance has a seed, and nothing reads a clock. */
export async function layOut(plan: DiagramPlan): Promise<PlacedDiagram | undefined> {
  const elk = await theElk();
  const isBig = plan.nodes.length + plan.edges.length > MANY_PARTS;
  const tried = plan.nodes.length <= FEW_NODES ? [...CHOICES, SIDEWAYS] : CHOICES;
  return (await bestOf(elk, plan, tried, isBig ? 'first' : 'all')) ?? bestOf(elk, plan, OTHERWISE, 'first');
}

async function bestOf(elk: ELK, plan: DiagramPlan, tried: readonly LayoutChoice[], until: 'first' | 'all'): Promise<PlacedDiagram | undefined> {
  let best: { readonly placed: PlacedDiagram; readonly cost: number } | undefined;
  for (const choice of tried) {
    const placed = await placedBy(elk, plan, choice);
    if (placed === undefined || faultsOf(placed).length > 0) continue;
    if (until === 'first') return placed;
    const cost = costOf(placed);
    if (best === undefined || cost < best.cost) best = { placed, cost };
  }
  return best?.placed;
}

/** ELK is a large program that was translated from another language: whatever it throws means only that this way does not work. */
async function placedBy(elk: ELK, plan: DiagramPlan, choice: LayoutChoice): Promise<PlacedDiagram | undefined> {
  try {
    return withHeadings(tidied(placedOf(plan, await elk.layout(elkGraphOf(plan, choice)))));
  } catch {
    return undefined;
  }
}

async function theElk(): Promise<ELK> {
  loaded ??= import('elkjs/lib/elk.bundled.js').then(({ default: Elk }) => new Elk.default());
  try {
    return await loaded;
  } catch (error) {
    loaded = undefined;
    throw error;
  }
}
