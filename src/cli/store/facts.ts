/** What a database says of itself: what its user may not do, how its clock stands, how much is in it. */
import type { PostgresDatabase } from '../../adapters/postgres/postgres-database.ts';

export interface StoreCounts {
  readonly sessions: number;
  readonly events: number;
  /** Hints of what is due, now or later. */
  readonly due: number;
  /** Programs that have the store open and have asked for work. */
  readonly workers: number;
}

interface Fact {
  readonly refusal: string;
}

/** What a worker does and this user may not, as ends of sentences. */
export async function storeRefusals(database: Bound): Promise<readonly string[]> {
  const rows = await database.run<Fact>(
    `WITH wanted AS (
       SELECT c.oid, c.relname, right_name FROM pg_class c, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS right_name
       WHERE c.relnamespace = to_regnamespace($1) AND c.relkind IN ('r', 'p') AND NOT c.relispartition
         AND CASE c.relname WHEN 'migration' THEN right_name = 'SELECT' WHEN 'event' THEN right_name <> 'UPDATE' WHEN 'blob' THEN right_name <> 'UPDATE' WHEN 'tenant_role' THEN false ELSE true END
     )
     SELECT lower(right_name) || CASE right_name WHEN 'INSERT' THEN ' into ' WHEN 'DELETE' THEN ' from ' ELSE ' ' END || relname AS refusal FROM wanted WHERE NOT has_table_privilege(oid, right_name)
     UNION ALL
     SELECT 'execute ' || p.proname FROM pg_proc p WHERE p.pronamespace = to_regnamespace($1) AND NOT has_function_privilege(p.oid, 'EXECUTE')
     ORDER BY 1`,
    [database.schema],
  );
  return rows.map(({ refusal }) => refusal);
}

/**
 * Whether every role that gets into the database may make functions and operators that others come across: so it is
 * where a database was made before PostgreSQL 15.
 */
export async function isPublicOpen(database: Bound): Promise<boolean> {
  const rows = await database.run(
    `SELECT 1 FROM pg_namespace n, aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) a WHERE n.nspname = 'public' AND a.grantee = 0 AND a.privilege_type = 'CREATE'`,
  );
  return rows.length > 0;
}

interface CountsRow {
  readonly now_ms: number;
  readonly sessions: string;
  readonly events: string;
  readonly due: string;
  readonly workers: string;
}

/** The difference is the server's clock before ours, in milliseconds. */
export async function storeCounts(
  database: Bound,
): Promise<{ readonly counts: StoreCounts; readonly differenceMs: number }> {
  const { schema } = database;
  const [time] = await timed(() =>
    database.run<Pick<CountsRow, 'now_ms'>>('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms'),
  );
  const [row] = await database.run<CountsRow>(
    `SELECT (SELECT count(*) FROM ${schema}.session) AS sessions, (SELECT coalesce(sum(head), 0) FROM ${schema}.session) AS events,
       (SELECT count(*) FROM ${schema}.activation) AS due, (SELECT count(*) FROM ${schema}.worker WHERE alive_until > clock_timestamp()) AS workers`,
  );
  const counts = {
    sessions: Number(row?.sessions ?? 0),
    events: Number(row?.events ?? 0),
    due: Number(row?.due ?? 0),
    workers: Number(row?.workers ?? 0),
  };
  return { counts, differenceMs: time === undefined ? 0 : Math.round(time.row.now_ms - time.middleMs) };
}

type Bound = Pick<PostgresDatabase, 'schema' | 'run'>;

/** Each row with the middle of the time that asking for it took. */
async function timed<Row>(
  ask: () => Promise<readonly Row[]>,
): Promise<readonly { readonly row: Row; readonly middleMs: number }[]> {
  const beganMs = Date.now();
  const rows = await ask();
  const middleMs = (beganMs + Date.now()) / 2;
  return rows.map((row) => ({ row, middleMs }));
}
