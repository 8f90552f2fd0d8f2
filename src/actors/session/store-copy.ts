/**
 * Copies every session of a store to another, oldest first. Nothing is deleted in either of them. It may be stopped or
 * killed at any point and begun again: what is there is compared, what is missing is added, nothing is doubled.
 */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { ErrorRecord } from '../../machines/errors.ts';
import { ChainedHash } from './chained-hash.ts';
import type { EventStore, SessionIdentity, SessionListing } from './event-store.ts';
import { copySession } from './store-copy-session.ts';
import type { CopyPorts, SessionCopy } from './store-copy-session.ts';

/** Sessions that are copied side by side: most of the time goes into waiting for the two stores. */
const AT_ONCE = 8;
/** Sessions that are hashed at once for the total. */
const BLOCK_SESSIONS = 512;

export interface CopiedSession extends SessionIdentity, SessionCopy {}

/**
 * `busy`: a wake of it runs. `diverged`: the target's is another one. `behind`: the source went on. `failed`: anything
 * else.
 */
export type LeftKind = 'busy' | 'diverged' | 'behind' | 'failed';

export interface LeftSession extends SessionIdentity {
  readonly kind: LeftKind;
  readonly error: ErrorRecord;
}

export type SessionOutcome = CopiedSession | LeftSession;

export interface StoreCopyOptions extends CopyPorts {
  /** Told of each session as soon as it is done; not in order. */
  readonly onSession?: ((outcome: SessionOutcome, progress: CopyProgress) => void) | undefined;
}

export interface CopyProgress {
  readonly done: number;
  readonly total: number;
}

export interface StoreCopy {
  readonly sessions: number;
  readonly copied: number;
  readonly completed: number;
  readonly unchanged: number;
  /** Those whose copy is not complete, in their order. */
  readonly left: readonly LeftSession[];
  /** Of all sessions that are the same in both stores now. */
  readonly events: number;
  readonly added: number;
  /** Over those sessions, in their order, and the hashes of their logs. */
  readonly sha256: string;
  /** It was stopped before it came to all sessions. */
  readonly isStopped: boolean;
}

/** @throws RuntimeError what the target throws when it cannot store anything */
export async function copyStore({ onSession, ...ports }: StoreCopyOptions): Promise<StoreCopy> {
  const { from, signal } = ports;
  const listings = await from.list();
  const outcomes = new Array<SessionOutcome | undefined>(listings.length);
  const failed = new AbortController();
  const ending = signal === undefined ? failed.signal : AbortSignal.any([signal, failed.signal]);
  const left = listings.entries();
  let done = 0;
  const copyOn = async (): Promise<void> => {
    for (const [place, listing] of left) {
      if (ending.aborted) return;
      const outcome = await outcomeOf(listing, { ...ports, signal: ending });
      if (outcome === undefined) return;
      outcomes[place] = outcome;
      done += 1;
      onSession?.(outcome, { done, total: listings.length });
    }
  };
  const each = async (): Promise<void> => {
    try {
      await copyOn();
    } catch (error) {
      failed.abort(error);
      throw error;
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, each));
  const broken = ends.find((end) => end.status === 'rejected');
  if (broken !== undefined) throw broken.reason as unknown;
  return summaryOf(
    outcomes.filter((outcome) => outcome !== undefined),
    listings.length,
  );
}

/** Undefined when it was stopped. @throws what the target throws when it cannot store anything */
async function outcomeOf(listing: SessionListing, ports: CopyPorts): Promise<SessionOutcome | undefined> {
  const { sessionId, agentId } = listing;
  const identity = { sessionId, agentId };
  try {
    return { ...identity, ...(await copySession(listing, ports)) };
  } catch (error) {
    if (ports.signal?.aborted === true) return undefined;
    // The source has a bad session, or the target is in trouble: then every other session would fail as this one did.
    if (!(await isAtWork(ports.to))) throw error;
    return { ...identity, kind: leftKindOf(error), error: recordOf(error) };
  }
}

/** Whether a store answers at all. */
async function isAtWork(store: EventStore): Promise<boolean> {
  return store.list({ newest: 1 }).then(
    () => true,
    () => false,
  );
}

const LEFT_KINDS: ReadonlyMap<string, LeftKind> = new Map([
  ['SESSION_BUSY', 'busy'],
  ['STORE_COPY_DIVERGED', 'diverged'],
  ['STORE_COPY_BEHIND', 'behind'],
  // Another process wrote into the target just now.
  ['HEAD_MOVED', 'diverged'],
  ['SESSION_EXISTS', 'diverged'],
]);

function leftKindOf(error: unknown): LeftKind {
  return (RuntimeError.is(error) ? LEFT_KINDS.get(error.code) : undefined) ?? 'failed';
}

function recordOf(error: unknown): ErrorRecord {
  if (RuntimeError.is(error)) return error.toJSON();
  return new RuntimeError('STORE_COPY_FAILED', messageOf(error), {
    category: 'storage',
    hint: 'Copy again; what is there is not copied twice.',
    cause: error,
  }).toJSON();
}

async function summaryOf(outcomes: readonly SessionOutcome[], total: number): Promise<StoreCopy> {
  const hash = new ChainedHash(BLOCK_SESSIONS);
  const left: LeftSession[] = [];
  const counts = { copied: 0, completed: 0, unchanged: 0, events: 0, added: 0 };
  for (const outcome of outcomes) {
    if ('error' in outcome) {
      left.push(outcome);
      continue;
    }
    counts[outcome.kind] += 1;
    counts.events += outcome.events;
    counts.added += outcome.added;
    await hash.add(`${outcome.sessionId} ${outcome.agentId} ${outcome.events} ${outcome.sha256}\n`);
  }
  return { sessions: total, ...counts, left, sha256: await hash.digest(), isStopped: outcomes.length < total };
}
