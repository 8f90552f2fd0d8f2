/**
 * Whose turn it is. Among sessions of the same urgency the one that was woken last comes last, so that a busy one starves nobody; and one
 * that stays due by the very hint that it was woken for is held back for a time that grows. Bounded: the oldest turns are forgotten.
 */
import { compareUrgency, urgencyRank } from '../../machines/session/activation.ts';
import type { DueSession } from '../../machines/session/due-sessions.ts';
import { backOffMs, hintKey } from '../../machines/session/worker-rules.ts';

interface Turn {
  readonly order: number;
  readonly hint: string;
  /** Wakes in a row for the same hint. */
  readonly repeats: number;
  /** On the steady clock. */
  readonly endedMs: number;
}

/** Sessions whose last turn is remembered. */
const MAX_TURNS = 1_024;

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

  /** @param endedMs on the steady clock */
  took({ sessionId, activations: [first] }: DueSession, endedMs: number): void {
    const before = this.#turns.get(sessionId);
    const hint = hintKey(first);
    this.#order += 1;
    this.#turns.delete(sessionId);
    this.#turns.set(sessionId, { order: this.#order, hint, repeats: before?.hint === hint ? before.repeats + 1 : 1, endedMs });
    const [oldest] = this.#turns.keys();
    if (this.#turns.size > MAX_TURNS && oldest !== undefined) this.#turns.delete(oldest);
  }

  /** How much longer the session is held back, in milliseconds; 0 when it is not. */
  heldForMs({ sessionId, activations: [first] }: DueSession, nowMs: number): number {
    const turn = this.#turns.get(sessionId);
    if (turn === undefined || turn.hint !== hintKey(first) || turn.repeats <= FREE_REPEATS) return 0;
    return Math.max(0, turn.endedMs + backOffMs('backed_off', turn.repeats - FREE_REPEATS) - nowMs);
  }

  /** How often in a row the session was woken for the same hint. */
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
