/**
 * Sessions that are made under a key of their caller: the same key again within a day is the same session, whichever
 * process is asked. Its id is made from the key, so no store needs an index of keys, and of two who make it at once one
 * finds it made.
 */
import { RuntimeError } from '../../machines/errors.ts';
import { UUID_V7_MAX_COUNTER, UUID_V7_RANDOM_BYTES, formatUuidV7, unixMsOf } from '../../machines/ids.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { sha256 } from '../sha256.ts';
import type { EventStore } from './event-store.ts';

export interface SessionKey {
  readonly agentId: string;
  readonly owner: string | undefined;
  readonly key: string;
}

export interface KeyedSessionPorts {
  readonly store: Pick<EventStore, 'list'>;
  readonly nowMs: number;
  readonly get: (sessionId: string) => Promise<SessionState>;
  /** @throws RuntimeError SESSION_EXISTS */
  readonly make: (sessionId: string) => Promise<SessionState>;
}

/** Ids sort sessions by when they were made. Those of one hour, made under keys, are in no order among themselves. */
const SLOT_MS = 3_600_000;

/** Slots back in which the session may have been made: what was made at their end is a day old at most. */
const KNOWN_SLOTS = 24;

export class KeyedSessions {
  readonly #underWay = new Map<string, Promise<SessionState>>();

  /** The session that was made under the key, or a new one. Who asks while it is made here gets the same one. */
  once({ agentId, owner, key }: SessionKey, ports: KeyedSessionPorts): Promise<SessionState> {
    const words = JSON.stringify([agentId, owner ?? null, key]);
    const known = this.#underWay.get(words);
    if (known !== undefined) return known;
    const madeMs = timeIn(key, ports.nowMs);
    const made = madeOnce({ agentId, words, madeMs }, ports).finally(() => this.#underWay.delete(words));
    this.#underWay.set(words, made);
    return made;
  }
}

interface KeyWords {
  readonly agentId: string;
  readonly words: string;
  readonly madeMs: number | undefined;
}

const TIMED_KEY = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** When a key was made that is a UUIDv7 and a day old at most: which hour it is makes no difference then. */
function timeIn(key: string, nowMs: number): number | undefined {
  const [id = ''] = TIMED_KEY.exec(key) ?? [];
  const unixMs = unixMsOf(id);
  return unixMs >= nowMs - KNOWN_SLOTS * SLOT_MS && unixMs <= nowMs + SLOT_MS ? unixMs : undefined;
}

async function madeOnce({ agentId, words, madeMs }: KeyWords, ports: KeyedSessionPorts): Promise<SessionState> {
  const digest = await sha256(words);
  const counter = new DataView(digest.buffer).getUint16(UUID_V7_RANDOM_BYTES) & UUID_V7_MAX_COUNTER;
  const random = digest.subarray(0, UUID_V7_RANDOM_BYTES);
  const slot = Math.floor(ports.nowMs / SLOT_MS);
  const idAt = (unixMs: number): string => formatUuidV7({ unixMs, counter, random });
  const idOf = (age: number): string => idAt(Math.max(0, slot - age) * SLOT_MS);
  const ownId = madeMs === undefined ? idOf(0) : idAt(madeMs);
  // Also the slot to come, in which a host makes it whose clock is ahead.
  const bySlot = Array.from({ length: KNOWN_SLOTS + 2 }, (_, index) => idOf(index - 1));
  const sessionIds = madeMs === undefined ? bySlot : [ownId, ...bySlot];
  const there = await ports.store.list({ agentId, sessionIds });
  // Stores of others may not know the filter.
  const made = there.findLast(({ sessionId }) => sessionIds.includes(sessionId));
  return made?.view ?? (made && (await unlessGone(ports.get(made.sessionId)))) ?? makeOrGet(ownId, ports);
}

/** Another one may make it under the same key at the same time. */
function makeOrGet(sessionId: string, { get, make }: KeyedSessionPorts): Promise<SessionState> {
  return make(sessionId).catch((error: unknown) => {
    if (RuntimeError.is(error) && error.code === 'SESSION_EXISTS') return get(sessionId);
    throw error;
  });
}

/** Another one may delete it at the same time. */
function unlessGone(found: Promise<SessionState>): Promise<SessionState | undefined> {
  return found.catch((error: unknown) => {
    if (RuntimeError.is(error) && error.code === 'SESSION_NOT_FOUND') return undefined;
    throw error;
  });
}
