/**
 * The atomic steps on logs, as SQL functions: one call, one transaction, one way there and back. They judge as
 * machines/session/log-admission.ts does, in the same order: duplicate, superseded, moved. A later version of one gets
 * a name of its own, since programs of two versions call them during a rolling deploy.
 *
 * Those that touch the partitions of `event` keep one plan for each connection (force_generic_plan): planning over 16
 * partitions takes longer than what is planned, and left to itself the server plans each call anew.
 */
import { OWN_OPERATORS } from './migration.ts';

/**
 * Stores one record and gives nothing. Callers hold the lock of the session's row, or have just made it. Slices,
 * because searching for one text of an array goes through all before it.
 */
const STORE = `
CREATE FUNCTION $s.store_record_1(
  p_session uuid, p_head integer, p_from integer, p_to integer, p_key text,
  e_ids uuid[], e_types text[], e_versions integer[], e_epochs integer[], e_times text[], e_data text[]
) RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $body$
BEGIN
  INSERT INTO $s.event (session_id, seq, id, type, v, epoch, at, record_events, record_key, data)
  SELECT p_session, p_head + e.n, e.id, e.type, e.v, e.epoch, e.at,
         CASE WHEN e.n = 1 THEN p_to - p_from + 1 END, CASE WHEN e.n = 1 THEN p_key END,
         CASE WHEN octet_length(e.data) <= 65536 THEN e.data END
  FROM unnest(e_ids[p_from:p_to], e_types[p_from:p_to], e_versions[p_from:p_to], e_epochs[p_from:p_to], e_times[p_from:p_to], e_data[p_from:p_to])
    WITH ORDINALITY AS e (id, type, v, epoch, at, data, n);
  IF pg_column_size(e_data) > 65536 THEN
    INSERT INTO $s.blob (session_id, seq, data) SELECT p_session, p_head + e.n, e.data
    FROM unnest(e_data[p_from:p_to]) WITH ORDINALITY AS e (data, n) WHERE octet_length(e.data) > 65536;
  END IF;
END $body$;
`;

/**
 * Many appends, each all or nothing for itself, in one transaction; one row for each, in order. Records, events and
 * hints come as columns: record i has the next `r_events[i]` events, `r_hints[i]` hints to make and `r_settled[i]` to
 * remove. All of one session lie together in the order in which they came; sessions are locked in the order of their
 * ids, so that two such calls never wait for each other.
 */
const APPEND = `
CREATE FUNCTION $s.append_1(
  p_async boolean,
  r_sessions uuid[], r_keys text[], r_heads integer[], r_claims boolean[], r_events integer[], r_hints integer[], r_settled integer[],
  e_ids uuid[], e_types text[], e_versions integer[], e_epochs integer[], e_times text[], e_data text[],
  h_sessions uuid[], h_agents text[], h_causes text[], h_kinds text[], h_priorities text[], h_ranks smallint[], h_times bigint[],
  s_sessions uuid[], s_agents text[], s_causes text[], s_ranks smallint[], s_times bigint[]
) RETURNS TABLE (verdict text, first_seq integer, events integer, head integer, epoch integer) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $body$
DECLARE
  v_session record;
  v_event integer := 1;
  v_hint integer := 1;
  v_settled integer := 1;
  v_last integer;
  v_epoch integer;
BEGIN
  IF p_async THEN PERFORM set_config('synchronous_commit', 'off', true); END IF;
  PERFORM 1 FROM $s.session s WHERE s.id = ANY (r_sessions) ORDER BY s.id FOR UPDATE;
  FOR i IN 1..cardinality(r_sessions) LOOP
    v_last := v_event + r_events[i] - 1;
    v_epoch := e_epochs[v_event];
    SELECT s.head, s.epoch, s.tenant INTO v_session FROM $s.session s WHERE s.id = r_sessions[i];
    IF NOT FOUND THEN
      verdict := 'missing'; first_seq := NULL; events := NULL; head := NULL; epoch := NULL;
    ELSE
      head := v_session.head; epoch := v_session.epoch;
      SELECT e.seq, e.record_events INTO first_seq, events FROM $s.event e
        WHERE e.session_id = r_sessions[i] AND e.id = e_ids[v_event] AND e.record_events IS NOT NULL;
      IF FOUND THEN
        verdict := 'same';
      ELSE
        IF r_keys[i] IS NOT NULL THEN
          SELECT e.seq, e.record_events INTO first_seq, events FROM $s.event e
            WHERE e.session_id = r_sessions[i] AND e.record_key = r_keys[i];
        END IF;
        IF first_seq IS NOT NULL THEN
          verdict := 'duplicate';
        ELSIF v_epoch IS NOT NULL AND (v_epoch < epoch OR (r_claims[i] AND v_epoch = epoch)) THEN
          verdict := 'superseded';
        ELSIF r_heads[i] IS NOT NULL AND r_heads[i] <> head THEN
          verdict := 'moved';
        ELSE
          verdict := 'stored'; first_seq := head + 1; events := r_events[i];
          PERFORM $s.store_record_1(r_sessions[i], head, v_event, v_last, r_keys[i], e_ids, e_types, e_versions, e_epochs, e_times, e_data);
          head := head + r_events[i]; epoch := greatest(epoch, coalesce(v_epoch, 0));
          UPDATE $s.session s SET head = append_1.head, epoch = append_1.epoch, changed_at = clock_timestamp() WHERE s.id = r_sessions[i];
          IF r_hints[i] > 0 THEN
            INSERT INTO $s.activation (session_id, agent_id, tenant, cause_id, kind, priority, rank, due_at_ms)
            SELECT h_sessions[n], h_agents[n], v_session.tenant, h_causes[n], h_kinds[n], h_priorities[n], h_ranks[n], h_times[n]
            FROM generate_series(v_hint, v_hint + r_hints[i] - 1) AS n
            ORDER BY 1, 4, 8, 7, 2 ON CONFLICT DO NOTHING;
          END IF;
          IF r_settled[i] > 0 THEN
            DELETE FROM $s.activation a USING generate_series(v_settled, v_settled + r_settled[i] - 1) AS n
            WHERE a.session_id = s_sessions[n] AND a.cause_id = s_causes[n] AND a.due_at_ms = s_times[n] AND a.rank = s_ranks[n] AND a.agent_id = s_agents[n];
          END IF;
        END IF;
      END IF;
    END IF;
    RETURN NEXT;
    v_event := v_last + 1;
    v_hint := v_hint + r_hints[i];
    v_settled := v_settled + r_settled[i];
    first_seq := NULL; events := NULL;
  END LOOP;
END $body$;
`;

/**
 * Events in order. One row without an event says that the session is there and has none of these; no row, that it is
 * not.
 */
const READ = `
CREATE FUNCTION $s.read_events_1(p_session uuid, p_from integer, p_limit integer)
RETURNS TABLE (seq integer, id uuid, type text, v integer, epoch integer, at text, record_events integer, record_key text, data text)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $body$
BEGIN
  RETURN QUERY SELECT e.seq, e.id, e.type, e.v, e.epoch, e.at, e.record_events, e.record_key,
    CASE WHEN e.data IS NULL THEN (SELECT b.data FROM $s.blob b WHERE b.session_id = p_session AND b.seq = e.seq) ELSE e.data END
    FROM $s.event e WHERE e.session_id = p_session AND e.seq >= p_from ORDER BY e.seq LIMIT p_limit;
  IF NOT FOUND THEN
    RETURN QUERY SELECT NULL::integer, NULL::uuid, NULL::text, NULL::integer, NULL::integer, NULL::text, NULL::integer, NULL::text, NULL::text
      FROM $s.session s WHERE s.id = p_session;
  END IF;
END $body$;
`;

const CREATE = `
CREATE FUNCTION $s.create_session_1(
  p_async boolean, p_session uuid, p_agent text, p_tenant text, r_keys text[], r_events integer[],
  e_ids uuid[], e_types text[], e_versions integer[], e_epochs integer[], e_times text[], e_data text[]
) RETURNS text LANGUAGE plpgsql AS $body$
DECLARE
  v_event integer := 1;
BEGIN
  IF p_async THEN PERFORM set_config('synchronous_commit', 'off', true); END IF;
  INSERT INTO $s.session (id, agent_id, tenant, head, epoch)
  VALUES (p_session, p_agent, p_tenant, cardinality(e_ids), coalesce((SELECT max(n) FROM unnest(e_epochs) AS n), 0))
  ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    RETURN CASE WHEN EXISTS (SELECT FROM $s.event e WHERE e.session_id = p_session AND e.seq = 1 AND e.id = e_ids[1]) THEN 'same' ELSE 'taken' END;
  END IF;
  FOR i IN 1..cardinality(r_events) LOOP
    PERFORM $s.store_record_1(p_session, v_event - 1, v_event, v_event + r_events[i] - 1, r_keys[i], e_ids, e_types, e_versions, e_epochs, e_times, e_data);
    v_event := v_event + r_events[i];
  END LOOP;
  RETURN 'stored';
END $body$;
`;

/** Deletes a session with all that belongs to it, for the holder of the right to wake it. */
const DELETE = `
CREATE FUNCTION $s.delete_session_1(p_session uuid, p_token uuid) RETURNS text LANGUAGE plpgsql AS $body$
BEGIN
  PERFORM 1 FROM $s.session s WHERE s.id = p_session AND s.lease_token = p_token FOR UPDATE;
  IF NOT FOUND THEN
    RETURN CASE WHEN EXISTS (SELECT FROM $s.session s WHERE s.id = p_session) THEN 'lost' ELSE 'gone' END;
  END IF;
  DELETE FROM $s.activation a WHERE a.session_id = p_session;
  DELETE FROM $s.claim c WHERE c.session_id = p_session;
  DELETE FROM $s.view v WHERE v.session_id = p_session;
  DELETE FROM $s.blob b WHERE b.session_id = p_session;
  DELETE FROM $s.event e WHERE e.session_id = p_session;
  DELETE FROM $s.session s WHERE s.id = p_session;
  RETURN 'gone';
END $body$;
`;

export const SESSION_FUNCTIONS = [STORE, APPEND, READ, CREATE, DELETE]
  .join('\n')
  .replace('LANGUAGE plpgsql STABLE', `${OWN_OPERATORS} STABLE`)
  .replaceAll(/LANGUAGE plpgsql (?=AS|SET plan)/g, `${OWN_OPERATORS} `);
