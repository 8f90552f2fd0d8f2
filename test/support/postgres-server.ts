/**
 * A real PostgreSQL for tests. One server serves a whole run: the first test file that asks starts it, and it ends with
 * the run (test/setup/postgres-folder.ts). `$WAKECHART_TEST_POSTGRES` names another one to use in its place, for a user
 * who may make databases.
 */
import { createSystemClock } from '../../src/actors/clock/system-clock.ts';
import { ask, makeDatabase } from './postgres-databases.ts';
import type { FreshDatabase } from './postgres-databases.ts';
import { PostgresServer, makeServer } from './postgres-process.ts';
import type { ServerPlace, ServerRequest } from './postgres-process.ts';
import { DEBIAN_PROGRAMS, embeddedPrograms, hasDebianPostgres } from './postgres-programs.ts';
import { oncePerRun, postgresRun } from './postgres-run.ts';

export { hasDebianPostgres } from './postgres-programs.ts';
export type { FreshDatabase } from './postgres-databases.ts';
export type { PostgresServer } from './postgres-process.ts';

/** An empty database of a test's own, on the server of the run. */
export async function freshDatabase(): Promise<FreshDatabase> {
  const { givenUrl, id } = postgresRun;
  return givenUrl === undefined
    ? (await sharedServer()).freshDatabase()
    : makeDatabase({ adminUrl: givenUrl, userUrl: givenUrl, runId: id });
}

/** The same with Wakechart's schema in it: a copy of one that was migrated once. */
export async function migratedDatabase(): Promise<FreshDatabase> {
  return copyOfDatabase(await oncePerRun('migrated', makeMigrated));
}

/**
 * A database of a test's own that begins as the one of `url` is now, on the server of the run. Nobody may be connected
 * to that one.
 */
export async function copyOfDatabase(url: string): Promise<FreshDatabase> {
  const template = decodeURIComponent(new URL(url).pathname.slice(1));
  const { givenUrl, id } = postgresRun;
  return givenUrl === undefined
    ? (await sharedServer()).freshDatabase(template)
    : makeDatabase({ adminUrl: givenUrl, userUrl: givenUrl, runId: id, template });
}

/** A server of one's own: to stop, to kill, to fill up. Remove it. */
export async function ownServer(request: Omit<ServerRequest, 'programs' | 'isShared'> = {}): Promise<PostgresServer> {
  return makeServer({ ...request, programs: await embeddedPrograms() });
}

/** The same with the programs of Debian's package, PostgreSQL 15. @returns undefined where it is not installed */
export async function debianServer(
  request: Omit<ServerRequest, 'programs' | 'isShared'> = {},
): Promise<PostgresServer | undefined> {
  return hasDebianPostgres ? makeServer({ ...request, programs: DEBIAN_PROGRAMS }) : undefined;
}

async function sharedServer(): Promise<PostgresServer> {
  const programs = await embeddedPrograms();
  const place = await oncePerRun('shared', async () =>
    JSON.stringify((await makeServer({ programs, isShared: true })).place),
  );
  return new PostgresServer({ programs, isShared: true }, JSON.parse(place) as ServerPlace);
}

/** @returns the URL of the database, to which nobody is connected any more */
async function makeMigrated(): Promise<string> {
  const { migratePostgres } = await import('../../src/adapters/postgres/migrate.ts');
  const { url } = await freshDatabase();
  await migratePostgres({ url, clock: createSystemClock() });
  return url;
}

/** Cuts off everybody else who is connected to the database of `url`. @returns how many */
export async function cutConnections(url: string): Promise<number> {
  const cut = await ask(
    url,
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()',
  );
  return cut.length;
}
