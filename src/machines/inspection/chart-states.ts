/**
 * How the states of a chart lie within one another. Without the schema of charts, so that a page which only reads them
 * carries none.
 */
import type { ChartDescription, ChartState } from './chart-description.ts';

/** The id of the root. */
export const ROOT = '';

/** Every state from the given one up to the root, itself first. */
export function lineageOf({ states }: Pick<ChartDescription, 'states'>, id: string): readonly ChartState[] {
  const byId = new Map(states.map((each) => [each.id, each]));
  const line: ChartState[] = [];
  for (
    let next = byId.get(id);
    next !== undefined;
    next = next.parent === undefined ? undefined : byId.get(next.parent)
  )
    line.push(next);
  return line;
}

export function childrenOf({ states }: Pick<ChartDescription, 'states'>, id: string): readonly ChartState[] {
  return states.filter(({ parent }) => parent === id);
}

/** Atomic and final states: those in which a machine can be. */
export function leavesOf({ states }: Pick<ChartDescription, 'states'>): readonly ChartState[] {
  return states.filter(({ kind }) => kind === 'atomic' || kind === 'final');
}
