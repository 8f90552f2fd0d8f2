/**
 * A rolling deploy under load: the schema moves on while workers of the version before are at it, and those of both
 * versions work side by side.
 */
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { MIGRATIONS } from '../../../src/adapters/postgres/migrations/index.ts';
import { migratePostgres } from '../../../src/adapters/postgres/migrate.ts';
import { PostgresEventStore } from '../../../src/adapters/postgres/postgres-event-store.ts';
import { ChaosStage } from '../../runtime/chaos-stage.ts';
import { CHAOS_SEED } from '../../runtime/chaos-suite.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { postgresStore, urlOf } from '../../support/postgres-store-under-test.ts';
import { allWakeAgain } from './chaos-setup.ts';
import { makeNewerProgram, nextStep, openingBy } from './newer-program.ts';

const LEASE_MS = 1_000;
const clock = createSystemClock();

let stage: ChaosStage;
let url: string;
let newer: string;
beforeEach(async () => {
  const setup = await postgresStore.setup();
  url = urlOf(setup.place);
  newer = await makeNewerProgram(join(setup.place.home, 'newer'));
  stage = await ChaosStage.open({ store: postgresStore, setup, leaseMs: LEASE_MS, seed: CHAOS_SEED });
});
afterEach(() => stage.close());

/** Those who work hold the tables too: whoever migrates may be the one whom the server undoes, and does it again. */
async function migrateTo(steps: typeof MIGRATIONS): Promise<readonly string[]> {
  for (;;) {
    try {
      return (await migratePostgres({ url, clock, steps })).applied;
    } catch (error) {
      expect(error).toMatchObject({ code: 'STORAGE_FAILED', details: { systemCode: '40P01' } });
    }
  }
}

describe('a rolling deploy', () => {
  it(
    'moves the schema under workers that go on, lets both versions work side by side, and shuts out those that are too old',
    { timeout: 180_000 },
    async () => {
      const old = [stage.commandLineWorker(), stage.worker('the worker of the old version')];
      const sender = stage.sender('the sender of the old version', [0, 1, 2]);
      for (const player of [...old, sender]) player.start();
      await Promise.all(old.map((player) => player.atWork()));
      // Those of the new version come after the schema, never before.
      expect(await openingBy(newer, url)).toBe('STORE_SCHEMA_OLD');
      expect(await migrateTo([...MIGRATIONS, nextStep])).toEqual([`${String(nextStep.version).padStart(4, '0')}-next`]);

      const next = [
        stage.worker('the worker of the new version', { dist: newer }),
        stage.worker('the other worker of the new version', { dist: newer }),
      ];
      const newSender = stage.sender('the sender of the new version', [3, 4], { dist: newer });
      for (const player of [...next, newSender]) player.start();
      await Promise.all(next.map((player) => player.atWork()));
      await allWakeAgain([...old, ...next]);
      // One of the old version that comes late is served too.
      await (await PostgresEventStore.open({ url, clock })).close();
      expect(await openingBy(newer, url)).toBe('opened');
      while (!(await stage.isEnough())) await allWakeAgain(next);
      await stage.expectWhole(['the schema moved on under load']);

      // Nobody of the old version is left: the next step may leave it behind.
      const last = {
        ...nextStep,
        version: nextStep.version + 1,
        name: 'last',
        serves: nextStep.version,
        statements: (schema: string) => `ALTER TABLE ${schema}.session ADD COLUMN last_version text`,
      };
      await migrateTo([...MIGRATIONS, nextStep, last]);
      expect(await codeOf(PostgresEventStore.open({ url, clock }))).toBe('STORE_SCHEMA_NEW');
    },
  );
});
