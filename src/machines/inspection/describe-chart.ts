/** Describes any XState 5 machine, or a lifecycle compiled from one. */
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { RuntimeError } from '../errors.ts';
import { isRecord } from '../validate.ts';
import type { ChartDescription, ChartEvent } from './chart-description.ts';
import { refuseBadEvents } from './chart-events.ts';
import type { ChartEvents } from './chart-events.ts';
import type { Chart } from './chart.ts';
import { notesOf } from './chart-notes.ts';
import { idOf, nodesOf, stateOf, transitionsOf } from './chart-reading.ts';

/** A machine, or a lifecycle that was compiled from one. */
export type ChartSource = AnyStateMachine | { readonly machine: AnyStateMachine };

/** @throws RuntimeError CHART_EXPECTED, when it is neither */
export function machineOf(source: ChartSource): AnyStateMachine {
  const given: unknown = source;
  const machine = isRecord(given) && !('root' in given) ? given['machine'] : given;
  if (isRecord(machine) && 'root' in machine && 'states' in machine) return machine as unknown as AnyStateMachine;
  throw new RuntimeError('CHART_EXPECTED', 'expected an XState 5 machine or a compiled lifecycle', {
    category: 'validation',
    hint: 'Give what createMachine() or setup().createMachine() returns.',
  });
}

/**
 * What is known of a chart beside its machine; a compiled lifecycle has a machine too, and nothing of the rest.
 * @throws RuntimeError CHART_EXPECTED
 */
export function chartOf(source: ChartSource): Chart {
  const machine = machineOf(source);
  return 'machine' in source && !('transition' in source) ? source : { machine };
}

/** @throws RuntimeError CHART_NOTES_INVALID, CHART_EVENTS_INVALID, CHART_EXPECTED */
export function describeChart(
  source: ChartSource,
  { events = {} }: { readonly events?: ChartEvents | undefined } = {},
): ChartDescription {
  const machine = machineOf(source);
  refuseBadEvents(machine.id, events);
  const nodes = nodesOf(machine);
  const notes = nodes.map((node) => notesOf(machine.id, idOf(node), node.meta));
  const transitions = nodes.flatMap((node) => transitionsOf(node).map(({ transition }) => transition));
  const { version } = machine;
  const { description } = machine.root;
  return {
    format: 'chart/1',
    id: machine.id,
    ...(version === undefined ? {} : { version }),
    ...(description === undefined ? {} : { description }),
    states: nodes.map(stateOf),
    transitions,
    events: eventsOf(events, transitions),
    unhandled: notes[0]?.unhandled ?? { as: 'ignored' },
    waivers: notes.flatMap(({ waivers }) => waivers),
  };
}

function eventsOf(declared: ChartEvents, transitions: ChartDescription['transitions']): ChartEvent[] {
  const listed = Object.entries(declared).map(([type, { kind, says, from, fields }]): ChartEvent => ({
    type,
    kind,
    says,
    from,
    fields: [...fields],
    isDeclared: true,
  }));
  // What XState sends itself may be written out too (`xstate.done.actor.fetch`); it is no command.
  const mentioned = new Set(
    transitions.filter(({ kind, event }) => kind === 'event' && !event.startsWith('xstate.')).map(({ event }) => event),
  );
  const undeclared = [...mentioned].filter((type) => !Object.hasOwn(declared, type)).toSorted();
  return [
    ...listed,
    ...undeclared.map((type): ChartEvent => ({ type, kind: 'command', fields: [], isDeclared: false })),
  ];
}

/**
 * Finds the id of a transition by the object that XState reports as taken, of the machine that the description was made
 * from.
 */
export function transitionIds(source: ChartSource): ReadonlyMap<object, string> {
  return new Map(
    nodesOf(machineOf(source)).flatMap((node) =>
      transitionsOf(node).map(({ transition, definition }) => [definition, transition.id] as const),
    ),
  );
}

/** By XState's own object; undefined for one that only forbids its event, or is not known to its state. */
const idsByDefinition = new WeakMap<object, string | undefined>();

/**
 * The ids of XState's own objects, of any machine, as inspection reports them: one that was provided with actors has
 * others than the machine that it came from. Of those that only forbid their event, none.
 */
export function idsOfTaken(definitions: readonly object[]): readonly string[] {
  return definitions.flatMap((definition) => {
    if (!idsByDefinition.has(definition)) {
      idsByDefinition.set(definition, undefined);
      const { source } = definition as { readonly source: AnyStateNode };
      for (const each of transitionsOf(source))
        idsByDefinition.set(each.definition, each.transition.forbids ? undefined : each.transition.id);
    }
    return idsByDefinition.get(definition) ?? [];
  });
}
