/**
 * What XState does not document and charts need: transition definitions, the shape of inspection events. What actors
 * need of it stands in actors/xstate-child.ts and actors/xstate-system.ts, and nowhere else knows more. XState is
 * pinned to a minor version, and test/machines/lifecycle.test.ts, which compares with interpreted machines, fails
 * loudly when one of these facts changes.
 */
import { createEmptyActor } from 'xstate';
import type { AnyActorRef, AnyActorScope, AnyEventObject, AnyStateMachine, StateValue } from 'xstate';

/** The part of a machine snapshot that compiling needs. */
export interface MachineSnapshotLike {
  readonly status: string;
  readonly value: StateValue;
  readonly tags: ReadonlySet<string>;
}

/** XState's transition definitions, opaque except for their targets. */
export type TakenTransitions = readonly { readonly target?: unknown }[];

/** In which nothing is executed. */
export function emptyScope(self: AnyActorRef = createEmptyActor()): AnyActorScope {
  const nothing = (): void => undefined;
  return {
    self,
    id: self.id,
    sessionId: self.sessionId,
    logger: nothing,
    defer: nothing,
    system: self.system,
    stopChild: nothing,
    emit: nothing,
    actionExecutor: nothing,
  };
}

export function initialSnapshotOf(machine: AnyStateMachine, scope: AnyActorScope): MachineSnapshotLike {
  return machine.getInitialSnapshot(scope, undefined) as MachineSnapshotLike;
}

export function nextSnapshotOf(
  machine: AnyStateMachine,
  snapshot: MachineSnapshotLike,
  event: AnyEventObject,
  scope: AnyActorScope,
): MachineSnapshotLike {
  return machine.transition(snapshot as never, event, scope) as MachineSnapshotLike;
}

/** The transitions XState would take; one without a target is a forbidden event. */
export function transitionsTaken(
  machine: AnyStateMachine,
  snapshot: MachineSnapshotLike,
  event: AnyEventObject,
): TakenTransitions {
  return (machine.getTransitionData(snapshot as never, event) as TakenTransitions | undefined) ?? [];
}

interface InspectableSystem {
  _sendInspectionEvent(event: object): void;
}

/**
 * Tells inspectors about a transition exactly as an interpreted machine does. Without effect when there is no
 * inspector.
 */
export function reportMicrostep(
  scope: AnyActorScope,
  event: AnyEventObject,
  snapshot: object,
  taken: TakenTransitions,
): void {
  (scope.system as unknown as InspectableSystem)._sendInspectionEvent({
    type: '@xstate.microstep',
    actorRef: scope.self,
    event,
    snapshot,
    _transitions: taken,
  });
}
