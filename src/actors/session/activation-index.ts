/**
 * The port to what is due: which sessions have something to do, and when. Found without opening a session.
 *
 * What it holds are hints. Each names its cause, an event or a queued wake in the session's log, and the log alone says
 * whether there is something to do: a hint too many costs a check. A missing one would cost a wake, so a hint is made no
 * later than its cause can be seen, and `rebuilt` takes them all from the logs again.
 */
import type { Activation } from '../../machines/session/activation.ts';
import type { DueSession } from '../../machines/session/due-sessions.ts';

export interface DueActivations {
  /** The most urgent session first, by the most urgent hint of each. */
  readonly due: readonly DueSession[];
  /**
   * Milliseconds since the epoch before which no other hint falls due; undefined when there is none. It lies after
   * `nowMs`, and may lie before the next one is due, since an index need not read all that is far away to answer: then
   * one asks again at that time.
   */
  readonly nextDueAtMs: number | undefined;
  /**
   * How many due sessions were left out since another worker is about to wake them. Absent where a store does not say.
   */
  readonly elsewhere?: number | undefined;
}

export interface DueQuery {
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  /** At most this many sessions. */
  readonly limit: number;
  /** Sessions to leave out. */
  readonly except?: ReadonlySet<string> | undefined;
  readonly agentId?: string | undefined;
  /**
   * Given by a worker that means to wake what is found: how many sessions it has room for. A store that many machines
   * share then shows it no more than that, none that another worker is about to wake, and shows those to no other for a
   * while. Other stores show what there is, but for what another worker has reserved a moment ago.
   */
  readonly claims?: number | undefined;
}

export interface ActivationIndex {
  /**
   * Makes hints that are not there yet, and lets those who watch check again even when all of them were. The same hint
   * again changes nothing; one with another time is another hint.
   * @throws RuntimeError ACTIVATION_INVALID, before any is made; STORAGE_FAILED
   */
  add(activations: readonly Activation[]): Promise<void>;

  /** Removes exactly these hints. Those that are not there are passed over. */
  remove(activations: readonly Activation[]): Promise<void>;

  due(query: DueQuery): Promise<DueActivations>;

  /**
   * Asked before a wake begins, where `due` shows the same sessions to every worker: whether they are left to the
   * caller. False when another worker came first, or what made the session due is gone. The right to wake decides; this
   * only spares the others an examination of the session.
   */
  reserve?(session: DueSession): boolean;

  /** What was reserved is not any more: the wake has ended, whatever came of it. */
  release?(sessionId: string): void;

  /** Calls `onChange` after hints may have been made, by any process. Returns the function that ends it. */
  watch(onChange: () => void): () => void;

  /** Whether hints may be missing, as after a power failure: then a caller has to call `rebuilt` with all of them. */
  isSuspect(): Promise<boolean>;

  /**
   * Makes these hints too, and notes that the index can be trusted. It removes none: one that a sender makes meanwhile
   * must not be lost, and one too many is found out by a check.
   */
  rebuilt(activations: AsyncIterable<Activation>): Promise<void>;
}
