/**
 * What every leaf state does with every event, read off the chart without running it.
 *
 * A leaf is asked first, then its outer states, as XState does. Of a parallel state the regions are not multiplied with
 * each other: a cell tells of one leaf and its outer states, and names what the regions beside it may take (`beside`).
 * XState asks the outer states of a parallel one only when none of its regions took the event.
 */
import type { MatrixCell } from './chart-audit.ts';
import type { ChartState, ChartTransition } from './chart-description.ts';
import { ROOT } from './chart-states.ts';
import type { ChartIndex } from './chart-index.ts';
import { candidatesFor } from './event-match.ts';

export function eventMatrix(index: ChartIndex): readonly MatrixCell[] {
  return index.leaves.flatMap((leaf) => index.chart.events.map(({ type }) => cellOf(index, leaf, type)));
}

function cellOf(index: ChartIndex, leaf: ChartState, event: string): MatrixCell {
  const offered = index
    .lineage(leaf.id)
    .map(({ id }) => ({ id, candidates: candidatesFor(event, index.transitionsOf(id)) }));
  const tried: ChartTransition[] = [];
  const masks: string[] = [];
  for (const { id, candidates } of offered) {
    if (tried.some(isCertain)) {
      if (candidates.some(({ forbids }) => !forbids)) masks.push(id);
      continue;
    }
    const certain = candidates.findIndex(isCertain);
    tried.push(...(certain === -1 ? candidates : candidates.slice(0, certain + 1)));
  }
  const [first] = tried;
  const beside = besideOf(index, leaf.id, event);
  return {
    state: leaf.id,
    event,
    class: classOf(index, leaf, tried),
    transitions: tried.map(({ id }) => id),
    ...(first === undefined || first.source === leaf.id ? {} : { inheritedFrom: first.source }),
    masks,
    ...(beside.length === 0 ? {} : { beside }),
  };
}

function isCertain({ guard }: ChartTransition): boolean {
  return guard === undefined;
}

function classOf(
  { chart, state }: ChartIndex,
  leaf: ChartState,
  tried: readonly ChartTransition[],
): MatrixCell['class'] {
  // Where the machine itself ends, nothing is taken any more, whatever is written there.
  if (leaf.kind === 'final' && leaf.parent === ROOT && state(ROOT).kind === 'compound') return 'final';
  const last = tried.at(-1);
  if (last === undefined) return leaf.kind === 'final' ? 'final' : chart.unhandled.as;
  if (!isCertain(last)) return 'conditional';
  if (!last.forbids) return 'handled';
  return tried.length === 1 ? 'forbidden' : 'conditional';
}

/** What states of the regions beside the leaf may take. */
function besideOf(index: ChartIndex, leaf: string, event: string): readonly string[] {
  const others = index.regionsBeside(leaf).map(({ other }) => other);
  if (others.length === 0) return [];
  const inside = index.chart.states.filter(({ id }) => others.some((region) => index.isWithin(id, region)));
  return inside.flatMap(({ id }) => candidatesFor(event, index.transitionsOf(id)).map((candidate) => candidate.id));
}
