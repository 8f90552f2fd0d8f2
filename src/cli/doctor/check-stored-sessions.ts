/** Checks the sessions of a database: whether each can be read, and whether what it has to do is known to be due. */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { Activation } from '../../machines/session/activation.ts';
import type { SessionListing } from '../../actors/session/event-store.ts';
import { SessionJournal } from '../../actors/session/session-journal.ts';
import type { JournalPorts } from '../../actors/session/session-journal.ts';
import { activationsOf } from '../../machines/session/session-activations.ts';
import { counted } from '../terminal/text.ts';
import { note, problem } from './finding.ts';
import type { RepairableFinding } from './finding.ts';

export interface StoredSessionsCheck {
  readonly ports: JournalPorts;
  /** Where the database is, for people. */
  readonly where: string;
  /** Hears how many sessions there are, before any of them is checked. */
  readonly onCounted?: ((sessions: number) => void) | undefined;
}

/** Later than anything is due. */
const FAR_FUTURE_MS = Date.UTC(9999, 0);

/** Sessions that are checked together: most of the time goes into waiting for the server. */
const TOGETHER = 4;

export async function checkStoredSessions({
  ports,
  where,
  onCounted,
}: StoredSessionsCheck): Promise<RepairableFinding[]> {
  const { store } = ports;
  const listings = await store.list();
  onCounted?.(listings.length);
  const findings = [
    note({
      area: 'sessions',
      where,
      what: 'the logs are in a database, and files of logs in the home were not checked',
      remedy: 'Check those with --store files, and at the database itself with `wakechart store check`.',
    }),
  ];
  const expected: Activation[] = [];
  const left = listings.values();
  const check = async (): Promise<void> => {
    for (const listing of left) {
      try {
        expected.push(...(await activationsIn(listing, ports)));
      } catch (error) {
        if (RuntimeError.is(error) && error.code === 'SESSION_NOT_FOUND') continue;
        findings.push(
          problem({
            area: 'sessions',
            where: listing.sessionId,
            what: `its log cannot be read: ${messageOf(error)}`,
            remedy: 'Restore the database from a backup, or delete the session.',
          }),
        );
      }
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, check));
  return [...findings, ...(await missingHints(expected, { ports, where }))];
}

async function activationsIn({ sessionId, view }: SessionListing, ports: JournalPorts): Promise<readonly Activation[]> {
  return activationsOf(view ?? (await SessionJournal.open(sessionId, ports)).state);
}

/** A hint too many costs a read; only missing ones matter. */
async function missingHints(
  expected: readonly Activation[],
  { ports, where }: StoredSessionsCheck,
): Promise<RepairableFinding[]> {
  const { store } = ports;
  const suspects = await unknownOf(expected, ports);
  // They may have been dealt with between the two checks.
  const still: Activation[] = [];
  for (const hint of suspects) {
    const now = await activationsIn({ sessionId: hint.sessionId, agentId: hint.agentId }, ports).catch(() => []);
    if (now.some(({ causeId }) => causeId === hint.causeId)) still.push(hint);
  }
  const missing = still.length === 0 ? [] : await unknownOf(still, ports);
  if (missing.length === 0) return [];
  const sessions = new Set(missing.map(({ sessionId }) => sessionId)).size;
  return [
    problem({
      area: 'activations',
      where,
      what: `${counted(sessions, 'session')} with something to do, and not known to be due`,
      remedy: 'What is due is made again from the logs.',
      repair: () => store.activations.add(missing),
    }),
  ];
}

async function unknownOf(expected: readonly Activation[], { store }: JournalPorts): Promise<readonly Activation[]> {
  const { due } = await store.activations.due({ nowMs: FAR_FUTURE_MS, limit: Number.MAX_SAFE_INTEGER });
  const known = new Set(due.map(({ sessionId }) => sessionId));
  return expected.filter(({ sessionId }) => !known.has(sessionId));
}
