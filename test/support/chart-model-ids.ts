/** Which transitions of a chart XState takes, by the ids of its description. */
import type { AnyEventObject, AnyStateMachine, AnyStateNode } from 'xstate';
import { transitionsOf } from '../../src/machines/inspection/chart-reading.ts';
import { transitionsTaken } from '../../src/machines/xstate-internals.ts';
import type { MachineSnapshotLike } from '../../src/machines/xstate-internals.ts';

/** By XState's own object; undefined for one that only forbids its event. */
const known = new WeakMap<object, string | undefined>();

/** The ids of what is taken from here for an event; none when it is ignored or forbidden. */
export function takenIds(machine: AnyStateMachine, snapshot: MachineSnapshotLike, event: AnyEventObject): string[] {
  if (snapshot.status !== 'active' || event.type === 'xstate.init' || event.type === 'xstate.stop') return [];
  return idsOf(transitionsTaken(machine, snapshot, event));
}

/** The ids of XState's own objects; of those that only forbid their event, none. */
export function idsOf(definitions: readonly object[]): string[] {
  return definitions.flatMap((definition) => idOf(definition) ?? []);
}

function idOf(definition: object): string | undefined {
  if (!known.has(definition)) {
    // Of a machine that was provided with actors, the definitions are other objects than those of the one it came from.
    const { source } = definition as { readonly source: AnyStateNode };
    for (const each of transitionsOf(source))
      known.set(each.definition, each.transition.forbids ? undefined : each.transition.id);
  }
  return known.get(definition);
}
