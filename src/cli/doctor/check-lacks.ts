/** Finds sessions with something to do whose agent or environment is not there: every worker leaves them to others. */
import { SessionJournal } from '../../actors/session/session-journal.ts';
import type { JournalPorts } from '../../actors/session/session-journal.ts';
import type { Lack } from '../../machines/session/lack.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { counted } from '../terminal/text.ts';
import { problem } from './finding.ts';
import type { RepairableFinding } from './finding.ts';

export interface LacksCheck {
  readonly ports: JournalPorts;
  readonly lacksOf: (session: SessionState) => Promise<Lack | undefined>;
  /** What has been due for longer, in milliseconds since the epoch: other machines may be about to take the rest. */
  readonly dueBeforeMs: number;
}

interface Lacking {
  readonly lack: Lack;
  readonly sessions: string[];
}

/** More ids than these do not help. */
const MAX_SESSIONS = 10;

export async function checkLacks({ ports, lacksOf, dueBeforeMs }: LacksCheck): Promise<RepairableFinding[]> {
  const { due } = await ports.store.activations.due({ nowMs: dueBeforeMs, limit: Number.MAX_SAFE_INTEGER });
  const byLack = new Map<string, Lacking>();
  for (const sessionId of new Set(due.map((each) => each.sessionId))) {
    const lack = await lackOf(sessionId, { ports, lacksOf });
    if (lack === undefined) continue;
    const key = `${lack.what} ${lack.id}`;
    const known = byLack.get(key) ?? { lack, sessions: [] };
    known.sessions.push(sessionId);
    byLack.set(key, known);
  }
  return [...byLack.values()].map(findingOf);
}

/** One that cannot be read is told of with the sessions. */
async function lackOf(
  sessionId: string,
  { ports, lacksOf }: Pick<LacksCheck, 'ports' | 'lacksOf'>,
): Promise<Lack | undefined> {
  const journal = await SessionJournal.open(sessionId, ports).catch(() => undefined);
  return journal === undefined ? undefined : lacksOf(journal.state);
}

function findingOf({ lack: { what, id }, sessions }: Lacking): RepairableFinding {
  const ids = sessions.slice(0, MAX_SESSIONS);
  const more = sessions.length > ids.length ? ` and ${sessions.length - ids.length} more` : '';
  const place = what === 'agent' ? `agents/${id}` : `environments/${id}.yaml`;
  return problem({
    area: 'sessions',
    where: id,
    what: `${counted(sessions.length, 'session')} with something to do, and no such ${what} in the home or in a config that this command knows: ${ids.join(', ')}${more}`,
    remedy: `Workers without it leave them alone: give the ${what} back (${place} of the home), or start a worker, and this command, with --config FILE.`,
  });
}
