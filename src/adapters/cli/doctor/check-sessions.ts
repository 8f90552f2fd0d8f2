/** Checks every session of a home: its log, what lies beside it, and whether what it has to do is known to be due. */
import { chmod, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { activationsOf } from '../../../machines/session/activation.ts';
import { messageOf } from '../../../machines/errors.ts';
import { isUuidV7 } from '../../../machines/ids.ts';
import type { Activation } from '../../../machines/session/activation.ts';
import type { SessionIdentity } from '../../../actors/session/event-store.ts';
import type { FileEventStore } from '../../files/file-event-store.ts';
import type { HomeLayout } from '../../files/layout.ts';
import { examineSession } from '../../files/session-examination.ts';
import type { DamagedPlace, SessionExamination } from '../../files/session-examination.ts';
import { note, problem } from './finding.ts';
import type { RepairableFinding } from './finding.ts';

export interface SessionsCheck {
  readonly layout: HomeLayout;
  readonly store: FileEventStore;
  /** Makes what lies beside the log of a session again. */
  readonly renew: (sessionId: string) => Promise<void>;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
}

/** Folders that a creation or a removal left half-done are removed when they are this old, in milliseconds. */
const LEFTOVER_AGE_MS = 3_600_000;

/** Later than anything is due. */
const FAR_FUTURE_MS = Date.UTC(9999, 0);

export async function checkSessions(check: SessionsCheck): Promise<RepairableFinding[]> {
  const findings: RepairableFinding[] = [];
  const activations: Activation[] = [];
  for (const identity of await identitiesIn(check, findings)) {
    try {
      const examination = await examineSession(check.layout.home, identity);
      findings.push(...findingsOf(examination, check));
      activations.push(...activationsOf(examination.state));
    } catch (error) {
      findings.push(unreadable(identity, check, error));
    }
  }
  return [...findings, ...(await checkIndex(check, activations))];
}

async function identitiesIn({ layout, nowMs }: SessionsCheck, findings: RepairableFinding[]): Promise<SessionIdentity[]> {
  const identities: SessionIdentity[] = [];
  for (const agentId of await namesIn(layout.agents)) {
    for (const name of await namesIn(layout.sessionsOf(agentId))) {
      const path = join(layout.sessionsOf(agentId), name);
      if (isUuidV7(name)) identities.push({ sessionId: name, agentId });
      else if (name.startsWith('.') && nowMs - (await stat(path)).mtimeMs > LEFTOVER_AGE_MS) {
        findings.push(note({ area: 'sessions', where: path, what: 'a creation or a removal that a crash cut off left this', remedy: 'It is no session and can be removed.', repair: () => rm(path, { recursive: true, force: true }) }));
      }
    }
  }
  return identities;
}

function findingsOf({ identity, damage, untrue, open, leftovers }: SessionExamination, check: SessionsCheck): RepairableFinding[] {
  const renew = async (path: string): Promise<void> => {
    await rm(path, { force: true });
    await check.renew(identity.sessionId);
  };
  return [
    ...damage.map(damageFinding),
    ...untrue.map((path) => problem({ area: 'sessions', where: path, what: 'it does not agree with the log', remedy: 'It is made again from the log.', repair: () => renew(path) })),
    ...open.map((path) =>
      problem({
        area: 'sessions',
        where: path,
        what: 'others than its owner may read or write it',
        remedy: 'Take that away from them.',
        repair: async () => chmod(path, (await stat(path)).mode & 0o700),
      }),
    ),
    ...leftovers.map((path) => note({ area: 'sessions', where: path, what: 'a crash left this half-written', remedy: 'It is used by nobody and can be removed.', repair: () => rm(path, { force: true }) })),
  ];
}

function damageFinding({ file, offset, length, isTornEnd }: DamagedPlace): RepairableFinding {
  if (isTornEnd) return note({ area: 'sessions', where: file, what: `it ends with ${length} bytes that are no whole record`, remedy: 'Nothing was acknowledged for them; the next append leaves them behind.' });
  return problem({
    area: 'sessions',
    where: file,
    what: `${length} bytes from byte ${offset} on are no record, and what they said is not known any more`,
    remedy: 'All other records count. Restore the file from a copy if you have one; a log is never rewritten.',
  });
}

function unreadable(identity: SessionIdentity, { layout }: SessionsCheck, error: unknown): RepairableFinding {
  return problem({ area: 'sessions', where: layout.session(identity), what: `its log cannot be read: ${messageOf(error)}`, remedy: 'Check who owns it and its permissions; restore it from a copy if it is gone.' });
}

/** A hint too many costs a look; only missing ones matter. */
async function checkIndex({ store, layout }: SessionsCheck, expected: readonly Activation[]): Promise<RepairableFinding[]> {
  const { due } = await store.activations.due({ nowMs: FAR_FUTURE_MS, limit: Number.MAX_SAFE_INTEGER });
  const known = new Set(due.map(({ sessionId }) => sessionId));
  const missing = new Set(expected.filter(({ sessionId }) => !known.has(sessionId)).map(({ sessionId }) => sessionId));
  const repair = (): Promise<void> => store.activations.rebuilt(each(expected));
  if (missing.size > 0) {
    return [problem({ area: 'activations', where: layout.activations, what: `${missing.size} sessions have something to do and are not known to be due`, remedy: 'The index is made again from the logs.', repair })];
  }
  if (!(await store.activations.isSuspect())) return [];
  return [note({ area: 'activations', where: layout.activations, what: 'it was not checked since this machine started', remedy: 'The first worker does so by itself.', repair })];
}

async function* each<Value>(values: readonly Value[]): AsyncGenerator<Value, void, undefined> {
  yield* values;
}

async function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).then(
    (names) => names.toSorted(),
    () => [],
  );
}
