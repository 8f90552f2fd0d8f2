/**
 * Behind PgBouncer in transaction mode, where each transaction may have another connection: the contracts, unchanged,
 * and news by polling.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { PostgresEventStore } from '../../../src/adapters/postgres/postgres-event-store.ts';
import { migratePostgres } from '../../../src/adapters/postgres/migrate.ts';
import { hasPgBouncer, pgBouncer } from '../../support/postgres-bouncer.ts';
import type { PgBouncer } from '../../support/postgres-bouncer.ts';
import { debianServer, hasDebianPostgres, migratedDatabase } from '../../support/postgres-server.ts';
import { IDENTITY, SESSION_ID, created, message, newEvent } from '../../support/session-events.ts';
import { emptied } from './empty-stores.ts';
import { describeThreeContracts } from './three-contracts.ts';

interface Reached {
  readonly url: string;
  remove(): Promise<void>;
}

function describePooled(name: string, start: () => Promise<Reached>): void {
  let reached: Reached | undefined;
  let bouncer: PgBouncer | undefined;

  beforeAll(async () => {
    reached = await start();
    bouncer = await pgBouncer({ to: reached.url });
  });
  afterAll(async () => {
    await bouncer?.stop();
    await reached?.remove();
  });

  const another = (): Promise<PostgresEventStore> =>
    PostgresEventStore.open({ url: bouncer?.url ?? '', clock: createSystemClock() });
  const open = async (): Promise<PostgresEventStore> => emptied(await another());

  describeThreeContracts(`${name}, behind PgBouncer`, { open, another });

  describe(`two stores over ${name}, behind PgBouncer`, () => {
    it('know that they hear nothing, and see each other’s news by polling', async () => {
      const here = await open();
      const there = await another();
      await here.create(IDENTITY, [newEvent(1, created)]);
      const seen = new Promise<void>((resolve) => there.watch(SESSION_ID, () => resolve()));
      const due = new Promise<void>((resolve) => there.activations.watch(() => resolve()));
      await here.append(SESSION_ID, [newEvent(2, message('News.'))]);
      await Promise.all([seen, due]);
      const head = await there.head(SESSION_ID);
      const hearing = [here.isHearing, there.isHearing];
      await Promise.all([here.close(), there.close()]);
      expect({ head, hearing }).toEqual({ head: 2, hearing: [false, false] });
    });
  });
}

describe.skipIf(!hasPgBouncer)('PostgreSQL 18', () => {
  describePooled('PostgreSQL', async () => {
    const { url, drop } = await migratedDatabase();
    return { url, remove: drop };
  });
});

describe.skipIf(!hasPgBouncer || !hasDebianPostgres)('PostgreSQL 15', () => {
  describePooled('PostgreSQL 15', async () => {
    const server = await debianServer();
    if (server === undefined) throw new Error('expected a server');
    await migratePostgres({ url: server.url(), clock: createSystemClock() });
    return { url: server.url(), remove: () => server.remove() };
  });
});
