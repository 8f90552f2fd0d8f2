/**
 * The atomic steps between workers, as SQL functions: who may wake a session, and who takes what is due. By the
 * database's clock alone.
 */
import { OWN_OPERATORS } from './migration.ts';

/**
 * Asks for the right to wake. A holder stays while its worker lives, unless the log has gone past its wake. The epoch
 * lies above every one that was ever given, also to a holder who never wrote under it: what he has said elsewhere, he
 * has said under that. The same token again gives the same answer. Since step 4 it is on the disk before it is
 * answered.
 */
export const ACQUIRE = `
CREATE FUNCTION $s.acquire_lease_1(p_session uuid, p_worker uuid, p_token uuid, p_epoch integer, p_is_open boolean)
RETURNS TABLE (verdict text, epoch integer, before integer) LANGUAGE plpgsql AS $body$
DECLARE
  v_session record;
  v_is_alive boolean;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  SELECT s.lease_worker, s.lease_epoch, s.lease_token, s.lease_given INTO v_session FROM $s.session s WHERE s.id = p_session FOR UPDATE;
  IF NOT FOUND THEN verdict := 'missing'; RETURN NEXT; RETURN; END IF;
  epoch := v_session.lease_epoch;
  IF v_session.lease_token = p_token THEN verdict := 'given'; RETURN NEXT; RETURN; END IF;
  PERFORM 1 FROM $s.worker w WHERE w.id = p_worker AND w.alive_until > clock_timestamp();
  IF NOT FOUND THEN verdict := 'expired'; RETURN NEXT; RETURN; END IF;
  IF v_session.lease_worker IS NOT NULL THEN
    before := v_session.lease_epoch;
    IF v_session.lease_epoch > p_epoch OR (v_session.lease_epoch = p_epoch AND p_is_open) THEN
      v_is_alive := EXISTS (SELECT FROM $s.worker w WHERE w.id = v_session.lease_worker AND w.alive_until > clock_timestamp());
      -- Its renewal may be on its way: once its row is ours, it has come or comes too late.
      IF NOT v_is_alive THEN
        SELECT w.alive_until > clock_timestamp() INTO v_is_alive FROM $s.worker w WHERE w.id = v_session.lease_worker FOR UPDATE;
      END IF;
      IF v_is_alive THEN verdict := 'conflict'; RETURN NEXT; RETURN; END IF;
    END IF;
  END IF;
  verdict := 'given';
  epoch := greatest(p_epoch, v_session.lease_given) + 1;
  UPDATE $s.session s SET lease_worker = p_worker, lease_epoch = acquire_lease_1.epoch, lease_given = acquire_lease_1.epoch, lease_token = p_token, leased_at = clock_timestamp() WHERE s.id = p_session;
  RETURN NEXT;
END $body$;
`;

/** Releases rights, and the claims that led to them. */
const RELEASE = `
CREATE FUNCTION $s.release_leases_1(p_worker uuid, p_sessions uuid[], p_tokens uuid[]) RETURNS void LANGUAGE plpgsql AS $body$
BEGIN
  PERFORM 1 FROM $s.session s WHERE s.id = ANY (p_sessions) ORDER BY s.id FOR UPDATE;
  DELETE FROM $s.claim c USING unnest(p_sessions, p_tokens) AS r (session_id, token), $s.session s
    WHERE c.session_id = r.session_id AND c.worker = p_worker AND s.id = r.session_id AND s.lease_token = r.token;
  UPDATE $s.session s SET lease_worker = NULL, lease_epoch = NULL, lease_token = NULL, leased_at = NULL
    FROM unnest(p_sessions, p_tokens) AS r (session_id, token) WHERE s.id = r.session_id AND s.lease_token = r.token;
END $body$;
`;

/**
 * Takes sessions that are due for a worker, for a short time: no other worker is shown them meanwhile. Tenants take
 * turns, one session each, then two, then four, so that a tenant with a thousand of them keeps no other waiting; a
 * worker begins behind the tenant that it ended with. Those who ask at once pass over each other's rows instead of
 * waiting for them, and ask again soon. Gives the hints of what the worker holds, old and new, as JSON, and when to ask
 * again at the latest: when the next hint falls due, or another worker's hold may end.
 *
 * Whether a session is held is looked up for each by its key: as a join the planner may go through all leases for every
 * candidate.
 */
export const CLAIM = `
CREATE FUNCTION $s.claim_due_1(p_worker uuid, p_now bigint, p_limit integer, p_except uuid[], p_agent text, p_claim_ms integer)
RETURNS TABLE (hints json, again_at_ms bigint) LANGUAGE plpgsql AS $body$
DECLARE
  sessions uuid[];
  v_now timestamptz := clock_timestamp();
  v_now_ms bigint := least(p_now, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
  v_alive uuid[];
  v_last text;
  v_tenant text;
  v_first text;
  v_quota integer := 1;
  v_taken integer;
  v_of_round integer := 0;
  v_visits integer := 0;
  v_passed_over boolean := false;
  v_hint record;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  SELECT w.claimed_tenant INTO v_last FROM $s.worker w WHERE w.id = p_worker AND w.alive_until > v_now;
  IF NOT FOUND THEN RETURN NEXT; RETURN; END IF;
  SELECT array_agg(w.id) INTO v_alive FROM $s.worker w WHERE w.alive_until > v_now;
  DELETE FROM $s.claim d WHERE d.session_id IN (SELECT c.session_id FROM $s.claim c WHERE c.worker = p_worker AND c.session_id <> ALL (p_except)
    AND (c.until <= v_now OR NOT EXISTS (SELECT FROM $s.activation a WHERE a.session_id = c.session_id AND a.due_at_ms <= v_now_ms)) FOR UPDATE SKIP LOCKED);
  SELECT coalesce(array_agg(c.session_id), '{}') INTO sessions FROM $s.claim c WHERE c.worker = p_worker AND c.until > v_now AND c.session_id <> ALL (p_except);
  SELECT coalesce((SELECT a.tenant FROM $s.activation a WHERE a.tenant > v_last ORDER BY a.tenant LIMIT 1), (SELECT a.tenant FROM $s.activation a ORDER BY a.tenant LIMIT 1)) INTO v_tenant;
  v_first := v_tenant;
  WHILE v_tenant IS NOT NULL AND cardinality(sessions) < p_limit LOOP
    v_taken := 0;
    v_visits := v_visits + 1;
    FOR v_hint IN
      SELECT a.* FROM generate_series(0, 8) AS r (rank) CROSS JOIN LATERAL (
        SELECT a.session_id, a.cause_id, a.due_at_ms, a.rank, a.agent_id FROM $s.activation a
        WHERE a.tenant = v_tenant AND a.rank = r.rank AND a.due_at_ms <= v_now_ms AND (p_agent IS NULL OR a.agent_id = p_agent)
          AND a.session_id <> ALL (p_except) AND a.session_id <> ALL (sessions)
          AND (SELECT c.until > v_now AND c.worker = ANY (v_alive) FROM $s.claim c WHERE c.session_id = a.session_id) IS NOT TRUE
          AND (SELECT s.lease_worker = ANY (v_alive) FROM $s.session s WHERE s.id = a.session_id) IS NOT TRUE
        ORDER BY a.due_at_ms) AS a
    LOOP
      EXIT WHEN v_taken >= v_quota OR cardinality(sessions) >= p_limit;
      CONTINUE WHEN v_hint.session_id = ANY (sessions);
      PERFORM 1 FROM $s.activation a WHERE a.session_id = v_hint.session_id AND a.cause_id = v_hint.cause_id AND a.due_at_ms = v_hint.due_at_ms
        AND a.rank = v_hint.rank AND a.agent_id = v_hint.agent_id FOR UPDATE SKIP LOCKED;
      IF NOT FOUND THEN v_passed_over := true; CONTINUE; END IF;
      INSERT INTO $s.claim AS c (session_id, worker, until) VALUES (v_hint.session_id, p_worker, v_now + p_claim_ms::float8 * interval '1 millisecond')
        ON CONFLICT (session_id) DO UPDATE SET worker = excluded.worker, until = excluded.until WHERE c.until <= v_now OR c.worker <> ALL (v_alive);
      IF NOT FOUND THEN v_passed_over := true; CONTINUE; END IF;
      sessions := sessions || v_hint.session_id;
      v_taken := v_taken + 1;
    END LOOP;
    v_of_round := v_of_round + v_taken;
    v_last := v_tenant;
    SELECT coalesce((SELECT a.tenant FROM $s.activation a WHERE a.tenant > v_last ORDER BY a.tenant LIMIT 1), (SELECT a.tenant FROM $s.activation a ORDER BY a.tenant LIMIT 1)) INTO v_tenant;
    IF v_tenant = v_first THEN
      EXIT WHEN v_of_round = 0;
      v_of_round := 0;
      v_quota := v_quota * 2;
    ELSIF v_visits >= 200 THEN
      -- The rest of them at the next check, which begins where this one ended.
      v_passed_over := true;
      EXIT;
    END IF;
  END LOOP;
  IF v_last <> v_first OR v_tenant <> v_first THEN UPDATE $s.worker w SET claimed_tenant = v_last WHERE w.id = p_worker; END IF;
  SELECT json_agg(json_build_array(a.session_id, a.agent_id, a.cause_id, a.kind, a.due_at_ms, a.priority)) INTO hints FROM $s.activation a
    WHERE a.session_id = ANY (sessions) AND a.due_at_ms <= v_now_ms AND (p_agent IS NULL OR a.agent_id = p_agent);
  SELECT a.due_at_ms INTO again_at_ms FROM $s.activation a
    WHERE a.due_at_ms > v_now_ms AND (p_agent IS NULL OR a.agent_id = p_agent) AND a.session_id <> ALL (p_except) ORDER BY a.due_at_ms LIMIT 1;
  SELECT least(again_at_ms, CASE WHEN v_passed_over AND cardinality(sessions) < p_limit THEN v_now_ms + 20 END, floor(extract(epoch FROM min(free_at)) * 1000)::bigint + 1) INTO again_at_ms FROM (
    SELECT c.until AS free_at FROM $s.claim c WHERE c.worker <> p_worker AND c.until > v_now AND c.worker = ANY (v_alive)
    UNION ALL
    SELECT w.alive_until FROM $s.worker w WHERE w.id <> p_worker AND w.alive_until > v_now AND EXISTS (SELECT FROM $s.session s WHERE s.lease_worker = w.id)
  ) AS held;
  RETURN NEXT;
END $body$;
`;

export const withOwnOperators = (statements: string): string =>
  statements.replaceAll('LANGUAGE plpgsql', OWN_OPERATORS);

export const WORK_FUNCTIONS = withOwnOperators([ACQUIRE, RELEASE, CLAIM].join('\n'));
