/** Sessions and events for the benches of the PostgreSQL store, with messages of about two hundred bytes. */
import { createSystemClock } from 'wakechart/node';
import { PostgresEventStore } from 'wakechart/postgres';
import type { BenchRow } from '../harness.ts';
import { idOf, saying } from '../storage/sessions.ts';
import { startServer } from './server.ts';
import type { BenchServer } from './server.ts';

export { idOf, saying };

const MAKERS = 32;

export interface StoreScene {
  readonly server: BenchServer;
  readonly url: string;
  readonly store: PostgresEventStore;
}

/** A server of its own, and a store over it with so many sessions. */
export async function withStore(
  sessions: number,
  measure: (scene: StoreScene) => Promise<BenchRow[]>,
): Promise<BenchRow[]> {
  const server = await startServer();
  try {
    const url = await server.migrated();
    const store = await PostgresEventStore.open({ url, clock: createSystemClock() });
    await makeSessions(store, sessions);
    const rows = await measure({ server, url, store });
    await store.close();
    return rows;
  } finally {
    await server.stop();
  }
}

/** Sessions 0, 1, 2 …, each with one event. */
async function makeSessions(store: PostgresEventStore, count: number): Promise<void> {
  let next = 0;
  const make = async (): Promise<void> => {
    for (let n = next; n < count; n = next) {
      next += 1;
      await store.create({ sessionId: idOf(n), agentId: 'bench' }, [saying(n)]);
    }
  };
  await Promise.all(Array.from({ length: MAKERS }, make));
}
