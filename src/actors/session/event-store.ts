/**
 * The port to the logs of sessions. Memory, files and a database are adapters of it; one contract suite defines it.
 *
 * Every method that names a session rejects with RuntimeError SESSION_NOT_FOUND when there is none.
 */
import { RuntimeError } from '../../machines/errors.ts';
import type { ErrorRecord } from '../../machines/errors.ts';
import { agentId as agentIdSchema, isUuidV7 } from '../../machines/ids.ts';
import type { Activation } from '../../machines/session/activation.ts';
import type { NewSessionEvent, SessionEvent } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { ActivationIndex } from './activation-index.ts';

/** How safe a stored event is: on the disk, with the operating system, or in this process only. */
export type Durability = 'disk' | 'os' | 'memory';

export interface SessionIdentity {
  readonly sessionId: string;
  readonly agentId: string;
}

export type NewSessionEvents = readonly [NewSessionEvent, ...NewSessionEvent[]];

/** What one append stores, as the copier of a log hands it on. */
export interface SessionRecord {
  readonly events: NewSessionEvents;
  /** Its idempotency key. */
  readonly key?: string | undefined;
}

/** The same, at its place in a log. */
export interface StoredRecord {
  readonly events: readonly [SessionEvent, ...SessionEvent[]];
  readonly key?: string | undefined;
}

export interface AppendOptions {
  /** The same key again, in the same session, stores nothing and gives the first result. */
  readonly idempotencyKey?: string | undefined;
  /** Store only if this is still the last sequence number. */
  readonly expectedHead?: number | undefined;
  /**
   * What these events make due. A store with transactions makes it in the same one; others before any reader can see
   * the events.
   */
  readonly activate?: readonly Activation[] | undefined;
  /** What is not due any more once these events are stored. Removed with them or after them, never without. */
  readonly settle?: readonly Activation[] | undefined;
  /** The right that these events begin under, when it comes with them. */
  readonly begins?: WakeRight | undefined;
  /**
   * What ends with these events, for a store that can do it in the same transaction; `hasEnded` of the result says
   * whether it has.
   */
  readonly ends?: EndOfWake | undefined;
}

interface EndOfWake {
  /** The state that the events leave, to be kept as `saveView` keeps it. */
  readonly view: SessionState;
  /** Released. */
  readonly right: WakeRight;
}

export interface AppendResult {
  /** As stored, in order, with their sequence numbers. */
  readonly events: readonly SessionEvent[];
  readonly durability: Durability;
  /** The key or the first event's id was stored before; `events` are those. */
  readonly isDuplicate: boolean;
  /** The view that was asked for is kept, and the right is released. */
  readonly hasEnded?: true | undefined;
}

export interface ReadOptions {
  /** First sequence number wanted. Default 1. */
  readonly from?: number | undefined;
  /** At most this many events. Default MAX_READ_EVENTS, which is also the most. */
  readonly limit?: number | undefined;
}

export const MAX_READ_EVENTS = 1_000;

export interface SessionListing extends SessionIdentity {
  /** The folded state, if the store keeps a copy that is still true. */
  readonly view?: SessionState | undefined;
  /** Why the session cannot be read, when the store knows that already. */
  readonly error?: ErrorRecord | undefined;
}

/** What the log says about the wake before, when the right to run another is asked for. */
export interface WakeClaim {
  /** The highest epoch in the log. */
  readonly epoch: number;
  /** Whether the wake of that epoch has not ended in the log: then it runs still, or its process died. */
  readonly isOpen: boolean;
  /**
   * Nothing is done under the right before the record that begins the wake. A store may then ask for the right with
   * that record, in one transaction: see `WakeRight.comesWith`. `at` is the time of the last event that is known.
   */
  readonly withFirst?: { readonly at: string } | undefined;
}

/** The last event of a log. */
interface LogTip {
  readonly head: number;
  /** Its time. */
  readonly at: string;
}

/**
 * The right to run a wake of one session: a lease. It ends with the process that holds it, and when that process gives
 * no sign of life for the lease's length while another process asks.
 */
export interface WakeRight {
  /** What the wake has to claim in the log: above every epoch that any process may still write under. */
  readonly epoch: number;
  /** Aborts when another process has taken over; what is written from then on is void. */
  readonly lost: AbortSignal;
  /**
   * `record`: the right comes with the append that names it in `begins`, at the head that is known, and no process has
   * it before. That append rejects with WAKE_CONFLICT when a living process has the right, and with HEAD_MOVED when the
   * log or the epochs have gone on.
   */
  readonly comesWith?: 'record' | undefined;
  /**
   * Where the log ended when the right was given, where the store knows it: a process that has folded that far has
   * missed nothing.
   */
  readonly tip?: LogTip | undefined;
  /** Idempotent. */
  release(): Promise<void>;
}

export interface ListFilter {
  readonly agentId?: string | undefined;
  readonly newest?: number | undefined;
  /** Only those whose id sorts before this one: those that were made before it. */
  readonly before?: string | undefined;
  /** Only these, so far as they are there: asked of the medium, however many others there are. */
  readonly sessionIds?: readonly string[] | undefined;
}

export interface EventStore {
  readonly durability: Durability;

  /**
   * Makes a session with its first events, all or nothing. They may be of several epochs, rising, and of any number:
   * they are stored in as many records as that takes.
   * @throws RuntimeError SESSION_EXISTS; SESSION_IDENTITY_INVALID; SESSION_EVENT_INVALID
   */
  create(identity: SessionIdentity, events: NewSessionEvents): Promise<AppendResult>;

  /**
   * Makes a session with records as another store has them, all or nothing: a retry of any of them finds what it
   * stored, here as there.
   * @throws RuntimeError SESSION_EXISTS; SESSION_IDENTITY_INVALID; SESSION_EVENT_INVALID when one would not count
   * behind those before it; RECORD_TOO_LARGE
   */
  createFromRecords(
    identity: SessionIdentity,
    records: readonly [SessionRecord, ...SessionRecord[]],
  ): Promise<AppendResult>;

  identify(sessionId: string): Promise<SessionIdentity>;

  /**
   * Appends events, all or nothing, and resolves when they are as durable as the result says. All of them share one
   * epoch or have none.
   * @throws RuntimeError HEAD_MOVED when `expectedHead` is not the head; EPOCH_SUPERSEDED when a newer wake has begun;
   *   RECORD_TOO_LARGE; STORAGE_FAILED when the medium refuses, in which case the events may or may not be found later
   */
  append(sessionId: string, events: NewSessionEvents, options?: AppendOptions): Promise<AppendResult>;

  /** What was stored under an idempotency key, if anything. */
  findByKey(sessionId: string, idempotencyKey: string): Promise<AppendResult | undefined>;

  /** What was stored with this id for its first event, if anything. */
  findById(sessionId: string, eventId: string): Promise<AppendResult | undefined>;

  /** Stored events in order. Fewer than asked for means that there are no more now. */
  read(sessionId: string, options?: ReadOptions): Promise<readonly SessionEvent[]>;

  /**
   * Stored records in order, each as a whole; the first is the one that holds event `from`. At most `limit` of them,
   * and not many more events than MAX_READ_EVENTS, but one record at least. None means that there is nothing from
   * `from` on.
   */
  records(sessionId: string, options?: ReadOptions): Promise<readonly StoredRecord[]>;

  /** Sequence number of the last event. */
  head(sessionId: string): Promise<number>;

  /** Every session, or those of one agent, oldest first. With `newest` those that were made last, so many at least. */
  list(filter?: ListFilter): Promise<readonly SessionListing[]>;

  /**
   * Removes a session and everything that belongs to it, under the right to wake it. Its id may not be used again by
   * this process.
   * @throws RuntimeError SESSION_BUSY when a living process holds that right
   */
  delete(sessionId: string, claim: WakeClaim): Promise<void>;

  /** Keeps copies of the state for those who list or check. They can be rebuilt from the log at any time. */
  saveView(state: SessionState): Promise<void>;

  /**
   * Calls `onChange` after events may have been appended, by any process. It may be called too often, and never carries
   * the events; `head`, where it is known, is the sequence number of the last event then: a reader that has that one
   * has missed nothing. Returns the function that ends it.
   */
  watch(sessionId: string, onChange: (head?: number) => void): () => void;

  /** Which sessions have something to do. */
  readonly activations: ActivationIndex;

  /**
   * The newest state that the store keeps folded, to fold on from; undefined when there is none that this version can
   * use. It may lie behind the head, never beside the log.
   */
  checkpoint(sessionId: string): Promise<SessionState | undefined>;

  /**
   * Asks for the right to run a wake after the one that `claim` describes. May take as long as a lease lasts, when the
   * holder is silent.
   * @throws RuntimeError WAKE_CONFLICT when a living process holds it
   */
  acquireWakeRight(sessionId: string, claim: WakeClaim): Promise<WakeRight>;

  /**
   * Whether a living process holds the right now. One that gives no sign counts as living until its lease is over.
   * Changes nothing.
   * @throws RuntimeError SESSION_NOT_FOUND
   */
  isWakeRightHeld(sessionId: string): Promise<boolean>;

  /** Resolves when the right may have become free since it was refused, or when `signal` aborts. */
  wakeRightFreed(sessionId: string, signal: AbortSignal): Promise<void>;

  /** Waits for what is being written and releases everything. Later calls reject. Idempotent. */
  close(): Promise<void>;
}

/**
 * Keeps a view and goes on when that fails: it is a copy that any process can rebuild, and what it shows has been
 * stored already. A medium that is in trouble says so at the next append.
 */
export async function keepView(store: EventStore, state: SessionState): Promise<void> {
  await store.saveView(state).catch(() => undefined);
}

export function sessionNotFound(sessionId: string): RuntimeError {
  return new RuntimeError('SESSION_NOT_FOUND', `there is no session ${JSON.stringify(sessionId)}`, {
    category: 'not_found',
    hint: 'List the sessions to see their ids, or create one.',
    details: { sessionId },
  });
}

/** Ids become names of folders and keys of rows. @throws RuntimeError SESSION_IDENTITY_INVALID */
export function assertIdentity({ sessionId, agentId }: SessionIdentity): void {
  if (isUuidV7(sessionId) && agentIdSchema.safeParse(agentId).success) return;
  throw new RuntimeError(
    'SESSION_IDENTITY_INVALID',
    `expected a UUIDv7 and the name of an agent, received ${JSON.stringify(sessionId)} and ${JSON.stringify(agentId)}`,
    {
      category: 'validation',
      hint: 'Let sessions.create() make the id.',
    },
  );
}

export function sessionExists(sessionId: string): RuntimeError {
  return new RuntimeError('SESSION_EXISTS', `session ${sessionId} exists already`, {
    category: 'conflict',
    hint: 'Create a session under another id.',
    details: { sessionId },
  });
}

/** `what` is wrong with it: the rest of a sentence about the log. */
export function historyLost(sessionId: string, what: string): RuntimeError {
  return new RuntimeError('SESSION_HISTORY_LOST', `the log of session ${sessionId} is not whole: ${what}`, {
    category: 'storage',
    recoverable: false,
    hint: 'Restore the folder of the session from a backup. `wakechart doctor` says what is missing; `wakechart doctor --repair --accept-loss ID` goes on without it, and tells the session so.',
    details: { sessionId },
  });
}

export function headMoved(sessionId: string, expected: number, head: number): RuntimeError {
  return new RuntimeError(
    'HEAD_MOVED',
    `session ${sessionId} was expected to end at event ${expected}, it ends at ${head}`,
    {
      category: 'conflict',
      hint: 'Read the new events and decide again.',
      details: { sessionId, expected, head },
    },
  );
}

export function epochSuperseded(sessionId: string, epoch: number, current: number): RuntimeError {
  return new RuntimeError(
    'EPOCH_SUPERSEDED',
    `session ${sessionId} is at epoch ${current}; epoch ${epoch} may not write any more`,
    {
      category: 'conflict',
      hint: 'Another wake took over; leave the session to it.',
      details: { sessionId, epoch, current },
    },
  );
}

export function wakeConflict(sessionId: string): RuntimeError {
  return new RuntimeError('WAKE_CONFLICT', `session ${sessionId} is being woken by another process`, {
    category: 'conflict',
    hint: 'Wait until that wake ends; it sees every message that arrives meanwhile.',
    details: { sessionId },
  });
}

export function sessionBusy(sessionId: string): RuntimeError {
  return new RuntimeError('SESSION_BUSY', `session ${sessionId} is busy: a wake of it runs`, {
    category: 'conflict',
    hint: 'Interrupt it, or try again when the wake has ended.',
    details: { sessionId },
  });
}

export function recordTooLarge(sessionId: string, bytes: number, maxBytes: number): RuntimeError {
  return new RuntimeError(
    'RECORD_TOO_LARGE',
    `expected at most ${maxBytes} bytes in one append to session ${sessionId}, received ${bytes}`,
    {
      category: 'capacity',
      hint: 'Keep large content in a file of the workspace and store its path.',
      details: { sessionId, bytes, maxBytes },
    },
  );
}

export function eventsNotStorable(cause?: unknown): RuntimeError {
  return new RuntimeError('SESSION_EVENT_INVALID', 'expected events that are plain JSON and share one epoch', {
    category: 'validation',
    hint: 'Store only JSON values: no functions, no cycles, no big integers.',
    cause,
  });
}

export function storeClosed(): RuntimeError {
  return new RuntimeError('STORE_CLOSED', 'the event store is closed', {
    category: 'storage',
    hint: 'Open a new runtime.',
  });
}
