/** From hints that are due to sessions that are due: each once, with all its hints, the most urgent first. */
import { compareUrgency } from './activation.ts';
import type { Activation } from './activation.ts';
import type { SessionEvent } from './session-event.ts';
import type { SessionState } from './session-state.ts';

/** A session with something to do. */
export interface DueSession {
  readonly sessionId: string;
  readonly agentId: string;
  /** All its hints that are due, the most urgent first. */
  readonly activations: readonly [Activation, ...Activation[]];
  /** What a wake has to know, where the index has read it in the same go. */
  readonly opening?: SessionOpening | undefined;
}

/** A session as it was when it was found due. */
export interface SessionOpening {
  readonly agentId: string;
  /** Folded up to one of the events. Absent: they begin with the first. */
  readonly state?: SessionState | undefined;
  /** The newest, without a gap, up to the last. */
  readonly events: readonly SessionEvent[];
}

/** The first `limit` sessions, by the most urgent hint of each. */
export function dueSessions(activations: readonly Activation[], limit: number): DueSession[] {
  const bySession = new Map<string, [Activation, ...Activation[]]>();
  for (const activation of activations) {
    const known = bySession.get(activation.sessionId);
    if (known === undefined) bySession.set(activation.sessionId, [activation]);
    else if (compareUrgency(activation, known[0]) < 0) known.unshift(activation);
    else known.push(activation);
  }
  return [...bySession.values()]
    .sort(([one], [other]) => compareHints(one, other))
    .slice(0, Math.max(0, limit))
    .map((hints) => {
      const [{ sessionId, agentId }] = hints;
      return { sessionId, agentId, activations: hints.sort(compareUrgency) };
    });
}

/** Causes of two sessions may have one name. */
function compareHints(one: Activation, other: Activation): number {
  return compareUrgency(one, other) || (one.sessionId < other.sessionId ? -1 : 1);
}
