/** Which sessions nothing is lost with: they have ended, or rest with nothing to do, and did so long ago. */
import { activationsOf, isUnfinished } from './session-activations.ts';
import type { SessionState } from './session-state.ts';

export interface Retention {
  /** Of terminated sessions: ISO-8601, before which their last event has to lie. Absent: none is taken. */
  readonly endedBefore?: string | undefined;
  /** The same of sessions that rest. */
  readonly idleBefore?: string | undefined;
}

/**
 * Those that may go, parents before their children. A family that rests goes as a whole or not at all: a parent may
 * still talk to a child, and hears when one ends.
 */
export function sessionsToPrune(
  states: readonly SessionState[],
  { endedBefore, idleBefore }: Retention,
): readonly SessionState[] {
  const byId = new Map(states.map((state) => [state.sessionId, state]));
  const restless = new Set(
    states
      .filter((state) => state.status !== 'terminated' && !(isAtRest(state) && isBefore(state, idleBefore)))
      .map((state) => rootOf(state, byId)),
  );
  return states.filter((state) => {
    if (state.unreadable !== undefined) return false;
    // One that owes its parent something has work left.
    if (state.status === 'terminated') return isBefore(state, endedBefore) && activationsOf(state).length === 0;
    return !restless.has(rootOf(state, byId));
  });
}

/** A session that is parked waits for a person. */
function isAtRest(state: SessionState): boolean {
  const { status, unreadable, parked, jobId, openWake, pending, pendingActions, queuedWakes, jobs } = state;
  const waits = [pending, pendingActions, queuedWakes, jobs, state.openToolCalls, state.openDirectives];
  return (
    status === 'idle' &&
    [unreadable, parked, jobId, openWake].every((each) => each === undefined) &&
    waits.every(({ length }) => length === 0) &&
    !isUnfinished(state) &&
    activationsOf(state).length === 0
  );
}

function isBefore({ updatedAt }: SessionState, time: string | undefined): boolean {
  return updatedAt !== undefined && time !== undefined && updatedAt < time;
}

/** The oldest of its family that is there. */
function rootOf(state: SessionState, byId: ReadonlyMap<string, SessionState>): string {
  const seen = new Set<string>();
  let root = state;
  for (;;) {
    seen.add(root.sessionId);
    const parent = root.parent === undefined ? undefined : byId.get(root.parent.sessionId);
    if (parent === undefined || seen.has(parent.sessionId)) return root.sessionId;
    root = parent;
  }
}
