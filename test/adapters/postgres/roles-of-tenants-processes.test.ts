/** Two tenants in one database, each with a role of its own: neither sees, moves or removes anything of the other. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { createPostgresPolicyStore } from '../../../src/adapters/postgres/policy-store.ts';
import { PostgresEventStore } from '../../../src/adapters/postgres/postgres-event-store.ts';
import { parseRule } from '../../../src/machines/permission/permission-rule.ts';
import { ask } from '../../support/postgres-databases.ts';
import { freshDatabase, ownServer } from '../../support/postgres-server.ts';
import { AGENT_ID, IDENTITY, SESSION_ID, created, idOf, message, newEvent } from '../../support/session-events.ts';
import { runInProcess } from '../../cli/in-process.ts';
import { OWNER, rolesSetup } from './roles-setup.ts';
import type { RolesSetup } from './roles-setup.ts';

const DUE_SESSION = idOf(7);

let setup: RolesSetup;
let acme: PostgresEventStore;
let other: PostgresEventStore;

async function inEmptyHome(...words: readonly string[]): ReturnType<typeof runInProcess> {
  const home = await mkdtemp(join(tmpdir(), 'wakechart-home-'));
  try {
    return await runInProcess([...words, '--home', home]);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

const open = (role: string): Promise<PostgresEventStore> =>
  PostgresEventStore.open({ url: setup.urlOf(role), clock: createSystemClock() });

beforeAll(async () => {
  setup = rolesSetup(await ownServer());
  await setup.grant();
  await setup.migrate();
  await setup.grant({ runtime: 'acme', tenant: 'acme' });
  await setup.grant({ runtime: 'other', tenant: "O'Hara \\ sons", monitor: 'watcher' });
  await setup.grant({ runtime: 'acme', tenant: 'acme' });
});

afterAll(() => setup.server.remove());

beforeEach(async () => {
  [acme, other] = [await open('acme'), await open('other')];
  await other.create(IDENTITY, [newEvent(1, created)]);
  await other.append(SESSION_ID, [newEvent(2, message('A secret.'))], { idempotencyKey: 'first' });
  await other.create({ sessionId: DUE_SESSION, agentId: AGENT_ID }, [newEvent(11, created)]);
  await other.activations.add([
    { sessionId: DUE_SESSION, agentId: AGENT_ID, causeId: idOf(12), kind: 'ingress', dueAtMs: 0, priority: 'normal' },
  ]);
});

afterEach(async () => {
  await Promise.all([acme.close(), other.close()]);
  await ask(
    setup.urlOf(OWNER),
    'DELETE FROM wakechart.session; DELETE FROM wakechart.event; DELETE FROM wakechart.activation; DELETE FROM wakechart.claim; DELETE FROM wakechart.view; DELETE FROM wakechart.policy',
  );
});

const NOT_THERE = { code: 'SESSION_NOT_FOUND' };

describe('a tenant', () => {
  it('is written into what its role makes, whatever the program says', async () => {
    expect(
      await ask(
        setup.urlOf(OWNER),
        'SELECT DISTINCT tenant FROM wakechart.session UNION SELECT tenant FROM wakechart.activation',
      ),
    ).toEqual([{ tenant: "O'Hara \\ sons" }]);
    const liar = await PostgresEventStore.open({
      url: setup.urlOf('acme'),
      clock: createSystemClock(),
      tenantOf: () => "O'Hara \\ sons",
    });
    await liar.create({ sessionId: idOf(20), agentId: AGENT_ID }, [newEvent(21, created)]);
    await liar.close();
    expect((await acme.list()).map(({ sessionId }) => sessionId)).toEqual([idOf(20)]);
    expect(await other.list()).toHaveLength(2);
  });

  it('sees no session of another, by list, id, key or event', async () => {
    expect(await acme.list()).toEqual([]);
    const checks = [
      () => acme.read(SESSION_ID),
      () => acme.head(SESSION_ID),
      () => acme.identify(SESSION_ID),
      () => acme.records(SESSION_ID),
      () => acme.findByKey(SESSION_ID, 'first'),
      () => acme.findById(SESSION_ID, idOf(2)),
      () => acme.checkpoint(SESSION_ID),
    ];
    for (const check of checks) await expect(check()).rejects.toMatchObject(NOT_THERE);
    expect(await other.head(SESSION_ID)).toBe(2);
  });

  it('can append nothing to it, take no right to wake it, and not delete it', async () => {
    await expect(acme.append(SESSION_ID, [newEvent(3, message('Mine.'))])).rejects.toMatchObject(NOT_THERE);
    await expect(acme.acquireWakeRight(SESSION_ID, { epoch: 0, isOpen: false })).rejects.toMatchObject(NOT_THERE);
    await expect(acme.delete(SESSION_ID, { epoch: 0, isOpen: false })).rejects.toMatchObject(NOT_THERE);
    await expect(acme.create(IDENTITY, [newEvent(1, created)])).rejects.toMatchObject({ code: 'SESSION_EXISTS' });
    expect(await other.head(SESSION_ID)).toBe(2);
  });

  it('is shown nothing that is due for another, and claims nothing of it', async () => {
    const query = { nowMs: Date.now(), limit: 10 };
    expect(await acme.activations.due(query)).toMatchObject({ due: [] });
    expect(await acme.activations.due({ ...query, claims: 10 })).toMatchObject({ due: [] });
    expect((await other.activations.due({ ...query, claims: 10 })).due.map(({ sessionId }) => sessionId)).toEqual([
      DUE_SESSION,
    ]);
  });

  it('can neither remove what is due for another nor put something in its way', async () => {
    const hint = {
      sessionId: DUE_SESSION,
      agentId: AGENT_ID,
      causeId: idOf(12),
      kind: 'ingress',
      dueAtMs: 0,
      priority: 'normal',
    } as const;
    await acme.activations.remove([hint]);
    await expect(acme.activations.add([{ ...hint, causeId: idOf(13) }])).rejects.toMatchObject({
      code: 'STORAGE_FAILED',
      details: { systemCode: '42501' },
    });
    expect((await other.activations.due({ nowMs: Date.now(), limit: 10 })).due).toHaveLength(1);
  });

  it('keeps rules of its own for agents of the same name', async () => {
    const [here, there] = [acme, other].map(({ database, clock }) => createPostgresPolicyStore({ database, clock }));
    await there?.keep('writer', parseRule('allow read'), { by: { sessionId: SESSION_ID, requestId: 'r1' } });
    expect(await here?.rules('writer')).toEqual([]);
    await here?.keep('writer', parseRule('allow write'), { by: { sessionId: SESSION_ID, requestId: 'r2' } });
    expect(await there?.rules('writer')).toHaveLength(1);
  });

  it.each([
    'SELECT data FROM wakechart.event',
    'SELECT data FROM wakechart.blob',
    'SELECT 1 FROM wakechart.session',
    'SELECT 1 FROM wakechart.activation',
    'SELECT state FROM wakechart.view',
    'SELECT 1 FROM wakechart.claim',
    'UPDATE wakechart.session SET head = 0 RETURNING 1',
    'UPDATE wakechart.worker SET alive_until = clock_timestamp() RETURNING 1',
    "SELECT 1 FROM set_config('wakechart.tenant', E'O''Hara \\\\ sons', false), wakechart.session",
  ])('gets no row by: %s', async (statement) => {
    await other.activations.due({ nowMs: Date.now(), limit: 10, claims: 10 });
    expect(await ask(setup.urlOf('acme'), statement)).toEqual([]);
  });

  it.each([
    'SELECT data FROM wakechart.event_1',
    'SELECT * FROM wakechart.tenant_role',
    "UPDATE wakechart.tenant_role SET tenant = 'acme'",
    'ALTER TABLE wakechart.event DISABLE ROW LEVEL SECURITY',
    'DROP POLICY own_tenant ON wakechart.event',
    'ALTER ROLE acme BYPASSRLS',
  ])('may not pass it by: %s', async (statement) => {
    await expect(ask(setup.urlOf('acme'), statement)).rejects.toMatchObject({ code: '42501' });
  });
});

describe('row security', () => {
  it('leaves a tenant all that a worker needs, as `store check` says', async () => {
    const check = await inEmptyHome('store', 'check', '--store', setup.urlOf('acme'));
    expect(check).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /rights: this user may do what a worker does\n[^]*tenant: this user sees what belongs to acme, and nothing else\n[^]*holds: 0 sessions/,
      ) as string,
    });
  });

  it('is broken by a right to the list of tenants, as `store check` says', async () => {
    await ask(setup.urlOf(OWNER), 'GRANT SELECT, INSERT, UPDATE, DELETE ON wakechart.tenant_role TO acme');
    const check = await inEmptyHome('store', 'check', '--store', setup.urlOf('acme'));
    await ask(setup.urlOf(OWNER), 'REVOKE ALL ON wakechart.tenant_role FROM acme');
    expect(check).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('problem  tenant: this user may give himself another tenant') as string,
    });
  });

  it('refuses whoever works for no tenant, who would see an empty store', async () => {
    const role = setup.urlOf('wakechart_worker');
    const elsewhere = await freshDatabase();
    const refusals = await Promise.all([
      inEmptyHome('session', 'list', '--store', role),
      inEmptyHome('fleet', '--store', role),
      inEmptyHome('worker', '--until-idle', '--store', role),
      inEmptyHome('store', 'copy', '--from', role, '--to', elsewhere.url),
    ]);
    await elsewhere.drop();
    for (const refused of refusals)
      expect(refused).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/is in none and would see nothing[^]*STORE_TENANT_MISSING/) as string,
      });
    expect(await inEmptyHome('store', 'check', '--store', role)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('problem  tenant: tenants are shut apart here') as string,
    });
    expect(await inEmptyHome('session', 'list', '--store', setup.urlOf(OWNER))).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(SESSION_ID) as string,
    });
  });

  it('shows whoever has no tenant nothing, and whoever watches counts of all', async () => {
    expect(await ask(setup.urlOf('wakechart_worker'), 'SELECT count(*) AS sessions FROM wakechart.session')).toEqual([
      { sessions: '0' },
    ]);
    expect(await ask(setup.urlOf('watcher'), 'SELECT count(id) AS sessions FROM wakechart.session')).toEqual([
      { sessions: '2' },
    ]);
    expect(await ask(setup.urlOf('watcher'), 'SELECT count(seq) AS events FROM wakechart.event')).toEqual([
      { events: '3' },
    ]);
    expect(await ask(setup.urlOf(OWNER), 'SELECT count(*) AS sessions FROM wakechart.session')).toEqual([
      { sessions: '2' },
    ]);
  });

  it('opens a table of a later migration once it has its policy', async () => {
    await ask(
      setup.urlOf(OWNER),
      'CREATE TABLE wakechart.later (session_id uuid PRIMARY KEY); CREATE TABLE wakechart.later_still (name text PRIMARY KEY)',
    );
    const check = (role: string): Promise<readonly object[]> =>
      ask(setup.urlOf(role), 'SELECT * FROM wakechart.later, wakechart.later_still');
    await expect(check('acme')).rejects.toMatchObject({ code: '42501' });
    await setup.grant({ runtime: 'acme', tenant: 'acme' });
    await ask(setup.urlOf('acme'), "INSERT INTO wakechart.later_still VALUES ('same name')");
    await expect(check('acme')).resolves.toEqual([]);
    await setup.grant({ runtime: 'other', tenant: "O'Hara \\ sons" });
    await ask(setup.urlOf('other'), "INSERT INTO wakechart.later_still VALUES ('same name')");
    await expect(
      ask(setup.urlOf('acme'), `INSERT INTO wakechart.later VALUES ('${SESSION_ID}')`),
    ).rejects.toMatchObject({ code: '42501' });
    await ask(setup.urlOf(OWNER), 'DROP TABLE wakechart.later, wakechart.later_still');
  });
});
