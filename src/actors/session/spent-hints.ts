/** Finds out which hints of a session nothing will come of, by its log, and removes them. */
import { RuntimeError } from '../../machines/errors.ts';
import type { Activation } from '../../machines/session/activation.ts';
import { activationsOf } from '../../machines/session/session-activations.ts';
import { HINT_GRACE_MS, hintKey, spentHints } from '../../machines/session/worker-rules.ts';
import { MAX_READ_EVENTS } from './event-store.ts';
import type { EventStore } from './event-store.ts';
import { SessionJournal } from './session-journal.ts';
import type { JournalPorts } from './session-journal.ts';

export interface HintFinding {
  /** How many of the hints stay. */
  readonly left: number;
  /** Names of what the log makes due now. */
  readonly due: ReadonlySet<string>;
}

/**
 * Removes the spent ones of `hints`, which were due before a wake began that has ended. What cannot be told apart from
 * a hint whose sender is about to append stays.
 */
export async function removeSpentHints(
  sessionId: string,
  hints: readonly Activation[],
  ports: JournalPorts,
): Promise<HintFinding> {
  const { store, clock } = ports;
  const journal = await SessionJournal.open(sessionId, ports);
  const { head } = journal.state;
  const events = await store.read(sessionId, { from: Math.max(1, head - MAX_READ_EVENTS + 1) });
  const known = events.filter(({ seq }) => seq <= head);
  const spent = spentHints({ hints, activations: activationsOf(journal.state), events: known, nowMs: clock.now() });
  await store.activations.remove(spent);
  // A process may have made one of them due again since we folded, and made its hint before we removed it.
  if ((await store.head(sessionId)) !== head) await remake(spent, await journal.refresh(), store);
  const due = activationsOf(journal.state).filter(({ dueAtMs }) => dueAtMs <= clock.now());
  return { left: hints.length - spent.length, due: new Set(due.map(hintKey)) };
}

/** The same for a session that is said not to exist: then only time tells. */
export async function removeStrayHints(
  sessionId: string,
  hints: readonly Activation[],
  ports: JournalPorts,
): Promise<HintFinding> {
  const { store, clock } = ports;
  // The process that says so may have known the session from before it was deleted and brought back.
  if (await isThere(sessionId, store)) return removeSpentHints(sessionId, hints, ports);
  const stray = hints.filter(({ dueAtMs }) => clock.now() - dueAtMs >= HINT_GRACE_MS);
  await store.activations.remove(stray);
  // It may have been brought back just now: its hints were made before it was there.
  if (stray.length > 0 && (await isThere(sessionId, store)))
    await remake(stray, (await SessionJournal.open(sessionId, ports)).state, store);
  return { left: hints.length - stray.length, due: new Set() };
}

async function remake(
  removed: readonly Activation[],
  state: SessionJournal['state'],
  store: EventStore,
): Promise<void> {
  const due = new Set(activationsOf(state).map(hintKey));
  await store.activations.add(removed.filter((hint) => due.has(hintKey(hint))));
}

/** @throws whatever else keeps the session from being read */
async function isThere(sessionId: string, store: EventStore): Promise<boolean> {
  try {
    await store.head(sessionId);
    return true;
  } catch (error) {
    if (RuntimeError.is(error) && error.code === 'SESSION_NOT_FOUND') return false;
    throw error;
  }
}
