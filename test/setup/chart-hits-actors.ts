/**
 * Sees who starts actors, and what the interpreted machines among them do, by a method of XState that is replaced for
 * as long as a test file runs. chart-hits.test.ts fails when an upgrade of XState goes other ways.
 */
import type { AnyStateMachine } from 'xstate';
import { isAskedBySources } from './chart-hits-source.ts';

type See = (machine: AnyStateMachine, taken: readonly object[], actor: object) => void;

interface StartedActor {
  readonly logic: object;
  readonly system: object;
  readonly _parent?: object;
}

interface InspectionReport {
  readonly type: string;
  readonly actorRef?: StartedActor;
  readonly _transitions?: readonly object[];
}

interface InspectableSystem {
  _sendInspectionEvent(report: InspectionReport): void;
}

/** Actors that the sources started, by themselves or under a parent of theirs. */
const startedBySources = new WeakSet<object>();

export function isStartedBySources(actor: object): boolean {
  return startedBySources.has(actor);
}

/** @returns what puts the method back */
export function seeActors(Actor: { readonly prototype: object }, see: See): () => void {
  const actors = Actor.prototype as { start(this: StartedActor): unknown };
  const { start } = actors;
  const watched = new WeakSet<object>();
  actors.start = function () {
    const { logic, _parent: parent, system } = this;
    // What neither has a chart nor anything above it may have children with charts.
    const matters = 'machine' in logic || 'root' in logic || parent === undefined;
    if (matters && ((parent !== undefined && startedBySources.has(parent)) || isAskedBySources()))
      startedBySources.add(this);
    if ('root' in logic && !watched.has(system)) {
      watched.add(system);
      watchSystem(system as InspectableSystem, see);
    }
    return start.call(this);
  };
  return () => {
    actors.start = start;
  };
}

/** Compiled lifecycles report here too, and are seen where they are compiled. */
function watchSystem(system: InspectableSystem, see: See): void {
  const send = system._sendInspectionEvent;
  system._sendInspectionEvent = (report) => {
    const { actorRef: actor, _transitions: taken = [] } = report;
    if (report.type === '@xstate.microstep' && actor !== undefined && 'root' in actor.logic)
      see(actor.logic as AnyStateMachine, taken, actor);
    send.call(system, report);
  };
}
