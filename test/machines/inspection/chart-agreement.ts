/**
 * Compares what an audit says of a chart, read off without running it, with what XState answers in every snapshot that
 * can be found.
 */
import type { AnyEventObject } from 'xstate';
import type { ChartAudit, MatrixCell } from '../../../src/machines/inspection/chart-audit.ts';
import type { Chart } from '../../../src/machines/inspection/chart.ts';
import type { ChartIndex } from '../../../src/machines/inspection/chart-index.ts';
import { indexChart } from '../../../src/machines/inspection/chart-index.ts';
import { transitionIds } from '../../../src/machines/inspection/describe-chart.ts';
import { exploreChart } from '../../../src/machines/inspection/explore-chart.ts';
import type { ExploredSnapshot } from '../../../src/machines/inspection/explore-chart.ts';
import type { ExplorationLimits } from '../../../src/machines/inspection/exploration-limits.ts';

/** Sentences about every disagreement, and how many pairs of snapshot and event were compared. */
export function disagreements(
  chart: Chart,
  audit: ChartAudit,
  limits?: ExplorationLimits,
): { readonly compared: number; readonly found: readonly string[] } {
  const index = indexChart(audit.chart);
  const { snapshots, explored } = exploreChart(chart, audit.chart, limits);
  const ids = transitionIds(explored.machine);
  const cells = new Map(audit.matrix.map((cell) => [`${cell.state} ${cell.event}`, cell]));
  const found: string[] = [];
  let compared = 0;
  for (const at of snapshots.filter(({ snapshot }) => snapshot.status === 'active')) {
    for (const event of audit.chart.events.flatMap(
      ({ type }): readonly AnyEventObject[] => chart.events?.[type]?.samples ?? [{ type }],
    )) {
      const taken = explored.machine
        .getTransitionData(at.snapshot as never, event)
        .map((definition) => ids.get(definition) ?? '(unknown)');
      const own = at.leaves.flatMap((leaf) => cells.get(`${leaf} ${event.type}`) ?? []);
      compared += 1;
      found.push(
        ...compare(index, at, taken, own).map(
          (each) => `${at.leaves.join(' + ')} at ${JSON.stringify(event)}, taken [${taken.join(', ')}]: ${each}`,
        ),
      );
    }
  }
  return { compared, found };
}

function compare(
  index: ChartIndex,
  { leaves }: ExploredSnapshot,
  taken: readonly string[],
  cells: readonly MatrixCell[],
): readonly string[] {
  const strangers = taken.filter((id) => !cells.some(({ transitions }) => transitions.includes(id)));
  return [
    ...(cells.length === leaves.length ? [] : ['a leaf has no cell']),
    ...strangers.map((id) => `no active leaf is said to take ${id}`),
    ...cells.flatMap((cell) => compareCell(index, taken, cell)),
  ];
}

function compareCell(
  { chart, state, lineage }: ChartIndex,
  taken: readonly string[],
  cell: MatrixCell,
): readonly string[] {
  const byId = new Map(chart.transitions.map((transition) => [transition.id, transition]));
  const own = cell.transitions.filter((id) => taken.includes(id));
  const isBeside = (cell.beside ?? []).some((id) => taken.includes(id));
  const certain = cell.transitions.at(-1);
  // Outer states of a parallel one are asked only when none of its regions took the event.
  const isPreempted =
    isBeside &&
    certain !== undefined &&
    lineage(byId.get(certain)?.source ?? '').some(
      ({ id }) =>
        id === (byId.get(certain)?.source ?? '') &&
        lineage(cell.state).some(
          (inner) =>
            inner.parent !== undefined &&
            state(inner.parent).kind === 'parallel' &&
            lineage(inner.parent).some((outer) => outer.id === id),
        ),
    );
  const problems: string[] = [];
  if (own.length > 1) problems.push(`${cell.state} took more than one: ${own.join(', ')}`);
  if ((cell.class === 'handled' || cell.class === 'forbidden') && own.length === 0 && !isPreempted)
    problems.push(`${cell.state} is said to take it always`);
  if (cell.class === 'forbidden' && own.some((id) => byId.get(id)?.forbids !== true))
    problems.push(`${cell.state} is said to forbid it`);
  if (['ignored', 'rejected', 'final'].includes(cell.class) && cell.beside === undefined && taken.length > 0)
    problems.push(`${cell.state} is said to take nothing`);
  const before = cell.transitions.slice(0, cell.transitions.indexOf(own[0] ?? ''));
  if (own.length > 0 && before.some((id) => byId.get(id)?.guard === undefined))
    problems.push(`${cell.state} is said to take ${before.join(', ')} first`);
  const masked = taken.filter((id) => cell.masks.includes(byId.get(id)?.source ?? '(none)'));
  if (masked.length > 0) problems.push(`${cell.state} is said to keep it from ${masked.join(', ')}`);
  const first = byId.get(cell.transitions[0] ?? '')?.source;
  if ((cell.inheritedFrom ?? first) !== first || cell.inheritedFrom === cell.state)
    problems.push(`${cell.state} inherits from ${cell.inheritedFrom ?? 'nobody'}`);
  return problems;
}
