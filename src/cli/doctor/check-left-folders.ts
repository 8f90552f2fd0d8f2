/**
 * Checks the folders of sessions that lie in a home whose sessions are in a database. Deleting a session there
 * reaches the folders of no machine; and what lay on one that a session has left was put aside. Nothing of that is
 * removed here: only who worked with it knows what it is worth.
 */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { RuntimeError } from '../../machines/errors.ts';
import { isUuidV7 } from '../../machines/ids.ts';
import type { EventStore, SessionIdentity } from '../../actors/session/event-store.ts';
import type { HomeLayout } from '../../adapters/files/layout.ts';
import { COPY_FOLDER } from '../../adapters/workspace-copy-files/copy-places.ts';
import { counted, shellQuoted } from '../terminal/text.ts';
import { note } from './finding.ts';
import type { RepairableFinding } from './finding.ts';

export interface LeftFoldersCheck {
  readonly layout: HomeLayout;
  readonly store: Pick<EventStore, 'head'>;
  /** Where the database is, for people. */
  readonly where: string;
}

/** More lines of one kind do not help. */
const MAX_TOLD = 20;

/** What lay here before another machine's copy was laid out. */
const SET_ASIDE = /^before-\d+$/;

export async function checkLeftFolders(check: LeftFoldersCheck): Promise<RepairableFinding[]> {
  const left: RepairableFinding[] = [];
  const aside: RepairableFinding[] = [];
  for (const identity of await foldersIn(check.layout)) {
    const path = check.layout.session(identity);
    // A log of its own: it is a session of the home, whatever the database holds.
    if (await isThere(check.layout.log(identity))) continue;
    if (await isGone(identity, check))
      left.push(
        note({
          area: 'sessions',
          where: path,
          what: `the folder of a session that is not in ${check.where}, or that this user does not see: it was deleted, or is in another store`,
          remedy: `When nothing in it is needed any more: ${shellQuoted(['rm', '-r', '--', path])}`,
        }),
      );
    else
      for (const name of await setAside(path))
        aside.push(
          note({
            area: 'sessions',
            where: name,
            what: 'what lay here when the session came back from another machine was put aside',
            remedy: `When nothing in it is needed any more: ${shellQuoted(['rm', '-r', '--', name])}`,
          }),
        );
  }
  return [...told(left, check.layout.agents), ...told(aside, check.layout.agents)];
}

function told(findings: readonly RepairableFinding[], where: string): RepairableFinding[] {
  const rest = findings.length - MAX_TOLD;
  if (rest <= 0) return [...findings];
  return [
    ...findings.slice(0, MAX_TOLD),
    note({
      area: 'sessions',
      where,
      what: `${counted(rest, 'folder')} more like these`,
      remedy: 'Deal with the first ones, then check again.',
    }),
  ];
}

async function isGone({ sessionId }: SessionIdentity, { store }: LeftFoldersCheck): Promise<boolean> {
  try {
    await store.head(sessionId);
    return false;
  } catch (error) {
    if (RuntimeError.is(error) && error.code === 'SESSION_NOT_FOUND') return true;
    throw error;
  }
}

async function foldersIn(layout: HomeLayout): Promise<readonly SessionIdentity[]> {
  const found: SessionIdentity[] = [];
  for (const agentId of await namesIn(layout.agents))
    for (const sessionId of await namesIn(layout.sessionsOf(agentId)))
      if (isUuidV7(sessionId)) found.push({ sessionId, agentId });
  return found;
}

async function setAside(session: string): Promise<readonly string[]> {
  const folder = join(session, COPY_FOLDER);
  return (await namesIn(folder)).filter((name) => SET_ASIDE.test(name)).map((name) => join(folder, name));
}

/**
 * Whether the folder of a session has been that of a session of a database: who works in a home alone keeps nothing of
 * that kind.
 */
export async function hasBeenShared(session: string): Promise<boolean> {
  return isThere(join(session, COPY_FOLDER));
}

export function namesIn(directory: string): Promise<readonly string[]> {
  return readdir(directory).then(
    (names) => names.toSorted(),
    () => [],
  );
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
