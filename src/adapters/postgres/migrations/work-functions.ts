/** The atomic steps between workers, as SQL functions: who may wake a session, and who takes what is due. By the database's clock alone. */

/**
 * Asks for the right to wake. A holder stays while its worker lives, unless the log has gone past its wake. The epoch lies above that of
 * every holder before, since one who was silent may wake up and write still. The same token again gives the same answer. It waits for no
 * disk: the append that a wake begins with syncs it too, and a right that a crash of the server takes before that is told as lost by the renewal.
 */
const ACQUIRE = `
CREATE FUNCTION $s.acquire_lease_1(p_session uuid, p_worker uuid, p_token uuid, p_epoch integer, p_is_open boolean)
RETURNS TABLE (verdict text, epoch integer, before integer) LANGUAGE plpgsql AS $body$
DECLARE
  v_session record;
  v_is_alive boolean;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  SELECT s.lease_worker, s.lease_epoch, s.lease_token INTO v_session FROM $s.session s WHERE s.id = p_session FOR UPDATE;
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
  epoch := greatest(p_epoch, coalesce(before, 0)) + 1;
  UPDATE $s.session s SET lease_worker = p_worker, lease_epoch = acquire_lease_1.epoch, lease_token = p_token, leased_at = clock_timestamp() WHERE s.id = p_session;
  RETURN NEXT;
END $body$;
`;

/** Lets go of rights, and of the claims that led to them. */
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
 * Takes sessions that are due for a worker, for a short time: nobody else is shown them meanwhile. Whoever has the most urgent of a tenant
 * comes before the second most urgent of any other, so that a tenant with a thousand of them keeps nobody waiting. Those who ask at once
 * pass over each other's rows instead of waiting for them. Gives the hints of what the worker holds, old and new, as JSON, and when to ask
 * again at the latest: when the next hint falls due, or somebody else's hold ends.
 */
const CLAIM = `
CREATE FUNCTION $s.claim_due_1(p_worker uuid, p_now bigint, p_limit integer, p_except uuid[], p_agent text, p_claim_ms integer)
RETURNS TABLE (hints json, again_at_ms bigint) LANGUAGE plpgsql AS $body$
DECLARE
  sessions uuid[];
  v_now timestamptz := clock_timestamp();
  v_now_ms bigint := least(p_now, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
  v_wanted integer;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM 1 FROM $s.worker w WHERE w.id = p_worker AND w.alive_until > v_now;
  IF NOT FOUND THEN RETURN NEXT; RETURN; END IF;
  DELETE FROM $s.claim c WHERE c.worker = p_worker AND (c.until <= v_now OR NOT EXISTS (
    SELECT FROM $s.activation a WHERE a.session_id = c.session_id AND a.due_at_ms <= v_now_ms)) AND c.session_id <> ALL (p_except);
  SELECT coalesce(array_agg(c.session_id), '{}') INTO sessions FROM $s.claim c WHERE c.worker = p_worker AND c.session_id <> ALL (p_except);
  v_wanted := p_limit - cardinality(sessions);
  IF v_wanted > 0 THEN
    WITH RECURSIVE tenants AS (
      (SELECT a.tenant FROM $s.activation a ORDER BY a.tenant LIMIT 1)
      UNION ALL
      SELECT (SELECT a.tenant FROM $s.activation a WHERE a.tenant > t.tenant ORDER BY a.tenant LIMIT 1) FROM tenants t WHERE t.tenant IS NOT NULL
    ), candidates AS (
      SELECT found.session_id, found.rank, found.due_at_ms, row_number() OVER (PARTITION BY t.tenant ORDER BY found.rank, found.due_at_ms) AS turn
      FROM tenants t CROSS JOIN generate_series(0, 8) AS r (rank) CROSS JOIN LATERAL (
        SELECT a.session_id, a.rank, a.due_at_ms FROM $s.activation a
        WHERE a.tenant = t.tenant AND a.rank = r.rank AND a.due_at_ms <= v_now_ms
          AND (p_agent IS NULL OR a.agent_id = p_agent) AND a.session_id <> ALL (p_except)
          AND NOT EXISTS (SELECT FROM $s.claim c WHERE c.session_id = a.session_id AND (c.worker = p_worker OR (c.until > v_now
            AND EXISTS (SELECT FROM $s.worker w WHERE w.id = c.worker AND w.alive_until > v_now))))
          AND NOT EXISTS (SELECT FROM $s.session s JOIN $s.worker w ON w.id = s.lease_worker WHERE s.id = a.session_id AND w.alive_until > v_now)
        ORDER BY a.due_at_ms LIMIT v_wanted * 2 FOR UPDATE OF a SKIP LOCKED
      ) AS found WHERE t.tenant IS NOT NULL
    ), chosen AS (
      SELECT session_id FROM candidates GROUP BY session_id ORDER BY min(turn), min(rank), min(due_at_ms) LIMIT v_wanted
    ), taken AS (
      INSERT INTO $s.claim AS c (session_id, worker, until)
      SELECT session_id, p_worker, v_now + p_claim_ms * interval '1 millisecond' FROM chosen ORDER BY session_id
      ON CONFLICT (session_id) DO UPDATE SET worker = excluded.worker, until = excluded.until
        WHERE c.until <= v_now OR NOT EXISTS (SELECT FROM $s.worker w WHERE w.id = c.worker AND w.alive_until > v_now)
      RETURNING c.session_id
    )
    SELECT sessions || coalesce(array_agg(taken.session_id), '{}') INTO sessions FROM taken;
  END IF;
  SELECT json_agg(json_build_array(a.session_id, a.agent_id, a.cause_id, a.kind, a.due_at_ms, a.priority)) INTO hints FROM $s.activation a
    WHERE a.session_id = ANY (sessions) AND a.due_at_ms <= v_now_ms AND (p_agent IS NULL OR a.agent_id = p_agent);
  SELECT a.due_at_ms INTO again_at_ms FROM $s.activation a
    WHERE a.due_at_ms > v_now_ms AND (p_agent IS NULL OR a.agent_id = p_agent) AND a.session_id <> ALL (p_except) ORDER BY a.due_at_ms LIMIT 1;
  SELECT least(again_at_ms, floor(extract(epoch FROM min(free_at)) * 1000)::bigint + 1) INTO again_at_ms FROM (
    SELECT least(c.until, w.alive_until) AS free_at FROM $s.claim c JOIN $s.worker w ON w.id = c.worker
      WHERE c.worker <> p_worker AND c.until > v_now AND w.alive_until > v_now
    UNION ALL
    SELECT w.alive_until FROM $s.session s JOIN $s.worker w ON w.id = s.lease_worker
      WHERE s.lease_worker IS NOT NULL AND s.lease_worker <> p_worker AND w.alive_until > v_now
        AND EXISTS (SELECT FROM $s.activation a WHERE a.session_id = s.id AND a.due_at_ms <= v_now_ms)
  ) AS held;
  RETURN NEXT;
END $body$;
`;

export const WORK_FUNCTIONS = [ACQUIRE, RELEASE, CLAIM].join('\n');
