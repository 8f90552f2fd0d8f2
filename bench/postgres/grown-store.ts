/**
 * Fills a database with sessions as work leaves them: the same rows and indexes, by statements for many at once, in the
 * order in which wakes come.
 */
import { Client } from 'pg';

export const EVENTS_PER_SESSION = 100;
const EVENTS_PER_WAKE = 10;

/** The n-th session's id, rising with time as those of real ones. Counted from 1. */
const SESSION_ID = idAs("'0190'", 'n::bigint');
/** Ids of events rise within their session. */
const EVENT_ID = idAs("'0191'", `(w * ${EVENTS_PER_WAKE} + e)::bigint * 16777216 + n`);

/** A UUIDv7 in SQL: its first two bytes, then four of a number, then nothing that anybody could foresee. */
function idAs(first: string, number: string): string {
  const digits = `lpad(to_hex(${number}), 8, '0')`;
  const hash = `md5(n || '-' || ${number})`;
  return `(${first} || left(right(${digits}, 8), 4) || '-' || right(${digits}, 4) || '-7' || substr(${hash}, 1, 3) || '-8' || substr(${hash}, 4, 3) || '-' || substr(${hash}, 7, 12))::uuid`;
}

const SESSIONS = `
  INSERT INTO wakechart.session (id, agent_id, tenant, head, epoch)
  SELECT ${SESSION_ID}, 'agent-' || n % 20, 'tenant-' || n % 5, ${EVENTS_PER_SESSION}, ${EVENTS_PER_SESSION / EVENTS_PER_WAKE} FROM generate_series($1::integer, $2::integer) AS n`;

/** The events of one wake of each session: a message with a key, and three records of the wake. */
const WAKE = `
  INSERT INTO wakechart.event (session_id, seq, id, type, v, epoch, at, record_events, record_key, data)
  SELECT ${SESSION_ID}, $3::integer * ${EVENTS_PER_WAKE} + e, ${EVENT_ID}, 'agent.message', 1, CASE WHEN e > 1 THEN $3::integer + 1 END, '2026-01-01T00:00:00.000Z',
    CASE e WHEN 1 THEN 1 WHEN 2 THEN 3 WHEN 5 THEN 3 WHEN 8 THEN 3 END, CASE e WHEN 1 THEN 'message-' || w END,
    '{"text":"' || repeat('It was the best of times. ', 6) || '","spanId":"' || md5(n || '-' || e) || '"}'
  FROM generate_series($1::integer, $2::integer) AS n, generate_series($3::integer, $3::integer) AS w, generate_series(1, ${EVENTS_PER_WAKE}) AS e`;

/** @param state what the newest folded state of a session is long, in JSON */
const VIEWS = `
  INSERT INTO wakechart.view (session_id, head, fold_version, status, is_parked, state)
  SELECT ${SESSION_ID}, ${EVENTS_PER_SESSION}, 0, 'idle', false, $3 FROM generate_series($1::integer, $2::integer) AS n`;

/** One of five sleeps until its time; some are due. */
const HINTS = `
  INSERT INTO wakechart.activation (session_id, agent_id, tenant, cause_id, kind, priority, rank, due_at_ms)
  SELECT ${SESSION_ID}, 'agent-' || n % 20, 'tenant-' || n % 5, 'cause-' || n, 'wake', 'normal', 4, CASE WHEN n % 500 = 0 THEN n ELSE 4000000000000 + n END
  FROM generate_series($1::integer, $2::integer) AS n WHERE n % 5 = 0`;

/** Bytes of a view of a session with a few wakes behind it. */
const STATE = JSON.stringify({ state: '.'.repeat(1_500) });

/** Adds the sessions from the first to the last, with their events. */
export async function grow(url: string, first: number, last: number): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('SET synchronous_commit = off');
    await client.query(SESSIONS, [first, last]);
    for (let wake = 0; wake < EVENTS_PER_SESSION / EVENTS_PER_WAKE; wake += 1)
      await client.query(WAKE, [first, last, wake]);
    await client.query(VIEWS, [first, last, STATE]);
    await client.query(HINTS, [first, last]);
    await client.query('ANALYZE');
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
}

/** Ids of some of the first `count` sessions, spread over all of them. */
export async function someSessions(url: string, count: number, wanted: number): Promise<readonly string[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ readonly id: string }>(
      `SELECT ${SESSION_ID} AS id FROM (SELECT 1 + floor(random() * $1)::integer AS n FROM generate_series(1, $2::integer)) AS picked`,
      [count, wanted],
    );
    return rows.map(({ id }) => id);
  } finally {
    await client.end();
  }
}
