/** What the workers over one database do between them, as an inspector shows it. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createPostgresFleet } from '../../../src/adapters/postgres/fleet.ts';
import type { PostgresDatabase } from '../../../src/adapters/postgres/postgres-database.ts';
import type { PostgresEventStore } from '../../../src/adapters/postgres/postgres-event-store.ts';
import type { FleetOverview } from '../../../src/actors/inspection/fleet.ts';
import { IDENTITY, SESSION_ID, creation, idOf, messageOf } from '../../../src/testing/session-fixtures.ts';
import type { Activation } from '../../../src/machines/session/activation.ts';
import { emptyStores } from './empty-stores.ts';
import { PARKED_AT, PARKED_BECAUSE, park } from './parked-session.ts';

const { open, another } = emptyStores();
const NEW = { epoch: 0, isOpen: false };

const check = (
  store: PostgresEventStore,
  limits: { readonly listed?: number; readonly counted?: number; readonly seen?: number } = {},
): Promise<FleetOverview> =>
  createPostgresFleet({ database: store.database, isHearing: () => store.isHearing, ...limits }).check();
const dueOf = (sessionId: string, dueAtMs: number, priority: Activation['priority'] = 'normal'): Activation => ({
  sessionId,
  agentId: 'tester',
  causeId: idOf(7),
  kind: 'ingress',
  dueAtMs,
  priority,
});
const isoOf = (ms: number): string => new Date(ms).toISOString();

describe('the fleet over PostgreSQL', () => {
  it('is nobody where nobody works: whoever only checks is no worker', async () => {
    const store = await open();
    expect(await check(store)).toMatchObject({
      workers: { items: [], total: 0, isCut: false },
      leases: { items: [], total: 0 },
      lag: { sessions: 0, isCut: false, parts: [] },
      parked: { items: [], total: 0 },
    });
    const { at, connections } = await check(store);
    expect([
      Math.abs(Date.parse(at) - store.clock.now()) < 60_000,
      connections.open > 0,
      connections.most > connections.open,
    ]).toEqual([true, true, true]);
    await store.close();
  });

  it('tells who works, what each wakes and has taken, and who is silent', async () => {
    const one = await open({ owner: 'one:1' });
    const other = await another({ owner: 'other:2' });
    await one.create(IDENTITY, creation());
    await one.create({ ...IDENTITY, sessionId: idOf(1) }, creation());
    await one.acquireWakeRight(SESSION_ID, NEW);
    await other.activations.add([dueOf(idOf(1), 5_000)]);
    await other.activations.due({ nowMs: other.clock.now(), claims: 1, limit: 1 });
    const { workers, leases, lag } = await check(one);
    const fleet = createPostgresFleet({ database: other.database, isHearing: () => false });
    expect([await fleet.workerOf(SESSION_ID), await fleet.workerOf(idOf(1))]).toEqual([
      { owner: 'one:1', aliveUntil: workers.items.find(({ owner }) => owner === 'one:1')?.aliveUntil },
      undefined,
    ]);
    expect(workers).toMatchObject({
      total: 2,
      items: [
        { id: one.workerId, owner: 'one:1', isAlive: true, wakes: 1, claims: 0 },
        { id: other.workerId, owner: 'other:2', isAlive: true, wakes: 0, claims: 1 },
      ],
    });
    expect(leases.items).toEqual([
      {
        sessionId: SESSION_ID,
        agentId: 'tester',
        workerId: one.workerId,
        owner: 'one:1',
        isAlive: true,
        epoch: 1,
        since: expect.any(String),
      },
    ]);
    // What somebody has taken waits for nobody.
    expect(lag.sessions).toBe(0);
    await one.database.run(
      `UPDATE ${one.database.schema}.worker SET alive_until = clock_timestamp() - interval '1 minute'`,
    );
    const later = await check(one);
    expect([
      later.workers.items.map(({ isAlive }) => isAlive),
      later.leases.items.map(({ isAlive }) => isAlive),
    ]).toEqual([[false, false], [false]]);
    expect(later.lag).toMatchObject({ sessions: 1, since: isoOf(5_000) });
    await Promise.all([one.close(), other.close()]);
  });

  it('tells of a wake whose worker has left no trace', async () => {
    const [here, gone] = [await open(), await another()];
    await here.create(IDENTITY, creation());
    await gone.acquireWakeRight(SESSION_ID, NEW);
    const { workerId } = gone;
    await here.database.run(`DELETE FROM ${here.database.schema}.worker`);
    expect((await check(here)).leases.items).toEqual([
      { sessionId: SESSION_ID, agentId: 'tester', workerId, isAlive: false, epoch: 1, since: expect.any(String) },
    ]);
    await Promise.all([here.close(), gone.close()]);
  });

  it('tells what is due and for how long, by tenant and priority, and not what has time', async () => {
    const store = await open({ tenantOf: ({ sessionId }) => (sessionId === SESSION_ID ? 'acme' : 'zoo') });
    for (const sessionId of [SESSION_ID, idOf(1), idOf(2)]) await store.create({ ...IDENTITY, sessionId }, creation());
    await store.activations.add([
      dueOf(SESSION_ID, 9_000, 'high'),
      dueOf(idOf(1), 4_000),
      { ...dueOf(idOf(1), 6_000), causeId: idOf(8) },
      dueOf(idOf(2), store.clock.now() + 3_600_000),
    ]);
    expect((await check(store)).lag).toEqual({
      sessions: 2,
      isCut: false,
      since: isoOf(4_000),
      parts: [
        { tenant: 'zoo', priority: 'normal', sessions: 1, since: isoOf(4_000) },
        { tenant: 'acme', priority: 'high', sessions: 1, since: isoOf(9_000) },
      ],
    });
    await store.close();
  });

  it('tells which sessions are parked, why and since when, until somebody lets one go on', async () => {
    const store = await open();
    await park(store, SESSION_ID);
    await park(store, idOf(50));
    const { parked } = await check(store);
    expect(parked).toEqual({
      total: 2,
      isCut: false,
      items: [idOf(50), SESSION_ID].map((sessionId) => ({
        sessionId,
        agentId: 'tester',
        reason: PARKED_BECAUSE,
        since: PARKED_AT,
      })),
    });
    // Its view stays as it was until the next wake.
    await store.append(SESSION_ID, [messageOf(4)], { activate: [dueOf(SESSION_ID, 1_000)] });
    expect((await check(store)).parked.items.map(({ sessionId }) => sessionId)).toEqual([idOf(50)]);
    await store.close();
  });

  it('is bounded, and says where there is more', async () => {
    const store = await open();
    await Promise.all(Array.from({ length: 4 }, (_, n) => park(store, idOf(100 + n))));
    await store.activations.add(Array.from({ length: 4 }, (_, n) => dueOf(idOf(100 + n), 1_000 + n)));
    const { lag, parked } = await check(store, { listed: 1, counted: 2 });
    expect([lag, parked.items.length, parked.total, parked.isCut]).toMatchObject([
      { isCut: true, since: isoOf(1_000) },
      1,
      2,
      true,
    ]);
    await store.close();
  });

  it('checks no further than it was told when most of what is due is in hand, and says so', async () => {
    const store = await open();
    for (const sessionId of [SESSION_ID, idOf(1), idOf(2)]) await store.create({ ...IDENTITY, sessionId }, creation());
    await store.activations.add([dueOf(SESSION_ID, 1_000), dueOf(idOf(1), 2_000), dueOf(idOf(2), 3_000)]);
    await store.acquireWakeRight(SESSION_ID, NEW);
    await store.acquireWakeRight(idOf(1), NEW);
    expect((await check(store, { seen: 2 })).lag).toMatchObject({ sessions: 0, isCut: true });
    expect((await check(store, { seen: 3 })).lag).toMatchObject({ sessions: 1, isCut: false, since: isoOf(3_000) });
    await store.close();
  });

  it('shows the wakes of those who are gone before any other, however many there are', async () => {
    const [here, gone] = [await open(), await another({ owner: 'gone:2' })];
    await fill(here, { leases: 300, isAlive: true });
    await here.create(IDENTITY, creation());
    await gone.acquireWakeRight(SESSION_ID, NEW);
    await here.database.run(
      `UPDATE ${here.database.schema}.worker SET alive_until = clock_timestamp() - interval '1 minute' WHERE id = $1`,
      [gone.workerId],
    );
    const { leases } = await check(here, { listed: 2, counted: 50 });
    expect([leases.total, leases.isCut, leases.items.map(({ owner, isAlive }) => [owner, isAlive])]).toEqual([
      50,
      true,
      [
        ['gone:2', false],
        ['filled:9', true],
      ],
    ]);
    await Promise.all([here.close(), gone.close()]);
  });

  it.each(['living', 'gone'])(
    'costs no more than its bounds, however much lies there: leases of a worker that is %s',
    async (kind) => {
      const store = await open();
      const isAlive = kind === 'living';
      const bounds = { listed: 10, counted: 50, seen: 100 };
      await fill(store, { leases: 1_000, isAlive });
      const few = await rowsTouched(store, bounds);
      await fill(store, { leases: 9_000, isAlive });
      const many = await rowsTouched(store, bounds);
      // A check each of the leases would be at ten times as many.
      expect(many, `${few} rows before`).toBeLessThan(few * 2);
      await store.close();
    },
  );
});

interface Filling {
  readonly leases: number;
  readonly isAlive: boolean;
}

/** Sessions that were due long ago, each leased to the same worker and parked, with a planner that knows of them. */
async function fill({ database }: PostgresEventStore, { leases, isAlive }: Filling): Promise<void> {
  const { schema } = database;
  const worker = idOf(900);
  await database.run(
    `INSERT INTO ${schema}.worker (id, owner, alive_until) VALUES ($1, 'filled:9', clock_timestamp() + $2::interval) ON CONFLICT DO NOTHING`,
    [worker, isAlive ? '1 hour' : '-1 hour'],
  );
  await database.run(
    `WITH made AS (INSERT INTO ${schema}.session (id, agent_id, tenant, head, epoch, lease_epoch, lease_token, lease_worker, leased_at)
        SELECT gen_random_uuid(), 'tester', 'default', 1, 0, 1, gen_random_uuid(), $2, clock_timestamp() FROM generate_series(1, $1) RETURNING id),
      due AS (INSERT INTO ${schema}.activation (session_id, agent_id, tenant, cause_id, kind, priority, rank, due_at_ms) SELECT id, 'tester', 'default', 'c', 'ingress', 'normal', 4, 1000 FROM made)
    INSERT INTO ${schema}.view (session_id, head, fold_version, status, is_parked, state) SELECT id, 0, 1, 'parked', true, '' FROM made`,
    [leases, worker],
  );
  for (const table of ['session', 'activation', 'view', 'worker']) await database.run(`ANALYZE ${schema}.${table}`);
}

const planShape = z.object({ 'QUERY PLAN': z.array(z.object({ Plan: z.looseObject({}) })) });
const nodeShape = z.object({
  'Actual Rows': z.number(),
  'Actual Loops': z.number(),
  'Rows Removed by Filter': z.number().default(0),
  Plans: z.array(z.looseObject({})).default([]),
});

/** How many rows all steps of the check have handled, as the server counts them: no clock tells. */
async function rowsTouched(
  store: PostgresEventStore,
  limits: { readonly listed: number; readonly counted: number; readonly seen: number },
): Promise<number> {
  const { database } = store;
  const counts: number[] = [];
  const count = (value: unknown): number => {
    const node = nodeShape.parse(value);
    return (
      (node['Actual Rows'] + node['Rows Removed by Filter']) * node['Actual Loops'] +
      node.Plans.reduce((sum, plan) => sum + count(plan), 0)
    );
  };
  const run: PostgresDatabase['run'] = async (statement, values) => {
    if (typeof statement === 'string' && statement.startsWith('WITH')) {
      const [row] = await database.run(`EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${statement}`, values);
      for (const { Plan } of planShape.parse(row)['QUERY PLAN']) counts.push(count(Plan));
    }
    return database.run(statement, values);
  };
  await createPostgresFleet({
    database: { schema: database.schema, run, transaction: (work) => database.transaction(work) },
    isHearing: () => true,
    ...limits,
  }).check();
  return counts.reduce((sum, each) => sum + each, 0);
}
