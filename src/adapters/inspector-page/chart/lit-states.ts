/** Which parts of a chart are lit. */
import { leavesOfValue } from '../../../machines/inspection-log/actor-outcome.ts';
import type { InspectedValue } from '../../../machines/inspection-log/inspection-record.ts';

/** Every state of the value and those around it, the outermost first. */
export function litStates(value: InspectedValue | undefined): ReadonlySet<string> {
  const lit = new Set<string>();
  for (const leaf of leavesOfValue(value)) {
    const keys = leaf.split('.');
    for (let length = 1; length <= keys.length; length += 1) lit.add(keys.slice(0, length).join('.'));
  }
  return lit;
}
