/**
 * The stores of a Node runtime: files in the home, or a PostgreSQL that many machines share. What has to be the same
 * for all workers comes with the store: sessions, schedules, cooldowns, rules that people have allowed. The other files
 * of the home stay those of this machine.
 */
import { open as openFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Clock } from '../actors/clock/clock.ts';
import type { Fleet } from '../actors/inspection/fleet.ts';
import type { WorkspaceCopyStore } from '../actors/workspace-copy/copy-store.ts';
import type { PolicyStore } from '../actors/permission/policy-store.ts';
import type { CandidateHealthStore } from '../actors/run/candidate-health-store.ts';
import type { ScheduleDefinitions, ScheduleStates } from '../actors/schedule/durable-ports.ts';
import type { ScheduleStore } from '../actors/schedule/schedule-store.ts';
import type { EventStore, SessionIdentity } from '../actors/session/event-store.ts';
import type { HostLife } from '../actors/host/host-life.ts';
import type { JobRecords } from '../actors/subagent/job-records.ts';
import type { SessionHold } from '../actors/shell/session-watch.ts';
import { FileEventStore } from '../adapters/files/file-event-store.ts';
import type { HomeLayout } from '../adapters/files/layout.ts';
import { modelOfSession } from '../adapters/files/session-model.ts';
import { storageFailed } from '../adapters/files/storage-errors.ts';
import { FilePolicyStore } from '../adapters/policy-files/file-policy-store.ts';
import { createFileScheduleStore } from '../adapters/schedule-files/file-schedule-store.ts';
import { createFileScheduleDefinitions } from '../adapters/schedule-files/schedule-definitions.ts';
import { createFileScheduleStates } from '../adapters/schedule-files/schedule-states.ts';
import { systemCodeOf } from '../adapters/system/error-codes.ts';

const SCHEDULES_FOLDER = 'schedules';
const POLICY_FOLDER = 'policy';

/** Which database, and how it is used. */
export interface NodeStoreOptions {
  /** postgres://user:password@host:port/database. Its schema is made by `wakechart store migrate --store URL`. */
  readonly postgres: string;
  /** The schema of its tables. Default `wakechart`. */
  readonly schema?: string | undefined;
  /** Connections of this runtime at most, besides the one that listens. Default 4. */
  readonly poolSize?: number | undefined;
  /** How long a call waits for a server that is away, in milliseconds, before it fails. Default 30,000. */
  readonly patienceMs?: number | undefined;
  /**
   * For whom a session works: workers are fair between tenants. Default: the setting `wakechart.tenant` of the database
   * role, else `default`.
   */
  readonly tenantOf?: ((session: SessionIdentity) => string) | undefined;
}

export const nodeStoreOptions = z.strictObject({
  postgres: z.string().min(1),
  schema: z.string().optional(),
  poolSize: z.number().int().positive().optional(),
  patienceMs: z.number().nonnegative().optional(),
  tenantOf: z
    .custom<NodeStoreOptions['tenantOf']>((value) => typeof value === 'function', 'expected a function')
    .optional(),
} satisfies Record<keyof NodeStoreOptions, z.ZodType>);

export interface OpenStoreParts {
  readonly layout: HomeLayout;
  readonly clock: Clock;
  readonly durability: 'disk' | 'os';
  readonly leaseMs: number | undefined;
  readonly looksOnly: boolean;
  readonly owner: string;
  readonly options: NodeStoreOptions | undefined;
}

export interface SharedSchedules {
  readonly definitions: ScheduleDefinitions;
  readonly states: ScheduleStates;
  readonly slots: ScheduleStore;
}

export interface SharedJobsParts {
  /** The same for all processes that share a home on one machine, and for no others. */
  readonly place: string;
  /** The machine, for people. */
  readonly machine: string;
  readonly hostLife: HostLife;
  /** Where large outputs are kept: files of this home. */
  readonly outputs: Pick<JobRecords, 'keepOutput' | 'remove'>;
}

export interface NodeStore {
  readonly store: EventStore;
  /** What time it is for everything that workers share. */
  readonly clock: Clock;
  readonly schedules: SharedSchedules;
  readonly policy: PolicyStore;
  /** Undefined: those of the home. */
  readonly candidateHealth: CandidateHealthStore | undefined;
  /** Records of subagent jobs. Undefined: they lie in the home. */
  readonly jobs: ((parts: SharedJobsParts) => JobRecords & { close(): Promise<void> }) | undefined;
  /** Copies of what sessions work in. Undefined: no other machine shares the store. */
  readonly workspaceCopies: WorkspaceCopyStore | undefined;
  /** Resolves when the store has answered, for which it waits. Undefined: it is on this machine. */
  readonly answers: (() => Promise<unknown>) | undefined;
  /** The workers over the store. Undefined: others are unknown. */
  readonly fleet: Fleet | undefined;
  /** How a command names it, without a password. Undefined: it lies in the home. */
  readonly word: string | undefined;
  /** Tells a session from another one that is made under its id later. */
  readonly hold: (session: SessionIdentity) => Promise<SessionHold>;
  /** The model that a session was made with, as far as that can be told at once. */
  readonly modelOf: (session: SessionIdentity) => Promise<string | undefined>;
}

/**
 * @throws RuntimeError STORE_OPTIONS_INVALID, POSTGRES_DRIVER_MISSING, STORE_SCHEMA_OLD, STORE_SCHEMA_NEW,
 * STORE_SERVER_OLD, STORE_TENANT_MISSING, STORAGE_FAILED
 */
export async function openNodeStore(parts: OpenStoreParts): Promise<NodeStore> {
  const { options } = parts;
  return options === undefined ? filesOf(parts) : databaseOf(parts, options);
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

function filesOf({ layout, clock, durability, leaseMs, looksOnly }: OpenStoreParts): NodeStore {
  return {
    store: new FileEventStore({ home: layout.home, clock, durability, leaseMs, keepsViews: !looksOnly }),
    clock,
    schedules: schedulesOfHome(layout.home),
    policy: new FilePolicyStore({ directory: join(layout.home, POLICY_FOLDER), clock }),
    candidateHealth: undefined,
    answers: undefined,
    fleet: undefined,
    word: undefined,
    workspaceCopies: undefined,
    jobs: undefined,
    hold: (session) => holdLog(layout.log(session)),
    modelOf: (session) => modelOfSession(layout, session),
  };
}

async function databaseOf(
  { layout, clock: local, durability, leaseMs, owner }: OpenStoreParts,
  { postgres: url, ...options }: NodeStoreOptions,
): Promise<NodeStore> {
  // Loaded when it is asked for: its driver is an optional peer.
  const {
    PostgresEventStore,
    holdSession,
    createPostgresCandidateHealthStore,
    createPostgresFleet,
    createPostgresWorkspaceCopyStore,
    createPostgresJobRecords,
    createPostgresPolicyStore,
    createPostgresScheduleDefinitions,
    createPostgresScheduleStates,
    createPostgresScheduleStore,
    assertTenant,
    storeWord,
  } = await import('../postgres.ts');
  const store = await PostgresEventStore.open({ url, clock: local, durability, leaseMs, owner, ...options });
  const { clock, database } = store;
  // An empty store would be taken for one that holds nothing.
  await assertTenant(database, url).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  return {
    store,
    clock,
    schedules: {
      definitions: createPostgresScheduleDefinitions({ database, clock }),
      states: createPostgresScheduleStates({ database }),
      slots: createPostgresScheduleStore({ database }),
    },
    policy: createPostgresPolicyStore({
      database,
      clock,
      written: new FilePolicyStore({ directory: join(layout.home, POLICY_FOLDER), clock }),
    }),
    candidateHealth: createPostgresCandidateHealthStore({ database, clock }),
    answers: () => database.run('SELECT 1'),
    fleet: createPostgresFleet({ database, isHearing: () => store.isHearing }),
    word: storeWord({ url, schema: options.schema }),
    workspaceCopies: createPostgresWorkspaceCopyStore({ database }),
    jobs: (where) => createPostgresJobRecords({ ...where, database, clock }),
    hold: ({ sessionId }) => holdSession(database, sessionId),
    modelOf: ({ sessionId }) =>
      store.checkpoint(sessionId).then(
        (state) => state?.narrowing?.model,
        () => undefined,
      ),
  };
}

/**
 * A session is the one that it was while its log is the same file. That is held open, so that none that takes its place
 * can have its number.
 * @throws RuntimeError STORAGE_FAILED
 */
async function holdLog(path: string): Promise<SessionHold> {
  const failed = (error: unknown): never => {
    throw storageFailed(`look for ${path}`, error);
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
