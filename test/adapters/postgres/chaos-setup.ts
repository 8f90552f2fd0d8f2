/** A PostgreSQL server of a chaos run's own, with the setup of its sessions. */
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { migratePostgres } from '../../../src/adapters/postgres/migrate.ts';
import { CHAOS_SEED } from '../../runtime/chaos-suite.ts';
import { ChaosStage } from '../../runtime/chaos-stage.ts';
import type { Player } from '../../runtime/chaos-troupe.ts';
import { setupOf, postgresStore } from '../../support/postgres-store-under-test.ts';
import { ownServer } from '../../support/postgres-server.ts';
import type { PostgresServer } from '../../support/postgres-server.ts';
import { temporaryHome } from '../../support/temporary-home.ts';

/** What nobody may lose is on the disk when it is acknowledged, as everywhere but in tests. */
const DURABLE = { fsync: 'on', full_page_writes: 'on' };

export interface ChaosServer {
  readonly server: PostgresServer;
  readonly url: string;
  readonly stage: ChaosStage;
  close(): Promise<void>;
}

export async function chaosServer({
  leaseMs,
  beforeData,
}: {
  readonly leaseMs: number;
  readonly beforeData?: (folder: string) => void;
}): Promise<ChaosServer> {
  const server = await ownServer({ settings: DURABLE, ...(beforeData === undefined ? {} : { beforeData }) });
  const { url } = await server.freshDatabase();
  await migratePostgres({ url, clock: createSystemClock() });
  // The database goes with its server.
  const setup = setupOf((await temporaryHome()).path, { url, drop: async () => undefined });
  const stage = await ChaosStage.open({ store: postgresStore, setup, leaseMs, seed: CHAOS_SEED });
  const close = async (): Promise<void> => {
    await stage.close();
    await server.remove();
  };
  return { server, url, stage, close };
}

/**
 * Resolves when each of them has woken a session once more: nobody had to start it anew. Those who send go on
 * meanwhile.
 */
export async function allWakeAgain(workers: readonly Player[]): Promise<void> {
  await Promise.all(workers.map((worker) => worker.says()));
}
