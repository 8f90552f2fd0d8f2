/**
 * Whose turn it is. Among sessions of the same urgency the one that was woken last comes last, so that a busy one
 * starves no other; and one that stays due by the very hints that it was woken for, and by no others, is held back for
 * a time that grows. Bounded: the oldest turns are forgotten.
 */
import { compareUrgency, urgencyRank } from '../../machines/session/activation.ts';
import type { DueSession } from '../../machines/session/due-sessions.ts';
import { backOffMs, hintKey } from '../../machines/session/worker-rules.ts';

interface Turn {
  readonly order: number;
  /** What it was woken for. */
  readonly hints: ReadonlySet<string>;
  /** What was due still afterwards: by the log, where it was asked. */
  readonly stillDue: ReadonlySet<string>;
  /** Wakes in a row that left the same hint due. */
  readonly repeats: number;
  /** On the steady clock. */
  readonly endedMs: number;
}

/** Sessions whose last turn is remembered. */
const MAX_TURNS = 1_024;

/** The most urgent hints of a session, by which its turns are told from each other. */
const MAX_HINTS = 64;

/** A hint may be seen once more while it is being removed. */
const FREE_REPEATS = 1;

export class WorkerTurns {
  /** In order, the oldest first. */
  readonly #turns = new Map<string, Turn>();
  #order = 0;

  /** How many turns are remembered. */
  get size(): number {
    return this.#turns.size;
  }

  /** Whether the session was woken for one of its hints the last time too. */
  isRepeat(session: DueSession): boolean {
    const before = this.#turns.get(session.sessionId);
    return before !== undefined && keysOf(session).some((key) => before.hints.has(key));
  }

  /**
   * @param due names of what the log leaves due; absent when it was not asked @param endedMs on the steady clock
   */
  took(session: DueSession, due: ReadonlySet<string> | undefined, endedMs: number): void {
    const { sessionId } = session;
    const before = this.#turns.get(sessionId);
    const hints = keysOf(session);
    const stillDue = [...(due ?? hints)].slice(0, MAX_HINTS);
    const repeats = before !== undefined && stillDue.some((key) => before.stillDue.has(key)) ? before.repeats + 1 : 1;
    this.#order += 1;
    this.#turns.delete(sessionId);
    this.#turns.set(sessionId, {
      order: this.#order,
      hints: new Set(hints),
      stillDue: new Set(stillDue),
      repeats,
      endedMs,
    });
    const [oldest] = this.#turns.keys();
    if (this.#turns.size > MAX_TURNS && oldest !== undefined) this.#turns.delete(oldest);
  }

  /** How much longer the session is held back, in milliseconds; 0 when it is not. */
  heldForMs(session: DueSession, nowMs: number): number {
    const turn = this.#turns.get(session.sessionId);
    if (turn === undefined || turn.repeats <= FREE_REPEATS) return 0;
    // Something new to do is no fault of what was done before.
    if (keysOf(session).some((key) => !turn.hints.has(key))) return 0;
    return Math.max(0, turn.endedMs + backOffMs('backed_off', turn.repeats - FREE_REPEATS) - nowMs);
  }

  /** How often in a row the session was woken and left the same hint due. */
  repeatsOf(sessionId: string): number {
    return this.#turns.get(sessionId)?.repeats ?? 0;
  }

  compare = (one: DueSession, other: DueSession): number =>
    urgencyRank(one.activations[0]) - urgencyRank(other.activations[0]) ||
    this.#orderOf(one) - this.#orderOf(other) ||
    compareUrgency(one.activations[0], other.activations[0]) ||
    (one.sessionId < other.sessionId ? -1 : 1);

  #orderOf({ sessionId }: DueSession): number {
    return this.#turns.get(sessionId)?.order ?? 0;
  }
}

function keysOf({ activations }: DueSession): string[] {
  return activations.slice(0, MAX_HINTS).map(hintKey);
}
