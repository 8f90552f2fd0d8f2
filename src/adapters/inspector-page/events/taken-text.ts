/** A transition in words. */
import type { ChartDescription } from '../../../machines/inspection/chart-description.ts';
import { HANDLED_BY_LOGIC } from '../../../machines/inspection-log/taken-words.ts';
import { visibleText } from '../model/visible-text.ts';

/** Ids are `state|event|index`. */
export function takenText(id: string, chart: ChartDescription | undefined): string {
  const transition = chart?.transitions.find((each) => each.id === id);
  if (transition === undefined) return id === HANDLED_BY_LOGIC ? 'none: no change of state' : visibleText(id);
  const source = transition.source === '' ? 'any state' : transition.source;
  const to = transition.targets.length === 0 ? 'stays' : transition.targets.join(', ');
  const guard = transition.guard === undefined ? '' : ` if ${transition.guard.name}`;
  return visibleText(`${source} — ${transition.event}${guard} → ${to}`);
}
