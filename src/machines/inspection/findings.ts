/**
 * What an audit complains about, before the reasons that the chart itself gives are checked; and the words that all
 * findings share.
 */
import type { ChartAudit, Finding } from './chart-audit.ts';
import type { Chart } from './chart.ts';
import { ROOT } from './chart-states.ts';
import type { ChartTransition } from './chart-description.ts';
import type { ChartIndex } from './chart-index.ts';
import type { Exploration } from './explore-chart.ts';

/** Everything that is known when findings are made. */
export interface AuditMatter {
  readonly chart: Chart;
  readonly index: ChartIndex;
  readonly matrix: ChartAudit['matrix'];
  readonly reach: ChartAudit['reach'];
  readonly exploration: Exploration;
  /** States that a path of transitions leads to, or of events. Others have one finding, and no second. */
  readonly reached: ReadonlySet<string>;
}

export type FindingsOf = (matter: AuditMatter) => readonly Finding[];

export function named(state: string): string {
  return state === ROOT ? 'the chart itself' : `"${state}"`;
}

/** The same at the start of a sentence. */
export function opening(state: string): string {
  return state === ROOT ? 'The chart itself' : named(state);
}

/** `STOP`, `STOP and GO`, `STOP, GO and 3 more`. */
export function listed(names: readonly string[], most = 4): string {
  const unique = [...new Set(names)];
  if (unique.length <= 1) return unique.join('');
  if (unique.length > most) return `${unique.slice(0, most - 1).join(', ')} and ${unique.length - most + 1} more`;
  return `${unique.slice(0, -1).join(', ')} and ${unique.at(-1) ?? ''}`;
}

/** How a transition is called in a sentence: `STOP (to "stopping")`. */
export function spoken({ event, targets }: ChartTransition): string {
  return targets.length === 0 ? event : `${event} (to ${listed(targets.map(named))})`;
}

/** The innermost state that all of them lie in: where something is that concerns several regions at once. */
export function commonState(index: ChartIndex, states: readonly string[]): string {
  const [first, ...others] = states;
  if (first === undefined) return ROOT;
  return index.lineage(first).find(({ id }) => others.every((other) => index.isWithin(other, id)))?.id ?? ROOT;
}

/** Whether what causes the transition was said, so that not having seen it taken means something. */
export function isTried({ chart, index }: AuditMatter, { kind, event, invoke, guard }: ChartTransition): boolean {
  if (kind === 'invoke-snapshot') return false;
  if (kind === 'event') return index.chart.events.some(({ type, isDeclared }) => isDeclared && type === event);
  // What fills the context comes with events: where no schema says what they carry, a guard that never held proves
  // nothing.
  if (guard !== undefined && kind !== 'invoke-done' && chart.events === undefined) return false;
  if (kind === 'invoke-done' && guard !== undefined)
    return invoke !== undefined && chart.outputs !== undefined && Object.hasOwn(chart.outputs, invoke);
  return true;
}
