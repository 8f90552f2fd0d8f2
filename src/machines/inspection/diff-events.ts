/** What has changed in the events that a chart takes. */
import type { ChartChange } from './chart-change.ts';
import type { ChartDescription, ChartEvent } from './chart-description.ts';
import { quoted } from './diff-operations.ts';

export function eventChanges(before: ChartDescription, after: ChartDescription): ChartChange[] {
  const find = ({ events }: ChartDescription, type: string): ChartEvent | undefined =>
    events.find((event) => event.type === type);
  const kept = before.events.flatMap((event): ChartChange[] => {
    const next = find(after, event.type);
    return next === undefined
      ? [
          {
            bump: 'major',
            kind: 'event-removed',
            before: event.type,
            says: `The event ${event.type} is gone; its sender is not heard.`,
          },
        ]
      : changesOf(event, next);
  });
  const more = after.events.filter(({ type }) => find(before, type) === undefined);
  return [
    ...kept,
    ...more.map(({ type }): ChartChange => ({
      bump: 'minor',
      kind: 'event-added',
      after: type,
      says: `There is another event: ${type}.`,
    })),
  ];
}

function changesOf(before: ChartEvent, after: ChartEvent): ChartChange[] {
  const changes: ChartChange[] = [];
  const ids = { before: before.type, after: after.type };
  const words = ({ says, from }: ChartEvent): string => JSON.stringify([says, from]);
  const isKnownTwice = before.isDeclared && after.isDeclared;
  if (before.isDeclared && !after.isDeclared)
    changes.push({
      bump: 'major',
      kind: 'event-kind',
      ...ids,
      says: `The event ${after.type} is declared no more: the chart does not say what it carries, who sends it, and that it must not get lost.`,
    });
  if (!before.isDeclared && after.isDeclared)
    changes.push({ bump: 'minor', kind: 'event-kind', ...ids, says: `The event ${after.type} is declared now.` });
  if (isKnownTwice && before.kind !== after.kind)
    changes.push({
      bump: after.kind === 'fact' ? 'major' : 'minor',
      kind: 'event-kind',
      ...ids,
      says: `The event ${after.type} is a ${after.kind} instead of a ${before.kind}: it ${after.kind === 'fact' ? 'may' : 'must not'} be ignored.`,
    });
  if (isKnownTwice && words(before) !== words(after))
    changes.push({
      bump: 'patch',
      kind: 'description',
      ...ids,
      says: `The event ${after.type} is described in other words.`,
    });
  // The fields of an event that was not declared are unknown.
  if (!isKnownTwice) return changes;
  const [one, other] = [fieldsOf(before), fieldsOf(after)];
  const needed = [...other].flatMap(([name, isOptional]) => (!isOptional && one.get(name) !== false ? [name] : []));
  const gone = [...one.keys()].filter((name) => !other.has(name));
  const more = [...other].flatMap(([name, isOptional]) => (isOptional && one.get(name) !== true ? [name] : []));
  const change = (bump: ChartChange['bump'], says: string): ChartChange => ({
    bump,
    kind: 'event-fields',
    ...ids,
    says,
  });
  if (needed.length > 0)
    changes.push(change('major', `The event ${after.type} must carry ${quoted(needed)}, which it need not before.`));
  if (gone.length > 0) changes.push(change('major', `The event ${after.type} may not carry ${quoted(gone)} any more.`));
  if (more.length > 0)
    changes.push(change('minor', `The event ${after.type} may be sent with or without ${quoted(more)}.`));
  return changes;
}

/** By name: whether it may be left out, which is said by a question mark after the name. */
function fieldsOf({ fields }: ChartEvent): ReadonlyMap<string, boolean> {
  return new Map(fields.map((field) => (field.endsWith('?') ? [field.slice(0, -1), true] : [field, false])));
}
