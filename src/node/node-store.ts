/** What a store of a Node runtime is, be it files or a database, and how a database is named. */
import * as z from 'zod';
import type { Clock } from '../actors/clock/clock.ts';
import type { Fleet } from '../actors/inspection/fleet.ts';
import type { WorkspaceCopyStore } from '../actors/workspace-copy/copy-store.ts';
import type { PolicyStore } from '../actors/permission/permission-ports.ts';
import type { CandidateHealthStore } from '../actors/run/candidate-health-store.ts';
import type { ScheduleDefinitions, ScheduleStates } from '../actors/schedule/durable-ports.ts';
import type { ScheduleStore } from '../actors/schedule/schedule-store.ts';
import type { EventStore, SessionIdentity } from '../actors/session/event-store.ts';
import type { HostLife } from '../actors/host/host-life.ts';
import type { WordChannel } from '../actors/words/word-channel.ts';
import type { JobRecords } from '../actors/subagent/job-records.ts';
import type { SessionHold } from '../actors/shell/session-watch.ts';
import type { HomeLayout } from '../adapters/files/layout.ts';

/** In the home, also where the rest lies in a database: what people have written for this machine. */
export const POLICY_FOLDER = 'policy';

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
  readonly readsOnly: boolean;
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
  /** What models say, between the processes over the store. */
  readonly words: WordChannel | undefined;
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
  /** Resolves when the store has answered and its schema is one for this program. */
  readonly check: () => Promise<unknown>;
  /** The workers over the store. Undefined: others are unknown. */
  readonly fleet: Fleet | undefined;
  /** How a command names it, without a password. Undefined: it lies in the home. */
  readonly word: string | undefined;
  /** Tells a session from another one that is made under its id later. */
  readonly hold: (session: SessionIdentity) => Promise<SessionHold>;
  /** The model that a session was made with, as far as that can be told at once. */
  readonly modelOf: (session: SessionIdentity) => Promise<string | undefined>;
}
