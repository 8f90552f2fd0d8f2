/**
 * Most appends take nothing along: no key, no hint, no right to wake. They are stored by a function that changes the
 * session's row only where the append is admitted, and judges nothing: what it does not store, `append_one_1` is asked
 * about, which tells why.
 */
import { OWN_OPERATORS } from './migration.ts';
import type { Migration } from './migration.ts';

/**
 * Gives the number of the last event; null where another function has to judge. One that is stored already breaks
 * `event_by_id`, and nothing of it takes place. Data are at most 64 KiB together: none of it belongs into `blob`.
 */
const APPEND_EVENTS = `
CREATE FUNCTION $s.append_events_1(
  p_session uuid, p_head integer, p_claims boolean, p_epoch integer, e_ids uuid[], e_types text[], e_versions integer[], e_times text[], e_data text[]
) RETURNS integer ${OWN_OPERATORS} SET plan_cache_mode = force_generic_plan AS $body$
DECLARE
  v_count integer := cardinality(e_ids);
  v_before integer;
BEGIN
  UPDATE $s.session s SET head = s.head + v_count, epoch = greatest(s.epoch, coalesce(p_epoch, 0)), changed_at = clock_timestamp()
    WHERE s.id = p_session AND (p_head IS NULL OR s.head = p_head) AND (p_epoch IS NULL OR p_epoch > s.epoch OR (p_epoch = s.epoch AND NOT p_claims))
    RETURNING s.head - v_count INTO v_before;
  IF NOT FOUND THEN RETURN NULL; END IF;
  INSERT INTO $s.event (session_id, seq, id, type, v, epoch, at, record_events, data)
    SELECT p_session, v_before + e.n, e.id, e.type, e.v, p_epoch, e.at, CASE WHEN e.n = 1 THEN v_count END, e.data
    FROM unnest(e_ids, e_types, e_versions, e_times, e_data) WITH ORDINALITY AS e (id, type, v, at, data, n);
  RETURN v_before + v_count;
END $body$;
`;

export const shorterAppendMigration: Migration = {
  version: 6,
  name: 'shorter-append',
  serves: 1,
  statements: (schema) => APPEND_EVENTS.replaceAll('$s', schema),
};
