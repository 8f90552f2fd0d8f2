/** A wake as somebody would write it by hand who needs nothing but this: two tables, five statements. */
import type { Pool } from 'pg';

/** What a wake appends, in its order: each at once, and on the disk before the next. */
export type Appends = readonly (readonly WrittenEvent[])[];

export interface WrittenEvent {
  readonly id: string;
  readonly type: string;
  readonly data: string;
}

export interface ClaimedRow {
  readonly sessionId: string;
  readonly epoch: number;
}

export const WRITTEN_TABLES = `
  CREATE SCHEMA written;
  CREATE TABLE written.session (id uuid PRIMARY KEY, head integer NOT NULL, epoch integer NOT NULL, due_at timestamptz, owner text, lease_until timestamptz) WITH (fillfactor = 70);
  CREATE INDEX ON written.session (due_at) WHERE due_at IS NOT NULL;
  CREATE TABLE written.event (session_id uuid NOT NULL, seq integer NOT NULL, id uuid NOT NULL, type text NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp(), data text NOT NULL, PRIMARY KEY (session_id, seq));`;

/** $1 sessions with two events each. */
export const MAKE_WRITTEN = `
  WITH made AS (INSERT INTO written.session SELECT gen_random_uuid(), 2, 0, clock_timestamp() FROM generate_series(1, $1::integer) RETURNING id)
  INSERT INTO written.event SELECT id, n, gen_random_uuid(), 'user.message', clock_timestamp(), $2 FROM made, generate_series(1, 2) AS n`;

const CLAIM = `
  UPDATE written.session SET owner = $1, epoch = epoch + 1, lease_until = clock_timestamp() + interval '15 seconds' WHERE id IN (
    SELECT id FROM written.session WHERE due_at <= clock_timestamp() AND (lease_until IS NULL OR lease_until < clock_timestamp()) ORDER BY due_at LIMIT 8 FOR UPDATE SKIP LOCKED)
  RETURNING id AS "sessionId", epoch`;

const READ = 'SELECT seq, id, type, at, data FROM written.event WHERE session_id = $1 ORDER BY seq';

const appending = (change: string): string => `
  WITH s AS (UPDATE written.session SET head = head + cardinality($3::uuid[])${change} WHERE id = $1 AND epoch = $2 RETURNING head)
  INSERT INTO written.event (session_id, seq, id, type, data)
  SELECT $1, s.head - cardinality($3::uuid[]) + e.n, e.id, e.type, e.data FROM s, unnest($3::uuid[], $4::text[], $5::text[]) WITH ORDINALITY AS e (id, type, data, n)`;

const APPEND = appending('');
const END = appending(', due_at = NULL, owner = NULL, lease_until = NULL');

export async function claimWritten(pool: Pool, owner: string): Promise<readonly ClaimedRow[]> {
  return (await pool.query<ClaimedRow>({ name: 'claim', text: CLAIM, values: [owner] })).rows;
}

export async function wakeWritten(pool: Pool, { sessionId, epoch }: ClaimedRow, appends: Appends): Promise<void> {
  await pool.query({ name: 'read', text: READ, values: [sessionId] });
  for (const [index, events] of appends.entries()) {
    const isLast = index === appends.length - 1;
    const values = [
      sessionId,
      epoch,
      events.map((event) => event.id),
      events.map(({ type }) => type),
      events.map(({ data }) => data),
    ];
    await pool.query({ name: isLast ? 'end' : 'append', text: isLast ? END : APPEND, values });
  }
}
