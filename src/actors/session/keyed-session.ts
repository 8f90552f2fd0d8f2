/**
 * Sessions that are made under a key of their caller: the same key again within a day is the same session, whichever
 * process is asked. Its id is made from the key, so no store needs an index of keys, and of two who make it at once one
 * finds it made.
 */
import { RuntimeError } from '../../machines/errors.ts';
import { UUID_V7_MAX_COUNTER, UUID_V7_RANDOM_BYTES, formatUuidV7 } from '../../machines/ids.ts';
import { sha256 } from '../sha256.ts';
import type { EventStore } from './event-store.ts';

export interface SessionKey {
  readonly agentId: string;
  readonly owner: string | undefined;
  readonly key: string;
}

/** Ids sort sessions by when they were made. Those of one hour, made under keys, are in no order among themselves. */
const SLOT_MS = 3_600_000;

/** Slots in which the session may have been made before. */
const KNOWN_SLOTS = 24;

/** The id that the session has now, or has had since it was made. */
export async function keyedSessionId(
  key: SessionKey,
  { store, nowMs }: { readonly store: Pick<EventStore, 'identify'>; readonly nowMs: number },
): Promise<{ readonly sessionId: string; readonly isThere: boolean }> {
  const digest = await sha256(JSON.stringify([key.agentId, key.owner ?? null, key.key]));
  const counter = new DataView(digest.buffer).getUint16(UUID_V7_RANDOM_BYTES) & UUID_V7_MAX_COUNTER;
  const slot = Math.floor(nowMs / SLOT_MS);
  const idOf = (age: number): string =>
    formatUuidV7({
      unixMs: Math.max(0, slot - age) * SLOT_MS,
      counter,
      random: digest.subarray(0, UUID_V7_RANDOM_BYTES),
    });
  const earlier = Array.from({ length: KNOWN_SLOTS }, (_, index) => idOf(index));
  const there = await Promise.all(earlier.map((id) => isThere(store, id)));
  const at = there.indexOf(true);
  return { sessionId: earlier[at] ?? idOf(0), isThere: at !== -1 };
}

async function isThere(store: Pick<EventStore, 'identify'>, sessionId: string): Promise<boolean> {
  try {
    await store.identify(sessionId);
    return true;
  } catch (error) {
    if (RuntimeError.is(error) && error.code === 'SESSION_NOT_FOUND') return false;
    throw error;
  }
}
