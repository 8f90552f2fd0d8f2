/** Holds on to a session as it is now: one that is deleted and brought back under its id was made at another time. */
import { sessionNotFound } from '../../actors/session/event-store.ts';
import type { SessionHold } from '../../actors/shell/session-watch.ts';
import type { PostgresDatabase } from './postgres-database.ts';

/** @throws RuntimeError SESSION_NOT_FOUND, STORAGE_FAILED */
export async function holdSession(database: PostgresDatabase, sessionId: string): Promise<SessionHold> {
  const madeAt = async (): Promise<string | undefined> => {
    const [row] = await database.run<{ readonly made_at: string }>(
      `SELECT s.created_at::text AS made_at FROM ${database.schema}.session s WHERE s.id = $1`,
      [sessionId],
    );
    return row?.made_at;
  };
  const held = await madeAt();
  if (held === undefined) throw sessionNotFound(sessionId);
  return { isThere: async () => (await madeAt()) === held, release: async () => undefined };
}
