/** Which transitions of a chart XState takes, by the ids of its description. */
import type { AnyEventObject, AnyStateMachine } from 'xstate';
import { idsOfTaken } from '../../src/machines/inspection/describe-chart.ts';
import { transitionsTaken } from '../../src/machines/xstate-internals.ts';
import type { MachineSnapshotLike } from '../../src/machines/xstate-internals.ts';

/** The ids of what is taken from here for an event; none when it is ignored or forbidden. */
export function takenIds(
  machine: AnyStateMachine,
  snapshot: MachineSnapshotLike,
  event: AnyEventObject,
): readonly string[] {
  if (snapshot.status !== 'active' || event.type === 'xstate.init' || event.type === 'xstate.stop') return [];
  return idsOfTaken(transitionsTaken(machine, snapshot, event));
}
