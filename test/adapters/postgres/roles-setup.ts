/**
 * A server with roles as an administrator makes them, with passwords: the owner has migrated, the others may what the
 * script lets them.
 */
import { migratePostgres } from '../../../src/adapters/postgres/migrate.ts';
import { postgresRoles } from '../../../src/adapters/postgres/roles.ts';
import type { PostgresRolesOptions } from '../../../src/adapters/postgres/roles.ts';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { ask } from '../../support/postgres-databases.ts';
import type { PostgresServer } from '../../support/postgres-server.ts';

export const OWNER = 'wakechart_owner';
export const WORKER = 'wakechart_worker';

const DATABASE = 'wakechart';

export interface RolesSetup {
  readonly server: PostgresServer;
  /** Of the administrator, who may do everything. */
  readonly adminUrl: string;
  urlOf(role: string): string;
  /** Runs the script for these roles and gives them the password of the run. */
  grant(options?: PostgresRolesOptions): Promise<void>;
  migrate(): Promise<void>;
}

export function rolesSetup(server: PostgresServer): RolesSetup {
  const adminUrl = server.adminUrl(DATABASE);
  const { password } = new URL(adminUrl);
  const urlOf = (role: string): string => {
    const url = new URL(adminUrl);
    url.username = role;
    return url.href;
  };
  return {
    ...{ server, adminUrl, urlOf },
    async grant(options = {}) {
      await ask(adminUrl, postgresRoles(options));
      for (const role of [options.owner ?? OWNER, options.runtime ?? WORKER, options.monitor])
        if (role !== undefined) await ask(adminUrl, `ALTER ROLE "${role}" PASSWORD '${password}'`);
    },
    migrate: async () => void (await migratePostgres({ url: urlOf(OWNER), clock: createSystemClock() })),
  };
}
