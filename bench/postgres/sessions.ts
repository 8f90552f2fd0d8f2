/** Sessions and events for the benches of the PostgreSQL store, with messages of about two hundred bytes. */
import type { PostgresEventStore } from 'wakechart/postgres';
import { idOf, saying } from '../storage/sessions.ts';

export { idOf, saying };

const MAKERS = 32;

/** Sessions 0, 1, 2 …, each with one event. */
export async function makeSessions(store: PostgresEventStore, count: number): Promise<void> {
  let next = 0;
  const make = async (): Promise<void> => {
    for (let n = next; n < count; n = next) {
      next += 1;
      await store.create({ sessionId: idOf(n), agentId: 'bench' }, [saying(n)]);
    }
  };
  await Promise.all(Array.from({ length: MAKERS }, make));
}
