/**
 * What has changed in the transitions of the states that both versions have. Those of states that are new or gone come
 * and go with them.
 */
import { lineageOf } from './chart-states.ts';
import type { ChartChange } from './chart-change.ts';
import type { ChartDescription, ChartTransition } from './chart-description.ts';
import { actionChange, quoted } from './diff-operations.ts';
import type { StateMatch } from './diff-renames.ts';
import { candidatesFor, matchesEvent } from './event-match.ts';
import { nameOf } from './diff-states.ts';

interface Pair {
  readonly before: ChartTransition;
  readonly after: ChartTransition;
}

export function transitionChanges(match: StateMatch): ChartChange[] {
  const { before, after, translate } = match;
  const laterIds = new Set(after.states.map(({ id }) => id));
  return before.states.flatMap(({ id }): ChartChange[] => {
    if (!laterIds.has(translate(id))) return [];
    const one = before.transitions.filter(({ source }) => source === id);
    const other = after.transitions.filter(({ source }) => source === translate(id));
    const events = new Set([...one, ...other].map(({ event }) => event));
    const { gone, more, changes } = [...events]
      .map((event) => changesFor(match, withEvent(one, event), withEvent(other, event)))
      .reduce(
        (sum, each) => ({
          gone: [...sum.gone, ...each.gone],
          more: [...sum.more, ...each.more],
          changes: [...sum.changes, ...each.changes],
        }),
        { gone: [], more: [], changes: [] },
      );
    return [...changes, ...comeAndGone(match, gone, more)];
  });
}

function withEvent(transitions: readonly ChartTransition[], event: string): readonly ChartTransition[] {
  return transitions.filter((transition) => transition.event === event);
}

interface Compared {
  readonly gone: readonly ChartTransition[];
  readonly more: readonly ChartTransition[];
  readonly changes: readonly ChartChange[];
}

/**
 * The transitions of one state for one event. Those that are alike are found first, whatever was put before or after
 * them.
 */
function changesFor(
  match: StateMatch,
  before: readonly ChartTransition[],
  after: readonly ChartTransition[],
): Compared {
  const pairs: Pair[] = [];
  const isFree =
    (side: keyof Pair) =>
    (transition: ChartTransition): boolean =>
      !pairs.some((pair) => pair[side] === transition);
  for (const isAlike of likenesses(match)) {
    for (const one of before.filter(isFree('before'))) {
      const other = after.filter(isFree('after')).find((each) => isAlike(one, each));
      if (other !== undefined) pairs.push({ before: one, after: other });
    }
  }
  const inOrder = pairs.toSorted((one, other) => one.before.index - other.before.index);
  return {
    gone: before.filter(isFree('before')),
    more: after.filter(isFree('after')),
    changes: [...inOrder.flatMap((pair) => changesOf(match, pair)), ...orderChanges(inOrder)],
  };
}

/** From the closest likeness to none at all but the place in the list. */
function likenesses({ translate }: StateMatch): readonly ((one: ChartTransition, other: ChartTransition) => boolean)[] {
  const goesAlike = (one: ChartTransition, other: ChartTransition): boolean =>
    one.targets.map(translate).join('\n') === other.targets.join('\n');
  const asksAlike = (one: ChartTransition, other: ChartTransition): boolean => one.guard?.name === other.guard?.name;
  const doesAlike = (one: ChartTransition, other: ChartTransition): boolean => actionsOf(one) === actionsOf(other);
  return [
    (one, other) =>
      goesAlike(one, other) && asksAlike(one, other) && doesAlike(one, other) && one.reenters === other.reenters,
    (one, other) => goesAlike(one, other) && asksAlike(one, other),
    // A change of target or guard keeps the other of the two.
    (one, other) => one.guard !== undefined && asksAlike(one, other),
    (one, other) => goesAlike(one, other),
    (one, other) => asksAlike(one, other),
  ];
}

function changesOf({ translate }: StateMatch, { before, after }: Pair): ChartChange[] {
  const ids = { before: before.id, after: after.id };
  const name = describe(after);
  const changes: ChartChange[] = [];
  if (before.targets.map(translate).join('\n') !== after.targets.join('\n')) {
    changes.push({
      bump: 'major',
      kind: 'target',
      ...ids,
      says: `${name} leads to ${placesOf(after)} instead of ${placesOf(before)}.`,
    });
  } else if (before.reenters !== after.reenters) {
    changes.push({
      bump: 'major',
      kind: 'target',
      ...ids,
      says: `${name} ${after.reenters ? 'leaves its state and enters it again' : 'stays in its state'} now.`,
    });
  }
  const [one, other] = [before.guard?.name, after.guard?.name];
  if (one === undefined && other !== undefined)
    changes.push({
      bump: 'major',
      kind: 'guard-added',
      ...ids,
      says: `${name} is taken only where "${other}" holds; before, it always was.`,
    });
  else if (one !== undefined && other === undefined)
    changes.push({
      bump: 'major',
      kind: 'guard-removed',
      ...ids,
      says: `${name} is always taken; before, only where "${one}" held.`,
    });
  else if (one !== other)
    changes.push({
      bump: 'major',
      kind: 'guard-changed',
      ...ids,
      says: `${name} is taken where "${other ?? ''}" holds instead of "${one ?? ''}".`,
    });
  if (before.description !== after.description)
    changes.push({ bump: 'patch', kind: 'description', ...ids, says: `${name} is described in other words.` });
  return [...changes, ...actionChange({ ...ids, whose: `with ${name}` }, before.actions, after.actions)];
}

/** The first whose guard holds is taken: another order may give another answer. */
function orderChanges(inOrder: readonly Pair[]): ChartChange[] {
  return inOrder.flatMap(({ before, after }, index): ChartChange[] => {
    const previous = inOrder[index - 1];
    if (previous === undefined || previous.after.index < after.index) return [];
    return [
      {
        bump: 'major',
        kind: 'guard-changed',
        before: before.id,
        after: after.id,
        says: `${describe(after)} is tried before what it was tried after.`,
      },
    ];
  });
}

/** A timer that runs for another time is the same timer. */
function comeAndGone(
  match: StateMatch,
  gone: readonly ChartTransition[],
  more: readonly ChartTransition[],
): ChartChange[] {
  const { translate } = match;
  const timers = new Map<ChartTransition, ChartTransition>();
  for (const one of gone.filter(({ kind }) => kind === 'delayed')) {
    const other = more.find(
      (each) =>
        each.kind === 'delayed' &&
        ![...timers.values()].includes(each) &&
        each.targets.join('\n') === one.targets.map(translate).join('\n') &&
        each.guard?.name === one.guard?.name,
    );
    if (other !== undefined) timers.set(one, other);
  }
  const taken = new Set([...timers.values()]);
  return [
    ...[...timers].map(([one, other]): ChartChange => ({
      bump: 'minor',
      kind: 'delay',
      before: one.id,
      after: other.id,
      says: `The timer of ${nameOf(other.source)} is ${other.event} instead of ${one.event}.`,
    })),
    ...gone
      .filter((each) => !timers.has(each))
      .map((each): ChartChange => ({
        bump: 'major',
        kind: 'transition-removed',
        before: each.id,
        says: `${describe(each)} is gone; it led to ${placesOf(each)}.`,
      })),
    ...more.filter((each) => !taken.has(each)).map((each) => added(match, each)),
  ];
}

function added(match: StateMatch, transition: ChartTransition): ChartChange {
  const change = { kind: 'transition-added', after: transition.id } as const;
  const taker = tookBefore(match, transition);
  const leads = transition.forbids ? 'does nothing' : `leads to ${placesOf(transition)}`;
  if (taker !== undefined)
    return {
      ...change,
      bump: 'major',
      says: `${describe(transition)} is taken now, where before ${taker} decided; it ${leads}.`,
    };
  const { kind } = transition;
  if (kind === 'eventless' || kind === 'delayed')
    return {
      ...change,
      bump: 'major',
      says: `${describe(transition)} comes by itself now, and ${leads}; before, the state waited to be told.`,
    };
  if (kind === 'wildcard')
    return {
      ...change,
      bump: 'major',
      says: `${describe(transition)} takes what no transition took before, known or not; it ${leads}.`,
    };
  return { ...change, bump: 'minor', says: `${describe(transition)} is taken now, and ${leads}.` };
}

/**
 * What answered the event before, as the end of "where before … decided": a transition that is tried later now, or one
 * of a state around it.
 */
function tookBefore(match: StateMatch, { source, event, index, kind }: ChartTransition): string | undefined {
  const { before, after, translate } = match;
  const isLater = after.transitions.some(
    (other) => other.source === source && other.event === event && other.index > index && wasThere(match, other),
  );
  if (isLater) return 'what comes after it in the list';
  const state = before.states.find(({ id }) => translate(id) === source);
  if (state === undefined || (kind !== 'event' && kind !== 'wildcard')) return undefined;
  const types = new Set([
    ...(kind === 'event' ? [event] : []),
    ...[...before.events, ...after.events].flatMap(({ type }) => (matchesEvent(type, event) ? [type] : [])),
  ]);
  for (const type of types) {
    const taker = deciderOf(before, state.id, { type, event });
    if (taker !== undefined) return taker;
  }
  return undefined;
}

/** Who took an event of the type that the new transition, written for `event`, is offered first. */
function deciderOf(
  before: ChartDescription,
  source: string,
  { type, event }: { readonly type: string; readonly event: string },
): string | undefined {
  for (const { id } of lineageOf(before, source)) {
    for (const each of candidatesFor(
      type,
      before.transitions.filter((transition) => transition.source === id),
    )) {
      const isFirst =
        id === source && (each.event === event || each.event === type || each.event.length > event.length);
      if (!isFirst) return id === source ? each.event : nameOf(id);
      // What has no guard leaves nothing for those that come after it.
      if (each.guard === undefined) return undefined;
    }
  }
  return undefined;
}

function wasThere({ before, translate }: StateMatch, { source, event, guard, targets }: ChartTransition): boolean {
  return before.transitions.some(
    (each) =>
      translate(each.source) === source &&
      each.event === event &&
      each.guard?.name === guard?.name &&
      each.targets.map(translate).join('\n') === targets.join('\n'),
  );
}

function actionsOf({ actions }: ChartTransition): string {
  return actions.map(({ name }) => name).join('\n');
}

function describe({ source, event, guard }: ChartTransition): string {
  return `${event} in ${nameOf(source)}${guard === undefined ? '' : ` [${guard.name}]`}`;
}

function placesOf({ targets }: ChartTransition): string {
  return targets.length === 0 ? 'no other state' : quoted(targets);
}
