/**
 * A server of a test's own that crashes when it is told to, and whose log reaches the disk only where a commit waits
 * for that.
 */
import type { PostgresServer } from '../../support/postgres-server.ts';

/** Nothing but a commit that waits writes the log within any test: not its writer, and no vacuum. */
export const LAZY_LOG = { wal_writer_delay: '10s', wal_writer_flush_after: '1GB', autovacuum: 'off' } as const;

/** Loses what is in its memory, and comes back. */
export async function crash(server: PostgresServer): Promise<void> {
  await server.stop('immediate');
  await server.start();
}
