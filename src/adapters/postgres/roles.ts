/**
 * Who may do what in a database: the statements that make its roles, for the administrator to read and to run. The
 * owner makes the tables and changes them; those who work may read and write rows, and nothing else; who only watches
 * sees no word of what was said. The statements may be run again at any time, and an administrator who shuts tenants
 * apart or has it watched runs them again after each migration.
 */
import * as z from 'zod';
import { parseOrThrow } from '../../machines/validate.ts';
import { ledgerStatement } from './migrate.ts';
import { DEFAULT_SCHEMA, quoted, schemaName } from './postgres-options.ts';
import { ROW_SECURITY } from './roles-of-tenants.ts';
import { COPY_TABLE } from './workspace-copy-tables.ts';

export interface PostgresRolesOptions {
  /** Schema of the tables. Default `wakechart`. */
  readonly schema?: string | undefined;
  /** The owner of tables and functions: the user of `wakechart store migrate`. Default `wakechart_owner`. */
  readonly owner?: string | undefined;
  /** The user of workers and programs. Default `wakechart_worker`. */
  readonly runtime?: string | undefined;
  /** A user for monitoring, who sees counts, times and states, and no payload. Default: none is made. */
  readonly monitor?: string | undefined;
  /** Turns row level security on, for the whole schema, and shuts the runtime role into this tenant. */
  readonly tenant?: string | undefined;
}

/** No quotes and no dollar: what is left means the same in every kind of SQL text. */
const roleName = z
  .string()
  .regex(/^[A-Za-z_][\w.@-]{0,62}$/, 'a name of letters, digits, "_", "-", "." and "@", of 63 characters at most');
const tenantName = z.string().regex(/^[^\p{Cc}\p{Cs}]{1,200}$/u, 'a name of 1 to 200 characters');

const shape = z
  .strictObject({
    schema: schemaName.default(DEFAULT_SCHEMA),
    owner: roleName.default('wakechart_owner'),
    runtime: roleName.default('wakechart_worker'),
    monitor: roleName.optional(),
    tenant: tenantName.optional(),
  })
  .refine(
    ({ owner, runtime, monitor }) => new Set([owner, runtime, monitor]).size === 3,
    'expected roles of different names',
  );

/** PostgreSQL cuts what is longer. */
const LONGEST_NAME = 63;

/**
 * What may be seen of what is stored, without a word of what was said: tables with their columns. Whatever is not here
 * stays hidden.
 */
const WATCHED: Readonly<Record<string, readonly string[]>> = {
  migration: ['version', 'name', 'checksum', 'serves', 'applied_at'],
  worker: ['id', 'owner', 'started_at', 'alive_until'],
  session: [
    'id',
    'agent_id',
    'tenant',
    'head',
    'epoch',
    'lease_epoch',
    'lease_worker',
    'leased_at',
    'created_at',
    'changed_at',
  ],
  event: ['session_id', 'seq', 'id', 'type', 'v', 'epoch', 'at', 'record_events'],
  blob: ['session_id', 'seq'],
  activation: ['session_id', 'agent_id', 'tenant', 'cause_id', 'kind', 'priority', 'rank', 'due_at_ms'],
  claim: ['session_id', 'worker', 'until'],
  view: ['session_id', 'head', 'fold_version', 'status', 'is_parked', 'saved_at'],
  schedule_log: ['schedule', 'head', 'folded_through'],
  job: ['number', 'owner', 'machine', 'stage', 'has_output', 'made_at'],
  job_owner: ['id', 'alive_until'],
  [COPY_TABLE]: ['session_id', 'epoch', 'host_id', 'host_name', 'copy_epoch', 'files', 'bytes', 'changed_at'],
};

/** @throws RuntimeError STORE_OPTIONS_INVALID */
export function postgresRoles(options: PostgresRolesOptions = {}): string {
  const { schema, owner, runtime, monitor, tenant } = parseOrThrow(shape, options, {
    what: 'roles of the PostgreSQL store',
    code: 'STORE_OPTIONS_INVALID',
  });
  const users = [runtime, ...(monitor === undefined ? [] : [monitor])];
  const making = [
    ...[owner, ...users].map((role) => MAKE_ROLE.replaceAll('$role', role)),
    ...users.map((role) => SETTINGS.replaceAll('$role', role)),
  ].join('');
  const parts = [
    HEAD,
    making,
    BELONGING,
    RIGHTS,
    ...(tenant === undefined ? [] : [ROW_SECURITY]),
    GRANTS,
    ...(monitor === undefined ? [] : [watching(monitor)]),
    'RESET ROLE;\nCOMMIT;\n',
  ];
  return parts
    .join('\n')
    .replaceAll('$ledger', () => `${ledgerStatement(quoted(schema))};`)
    .replaceAll('$s', quoted(schema))
    .replaceAll('$owner', owner)
    .replaceAll('$runtime', runtime)
    .replaceAll('$tenant', () => literal(tenant ?? ''));
}

function literal(text: string): string {
  // Read the same whether or not the server takes backslashes for more than they are.
  return `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

const HEAD = `-- Roles of Wakechart in the schema $s. Run as a superuser, or as the owner of the database who may also make roles:
--   psql -v ON_ERROR_STOP=1 -f roles.sql DATABASE
-- Then give each role its password (\\password NAME). It may be run again at any time.
BEGIN;
SET LOCAL client_min_messages = warning;
SET LOCAL search_path = pg_catalog, pg_temp;
`;

const MAKE_ROLE = `
DO $body$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '$role') THEN CREATE ROLE "$role" LOGIN; END IF;
END $body$;
`;

/**
 * Who may make operators in a schema that others scan has his code run by them, with their rights: so these
 * scan none. A statement that never ends, and a transaction that is left open, hold what others wait for; where
 * the administrator has said how long already, that holds.
 */
const SETTINGS = `
DO $body$
DECLARE
  v_limit text;
BEGIN
  EXECUTE format('ALTER ROLE "$role" IN DATABASE %I SET search_path = pg_catalog, pg_temp', current_database());
  FOREACH v_limit IN ARRAY ARRAY['statement_timeout', 'idle_in_transaction_session_timeout'] LOOP
    CONTINUE WHEN EXISTS (SELECT FROM pg_db_role_setting d, unnest(d.setconfig) AS said WHERE starts_with(said, v_limit || '=')
      AND d.setrole = (SELECT r.oid FROM pg_roles r WHERE r.rolname = '$role') AND d.setdatabase IN (0, (SELECT b.oid FROM pg_database b WHERE b.datname = current_database())));
    EXECUTE format('ALTER ROLE "$role" IN DATABASE %I SET %I = %L', current_database(), v_limit, '60s');
  END LOOP;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'settings of the role "$role" are not yours to change: it has no search_path and no time limits of its own';
END $body$;
`;

/**
 * From here on it is the owner who acts: what he makes is his, and an administrator of a managed server may do no more
 * than he.
 */
const BELONGING = `
DO $body$ BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = '$runtime' AND (rolsuper OR rolbypassrls OR pg_has_role(rolname, '$owner', 'MEMBER'))) THEN
    RAISE EXCEPTION 'the role "$runtime" may do more than its rights: it is a superuser, passes by row security, or is a member of "$owner"';
  END IF;
  IF current_user <> '$owner' AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN GRANT "$owner" TO CURRENT_USER; END IF;
  IF to_regnamespace('$s') IS NULL THEN
    CREATE SCHEMA $s AUTHORIZATION "$owner";
  ELSIF (SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE oid = to_regnamespace('$s')) <> '$owner' THEN
    RAISE EXCEPTION 'the schema $s belongs to "%", not to "$owner"', (SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE oid = to_regnamespace('$s'))
      USING HINT = 'Name that role as the owner, or hand the schema over: REASSIGN OWNED BY it TO "$owner".';
  END IF;
END $body$;
SET LOCAL ROLE "$owner";
`;

/** The ledger is there from the start, so that what holds for later tables does not open it. */
const RIGHTS = `
$ledger
REVOKE ALL ON SCHEMA $s FROM PUBLIC, "$runtime";
GRANT USAGE ON SCHEMA $s TO "$runtime";
`;

/** Rights to a partition would pass by the row security of its table: only tables that statements name are opened. */
const GRANTS = `
REVOKE ALL ON ALL TABLES IN SCHEMA $s FROM PUBLIC, "$runtime";
REVOKE ALL ON ALL SEQUENCES IN SCHEMA $s FROM PUBLIC, "$runtime";
REVOKE ALL ON ALL ROUTINES IN SCHEMA $s FROM PUBLIC, "$runtime";
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA $s TO "$runtime";
ALTER DEFAULT PRIVILEGES IN SCHEMA $s GRANT EXECUTE ON FUNCTIONS TO "$runtime";
GRANT SELECT ON $s.migration TO "$runtime";
DO $body$
DECLARE
  v_table record;
  v_grantee text;
BEGIN
  FOR v_table IN SELECT c.relname FROM pg_class c WHERE c.relnamespace = to_regnamespace('$s') AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND c.relname NOT IN ('migration', 'tenant_role') LOOP
    -- What happened is added to, and removed with its session, and never changed.
    EXECUTE format('GRANT SELECT, INSERT, DELETE%s ON $s.%I TO "$runtime"', CASE WHEN v_table.relname IN ('event', 'blob') THEN '' ELSE ', UPDATE' END, v_table.relname);
  END LOOP;
  IF to_regclass('$s.tenant_role') IS NULL THEN
    ALTER DEFAULT PRIVILEGES IN SCHEMA $s GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO "$runtime";
  ELSE
    -- A later table is opened once it has its policy: by this script.
    FOR v_grantee IN SELECT DISTINCT pg_get_userbyid(a.grantee) FROM pg_default_acl d, aclexplode(d.defaclacl) a
      WHERE d.defaclnamespace = to_regnamespace('$s') AND d.defaclrole = (SELECT r.oid FROM pg_roles r WHERE r.rolname = '$owner') AND d.defaclobjtype = 'r' AND a.grantee NOT IN (0, d.defaclrole) LOOP
      EXECUTE format('ALTER DEFAULT PRIVILEGES IN SCHEMA $s REVOKE ALL ON TABLES FROM %I', v_grantee);
    END LOOP;
  END IF;
END $body$;
`;

function watching(monitor: string): string {
  const columns = Object.entries(WATCHED).flatMap(([table, names]) => names.map((name) => `('${table}', '${name}')`));
  return WATCHING.replaceAll('$policy', `watched by ${monitor}`.slice(0, LONGEST_NAME))
    .replaceAll('$monitor', monitor)
    .replaceAll('$columns', columns.join(', '));
}

const WATCHING = `
REVOKE ALL ON SCHEMA $s FROM "$monitor";
REVOKE ALL ON ALL TABLES IN SCHEMA $s FROM "$monitor";
GRANT USAGE ON SCHEMA $s TO "$monitor";
DO $body$
DECLARE
  v_seen record;
BEGIN
  FOR v_seen IN SELECT c.oid, c.relname, string_agg(quote_ident(a.attname), ', ') AS columns, c.relrowsecurity
    FROM (VALUES $columns) AS seen (table_name, column_name) JOIN pg_class c ON c.relname = seen.table_name AND c.relnamespace = to_regnamespace('$s')
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = seen.column_name GROUP BY c.oid, c.relname, c.relrowsecurity LOOP
    EXECUTE format('GRANT SELECT (%s) ON $s.%I TO "$monitor"', v_seen.columns, v_seen.relname);
    IF v_seen.relrowsecurity AND NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = v_seen.oid AND p.polname = '$policy') THEN
      EXECUTE format('CREATE POLICY "$policy" ON $s.%I FOR SELECT TO "$monitor" USING (true)', v_seen.relname);
    END IF;
  END LOOP;
  -- The policies of tenants are asked as well.
  IF to_regclass('$s.tenant_role') IS NOT NULL THEN
    GRANT EXECUTE ON FUNCTION $s.own_tenant(), $s.is_foreign(uuid) TO "$monitor";
  END IF;
END $body$;
`;
