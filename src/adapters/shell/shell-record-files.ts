/**
 * Keeps what is known of open shells in one small file each, in a folder of their session that only the runtime uses.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ShellRecords } from '../../actors/shell/shell-host.ts';
import type { SessionIdentity } from '../../actors/session/event-store.ts';
import { shellRecord } from '../../machines/turn/shell/shell-record.ts';
import type { ShellRecord } from '../../machines/turn/shell/shell-record.ts';
import { unlessCode } from '../system/error-codes.ts';
import { PRIVATE_FOLDER_MODE, replaceFile } from '../system/whole-files.ts';

const SUFFIX = '.json';
/** More than any record has. */
const MAX_RECORD_CHARACTERS = 2_000_000;

/**
 * @param folderOf absolute; the folder of the session itself lies two levels above. It is made when it is needed, and
 * not without the session's
 */
export function createShellRecordFiles(folderOf: (session: SessionIdentity) => string): ShellRecords {
  const fileOf = (session: SessionIdentity, name: string): string => join(folderOf(session), `${name}${SUFFIX}`);
  return {
    read: (session, name) => recordIn(fileOf(session, name)),
    names(session) {
      try {
        return readdirSync(folderOf(session)).flatMap((file) =>
          file.endsWith(SUFFIX) ? [file.slice(0, -SUFFIX.length)] : [],
        );
      } catch {
        return [];
      }
    },
    async write(session, name, record) {
      const folder = folderOf(session);
      await makeFolder(dirname(folder));
      await makeFolder(folder);
      // Not synced, since it is asked for after every command: what a power cut leaves of it cannot be read, and is
      // none.
      await replaceFile(fileOf(session, name), `${JSON.stringify(record)}\n`, { durability: 'os' });
    },
    remove: (session, name) => rm(fileOf(session, name), { force: true }),
  };
}

function recordIn(path: string): ShellRecord | undefined {
  try {
    const text = readFileSync(path, 'utf8');
    return text.length > MAX_RECORD_CHARACTERS ? undefined : shellRecord.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Not with those above it: a session that was deleted in between must not come back as a folder. */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { mode: PRIVATE_FOLDER_MODE }).catch(unlessCode('EEXIST'));
}
