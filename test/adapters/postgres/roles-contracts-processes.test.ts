/**
 * Roles that may do no more than they have to can do all that they have to: the contracts, unchanged, with the rights
 * that the script gives.
 */
import { afterAll, beforeAll, describe } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { PostgresEventStore } from '../../../src/adapters/postgres/postgres-event-store.ts';
import { debianServer, hasDebianPostgres, ownServer } from '../../support/postgres-server.ts';
import type { PostgresServer } from '../../support/postgres-server.ts';
import { emptied } from './empty-stores.ts';
import { rolesSetup } from './roles-setup.ts';
import type { RolesSetup } from './roles-setup.ts';
import { describeThreeContracts } from './three-contracts.ts';

function describeRoles(
  name: string,
  start: () => Promise<PostgresServer | undefined>,
  { isTenantOnly = false } = {},
): void {
  let setup: RolesSetup | undefined;

  beforeAll(async () => {
    const server = await start();
    if (server === undefined) throw new Error('expected a server');
    setup = rolesSetup(server);
    await setup.grant();
    await setup.migrate();
  });
  afterAll(() => setup?.server.remove());

  const as = (role: string): Promise<PostgresEventStore> =>
    PostgresEventStore.open({ url: setup?.urlOf(role) ?? '', clock: createSystemClock() });
  const reachedBy = (
    role: string,
  ): { open(): Promise<PostgresEventStore>; another(): Promise<PostgresEventStore> } => ({
    open: async () => emptied(await as(role)),
    another: () => as(role),
  });

  if (!isTenantOnly) describeThreeContracts(`${name}, by the role of workers`, reachedBy('wakechart_worker'));

  describe('shut into a tenant', () => {
    beforeAll(async () => {
      // What others have left a tenant cannot see, and a hint that stands there already is not added again.
      await (await emptied(await as('wakechart_worker'))).close();
      await setup?.grant({ runtime: 'acme', tenant: 'acme' });
    });

    describeThreeContracts(`${name}, by the role of a tenant`, reachedBy('acme'));
  });
}

describe('PostgreSQL 18', () => {
  describeRoles('PostgreSQL', ownServer);
});

describe.skipIf(!hasDebianPostgres)('PostgreSQL 15', () => {
  describeRoles('PostgreSQL 15', debianServer, { isTenantOnly: true });
});
