/** Checks every session of a home: its log, what lies beside it, and whether what it has to do is known to be due. */
import { chmod, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Activation } from '../../machines/session/activation.ts';
import { messageOf } from '../../machines/errors.ts';
import { isUuidV7 } from '../../machines/ids.ts';
import type { EventStore, SessionIdentity } from '../../actors/session/event-store.ts';
import { createSystemClock } from '../../actors/clock/system-clock.ts';
import { createIdSource } from '../../actors/session/id-source.ts';
import { acceptLoss } from '../../adapters/files/accepted-loss.ts';
import { CHECKPOINT_FILE, RUNTIME_FOLDER, VIEW_FILE } from '../../adapters/files/layout.ts';
import type { HomeLayout } from '../../adapters/files/layout.ts';
import type { DamagedPlace } from '../../adapters/files/log-damage.ts';
import { examineSession, foldLog } from '../../adapters/files/session-examination.ts';
import type { SessionExamination } from '../../adapters/files/session-examination.ts';
import { systemCodeOf } from '../../adapters/system/error-codes.ts';
import { activationsOf } from '../../machines/session/session-activations.ts';
import { counted } from '../terminal/text.ts';
import { LEFTOVER_AGE_MS, sessionDrafts } from './check-drafts.ts';
import { hasBeenShared, namesIn } from './check-left-folders.ts';
import { note, problem } from './finding.ts';
import type { RepairableFinding } from './finding.ts';

export interface SessionsCheck {
  readonly layout: HomeLayout;
  readonly store: Pick<EventStore, 'activations' | 'acquireWakeRight'>;
  /** Makes what lies beside the log of a session again. */
  readonly renew: (sessionId: string) => Promise<void>;
  /** The session that is to go on although a part of its log is gone. */
  readonly accepted?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  /** Hears how many sessions there are, before any of them is checked. */
  readonly onCounted?: ((sessions: number) => void) | undefined;
}

/** Later than anything is due. */
const FAR_FUTURE_MS = Date.UTC(9999, 0);

/** Sessions that are checked together: most of the time goes into waiting for the disk. */
const TOGETHER = 16;

/**
 * How long a process may take between storing an event and making the hint of it again that others took away, in
 * milliseconds.
 */
const HINT_GRACE_MS = 100;

/** A session and what it had to do. */
interface ExpectedActivations {
  readonly identity: SessionIdentity;
  readonly activations: readonly Activation[];
}

export async function checkSessions(check: SessionsCheck): Promise<RepairableFinding[]> {
  const findings: RepairableFinding[] = [];
  const expected: ExpectedActivations[] = [];
  const identities = await identitiesIn(check, findings);
  check.onCounted?.(identities.length);
  for (let start = 0; start < identities.length; start += TOGETHER) {
    const checks = await Promise.all(
      identities.slice(start, start + TOGETHER).map((identity) => checkSession(identity, check)),
    );
    for (const { found, activations, identity } of checks) {
      findings.push(...found);
      if (activations.length > 0) expected.push({ identity, activations });
    }
  }
  return [...findings, ...(await checkIndex(check, expected))];
}

async function checkSession(
  identity: SessionIdentity,
  check: SessionsCheck,
): Promise<ExpectedActivations & { readonly found: readonly RepairableFinding[] }> {
  try {
    const examination = await examineSession(check.layout.home, identity);
    return {
      identity,
      found: [...(await findingsOf(examination, check)), ...(await sessionDrafts(check.layout, identity, check.nowMs))],
      activations: activationsOf(examination.state),
    };
  } catch (error) {
    if (await isGone(check.layout.session(identity))) return { identity, found: [], activations: [] };
    const isElsewhere =
      (await isGone(check.layout.log(identity))) && (await hasBeenShared(check.layout.session(identity)));
    return {
      identity,
      found: [isElsewhere ? kept(identity, check) : unreadable(identity, check, error)],
      activations: [],
    };
  }
}

async function identitiesIn(
  { layout, nowMs }: SessionsCheck,
  findings: RepairableFinding[],
): Promise<SessionIdentity[]> {
  const identities: SessionIdentity[] = [];
  for (const agentId of await namesIn(layout.agents)) {
    for (const name of await namesIn(layout.sessionsOf(agentId))) {
      const path = join(layout.sessionsOf(agentId), name);
      if (isUuidV7(name)) identities.push({ sessionId: name, agentId });
      else if (name.startsWith('.') && (await isOld(path, nowMs))) {
        findings.push(
          note({
            area: 'sessions',
            where: path,
            what: 'a creation or a removal that a crash cut off left this',
            remedy: 'It is no session and can be removed.',
            repair: () => rm(path, { recursive: true, force: true }),
          }),
        );
      }
    }
  }
  return identities;
}

async function findingsOf(examination: SessionExamination, check: SessionsCheck): Promise<RepairableFinding[]> {
  const { identity, damage, untrue, open, leftovers } = examination;
  const renew = async (path: string): Promise<void> => {
    await rm(path, { force: true });
    await check.renew(identity.sessionId);
  };
  const areOld = await Promise.all(leftovers.map((path) => isOld(path, check.nowMs)));
  return [
    ...lossFindings(examination, check),
    ...damageFindings(damage),
    ...untrue.map((path) =>
      problem({
        area: 'sessions',
        where: path,
        what: 'it does not agree with the log',
        remedy: 'It is made again from the log.',
        repair: () => renew(path),
      }),
    ),
    ...open.map((path) =>
      problem({
        area: 'sessions',
        where: path,
        what: 'others than its owner may read or write it',
        remedy: 'Take that away from them.',
        repair: async () => chmod(path, (await stat(path)).mode & 0o700),
      }),
    ),
    ...leftovers
      .filter((_, index) => areOld[index])
      .map((path) =>
        note({
          area: 'sessions',
          where: path,
          what: 'a crash left this half-written',
          remedy: 'No process uses it; it can be removed.',
          repair: () => rm(path, { force: true }),
        }),
      ),
  ];
}

/** Never put right without a word: a person has to say that it is to be gone on without what is missing. */
function lossFindings(
  { identity, state: { epoch }, loss }: SessionExamination,
  { layout, store, renew, accepted }: SessionsCheck,
): RepairableFinding[] {
  if (loss === undefined) return [];
  const { sessionId } = identity;
  const accept = async (): Promise<void> => {
    const right = await store.acquireWakeRight(sessionId, { epoch, isOpen: true });
    try {
      const clock = createSystemClock();
      await acceptLoss({ home: layout.home, identity, loss, clock, ids: createIdSource({ clock }) });
      for (const copy of [VIEW_FILE, join(RUNTIME_FOLDER, CHECKPOINT_FILE)])
        await rm(join(layout.session(identity), copy), { force: true });
    } finally {
      await right.release();
    }
    await renew(sessionId);
  };
  return [
    problem({
      area: 'sessions',
      where: layout.log(identity),
      what: `the log is not whole: ${loss}`,
      remedy: `Nothing is written to it any more. Restore the folder of the session from a backup, or go on without what is missing: wakechart doctor --repair --accept-loss ${sessionId}`,
      ...(accepted === sessionId ? { repair: accept } : {}),
    }),
  ];
}

/**
 * Torn writes do no harm and are told once for each file; a record that was there and is damaged is told on its own.
 */
function damageFindings(damage: readonly DamagedPlace[]): RepairableFinding[] {
  const files = [...new Set(damage.map(({ file }) => file))];
  return files.flatMap((file) => {
    const places = damage.filter((place) => place.file === file);
    const torn = places.filter(({ isTornWrite }) => isTornWrite);
    return [
      ...places.filter(({ isTornWrite }) => !isTornWrite).map(lostRecord),
      ...(torn.length === 0 ? [] : [tornWrites(file, torn)]),
    ];
  });
}

function lostRecord({ file, offset, length }: DamagedPlace): RepairableFinding {
  return problem({
    area: 'sessions',
    where: file,
    what: `${length} bytes from byte ${offset} on are no record, and what they said is not known any more`,
    remedy: 'Restore the file from a copy if you have one; a log is never rewritten.',
  });
}

function tornWrites(file: string, places: readonly DamagedPlace[]): RepairableFinding {
  const bytes = places.reduce((sum, { length }) => sum + length, 0);
  const where = places.every(({ isAtEnd }) => isAtEnd) ? 'at its end' : `from byte ${places[0]?.offset ?? 0} on`;
  return note({
    area: 'sessions',
    where: file,
    what: `${bytes} bytes ${where} are the beginning of a write that was cut off`,
    remedy:
      'A crash or a full disk does that. No receipt said that it was on the disk; readers pass over it, and nothing has to be done.',
  });
}

function unreadable(identity: SessionIdentity, { layout }: SessionsCheck, error: unknown): RepairableFinding {
  return problem({
    area: 'sessions',
    where: layout.session(identity),
    what: `its log cannot be read: ${messageOf(error)}`,
    remedy: 'Check who owns it and its permissions; restore it from a copy if it is gone.',
  });
}

/** No log was lost. */
function kept(identity: SessionIdentity, { layout }: SessionsCheck): RepairableFinding {
  return note({
    area: 'sessions',
    where: layout.session(identity),
    what: 'the folder of a session whose log is in a database',
    remedy: 'Check it with that database: wakechart doctor --store URL',
  });
}

/** A hint too many costs a read; only missing ones matter. */
async function checkIndex(
  check: SessionsCheck,
  expected: readonly ExpectedActivations[],
): Promise<RepairableFinding[]> {
  const { store, layout } = check;
  const missing = await missingFrom(check, expected);
  const repair = (): Promise<void> =>
    store.activations.rebuilt(each(expected.flatMap(({ activations }) => activations)));
  if (missing.length > 0) {
    return [
      problem({
        area: 'activations',
        where: layout.activations,
        what: `${counted(missing.length, 'session')} with something to do, and not known to be due`,
        remedy: 'The index is made again from the logs.',
        repair,
      }),
    ];
  }
  if (!(await store.activations.isSuspect())) return [];
  return [
    note({
      area: 'activations',
      where: layout.activations,
      what: 'it was not checked since this machine started',
      remedy: 'The first worker does so by itself.',
      repair,
    }),
  ];
}

/** Those that had something to do before their hints were searched for, and still have it to do afterwards. */
async function missingFrom(
  check: SessionsCheck,
  expected: readonly ExpectedActivations[],
): Promise<readonly ExpectedActivations[]> {
  const suspects = await unknownOf(check, expected);
  const still: ExpectedActivations[] = [];
  for (const { identity, activations } of suspects) {
    const now = new Set(
      await foldLog(check.layout.home, identity).then(
        (state) => activationsOf(state).map(({ causeId }) => causeId),
        () => [],
      ),
    );
    const left = activations.filter(({ causeId }) => now.has(causeId));
    if (left.length > 0) still.push({ identity, activations: left });
  }
  if (still.length === 0) return still;
  await pause(HINT_GRACE_MS);
  return unknownOf(check, still);
}

async function unknownOf(
  { store }: SessionsCheck,
  expected: readonly ExpectedActivations[],
): Promise<readonly ExpectedActivations[]> {
  const { due } = await store.activations.due({ nowMs: FAR_FUTURE_MS, limit: Number.MAX_SAFE_INTEGER });
  const known = new Set(due.map(({ sessionId }) => sessionId));
  return expected.filter(({ identity }) => !known.has(identity.sessionId));
}

async function* each<Value>(values: readonly Value[]): AsyncGenerator<Value, void, undefined> {
  yield* values;
}

async function isOld(path: string, nowMs: number): Promise<boolean> {
  return stat(path).then(
    ({ mtimeMs }) => nowMs - mtimeMs > LEFTOVER_AGE_MS,
    () => false,
  );
}

async function isGone(path: string): Promise<boolean> {
  return stat(path).then(
    () => false,
    (error: unknown) => systemCodeOf(error) === 'ENOENT',
  );
}
