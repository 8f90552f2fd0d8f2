/** The store of a Node runtime in PostgreSQL. Loaded when it is asked for: its driver is an optional peer. */
import { join } from 'node:path';
import { createPostgresCandidateHealthStore } from '../adapters/postgres/candidate-health-store.ts';
import { createPostgresFleet } from '../adapters/postgres/fleet.ts';
import { createPostgresQuestions } from '../adapters/postgres/fleet-questions.ts';
import { createPostgresJobRecords } from '../adapters/postgres/job-records.ts';
import { createPostgresPolicyStore } from '../adapters/postgres/policy-store.ts';
import { PostgresEventStore } from '../adapters/postgres/postgres-event-store.ts';
import { createPostgresScheduleDefinitions } from '../adapters/postgres/schedule-definitions.ts';
import { createPostgresScheduleStates } from '../adapters/postgres/schedule-states.ts';
import { createPostgresScheduleStore } from '../adapters/postgres/schedule-store.ts';
import { holdSession } from '../adapters/postgres/session-hold.ts';
import { storeWord } from '../adapters/postgres/postgres-options.ts';
import { assertTenant } from '../adapters/postgres/tenancy.ts';
import { createPostgresWorkspaceCopyStore } from '../adapters/postgres/workspace-copy-store.ts';
import { FilePolicyStore } from '../adapters/policy-files/file-policy-store.ts';
import { POLICY_FOLDER } from './node-store.ts';
import type { NodeStore, NodeStoreOptions, OpenStoreParts } from './node-store.ts';

export async function databaseOf(
  { layout, clock: local, durability, leaseMs, owner }: OpenStoreParts,
  { postgres: url, ...options }: NodeStoreOptions,
): Promise<NodeStore> {
  const store = await PostgresEventStore.open({ url, clock: local, durability, leaseMs, owner, ...options });
  const { clock, database } = store;
  // An empty store would be taken for one that holds nothing.
  await assertTenant(database, url).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  return {
    store,
    words: store.words,
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
    check: () => store.check(),
    fleet: {
      ...createPostgresFleet({ database, isHearing: () => store.isHearing }),
      questions: createPostgresQuestions({ store, clock: local }),
    },
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
