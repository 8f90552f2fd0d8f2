/** Makes the folder of a session and takes it away, each in one step that all processes see or none. */
import { randomUUID } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionIdentity } from '../../actors/session/event-store.ts';
import { systemCodeOf } from '../system/error-codes.ts';
import { makePrivateDirectory, writeNewFile } from './durable-files.ts';
import type { FileOperations } from './file-operations.ts';
import { encodedEnd } from './log-end.ts';
import type { AcknowledgedEnd } from './log-end.ts';
import { END_FILE, LOG_FILE, RUNTIME_FOLDER, WORKSPACE_FOLDER } from './layout.ts';
import type { HomeLayout } from './layout.ts';
import { CHAIN_START, chained } from './log-chain.ts';
import type { EncodedRecord } from './record-codec.ts';

export interface SessionFolderPlace {
  readonly identity: SessionIdentity;
  readonly layout: HomeLayout;
  readonly operations: FileOperations;
}

interface FirstLog {
  readonly text: string;
  readonly end: AcknowledgedEnd;
}

/** The log of a session that begins with these records. */
export function firstLogOf(records: readonly EncodedRecord[]): FirstLog {
  const { records: count, chain } = records.reduce((point, { record }) => chained(point, record.checksum), CHAIN_START);
  const events = records.reduce((sum, { record }) => sum + record.events.length, 0);
  return { text: records.map(({ text }) => text).join(''), end: { records: count, chain, events } };
}

/**
 * Made aside and moved into place: a session is there with its first events or not at all. @throws ENOTEMPTY or EEXIST
 * when it is there already
 */
export async function makeSessionFolder(
  { identity, layout, operations }: SessionFolderPlace,
  log: FirstLog,
): Promise<void> {
  const sessions = layout.sessionsOf(identity.agentId);
  const aside = join(sessions, `.new-${randomUUID()}`);
  try {
    await makePrivateDirectory(sessions, operations);
    await operations.makeDirectory(aside);
    for (const folder of [RUNTIME_FOLDER, WORKSPACE_FOLDER]) await operations.makeDirectory(join(aside, folder));
    await writeNewFile(join(aside, LOG_FILE), log.text, operations);
    await operations.createFile(join(aside, END_FILE), encodedEnd(log.end));
    await operations.syncDirectory(aside);
    await operations.rename(aside, layout.session(identity));
    await operations.syncDirectory(sessions);
  } catch (error) {
    await operations.removeTree(aside).catch(() => undefined);
    throw error;
  }
}

const DELETED = '.deleted-';

/** Takes away what a removal that was cut off has left. One that goes on elsewhere is not disturbed by it. */
export async function removeCutOffDeletions(layout: HomeLayout): Promise<void> {
  for (const agent of await namesIn(layout.agents)) {
    const sessions = layout.sessionsOf(agent);
    for (const name of await namesIn(sessions))
      if (name.startsWith(DELETED)) await rm(join(sessions, name), { recursive: true, force: true });
  }
}

/** Of a folder; none where it is not there. */
async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes(systemCodeOf(error) ?? '')) return [];
    throw error;
  });
}

/** Moved aside, and gone from then on; then removed. What a crash leaves of it is no session. */
export async function removeSessionFolder({ identity, layout, operations }: SessionFolderPlace): Promise<void> {
  const sessions = layout.sessionsOf(identity.agentId);
  const aside = join(sessions, `${DELETED}${randomUUID()}`);
  await operations.rename(layout.session(identity), aside);
  await operations.syncDirectory(sessions);
  await operations.removeTree(aside);
}
