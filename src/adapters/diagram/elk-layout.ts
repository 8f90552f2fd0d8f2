/** Lays a planned picture out with ELK, which is loaded with the first picture: it is big, and few processes draw. */
import type { DiagramPlan } from './diagram-plan.ts';
import { elkGraphOf, placedOf } from './elk-graph.ts';
import type { LayoutChoice } from './elk-graph.ts';
import { placedByElk } from './elk-thread.ts';
import type { LayoutTime } from './elk-thread.ts';
import type { PlacedDiagram } from './placed-diagram.ts';
import { withHeadings } from './place-headings.ts';
import { faultsOf } from './placement-faults.ts';
import { tidied } from './tidy-edges.ts';

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
