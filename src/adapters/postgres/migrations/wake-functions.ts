/**
 * One append, with all that can go with it in one transaction: the right to wake that it begins under, the view of the
 * state that it leaves, and the end of the right. And what is claimed, with what a wake has to know of it.
 */
import { OWN_OPERATORS } from './migration.ts';
import { CLAIM } from './work-functions.ts';

/**
 * Judges as `append_1` does. `p_lease`: `take` asks for the right to wake under the epoch of the events, as
 * `acquire_lease_1` does, and is on the disk before it is answered; `passed` says that another epoch has to be asked
 * for. `free` releases the right and the claim that led to it, and tells whether the session is due all the same.
 * `p_at` is the time of the event at the expected head: another log may have come under the id.
 */
const APPEND_ONE = `
CREATE FUNCTION $s.append_one_1(
  p_session uuid, p_key text, p_head integer, p_at text, p_claims boolean, p_epoch integer,
  e_ids uuid[], e_types text[], e_versions integer[], e_times text[], e_data text[],
  h_agents text[], h_causes text[], h_kinds text[], h_priorities text[], h_ranks smallint[], h_times bigint[],
  s_agents text[], s_causes text[], s_ranks smallint[], s_times bigint[],
  p_lease text, p_worker uuid, p_token uuid, v_fold integer, v_status text, v_parked boolean, v_state text
) RETURNS TABLE (verdict text, first_seq integer, events integer, head integer, epoch integer, is_due boolean)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $body$
DECLARE
  v_session record;
  v_is_alive boolean;
BEGIN
  SELECT s.head, s.epoch, s.tenant, s.lease_worker, s.lease_epoch, s.lease_token, s.lease_given INTO v_session FROM $s.session s WHERE s.id = p_session FOR UPDATE;
  IF NOT FOUND THEN verdict := 'missing'; RETURN NEXT; RETURN; END IF;
  head := v_session.head; epoch := v_session.epoch; is_due := false;
  SELECT e.seq, e.record_events INTO first_seq, events FROM $s.event e WHERE e.session_id = p_session AND e.id = e_ids[1] AND e.record_events IS NOT NULL;
  IF FOUND THEN
    verdict := 'same';
  ELSE
    IF p_key IS NOT NULL THEN
      SELECT e.seq, e.record_events INTO first_seq, events FROM $s.event e WHERE e.session_id = p_session AND e.record_key = p_key;
    END IF;
    IF p_lease = 'take' THEN
      IF current_setting('synchronous_commit') = 'off' THEN PERFORM set_config('synchronous_commit', 'on', true); END IF;
      PERFORM 1 FROM $s.worker w WHERE w.id = p_worker AND w.alive_until > clock_timestamp();
      IF NOT FOUND THEN verdict := 'expired'; RETURN NEXT; RETURN; END IF;
      IF v_session.lease_worker IS NOT NULL AND v_session.lease_token IS DISTINCT FROM p_token AND v_session.lease_epoch > epoch THEN
        v_is_alive := EXISTS (SELECT FROM $s.worker w WHERE w.id = v_session.lease_worker AND w.alive_until > clock_timestamp());
        -- Its renewal may be on its way: once its row is ours, it has come or comes too late.
        IF NOT v_is_alive THEN
          SELECT w.alive_until > clock_timestamp() INTO v_is_alive FROM $s.worker w WHERE w.id = v_session.lease_worker FOR UPDATE;
        END IF;
        IF v_is_alive THEN verdict := 'conflict'; RETURN NEXT; RETURN; END IF;
      END IF;
      IF p_epoch <> greatest(epoch, v_session.lease_given) + 1 THEN verdict := 'passed'; epoch := greatest(epoch, v_session.lease_given); RETURN NEXT; RETURN; END IF;
    END IF;
    IF first_seq IS NOT NULL THEN
      verdict := 'duplicate'; RETURN NEXT; RETURN;
    ELSIF p_epoch IS NOT NULL AND (p_epoch < epoch OR (p_claims AND p_epoch = epoch)) THEN
      verdict := 'superseded'; RETURN NEXT; RETURN;
    ELSIF p_head IS NOT NULL AND p_head <> head THEN
      verdict := 'moved'; RETURN NEXT; RETURN;
    ELSIF p_at IS NOT NULL AND NOT EXISTS (SELECT FROM $s.event e WHERE e.session_id = p_session AND e.seq = p_head AND e.at = p_at) THEN
      verdict := 'moved'; RETURN NEXT; RETURN;
    END IF;
    verdict := 'stored'; first_seq := head + 1; events := cardinality(e_ids);
    INSERT INTO $s.event (session_id, seq, id, type, v, epoch, at, record_events, record_key, data)
      SELECT p_session, v_session.head + e.n, e.id, e.type, e.v, p_epoch, e.at, CASE WHEN e.n = 1 THEN cardinality(e_ids) END, CASE WHEN e.n = 1 THEN p_key END,
             CASE WHEN octet_length(e.data) <= 65536 THEN e.data END
      FROM unnest(e_ids, e_types, e_versions, e_times, e_data) WITH ORDINALITY AS e (id, type, v, at, data, n);
    IF pg_column_size(e_data) > 65536 THEN
      INSERT INTO $s.blob (session_id, seq, data) SELECT p_session, v_session.head + e.n, e.data FROM unnest(e_data) WITH ORDINALITY AS e (data, n) WHERE octet_length(e.data) > 65536;
    END IF;
    head := head + events; epoch := greatest(epoch, coalesce(p_epoch, 0));
    IF p_lease IS NULL OR (p_lease = 'free' AND v_session.lease_token IS DISTINCT FROM p_token) THEN
      UPDATE $s.session s SET head = append_one_1.head, epoch = append_one_1.epoch, changed_at = clock_timestamp() WHERE s.id = p_session;
    ELSIF p_lease = 'take' THEN
      UPDATE $s.session s SET head = append_one_1.head, epoch = append_one_1.epoch, changed_at = clock_timestamp(),
        lease_worker = p_worker, lease_epoch = p_epoch, lease_given = p_epoch, lease_token = p_token, leased_at = clock_timestamp() WHERE s.id = p_session;
    ELSE
      UPDATE $s.session s SET head = append_one_1.head, epoch = append_one_1.epoch, changed_at = clock_timestamp(),
        lease_worker = NULL, lease_epoch = NULL, lease_token = NULL, leased_at = NULL WHERE s.id = p_session;
      DELETE FROM $s.claim c WHERE c.session_id = p_session AND c.worker = p_worker;
    END IF;
    IF cardinality(h_causes) > 0 THEN
      INSERT INTO $s.activation (session_id, agent_id, tenant, cause_id, kind, priority, rank, due_at_ms)
        SELECT p_session, h.agent_id, v_session.tenant, h.cause_id, h.kind, h.priority, h.rank, h.due_at_ms
        FROM unnest(h_agents, h_causes, h_kinds, h_priorities, h_ranks, h_times) AS h (agent_id, cause_id, kind, priority, rank, due_at_ms)
        ORDER BY 4, 8, 7, 2 ON CONFLICT DO NOTHING;
    END IF;
    IF cardinality(s_causes) > 0 THEN
      DELETE FROM $s.activation a USING unnest(s_agents, s_causes, s_ranks, s_times) AS h (agent_id, cause_id, rank, due_at_ms)
        WHERE a.session_id = p_session AND a.cause_id = h.cause_id AND a.due_at_ms = h.due_at_ms AND a.rank = h.rank AND a.agent_id = h.agent_id;
    END IF;
    IF v_state IS NOT NULL THEN
      INSERT INTO $s.view AS v (session_id, head, fold_version, status, is_parked, state) VALUES (p_session, append_one_1.head, v_fold, v_status, v_parked, v_state)
        ON CONFLICT (session_id) DO UPDATE SET head = excluded.head, fold_version = excluded.fold_version, status = excluded.status,
          is_parked = excluded.is_parked, state = excluded.state, saved_at = clock_timestamp()
        WHERE v.head <= excluded.head OR v.fold_version <> excluded.fold_version;
    END IF;
  END IF;
  IF p_lease = 'free' THEN
    is_due := EXISTS (SELECT FROM $s.activation a WHERE a.session_id = p_session AND a.due_at_ms <= floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
  END IF;
  RETURN NEXT;
END $body$;
`;

/** As `acquire_lease_1`, and tells where the log ends: a worker that knows it that far need not read again. */
const ACQUIRE = `
CREATE FUNCTION $s.acquire_lease_2(p_session uuid, p_worker uuid, p_token uuid, p_epoch integer, p_is_open boolean)
RETURNS TABLE (verdict text, epoch integer, head integer, at text) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $body$
BEGIN
  SELECT a.verdict, a.epoch INTO verdict, epoch FROM $s.acquire_lease_1(p_session, p_worker, p_token, p_epoch, p_is_open) AS a;
  IF verdict = 'given' THEN
    SELECT s.head INTO head FROM $s.session s WHERE s.id = p_session;
    SELECT e.at INTO at FROM $s.event e WHERE e.session_id = p_session AND e.seq = acquire_lease_2.head;
  END IF;
  RETURN NEXT;
END $body$;
`;

/** As `release_leases_1`, and tells whether any of the sessions is due all the same: only then must a worker check. */
const RELEASE = `
CREATE FUNCTION $s.release_leases_2(p_worker uuid, p_sessions uuid[], p_tokens uuid[]) RETURNS boolean LANGUAGE plpgsql AS $body$
BEGIN
  PERFORM $s.release_leases_1(p_worker, p_sessions, p_tokens);
  RETURN EXISTS (SELECT FROM $s.activation a WHERE a.session_id = ANY (p_sessions) AND a.due_at_ms <= floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
END $body$;
`;

/**
 * What a wake has to know before it can begin: the newest events, and the newest folded state where they do not reach
 * back to the first. Nothing where that is much, or does not fit together: then it is read when it is needed.
 */
const OPENING = `
CREATE FUNCTION $s.opening_1(p_session uuid, p_fold integer, p_events integer, p_bytes integer) RETURNS json
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $body$
DECLARE
  v_head integer;
  v_first integer;
  v_bytes bigint;
  v_is_whole boolean;
  v_events json;
  v_state text;
BEGIN
  SELECT s.head INTO v_head FROM $s.session s WHERE s.id = p_session;
  SELECT min(e.seq), sum(octet_length(e.data)), bool_and(e.data IS NOT NULL), json_agg(json_build_array(e.seq, e.id, e.type, e.v, e.epoch, e.at, e.data) ORDER BY e.seq)
    INTO v_first, v_bytes, v_is_whole, v_events FROM $s.event e WHERE e.session_id = p_session AND e.seq > v_head - p_events AND e.seq <= v_head;
  IF v_first IS NULL OR v_bytes > p_bytes OR NOT v_is_whole THEN RETURN NULL; END IF;
  IF v_first > 1 THEN
    SELECT v.state INTO v_state FROM $s.view v WHERE v.session_id = p_session AND v.fold_version = p_fold AND v.head BETWEEN v_first AND v_head;
    IF NOT FOUND THEN RETURN NULL; END IF;
  END IF;
  RETURN json_build_array(p_session, v_events, v_state);
END $body$;
`;

const FIRST_TURN = '  v_first := v_tenant;\n';

/** Where one tenant is alone, no tenant takes turns with it: its sessions are taken in one go, not one, two, four. */
const CLAIM_ALONE = CLAIM.replace('CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION')
  .replace("  PERFORM set_config('synchronous_commit', 'off', true);\n", '')
  .replace(
    FIRST_TURN,
    `${FIRST_TURN}  IF NOT EXISTS (SELECT FROM $s.activation a WHERE a.tenant > v_tenant) AND NOT EXISTS (SELECT FROM $s.activation a WHERE a.tenant < v_tenant) THEN v_quota := p_limit; END IF;\n`,
  );

/** As `claim_due_1`, with the openings of those sessions that the worker has none of. */
const CLAIM_WITH_OPENINGS = `
CREATE FUNCTION $s.claim_due_2(p_worker uuid, p_now bigint, p_limit integer, p_except uuid[], p_agent text, p_claim_ms integer, p_known uuid[], p_fold integer, p_events integer, p_bytes integer)
RETURNS TABLE (hints json, again_at_ms bigint, openings json) LANGUAGE plpgsql AS $body$
BEGIN
  SELECT c.hints, c.again_at_ms INTO hints, again_at_ms FROM $s.claim_due_1(p_worker, p_now, p_limit, p_except, p_agent, p_claim_ms) AS c;
  IF hints IS NOT NULL THEN
    -- Materialized: each is read once.
    WITH due AS MATERIALIZED (SELECT DISTINCT (hint.value ->> 0)::uuid AS id FROM json_array_elements(hints) AS hint (value)),
      read AS MATERIALIZED (SELECT $s.opening_1(d.id, p_fold, p_events, p_bytes) AS opening FROM due d WHERE d.id <> ALL (p_known))
    SELECT json_agg(r.opening) INTO openings FROM read r WHERE r.opening IS NOT NULL;
  END IF;
  RETURN NEXT;
END $body$;
`;

export const WAKE_FUNCTIONS = [APPEND_ONE, ACQUIRE, RELEASE, OPENING, CLAIM_ALONE, CLAIM_WITH_OPENINGS]
  .join('\n')
  .replaceAll('LANGUAGE plpgsql', OWN_OPERATORS);
