/**
 * The stores of a Node runtime: files in the home, or a PostgreSQL that many machines share. What has to be the same
 * for all workers comes with the store: sessions, schedules, cooldowns, rules that people have allowed. The other files
 * of the home stay those of this machine.
 */
import { access, constants, open as openFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionHold } from '../actors/shell/session-watch.ts';
import { FileEventStore } from '../adapters/files/file-event-store.ts';
import { checkHomeFormat } from '../adapters/files/home-format.ts';
import { modelOfSession } from '../adapters/files/session-model.ts';
import { storageFailed } from '../adapters/files/storage-errors.ts';
import { FilePolicyStore } from '../adapters/policy-files/file-policy-store.ts';
import { createFileScheduleStore } from '../adapters/schedule-files/file-schedule-store.ts';
import { createFileScheduleDefinitions } from '../adapters/schedule-files/schedule-definitions.ts';
import { createFileScheduleStates } from '../adapters/schedule-files/schedule-states.ts';
import { systemCodeOf } from '../adapters/system/error-codes.ts';
import { POLICY_FOLDER } from './node-store.ts';
import type { NodeStore, OpenStoreParts, SharedSchedules } from './node-store.ts';

const SCHEDULES_FOLDER = 'schedules';

/**
 * @throws RuntimeError HOME_NEWER, STORE_OPTIONS_INVALID, POSTGRES_DRIVER_MISSING, STORE_SCHEMA_OLD, STORE_SCHEMA_NEW,
 * STORE_SERVER_OLD, STORE_TENANT_MISSING, STORAGE_FAILED
 */
export async function openNodeStore(parts: OpenStoreParts): Promise<NodeStore> {
  const { options, layout } = parts;
  await checkHomeFormat(layout.home);
  return options === undefined ? filesOf(parts) : (await import('./postgres-store.ts')).databaseOf(parts, options);
}

/** The schedules of a home, for any process that fires them. */
export function schedulesOfHome(home: string): SharedSchedules {
  const directory = join(home, SCHEDULES_FOLDER);
  return {
    definitions: createFileScheduleDefinitions({ directory }),
    states: createFileScheduleStates({ directory }),
    slots: createFileScheduleStore({ directory }),
  };
}

function filesOf({ layout, clock, durability, leaseMs, readsOnly }: OpenStoreParts): NodeStore {
  const store = new FileEventStore({ home: layout.home, clock, durability, leaseMs, keepsViews: !readsOnly });
  return {
    store,
    words: store.words,
    clock,
    schedules: schedulesOfHome(layout.home),
    policy: new FilePolicyStore({ directory: join(layout.home, POLICY_FOLDER), clock }),
    candidateHealth: undefined,
    answers: undefined,
    check: () => access(layout.home, constants.R_OK | constants.W_OK),
    fleet: undefined,
    word: undefined,
    workspaceCopies: undefined,
    jobs: undefined,
    hold: (session) => holdLog(layout.log(session)),
    modelOf: (session) => modelOfSession(layout, session),
  };
}

/**
 * A session is the one that it was while its log is the same file. That is held open, so that none that takes its place
 * can have its number.
 * @throws RuntimeError STORAGE_FAILED
 */
async function holdLog(path: string): Promise<SessionHold> {
  const failed = (error: unknown): never => {
    throw storageFailed(`search for ${path}`, error);
  };
  const handle = await openFile(path, 'r').catch(failed);
  const held = await handle.stat({ bigint: true }).catch(async (error: unknown) => {
    await handle.close();
    return failed(error);
  });
  const isSame = ({ dev, ino }: Pick<typeof held, 'dev' | 'ino'>): boolean => dev === held.dev && ino === held.ino;
  return {
    isThere: () =>
      stat(path, { bigint: true }).then(isSame, (error: unknown) => systemCodeOf(error) !== 'ENOENT' && failed(error)),
    release: () => handle.close(),
  };
}
