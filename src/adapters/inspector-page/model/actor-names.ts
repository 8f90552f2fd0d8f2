/** What actors are called where there is little space. The whole id belongs into a `title`. */
import type { InspectedActorState } from '../../../machines/inspection-log/inspection-world.ts';
import { visibleText } from './visible-text.ts';

type Named = Pick<InspectedActorState, 'id' | 'kind' | 'facts'>;

const MOST = 60;
/** The end tells long ids apart: they begin with the time. */
const LAST = 4;
const LONG_ID = /^(?:[a-z]+[_-])?([0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12})$/i;
/** XState calls what a state invokes `0.<chart>.<state>`. */
const INVOKED = /^\d+\.[^.]+\.?/;

/** Why a wake began, as its label says it. */
const WAKES: ReadonlyMap<string, string> = new Map([
  ['ingress', 'for a message'],
  ['wake', 'that was queued'],
  ['retry', 'after a failure'],
  ['manual', 'by command'],
]);

/** `Mend the cart`, `task_7`, `wake for a message`, `wake …81b1`, `claim`. */
export function actorName({ id, kind, facts }: Named, most = MOST): string {
  const label = facts?.['label'] ?? facts?.['name'];
  const end = LONG_ID.exec(id)?.[1]?.slice(-LAST);
  if (label !== undefined && label !== '')
    return visibleText(kind === 'wake' ? `wake ${WAKES.get(label) ?? label}` : label, most);
  if (end !== undefined) return `${visibleText(kind ?? 'actor', MOST)} …${end}`;
  if (INVOKED.test(id) && kind !== undefined) return visibleText(kind, MOST);
  return visibleText(id, MOST);
}

/** Of one that no record names: what is known is its key. */
export function keyName(key: string): string {
  return visibleText(key.split(':').slice(1).join(':') || key, MOST);
}

/** All that tells it from others, for a `title`. */
export function wholeName({ key, id, kind, facts }: Named & { readonly key: string }): string {
  return visibleText(
    [facts?.['label'], kind, id, key].filter((part) => part !== undefined).join('\n'),
    1_000,
  ).replaceAll('⏎', '\n');
}
