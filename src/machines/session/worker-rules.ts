/** What a worker decides, as pure functions: how long it waits before it tries again, and which hints are spent. */
import type { Activation } from './activation.ts';
import type { SetAsidePhase } from './activation-machine.ts';
import type { SessionEvent } from './session-event.ts';

interface BackOff {
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
}

const BACK_OFFS = {
  // A sender makes the hint just before it writes what the hint speaks of.
  early: { firstDelayMs: 10, maxDelayMs: 30_000 },
  contended: { firstDelayMs: 1_000, maxDelayMs: 30_000 },
  elsewhere: { firstDelayMs: 1_000, maxDelayMs: 300_000 },
  backed_off: { firstDelayMs: 1_000, maxDelayMs: 300_000 },
  parked: { firstDelayMs: 1_000, maxDelayMs: 300_000 },
} as const satisfies Record<SetAsidePhase, BackOff>;

/** Failures in a row after which a session counts as parked. */
export const FAILURES_UNTIL_PARKED = 3;

/** A hint whose cause is in no log is left this long after its time for its sender to write it. */
export const HINT_GRACE_MS = 60_000;

/**
 * Delay before the try after the `attempts`-th one (1-based) that came to this, in milliseconds: it doubles, without
 * chance.
 */
export function backOffMs(phase: SetAsidePhase, attempts: number): number {
  const { firstDelayMs, maxDelayMs } = BACK_OFFS[phase];
  // Beyond fifty doublings every delay is the longest one.
  return Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(50, attempts - 1));
}

export interface SpentHintsInput {
  /** Hints that were due before the session was found to have nothing to do. */
  readonly hints: readonly Activation[];
  /** What the session's log makes due, as of the events in `events`. */
  readonly activations: readonly Activation[];
  /** The newest events of the log. */
  readonly events: readonly SessionEvent[];
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
}

/**
 * The hints that nothing will come of: the log knows their cause and makes it due no more, or their sender had time
 * enough.
 */
export function spentHints({ hints, activations, events, nowMs }: SpentHintsInput): Activation[] {
  const valid = new Set(activations.map(hintKey));
  const known = new Set(events.flatMap(idsIn));
  return hints.filter(
    (hint) => !valid.has(hintKey(hint)) && (known.has(hint.causeId) || nowMs - hint.dueAtMs >= HINT_GRACE_MS),
  );
}

/** Tells the hints of one session from each other. */
export function hintKey({ causeId, kind, dueAtMs, priority }: Activation): string {
  return `${dueAtMs} ${priority} ${kind} ${causeId}`;
}

/** Everything that an event could be the cause of something under. */
function idsIn({ id, type, data }: SessionEvent): string[] {
  if (type === 'wake.queued') return [id, data.queuedWakeId];
  return type === 'wake.ended' ? [id, data.wakeId] : [id];
}
