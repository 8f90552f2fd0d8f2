/** The events to try a chart with where it is: what may be sent to it, what its actors and timers would say. */
import type { AnyEventObject, AnyStateNode } from 'xstate';
import type { Chart } from './chart.ts';
import type { ChartDescription } from './chart-description.ts';
import { idOf, invokesOf } from './chart-reading.ts';
import { matchesEvent } from './event-match.ts';
import type { TriedSnapshot } from './explored-machine.ts';

/** What fits on a line of a path. */
const MAX_LABEL_LENGTH = 100;

export interface TriedEvent {
  /** How a path names it. */
  readonly label: string;
  readonly event: AnyEventObject;
  /**
   * Whether a schema says what it carries. Where none does, a guard or an action that stumbles over it proves nothing.
   */
  readonly isGiven: boolean;
}

export type EventsOfChart = (snapshot: TriedSnapshot) => readonly TriedEvent[];

export function eventsToTry(chart: Chart, description: ChartDescription): EventsOfChart {
  const sent = sentEvents(chart, description);
  const raised = new Map<AnyStateNode, readonly TriedEvent[]>();
  const raisedIn = (node: AnyStateNode): readonly TriedEvent[] => {
    const known = raised.get(node) ?? raisedBy(node, chart.outputs ?? {});
    raised.set(node, known);
    return known;
  };
  return ({ _nodes }) => {
    const inOrder = _nodes.toSorted((one, other) => one.order - other.order);
    return [...sent, ...toldApart(inOrder.map((node) => ({ node, raised: raisedIn(node) })))];
  };
}

/**
 * What several active states raise under one name, such as the end of actors of the same source, is said with its
 * state: a path means one of them.
 */
function toldApart(
  nodes: readonly { readonly node: AnyStateNode; readonly raised: readonly TriedEvent[] }[],
): readonly TriedEvent[] {
  const all = nodes.flatMap(({ raised }) => raised);
  const names = all.map(({ label }) => label);
  if (new Set(names).size === names.length) return all;
  const isShared = (label: string): boolean => names.indexOf(label) !== names.lastIndexOf(label);
  return nodes.flatMap(({ node, raised }) =>
    raised.map((each) =>
      isShared(each.label) ? { ...each, label: `${each.label} in ${idOf(node) || 'the chart itself'}` } : each,
    ),
  );
}

/** What may be sent to the chart, wherever it stands. */
export function sentEvents(chart: Chart, description: ChartDescription): readonly TriedEvent[] {
  return [...sendable(chart, description), ...anything(description)];
}

function sendable({ events = {}, samples = {} }: Chart, description: ChartDescription): TriedEvent[] {
  const declared = new Set(description.events.filter(({ isDeclared }) => isDeclared).map(({ type }) => type));
  // What only a wildcard takes is not mentioned in the chart.
  const types = new Set([...description.events.map(({ type }) => type), ...Object.keys(samples)]);
  return [...types].flatMap((type) => {
    const given = (Object.hasOwn(samples, type) ? samples[type] : undefined) ?? [];
    const known = (Object.hasOwn(events, type) ? events[type]?.samples : undefined) ?? [{ type }];
    return labeled(type, given.length > 0 ? given : known, given.length > 0 || declared.has(type));
  });
}

/** For wildcards that none of the declared events goes to: what the chart mentions beside them has transitions of its own. */
function anything({ events, transitions }: ChartDescription): TriedEvent[] {
  const wildcards = new Set(transitions.filter(({ kind }) => kind === 'wildcard').map(({ event }) => event));
  const open = [...wildcards].filter(
    (wildcard) => !events.some(({ type, isDeclared }) => isDeclared && matchesEvent(type, wildcard)),
  );
  return open.map((wildcard) => ({
    label: wildcard,
    event: { type: wildcard.replace('*', 'anything') },
    isGiven: false,
  }));
}

function raisedBy(node: AnyStateNode, outputs: Readonly<Record<string, readonly unknown[]>>): readonly TriedEvent[] {
  const ends = invokesOf(node).flatMap(({ raw, invocation: { id } }) => {
    const given = Object.hasOwn(outputs, id) ? outputs[id] : undefined;
    const answers = given ?? [undefined];
    const done = answers.map((output) => ({ type: `xstate.done.actor.${raw}`, actorId: raw, output }));
    const told = labelsOf(`done(${id})`, answers).map((label, index): TriedEvent => ({
      label,
      event: done[index] ?? { type: '' },
      isGiven: given !== undefined,
    }));
    const error: TriedEvent = {
      label: `error(${id})`,
      event: { type: `xstate.error.actor.${raw}`, actorId: raw, error: new Error('tried by an audit') },
      isGiven: true,
    };
    const snapshot: TriedEvent = {
      label: `snapshot(${id})`,
      event: { type: `xstate.snapshot.${raw}`, snapshot: { status: 'active', context: {}, output: undefined } },
      isGiven: false,
    };
    return [
      ...told,
      ...(takesError(node, raw) ? [error] : []),
      ...(node.transitions.has(snapshot.event.type) ? [snapshot] : []),
    ];
  });
  const timers = new Map(
    (node.after as readonly { readonly eventType: string; readonly delay?: number | string }[]).map(
      ({ eventType, delay }) => [eventType, delay],
    ),
  );
  return [
    ...ends,
    ...[...timers].map(([type, delay]): TriedEvent => ({
      label: `after(${String(delay)})`,
      event: { type },
      isGiven: true,
    })),
  ];
}

/**
 * An error that no transition takes ends the machine: there is nothing to go on with, and the audit says so without
 * trying.
 */
function takesError(node: AnyStateNode, raw: string): boolean {
  return node.transitions.has(`xstate.error.actor.${raw}`);
}

function labeled(type: string, samples: readonly AnyEventObject[], isGiven: boolean): TriedEvent[] {
  const carried = samples.map(({ type: _, ...fields }) => fields);
  const labels = labelsOf(type, carried);
  return samples.map((event, index) => ({ label: labels[index] ?? type, event, isGiven }));
}

/**
 * One sample goes by its name; of several each tells what it carries, or its number where that is too long or not
 * different.
 */
function labelsOf(name: string, carried: readonly unknown[]): readonly string[] {
  if (carried.length <= 1) return carried.map(() => name);
  const texts = carried.map((each) => textOf(each));
  return texts.map((text, index) => {
    const isTelling =
      text !== undefined &&
      name.length + text.length < MAX_LABEL_LENGTH &&
      texts.indexOf(text) === texts.lastIndexOf(text);
    return isTelling ? `${name} ${text}` : `${name} #${index + 1}`;
  });
}

function textOf(value: unknown): string | undefined {
  try {
    return value === undefined ? 'nothing' : JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** The event that a step of a path means; of a path that was written with other samples, one of the same name. */
export function eventOfLabel(events: readonly TriedEvent[], label: string): TriedEvent | undefined {
  const [name = label] = label.split(' ');
  return events.find((each) => each.label === label) ?? events.find((each) => each.label.split(' ')[0] === name);
}
