/**
 * Row level security by tenant, as SQL. Which tenant a role works for is a row that only the owner can write: a setting
 * of the connection would be the role's own to change. It holds for every connection of the role, behind a pooler too,
 * and a role without a tenant sees nothing.
 *
 * The owner of the tables is not bound by it (it is not forced): he migrates all rows, and backs all of them up.
 */

/** As owner of the table that it reads, it shows no role who the others are. `session_user`: a function of the owner's is asked for a tenant as
 *  well. In PL/pgSQL, whose plans a connection keeps. */
const TENANT_OF_ROLE = `
CREATE TABLE IF NOT EXISTS $s.tenant_role (role name PRIMARY KEY, tenant text NOT NULL);
INSERT INTO $s.tenant_role (role, tenant) VALUES ('$runtime', $tenant) ON CONFLICT (role) DO UPDATE SET tenant = excluded.tenant;

CREATE OR REPLACE FUNCTION $s.own_tenant() RETURNS text LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
  RETURN (SELECT r.tenant FROM $s.tenant_role r WHERE r.role = session_user);
END $body$;

CREATE OR REPLACE FUNCTION $s.is_foreign(p_session uuid) RETURNS boolean LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
  RETURN EXISTS (SELECT FROM $s.session s WHERE s.id = p_session AND s.tenant IS DISTINCT FROM $s.own_tenant());
END $body$;

CREATE OR REPLACE FUNCTION $s.put_tenant() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
  NEW.tenant := coalesce($s.own_tenant(), NEW.tenant);
  RETURN NEW;
END $body$;
CREATE OR REPLACE TRIGGER put_tenant BEFORE INSERT ON $s.session FOR EACH ROW EXECUTE FUNCTION $s.put_tenant();
CREATE OR REPLACE TRIGGER put_tenant BEFORE INSERT ON $s.activation FOR EACH ROW EXECUTE FUNCTION $s.put_tenant();
`;

/**
 * Read from the catalog, so that tables of later migrations get theirs. What belongs to a session goes by the session.
 * What does not gets a tenant of its own, and names that people choose, such as those of schedules, are each tenant's
 * to choose. Rows of workers may be seen by all, since a lease asks whether its holder lives, and are written by their
 * tenant alone. A claim may be of a session that was deleted meanwhile.
 */
const POLICIES = `
DO $body$
DECLARE
  v_table record;
  v_key record;
  v_own text := 'tenant = (SELECT $s.own_tenant())';
  v_using text;
  v_check text;
BEGIN
  FOR v_table IN SELECT c.oid, c.relname, c.relrowsecurity,
      EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant' AND NOT a.attisdropped) AS has_tenant,
      EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'session_id' AND NOT a.attisdropped) AS has_session
    FROM pg_class c WHERE c.relnamespace = to_regnamespace('$s') AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname NOT IN ('migration', 'tenant_role')
    ORDER BY c.relname LOOP
    CONTINUE WHEN v_table.relrowsecurity AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = v_table.oid AND p.polname = 'own_tenant');
    IF NOT v_table.has_tenant AND NOT v_table.has_session THEN
      EXECUTE format('ALTER TABLE $s.%I ADD COLUMN tenant text NOT NULL DEFAULT ''default''', v_table.relname);
      EXECUTE format('ALTER TABLE $s.%I ALTER COLUMN tenant SET DEFAULT coalesce($s.own_tenant(), ''default'')', v_table.relname);
      SELECT k.conname, string_agg(quote_ident(a.attname), ', ' ORDER BY n.nth) AS columns INTO v_key
        FROM pg_constraint k CROSS JOIN unnest(k.conkey) WITH ORDINALITY AS n (attnum, nth) JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = n.attnum
        WHERE k.conrelid = v_table.oid AND k.contype = 'p' GROUP BY k.conname HAVING bool_or(a.atttypid = 'text'::regtype);
      IF FOUND THEN
        EXECUTE format('ALTER TABLE $s.%I DROP CONSTRAINT %I, ADD CONSTRAINT %I PRIMARY KEY (tenant, %s)', v_table.relname, v_key.conname, v_key.conname, v_key.columns);
      END IF;
    END IF;
    v_using := CASE
      WHEN v_table.relname = 'claim' THEN 'NOT $s.is_foreign(session_id)'
      WHEN v_table.has_session AND NOT v_table.has_tenant THEN format('EXISTS (SELECT FROM $s.session s WHERE s.id = %I.session_id)', v_table.relname)
      ELSE v_own END;
    v_check := CASE WHEN v_table.relname = 'activation' THEN v_own || ' AND NOT $s.is_foreign(session_id)' ELSE v_using END;
    EXECUTE format('CREATE POLICY own_tenant ON $s.%I USING (%s) WITH CHECK (%s)', v_table.relname, v_using, v_check);
    IF v_table.relname = 'worker' THEN CREATE POLICY seen_by_all ON $s.worker FOR SELECT USING ((SELECT $s.own_tenant()) IS NOT NULL); END IF;
    EXECUTE format('ALTER TABLE $s.%I ENABLE ROW LEVEL SECURITY', v_table.relname);
  END LOOP;
END $body$;
`;

const MISSING = `
DO $body$ BEGIN
  IF to_regclass('$s.session') IS NULL THEN
    RAISE EXCEPTION 'there are no tables in $s yet to shut tenants apart in' USING HINT = 'Run these statements without a tenant first, then: wakechart store migrate --store URL';
  END IF;
END $body$;
`;

export const ROW_SECURITY = [MISSING, TENANT_OF_ROLE, POLICIES].join('\n');
