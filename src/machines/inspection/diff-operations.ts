/** What has changed in a list of actions. */
import type { ChartChange } from './chart-change.ts';
import type { ChartOperation } from './chart-description.ts';

interface Place {
  readonly before: string;
  readonly after: string;
  /** When they run, as the end of "runs …". */
  readonly whose: string;
}

/**
 * One change at most: code that relied on an action that is gone, or on what it ran before, may break; one more is
 * more.
 */
export function actionChange(
  { before, after, whose }: Place,
  earlier: readonly ChartOperation[],
  later: readonly ChartOperation[],
): ChartChange[] {
  const [one, other] = [earlier.map(({ name }) => name), later.map(({ name }) => name)];
  if (one.join('\n') === other.join('\n')) return [];
  const gone = without(one, other);
  const more = without(other, one);
  if (gone.length > 0)
    return [{ bump: 'major', kind: 'actions', before, after, says: `${quoted(gone)} does not run any more ${whose}.` }];
  if (without(other, more).join('\n') !== one.join('\n'))
    return [
      {
        bump: 'major',
        kind: 'actions',
        before,
        after,
        says: `Its actions run in another order ${whose}: ${quoted(other)}.`,
      },
    ];
  return [{ bump: 'minor', kind: 'actions', before, after, says: `${quoted(more)} runs too ${whose}.` }];
}

/** What is left of a list when each of `taken` has been taken from it once. */
function without(list: readonly string[], taken: readonly string[]): readonly string[] {
  const left = [...taken];
  return list.filter((name) => {
    const index = left.indexOf(name);
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
}

export function quoted(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.map((name) => `"${name}"`).join(', ');
}
