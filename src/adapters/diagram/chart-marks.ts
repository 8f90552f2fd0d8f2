/** What differs between two versions of a chart, as marks on the states and transitions of both. */
import { canonicalJson } from '../../machines/canonical-json.ts';
import type { ChartChange, ChartDiff } from '../../machines/inspection/chart-change.ts';
import type { ChartDescription } from '../../machines/inspection/chart-description.ts';
import type { Mark, Marks } from './diagram-plan.ts';

export interface MarkedPair {
  readonly before: Marks;
  readonly after: Marks;
}

/** By the changes that a comparison found, where there is one; what it says nothing of is compared by its id. */
export function marksBetween(
  before: ChartDescription,
  after: ChartDescription,
  diff: ChartDiff | undefined,
): MarkedPair {
  const [old, recent] = [partsOf(before), partsOf(after)];
  const marks = { before: new Map<string, Mark>(), after: new Map<string, Mark>() };
  const renamed = new Map((diff?.changes ?? []).flatMap(renameOf));
  const arrived = new Set(renamed.values());
  for (const [id, content] of old) {
    const other = recent.get(id);
    if (renamed.has(id)) marks.before.set(id, 'changed');
    else if (other === undefined) marks.before.set(id, 'removed');
    else if (other !== content) marks.before.set(id, 'changed');
  }
  for (const [id, content] of recent) {
    const other = old.get(id);
    if (arrived.has(id)) marks.after.set(id, 'changed');
    else if (other === undefined) marks.after.set(id, 'added');
    else if (other !== content) marks.after.set(id, 'changed');
  }
  return marks;
}

/** What has another id and is the same thing nevertheless. */
function renameOf({ before, after }: ChartChange): (readonly [string, string])[] {
  return before === undefined || after === undefined || before === after ? [] : [[before, after]];
}

/** Everything that has an id, as text to compare. */
function partsOf({ states, transitions }: ChartDescription): ReadonlyMap<string, string> {
  return new Map([...states, ...transitions].map((part) => [part.id, canonicalJson(part)]));
}
