/**
 * What workers share beside sessions, shut into a tenant: the contracts, unchanged, while another tenant has rows of
 * the same names.
 */
import { afterAll, beforeAll, beforeEach, describe } from 'vitest';
import { MemoryPolicyStore } from '../../../src/adapters/memory/memory-policy-store.ts';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { createIdSource } from '../../../src/actors/session/id-source.ts';
import { createPostgresCandidateHealthStore } from '../../../src/adapters/postgres/candidate-health-store.ts';
import { createPostgresWorkspaceCopyStore } from '../../../src/adapters/postgres/workspace-copy-store.ts';
import { createPostgresPolicyStore } from '../../../src/adapters/postgres/policy-store.ts';
import { PostgresEventStore } from '../../../src/adapters/postgres/postgres-event-store.ts';
import { createPostgresScheduleDefinitions } from '../../../src/adapters/postgres/schedule-definitions.ts';
import { createPostgresScheduleStates } from '../../../src/adapters/postgres/schedule-states.ts';
import { createPostgresScheduleStore } from '../../../src/adapters/postgres/schedule-store.ts';
import { parseRule } from '../../../src/machines/permission/permission-rule.ts';
import { creation } from '../../../src/testing/session-fixtures.ts';
import { claimed, describeScheduleStore } from '../../actors/schedule/schedule-store-contract.ts';
import { describeCandidateHealthStore } from '../../contracts/candidate-health.contract.ts';
import { describeWorkspaceCopyStore } from '../../contracts/workspace-copy-store.contract.ts';
import { by, describePolicyStore } from '../../contracts/policy-store.contract.ts';
import { describeScheduleDefinitions, describeScheduleStates } from '../../contracts/schedule-places.contract.ts';
import { ownServer } from '../../support/postgres-server.ts';
import { openSharedTables } from '../../support/shared-tables.ts';
import type { SharedTables } from '../../support/shared-tables.ts';
import { emptied } from './empty-stores.ts';
import { rolesSetup } from './roles-setup.ts';
import type { RolesSetup } from './roles-setup.ts';

const clock = createSystemClock();
const ids = createIdSource({ clock });

let setup: RolesSetup;
let tables: SharedTables;

beforeAll(async () => {
  const server = await ownServer();
  setup = rolesSetup(server);
  await setup.grant();
  await setup.migrate();
  for (const tenant of ['acme', 'other']) await setup.grant({ runtime: tenant, tenant });
  tables = await openSharedTables(async () => ({ url: setup.urlOf('acme'), drop: () => server.remove() }));
  const other = await tables.connect(setup.urlOf('other'));
  await createPostgresScheduleStore({ database: other }).append('nightly', [claimed(1)]);
  await createPostgresPolicyStore({ database: other, clock }).keep('reviewer', parseRule('allow shell_run'), by('r0'));
});
beforeEach(() => tables.clear());
afterAll(() => tables.drop());

describe('shut into a tenant, PostgreSQL', () => {
  describeScheduleStore('a database', (beside) =>
    createPostgresScheduleStore({ database: beside === undefined ? tables.one : tables.other, foldEvery: 2 }),
  );
  describeScheduleDefinitions('in a database', () =>
    createPostgresScheduleDefinitions({ database: tables.one, clock, pollMs: 5 }),
  );
  describeScheduleStates('in a database', () => createPostgresScheduleStates({ database: tables.one }));

  describeCandidateHealthStore('in a database', async () => {
    let nowMs = Date.UTC(2026, 0, 1);
    const of = (database: SharedTables['one']) =>
      createPostgresCandidateHealthStore({ database, clock: { now: () => nowMs } });
    return {
      candidateHealth: of(tables.one),
      beside: of(tables.other),
      now: () => nowMs,
      advance: (durationMs) => void (nowMs += durationMs),
      dispose: async () => undefined,
    };
  });

  describePolicyStore('a database', async ({ nowMs, forEveryAgent }) => {
    const at = { now: () => nowMs };
    const written = new MemoryPolicyStore({ clock: at, forEveryAgent: forEveryAgent.map((text) => parseRule(text)) });
    const of = (database: SharedTables['one']) => createPostgresPolicyStore({ database, clock: at, written });
    return { store: of(tables.one), beside: of(tables.other), dispose: async () => undefined };
  });

  describeWorkspaceCopyStore('PostgreSQL', async () => {
    const store = await emptied(await PostgresEventStore.open({ url: tables.url, clock }));
    const of = (database: SharedTables['one'], graceMs?: number) =>
      createPostgresWorkspaceCopyStore({ database, graceMs });
    return {
      ...{ copies: of(store.database), beside: of(tables.other), impatient: of(tables.other, 0) },
      newSession: async () => {
        const sessionId = ids.next();
        await store.create({ sessionId, agentId: 'coder' }, creation());
        return sessionId;
      },
      dispose: () => store.close(),
    };
  });
});
