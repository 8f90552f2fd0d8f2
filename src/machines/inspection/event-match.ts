/** Which transitions XState considers for an event, and in which order. */
import type { ChartTransition } from './chart-description.ts';

/**
 * Whether an event of the type goes to transitions written for `descriptor`: itself, `*`, or `part.*`, which means
 * `part` too.
 */
export function matchesEvent(type: string, descriptor: string): boolean {
  if (descriptor === type || descriptor === '*') return true;
  if (!descriptor.endsWith('.*')) return false;
  const wanted = descriptor.slice(0, -2).split('.');
  const parts = type.split('.');
  return wanted.every((part, index) => parts[index] === part);
}

/**
 * Of the transitions of one state those that the event is offered to, the exact ones first, then wildcards from the
 * longest to the shortest.
 */
export function candidatesFor(type: string, own: readonly ChartTransition[]): readonly ChartTransition[] {
  const exact = own.filter(({ kind, event }) => kind === 'event' && event === type);
  const wild = own.filter(({ kind, event }) => kind === 'wildcard' && matchesEvent(type, event));
  return [...exact, ...wild.toSorted((one, other) => other.event.length - one.event.length)];
}
