/** Finds out which hints of a session nothing will come of, once a wake of it had nothing to do, and removes them. */
import { activationsOf } from '../../machines/session/activation.ts';
import type { Activation } from '../../machines/session/activation.ts';
import { HINT_GRACE_MS, hintKey, spentHints } from '../../machines/session/worker-rules.ts';
import { MAX_READ_EVENTS } from './event-store.ts';
import { SessionJournal } from './session-journal.ts';
import type { JournalPorts } from './session-journal.ts';

/**
 * Removes the spent ones of `hints`, which were due before the wake began. What cannot be told apart from a hint whose sender is about to
 * append stays.
 * @returns how many stay
 */
export async function removeSpentHints(sessionId: string, hints: readonly Activation[], ports: JournalPorts): Promise<number> {
  const { store, clock } = ports;
  const journal = await SessionJournal.open(sessionId, ports);
  const { head } = journal.state;
  const events = await store.read(sessionId, { from: Math.max(1, head - MAX_READ_EVENTS + 1) });
  const known = events.filter(({ seq }) => seq <= head);
  const spent = spentHints({ hints, standing: activationsOf(journal.state), events: known, nowMs: clock.now() });
  await store.activations.remove(spent);
  // Somebody may have made one of them due again since we folded, and made its hint before we removed it.
  if ((await store.head(sessionId)) !== head) {
    const standing = new Set(activationsOf(await journal.refresh()).map(hintKey));
    await store.activations.add(spent.filter((hint) => standing.has(hintKey(hint))));
  }
  return hints.length - spent.length;
}

/**
 * The same for a session that does not exist: only time tells.
 * @returns how many stay
 */
export async function removeStrayHints(hints: readonly Activation[], { store, clock }: JournalPorts): Promise<number> {
  const stray = hints.filter(({ dueAtMs }) => clock.now() - dueAtMs >= HINT_GRACE_MS);
  await store.activations.remove(stray);
  return hints.length - stray.length;
}
