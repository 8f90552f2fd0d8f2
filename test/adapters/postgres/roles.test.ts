/** Roles that may do what they have to, and nothing else. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { createPostgresFleet } from '../../../src/adapters/postgres/fleet.ts';
import { migratePostgres } from '../../../src/adapters/postgres/migrate.ts';
import { PostgresEventStore } from '../../../src/adapters/postgres/postgres-event-store.ts';
import { postgresRoles } from '../../../src/adapters/postgres/roles.ts';
import { idOf } from '../../../src/testing/session-fixtures.ts';
import { ask } from '../../support/postgres-databases.ts';
import { ownServer } from '../../support/postgres-server.ts';
import { park } from './parked-session.ts';
import { OWNER, WORKER, rolesSetup } from './roles-setup.ts';
import type { RolesSetup } from './roles-setup.ts';

const MONITOR = 'wakechart_monitor';

const REFUSED = { code: '42501' };

let setup: RolesSetup;

beforeAll(async () => {
  setup = rolesSetup(await ownServer());
  await setup.grant({ monitor: MONITOR });
  await setup.migrate();
  await setup.grant({ monitor: MONITOR });
});

afterAll(() => setup.server.remove());

const as = (role: string, statement: string): Promise<readonly object[]> => ask(setup.urlOf(role), statement);

describe('the role of workers', () => {
  it('opens the store', async () => {
    const store = await PostgresEventStore.open({ url: setup.urlOf(WORKER), clock: createSystemClock() });
    expect(store.isHearing).toBe(true);
    await store.close();
  });

  it.each([
    'DROP TABLE wakechart.session',
    'TRUNCATE wakechart.event',
    "UPDATE wakechart.event SET data = ''",
    'ALTER TABLE wakechart.session ADD COLUMN more text',
    'CREATE TABLE wakechart.more (id integer)',
    'CREATE TABLE public.more (id integer)',
    'CREATE FUNCTION wakechart.more() RETURNS integer LANGUAGE sql AS $$ SELECT 1 $$',
    'DROP FUNCTION wakechart.delete_session_1(uuid, uuid)',
    'CREATE TRIGGER more BEFORE INSERT ON wakechart.session FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()',
    'CREATE SCHEMA more',
    "INSERT INTO wakechart.migration (version, name, checksum, serves) VALUES (99, 'more', '', 1)",
    'UPDATE wakechart.migration SET serves = 99',
    'DELETE FROM wakechart.migration',
    'ALTER ROLE wakechart_worker CREATEROLE',
    'SET ROLE wakechart_owner',
    'SELECT * FROM elsewhere.secret',
  ])('may not %s', async (statement) => {
    await ask(
      setup.adminUrl,
      'CREATE SCHEMA IF NOT EXISTS elsewhere; CREATE TABLE IF NOT EXISTS elsewhere.secret (id integer)',
    );
    await expect(as(WORKER, statement)).rejects.toMatchObject(REFUSED);
  });

  it('may use the tables and functions of later migrations, and still not the list of migrations', async () => {
    await as(
      OWNER,
      'CREATE TABLE wakechart.later (id integer); CREATE FUNCTION wakechart.later_1() RETURNS integer LANGUAGE sql AS $$ SELECT 1 $$',
    );
    await as(WORKER, 'INSERT INTO wakechart.later VALUES (wakechart.later_1())');
    expect(
      await as(
        WORKER,
        "SELECT has_table_privilege('wakechart.later', 'TRUNCATE') AS may_empty, has_table_privilege('wakechart.migration', 'INSERT') AS may_claim",
      ),
    ).toEqual([{ may_empty: false, may_claim: false }]);
    await as(OWNER, 'DROP TABLE wakechart.later; DROP FUNCTION wakechart.later_1()');
  });
});

describe('the role of monitoring', () => {
  it('sees the fleet, without the reasons that sessions are parked for', async () => {
    const worker = await PostgresEventStore.open({ url: setup.urlOf(WORKER), clock: createSystemClock() });
    await park(worker, idOf(60));
    await worker.close();
    const store = await PostgresEventStore.open({ url: setup.urlOf(MONITOR), clock: createSystemClock() });
    const { parked, lag } = await createPostgresFleet({
      database: store.database,
      isHearing: () => store.isHearing,
    }).check();
    expect([parked.items, lag.sessions]).toEqual([
      [{ sessionId: idOf(60), agentId: 'tester', reason: '', since: expect.any(String) }],
      0,
    ]);
    await store.close();
    await as(OWNER, 'DELETE FROM wakechart.view; DELETE FROM wakechart.event; DELETE FROM wakechart.session');
  });

  it('sees counts, times and states', async () => {
    expect(await as(MONITOR, 'SELECT count(id) AS sessions FROM wakechart.session')).toEqual([{ sessions: '0' }]);
    expect(
      await as(MONITOR, "SELECT count(seq) FILTER (WHERE type = 'wake.started') AS wakes FROM wakechart.event"),
    ).toEqual([{ wakes: '0' }]);
    await as(MONITOR, 'SELECT owner, alive_until FROM wakechart.worker');
  });

  it('is given every column that it is meant to see: none of them has another name by now', async () => {
    const seen = await ask<{ readonly columns: string }>(
      setup.adminUrl,
      "SELECT count(*) AS columns FROM information_schema.column_privileges WHERE grantee = 'wakechart_monitor' AND table_schema = 'wakechart'",
    );
    const meant = /VALUES (?<all>.*)\) AS seen/
      .exec(postgresRoles({ monitor: MONITOR }))
      ?.groups?.['all']?.split('), (').length;
    expect(Number(seen[0]?.columns)).toBe(meant);
  });

  it.each([
    'SELECT data FROM wakechart.event',
    'SELECT data FROM wakechart.event_3',
    'SELECT data FROM wakechart.blob',
    'SELECT state FROM wakechart.view',
    'SELECT body FROM wakechart.policy',
    'SELECT body FROM wakechart.job',
    'DELETE FROM wakechart.worker',
    'SELECT wakechart.delete_session_1(NULL, NULL)',
  ])('may not %s', async (statement) => {
    await expect(as(MONITOR, statement)).rejects.toMatchObject(REFUSED);
  });
});

describe('everybody else', () => {
  it('does not get into the schema', async () => {
    await ask(setup.adminUrl, `CREATE ROLE passerby LOGIN PASSWORD '${new URL(setup.adminUrl).password}'`);
    await expect(as('passerby', 'SELECT count(*) FROM wakechart.session')).rejects.toMatchObject(REFUSED);
  });
});

describe('settings of the roles', () => {
  it.each([WORKER, MONITOR])(
    '%s scans no schema in which others may make something, and ends what takes too long',
    async (role) => {
      const [settings] = await as(
        role,
        "SELECT current_setting('search_path') AS path, current_setting('statement_timeout') AS statement, current_setting('idle_in_transaction_session_timeout') AS idle",
      );
      expect(settings).toEqual({ path: 'pg_catalog, pg_temp', statement: '1min', idle: '1min' });
    },
  );

  it('keep limits that the administrator has set', async () => {
    await ask(
      setup.adminUrl,
      "ALTER ROLE wakechart_monitor SET statement_timeout = '5s'; ALTER ROLE wakechart_monitor IN DATABASE wakechart RESET statement_timeout",
    );
    await setup.grant({ monitor: MONITOR });
    expect(await as(MONITOR, "SELECT current_setting('statement_timeout') AS statement")).toEqual([
      { statement: '5s' },
    ]);
  });

  it('are left alone, and the rights given, where the administrator may not change them', async () => {
    const { password } = new URL(setup.adminUrl);
    await ask(
      setup.adminUrl,
      `CREATE ROLE hers LOGIN PASSWORD '${password}'; CREATE ROLE his LOGIN CREATEROLE PASSWORD '${password}'`,
    );
    await ask(setup.adminUrl, 'CREATE DATABASE his OWNER his');
    const url = new URL(setup.urlOf('his'));
    url.pathname = '/his';
    await ask(url.href, postgresRoles({ owner: 'his_owner', runtime: 'hers' }));
    url.username = 'hers';
    expect(
      await ask(
        url.href,
        "SELECT current_setting('statement_timeout') AS statement, has_schema_privilege('wakechart', 'USAGE') AS may_use",
      ),
    ).toEqual([{ statement: '0', may_use: true }]);
  });
});

describe('the script', () => {
  it('takes owners whose names have to be quoted, with a tenant too', async () => {
    const roles = { owner: 'App.Owner-1', runtime: 'App.Worker', monitor: 'App-Monitor', schema: 'quoted_names' };
    await setup.grant(roles);
    await migratePostgres({ url: setup.urlOf(roles.owner), schema: roles.schema, clock: createSystemClock() });
    await setup.grant({ ...roles, tenant: 'acme' });
    expect(await as(roles.runtime, 'SELECT count(*) AS sessions FROM quoted_names.session')).toEqual([
      { sessions: '0' },
    ]);
  });

  it('may be run again, by an administrator who is no superuser too', async () => {
    const { password } = new URL(setup.adminUrl);
    await ask(setup.adminUrl, `CREATE ROLE manager LOGIN CREATEROLE PASSWORD '${password}'`);
    await ask(setup.adminUrl, 'CREATE DATABASE managed OWNER manager');
    const url = new URL(setup.urlOf('manager'));
    url.pathname = '/managed';
    for (let run = 1; run <= 2; run += 1)
      await ask(
        url.href,
        postgresRoles({ owner: 'managed_owner', runtime: 'managed_worker', monitor: 'managed_monitor' }),
      );
    url.username = 'managed_worker';
    await ask(setup.adminUrl, `ALTER ROLE managed_worker PASSWORD '${password}'`);
    await expect(ask(url.href, 'SELECT version FROM wakechart.migration')).resolves.toEqual([]);
  });

  it('refuses a runtime role that may do more than its rights', async () => {
    await expect(ask(setup.adminUrl, postgresRoles({ runtime: 'postgres' }))).rejects.toThrow(
      'the role "postgres" may do more than its rights',
    );
  });

  it('refuses a schema that is somebody else’s', async () => {
    await ask(setup.adminUrl, 'CREATE SCHEMA elsewhere_too');
    await expect(ask(setup.adminUrl, postgresRoles({ schema: 'elsewhere_too' }))).rejects.toThrow(
      'belongs to "postgres", not to "wakechart_owner"',
    );
  });

  it.each([
    { schema: 'Bad-Name' },
    { runtime: 'a"; DROP TABLE x; --' },
    { owner: 'one', runtime: 'one' },
    { monitor: '$body$' },
    { tenant: '' },
  ])('is not written for %o', (options) => {
    expect(() => postgresRoles(options)).toThrow(expect.objectContaining({ code: 'STORE_OPTIONS_INVALID' }));
  });
});
