/**
 * Copies one session from a store to another, and reads the copy again. What is in the target already is compared, not
 * trusted: a copy that was cut short goes on where it was, and a session that went on in the target by itself is left
 * alone.
 */
import { RuntimeError } from '../../machines/errors.ts';
import { activationsOf } from '../../machines/session/session-activations.ts';
import { foldSession } from '../../machines/session/session-fold.ts';
import { initialSessionState } from '../../machines/session/session-state.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { keepView, sessionBusy } from './event-store.ts';
import type { EventStore, SessionIdentity, SessionListing, SessionRecord, WakeRight } from './event-store.ts';
import { LogHash, lastSeqOf, recordText, recordToStore, recordsOfLog } from './store-copy-log.ts';

const DEFAULT_FIRST_PART = 8 * 1024 * 1024;

export interface CopyPorts {
  readonly from: EventStore;
  readonly to: EventStore;
  /** Ends the copy between two records. */
  readonly signal?: AbortSignal | undefined;
  /**
   * What a session is made with in the target, at most, in characters: the rest is appended. One record may be larger.
   * Default 8 Mi.
   */
  readonly firstPartCharacters?: number | undefined;
  /**
   * Takes along what is kept beside the log, when that is there and before anything of it is due. @throws what leaves
   * the session named as one whose copy is not complete
   */
  readonly onCarried?: ((session: SessionState) => Promise<void>) | undefined;
}

/** `copied`: it was not there. `completed`: a part of it was. `unchanged`: all of it was. */
export type CopyKind = 'copied' | 'completed' | 'unchanged';

export interface SessionCopy {
  readonly kind: CopyKind;
  /** How many events the session has. */
  readonly events: number;
  /** How many of them were stored just now. */
  readonly added: number;
  /** Of the log, in both stores. */
  readonly sha256: string;
}

/**
 * @throws RuntimeError SESSION_BUSY when a wake of it runs; STORE_COPY_DIVERGED when the target has events that the
 * source has not; STORE_COPY_BEHIND when the source went on meanwhile; STORE_COPY_DIFFERS when the copy that was read
 * again is another one
 */
export async function copySession(
  { sessionId, agentId, view }: SessionListing,
  ports: CopyPorts,
): Promise<SessionCopy> {
  const { from, to } = ports;
  const identity = { sessionId, agentId };
  const head = await from.head(sessionId);
  const known = await headInTarget(identity, to);
  if (known > 0) await compare(sessionId, { known, head }, ports);
  const right = await rightToCopy(view?.head === head ? view : await stateAt(identity, head, from), from);
  const { state, sha256 } = await carryOverUnder(right, identity, { known, head }, ports);
  await verify(sessionId, { head, sha256 }, ports);
  await ports.onCarried?.(state);
  // After that: a wake that has begun meanwhile may have changed what lies beside the log.
  const now = await from.head(sessionId);
  if (now !== head) throw behind(sessionId, head, now);
  // Last, so that no process there goes on with a part of it. Also when all was there: an earlier copy may have come no
  // further.
  await keepView(to, state);
  await to.activations.add(activationsOf(state));
  return {
    kind: known === 0 ? 'copied' : known < head ? 'completed' : 'unchanged',
    events: head,
    added: head - known,
    sha256,
  };
}

interface Extent {
  /** Last event that the target had when this copy began; 0 for none. */
  readonly known: number;
  /** Last event that is copied. */
  readonly head: number;
}

async function headInTarget({ sessionId, agentId }: SessionIdentity, to: EventStore): Promise<number> {
  try {
    const { agentId: theirs } = await to.identify(sessionId);
    if (theirs !== agentId)
      throw diverged(sessionId, `it is a session of agent "${theirs}" there, and of agent "${agentId}" here`);
    return await to.head(sessionId);
  } catch (error) {
    if (RuntimeError.is(error) && error.code === 'SESSION_NOT_FOUND') return 0;
    throw error;
  }
}

/** @throws RuntimeError STORE_COPY_DIVERGED unless all that the target has is the beginning of the source */
async function compare(sessionId: string, { known, head }: Extent, { from, to, signal }: CopyPorts): Promise<void> {
  const theirs = recordsOfLog(to, sessionId, { from: 1, to: known });
  for await (const record of recordsOfLog(from, sessionId, { from: 1, to: head })) {
    signal?.throwIfAborted();
    const seq = record.events[0].seq;
    if (seq > known) break;
    const other = await theirs.next();
    if (other.done === true || recordText(other.value) !== recordText(record))
      throw diverged(sessionId, `event ${seq} is another one there, or was stored under another key or with others`);
  }
  if (known > head)
    throw diverged(sessionId, `it has gone on there: it ends at event ${known}, and at event ${head} here`);
}

interface Carried {
  readonly state: SessionState;
  readonly sha256: string;
}

/** Releases the right at the end. */
async function carryOverUnder(
  right: WakeRight | undefined,
  identity: SessionIdentity,
  extent: Extent,
  ports: CopyPorts,
): Promise<Carried> {
  try {
    return await carryOver(identity, { ...extent, right }, ports);
  } finally {
    await right?.release();
  }
}

/** Reads all of the source up to its head, and stores what the target lacks. */
async function carryOver(
  identity: SessionIdentity,
  { known, head, right }: Extent & { readonly right: WakeRight | undefined },
  { from, to, signal, firstPartCharacters = DEFAULT_FIRST_PART }: CopyPorts,
): Promise<Carried> {
  const hash = new LogHash();
  const target = new TargetLog(identity, to, { isThere: known > 0, firstPartCharacters });
  let state = initialSessionState(identity);
  for await (const record of recordsOfLog(from, identity.sessionId, { from: 1, to: head })) {
    signal?.throwIfAborted();
    right?.lost.throwIfAborted();
    await hash.add(record);
    for (const event of record.events) state = foldSession(state, event);
    if (lastSeqOf(record) > known) await target.add(recordToStore(record), record.events[0].seq);
  }
  await target.finish();
  return { state, sha256: await hash.digest() };
}

/** What the log adds up to at an event, from a state that the store keeps on. */
async function stateAt(identity: SessionIdentity, head: number, store: EventStore): Promise<SessionState> {
  const kept = await store.checkpoint(identity.sessionId);
  let state = kept !== undefined && kept.head <= head ? kept : initialSessionState(identity);
  for await (const { events } of recordsOfLog(store, identity.sessionId, { from: state.head + 1, to: head })) {
    for (const event of events) if (event.seq > state.head) state = foldSession(state, event);
  }
  return state;
}

/**
 * A wake that has begun and not ended runs, or its process died. Only of the second kind there is a copy. @throws
 * RuntimeError SESSION_BUSY
 */
async function rightToCopy(
  { sessionId, epoch, openWake }: SessionState,
  from: EventStore,
): Promise<WakeRight | undefined> {
  if (openWake === undefined) return undefined;
  try {
    return await from.acquireWakeRight(sessionId, { epoch, isOpen: true });
  } catch (error) {
    throw RuntimeError.is(error) && error.code === 'WAKE_CONFLICT' ? sessionBusy(sessionId) : error;
  }
}

/**
 * What is stored in the target: the beginning of a session all at once, so that no reader there sees less of it, the
 * rest behind it.
 */
class TargetLog {
  readonly #identity: SessionIdentity;
  readonly #to: EventStore;
  readonly #mostCharacters: number;
  #isThere: boolean;
  #first: SessionRecord[] = [];
  #characters = 0;

  constructor(
    identity: SessionIdentity,
    to: EventStore,
    { isThere, firstPartCharacters }: { readonly isThere: boolean; readonly firstPartCharacters: number },
  ) {
    this.#identity = identity;
    this.#to = to;
    this.#mostCharacters = firstPartCharacters;
    this.#isThere = isThere;
  }

  async add(record: SessionRecord, firstSeq: number): Promise<void> {
    const { sessionId } = this.#identity;
    const characters = this.#isThere ? 0 : JSON.stringify(record.events).length;
    if (!this.#isThere && this.#first.length > 0 && this.#characters + characters > this.#mostCharacters)
      await this.finish();
    if (this.#isThere) {
      await this.#to.append(sessionId, record.events, { idempotencyKey: record.key, expectedHead: firstSeq - 1 });
      return;
    }
    this.#first.push(record);
    this.#characters += characters;
  }

  /** Stores what was held back. */
  async finish(): Promise<void> {
    const [first, ...rest] = this.#first;
    if (first === undefined) return;
    await this.#to.createFromRecords(this.#identity, [first, ...rest]);
    this.#first = [];
    this.#isThere = true;
  }
}

/** @throws RuntimeError STORE_COPY_DIFFERS */
async function verify(
  sessionId: string,
  { head, sha256 }: { readonly head: number; readonly sha256: string },
  { to, signal }: CopyPorts,
): Promise<void> {
  const hash = new LogHash();
  for await (const record of recordsOfLog(to, sessionId, { from: 1, to: head })) {
    signal?.throwIfAborted();
    await hash.add(record);
  }
  const read = await hash.digest();
  if (read === sha256) return;
  throw new RuntimeError(
    'STORE_COPY_DIFFERS',
    `the copy of session ${sessionId} was read again and is another one: expected SHA-256 ${sha256}, received ${read}`,
    {
      category: 'storage',
      hint: 'Check the target store and its disk, and copy again.',
      details: { sessionId },
    },
  );
}

function diverged(sessionId: string, what: string): RuntimeError {
  return new RuntimeError(
    'STORE_COPY_DIVERGED',
    `session ${sessionId} is in the target already and is not the same: ${what}. It was left alone`,
    {
      category: 'conflict',
      hint: 'It was used there. Decide which of the two goes on, and delete the other one.',
      details: { sessionId },
    },
  );
}

function behind(sessionId: string, head: number, now: number): RuntimeError {
  return new RuntimeError(
    'STORE_COPY_BEHIND',
    `session ${sessionId} went on while it was copied: its copy ends at event ${head}, it ends at event ${now}`,
    {
      category: 'conflict',
      hint: 'Stop what uses the source store, and copy again: the rest is added.',
      details: { sessionId },
    },
  );
}
