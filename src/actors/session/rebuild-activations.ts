/**
 * Makes the index of what is due again from the logs, as after a power failure. Others may append and wake all the
 * while.
 */
import type { Activation } from '../../machines/session/activation.ts';
import { activationsOf } from '../../machines/session/session-activations.ts';
import type { SessionListing } from './event-store.ts';
import { SessionJournal } from './session-journal.ts';
import type { JournalPorts } from './session-journal.ts';

export interface RebuildOptions {
  /** Aborting it leaves the index suspect, with what was found so far in it. */
  readonly signal: AbortSignal;
}

/** The cause of a hint for a session whose log cannot be read: the wake that comes of it tells why. */
const UNREADABLE = 'unreadable';

/** @throws what the store throws, and the signal's reason */
export async function rebuildActivations(ports: JournalPorts, { signal }: RebuildOptions): Promise<void> {
  const { store } = ports;
  await store.activations.rebuilt(activationsIn(await store.list(), ports, signal));
}

async function* activationsIn(
  listings: readonly SessionListing[],
  ports: JournalPorts,
  signal: AbortSignal,
): AsyncGenerator<Activation, void, undefined> {
  for (const listing of listings) {
    signal.throwIfAborted();
    yield* await activationsOfOne(listing, ports);
  }
}

async function activationsOfOne(
  { sessionId, agentId, view }: SessionListing,
  ports: JournalPorts,
): Promise<readonly Activation[]> {
  try {
    return activationsOf(view ?? (await SessionJournal.open(sessionId, ports)).state);
  } catch {
    // One that cannot be read must not hide all the others.
    return [{ sessionId, agentId, causeId: UNREADABLE, kind: 'retry', dueAtMs: ports.clock.now(), priority: 'low' }];
  }
}
