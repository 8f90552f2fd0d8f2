/**
 * An append as somebody would write it by hand, on the same tables: the session's row is locked, searched for the event,
 * added to, and moved on.
 */
import type { PoolClient } from 'pg';
import type { BenchEvent } from '../storage/sessions.ts';

const LOCK = { name: 'lock', text: 'SELECT head, epoch FROM wakechart.session WHERE id = $1 FOR UPDATE' };
const CHECK = {
  name: 'check',
  text: 'SELECT seq FROM wakechart.event WHERE session_id = $1 AND id = $2 AND record_events IS NOT NULL',
};
const ADD = {
  name: 'add',
  text: `INSERT INTO wakechart.event (session_id, seq, id, type, v, at, record_events, data)
    SELECT $1, $2 + e.n, e.id, e.type, 1, e.at, CASE WHEN e.n = 1 THEN cardinality($3::uuid[]) END, e.data
    FROM unnest($3::uuid[], $4::text[], $5::text[], $6::text[]) WITH ORDINALITY AS e (id, type, at, data, n)`,
};
const MOVE = {
  name: 'move',
  text: 'UPDATE wakechart.session SET head = head + $2, changed_at = clock_timestamp() WHERE id = $1',
};

/** The same as one call. */
export const RAW_FUNCTION = `
  CREATE FUNCTION public.raw_append(p_session uuid, p_ids uuid[], p_types text[], p_times text[], p_data text[]) RETURNS integer
  LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
  DECLARE v_head integer;
  BEGIN
    SELECT s.head INTO v_head FROM wakechart.session s WHERE s.id = p_session FOR UPDATE;
    PERFORM 1 FROM wakechart.event e WHERE e.session_id = p_session AND e.id = p_ids[1] AND e.record_events IS NOT NULL;
    IF FOUND THEN RETURN NULL; END IF;
    INSERT INTO wakechart.event (session_id, seq, id, type, v, at, record_events, data)
    SELECT p_session, v_head + n, p_ids[n], p_types[n], 1, p_times[n], CASE WHEN n = 1 THEN cardinality(p_ids) END, p_data[n] FROM generate_series(1, cardinality(p_ids)) AS n;
    UPDATE wakechart.session s SET head = v_head + cardinality(p_ids), changed_at = clock_timestamp() WHERE s.id = p_session;
    RETURN v_head + 1;
  END $$`;

type Append = (client: PoolClient, sessionId: string, events: readonly BenchEvent[]) => Promise<void>;

/** Six statements, six ways there and back. */
export const appendPlainly: Append = async (client, sessionId, events) => {
  await client.query('BEGIN');
  const { rows } = await client.query<{ readonly head: number }>({ ...LOCK, values: [sessionId] });
  const found = await client.query({ ...CHECK, values: [sessionId, events[0]?.id] });
  if (found.rows.length > 0) throw new Error('the event is there already');
  await client.query({ ...ADD, values: [sessionId, rows[0]?.head, ...columns(events)] });
  await client.query({ ...MOVE, values: [sessionId, events.length] });
  await client.query('COMMIT');
};

export const appendByFunction: Append = async (client, sessionId, events) => {
  await client.query({
    name: 'raw',
    text: 'SELECT public.raw_append($1, $2, $3, $4, $5)',
    values: [sessionId, ...columns(events)],
  });
};

function columns(events: readonly BenchEvent[]): readonly (readonly string[])[] {
  return [
    events.map(({ id }) => id),
    events.map(({ type }) => type),
    events.map(({ at }) => at),
    events.map(({ data }) => JSON.stringify(data)),
  ];
}
