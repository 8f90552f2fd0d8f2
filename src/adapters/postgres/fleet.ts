/** The workers over one database, and what they do between them, in one statement: what it tells fits together. */
import type {
  Fleet,
  FleetLag,
  FleetLease,
  FleetList,
  FleetParked,
  FleetOverview,
  FleetWorker,
} from '../../actors/inspection/fleet.ts';
import { beginningOf } from '../../machines/cut-text.ts';
import type { PostgresDatabase } from './postgres-database.ts';

interface PostgresFleetOptions {
  readonly database: PostgresDatabase;
  /** Whether the program hears of news by others. */
  readonly isHearing: () => boolean;
  /** What is listed of each kind at most. Default 100. */
  readonly listed?: number | undefined;
  /** Up to where is counted. Default 2,000. */
  readonly counted?: number | undefined;
  /** How many rows that may count are checked for each of the counts. Default 20,000. */
  readonly seen?: number | undefined;
}

const LISTED = 100;
/** It is asked again every two seconds: reading a hundred thousand that are due is to take some hundredths of one. */
const COUNTED = 2_000;
/**
 * Most of what is due can be claimed already, and most of what was parked can be due again: past so many the query
 * stops.
 */
const SEEN = 20_000;
/** Of one worker. Those that live wake no more than that; one that is gone may have left any number. */
const COUNTED_OF_WORKER = 1_000;
/** Tenants with a priority each. */
const PARTS = 12;

const MAX_REASON_CHARACTERS = 2_000;

export function createPostgresFleet({
  database,
  isHearing,
  listed = LISTED,
  counted = COUNTED,
  seen = SEEN,
}: PostgresFleetOptions): Fleet {
  let statement: string | undefined;
  return {
    async check() {
      statement ??= sightStatement(database.schema, await readsData(database));
      const [row] = await database.run<SightRow>(statement, [listed, counted, seen]);
      if (row === undefined) throw new Error('expected a row of a statement that always gives one');
      return sightOf(row, { counted, isHearing: isHearing() });
    },
    async workerOf(sessionId) {
      const { schema } = database;
      const [row] = await database.run<{ readonly owner: string; readonly until: number }>(
        `SELECT w.owner, ${millisecondsOf('w.alive_until')} AS until FROM ${schema}.session s JOIN ${schema}.worker w ON w.id = s.lease_worker WHERE s.id = $1`,
        [sessionId],
      );
      return row === undefined ? undefined : { owner: row.owner, aliveUntil: iso(row.until) };
    },
  };
}

/** A role that only watches sees no word of what was said: then no reasons are told. */
async function readsData(database: PostgresDatabase): Promise<boolean> {
  const [right] = await database.run<{ readonly is_given: boolean }>(
    "SELECT has_column_privilege($1, 'data', 'SELECT') AS is_given",
    [`${database.schema}.event`],
  );
  return right?.is_given === true;
}

interface SightRow {
  readonly at: number;
  readonly workers: readonly (Omit<FleetWorker, 'startedAt' | 'aliveUntil'> & {
    readonly startedAt: number;
    readonly aliveUntil: number;
  })[];
  readonly worker_count: number;
  readonly leases: readonly (Omit<FleetLease, 'since' | 'owner'> & {
    readonly since: number;
    readonly owner: string | null;
  })[];
  readonly lease_count: number;
  readonly lag: readonly {
    readonly tenant: string;
    readonly priority: string;
    readonly sessions: number;
    readonly since: number;
  }[];
  readonly due_count: number;
  readonly lag_sessions: number;
  /** Whether there is more than was checked. */
  readonly is_due_unseen: boolean;
  readonly parked: readonly {
    readonly sessionId: string;
    readonly agentId: string;
    readonly at: string | null;
    readonly data: string | null;
  }[];
  readonly parked_count: number;
  readonly is_parked_unseen: boolean;
  readonly connections: number;
  readonly most_connections: number;
}

function sightOf(
  row: SightRow,
  { counted, isHearing }: { readonly counted: number; readonly isHearing: boolean },
): FleetOverview {
  const listOf = <Item>(items: readonly Item[], count: number, isUnseen = false): FleetList<Item> => ({
    items,
    total: Math.min(count, counted),
    isCut: count > counted || isUnseen,
  });
  const workers = row.workers.map(({ startedAt, aliveUntil, ...worker }) => ({
    ...worker,
    startedAt: iso(startedAt),
    aliveUntil: iso(aliveUntil),
  }));
  const leases = row.leases.map(({ since, owner, ...lease }) => ({
    ...lease,
    ...(owner === null ? {} : { owner }),
    since: iso(since),
  }));
  return {
    at: iso(row.at),
    workers: listOf(workers, row.worker_count),
    leases: listOf(leases, row.lease_count),
    lag: lagOf(row, counted),
    parked: listOf(row.parked.map(parkedOf), row.parked_count, row.is_parked_unseen),
    connections: { open: row.connections, most: row.most_connections },
    isHearing,
  };
}

function lagOf(
  { lag, due_count: dueCount, lag_sessions: sessions, is_due_unseen: isUnseen }: SightRow,
  counted: number,
): FleetLag {
  const parts = lag.map(({ since, ...part }) => ({ ...part, since: iso(since) }));
  const [first] = parts;
  return {
    sessions: Math.min(sessions, counted),
    isCut: dueCount > counted || isUnseen,
    ...(first === undefined ? {} : { since: first.since }),
    parts,
  };
}

function parkedOf({ sessionId, agentId, at, data }: SightRow['parked'][number]): FleetParked {
  return {
    sessionId,
    agentId,
    reason: beginningOf(reasonIn(data), MAX_REASON_CHARACTERS),
    ...(at === null ? {} : { since: at }),
  };
}

/** Of what the event says. Empty where it is none of ours. */
function reasonIn(data: string | null): string {
  try {
    const value: unknown = JSON.parse(data ?? 'null');
    return typeof value === 'object' && value !== null && 'reason' in value && typeof value.reason === 'string'
      ? value.reason
      : '';
  } catch {
    return '';
  }
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

const millisecondsOf = (time: string): string => `floor(extract(epoch FROM ${time}) * 1000)::float8`;

const rowsOf = (query: string): string => `coalesce((SELECT json_agg(listed) FROM (${query}) AS listed), '[]')`;

/** One more than is counted says that there are more. */
const countOf = (query: string, most = '$2'): string =>
  `(SELECT count(*)::int FROM (${query} LIMIT ${most} + 1) AS found)`;

/**
 * $1: how many are listed of each, $2: up to where is counted, $3: up to where is checked. Rows are found by their keys,
 * one by one, each in a subquery of its own: a join over all leases is what the planner takes for cheap until there are
 * many of them.
 */
function sightStatement(schema: string, hasReasons: boolean): string {
  return `WITH RECURSIVE moment AS MATERIALIZED (SELECT at, floor(extract(epoch FROM at) * 1000)::bigint AS ms FROM clock_timestamp() AS at),
    living AS MATERIALIZED (SELECT w.id FROM ${schema}.worker w, moment WHERE w.alive_until > moment.at),
    due AS MATERIALIZED (${dueQuery(schema)}),
    holder AS (${holdersQuery(schema)}),
    parked AS MATERIALIZED (${parkedIds(schema)})
    SELECT ${millisecondsOf('moment.at')} AS at,
      ${rowsOf(workersQuery(schema))} AS workers, ${countOf(`SELECT FROM ${schema}.worker`)} AS worker_count,
      ${rowsOf(leasesQuery(schema))} AS leases, ${countOf(`SELECT FROM ${schema}.session WHERE lease_worker IS NOT NULL`)} AS lease_count,
      ${rowsOf(LAG)} AS lag, (SELECT count(*)::int FROM due) AS due_count, (SELECT count(DISTINCT session_id)::int FROM due) AS lag_sessions,
      ${countOf(`SELECT FROM ${schema}.activation WHERE due_at_ms <= moment.ms`, '$3')} > $3 AS is_due_unseen,
      ${rowsOf(parkedQuery(schema, hasReasons))} AS parked, (SELECT count(*)::int FROM parked) AS parked_count,
      ${countOf(`SELECT FROM ${schema}.view WHERE is_parked`, '$3')} > $3 AS is_parked_unseen,
      (SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database()) AS connections, current_setting('max_connections')::int AS most_connections
    FROM moment`;
}

function workersQuery(schema: string): string {
  const upTo = (query: string): string => `(SELECT count(*)::int FROM (${query} LIMIT ${COUNTED_OF_WORKER}) AS found)`;
  const isNotAwake = `(SELECT s.lease_worker IS DISTINCT FROM w.id FROM ${schema}.session s WHERE s.id = c.session_id)`;
  return `SELECT w.id, w.owner, ${millisecondsOf('w.started_at')} AS "startedAt", ${millisecondsOf('w.alive_until')} AS "aliveUntil", w.alive_until > moment.at AS "isAlive",
      ${upTo(`SELECT FROM ${schema}.session s WHERE s.lease_worker = w.id`)} AS wakes,
      ${upTo(`SELECT FROM ${schema}.claim c WHERE c.worker = w.id AND c.until > moment.at AND ${isNotAwake}`)} AS claims
    FROM (SELECT w.id, w.owner, w.started_at, w.alive_until FROM ${schema}.worker w ORDER BY w.alive_until > moment.at DESC, w.owner, w.id LIMIT $1) AS w
    ORDER BY w.alive_until > moment.at DESC, w.owner, w.id`;
}

/** The workers that hold anything, from one to the next in the index: one that is gone may have left no other trace. */
function holdersQuery(schema: string): string {
  const next = (where: string): string =>
    `SELECT s.lease_worker FROM ${schema}.session s WHERE s.lease_worker IS NOT NULL${where} ORDER BY s.lease_worker LIMIT 1`;
  return `SELECT (${next('')}) AS id, 1 AS turn
    UNION ALL
    SELECT (${next(' AND s.lease_worker > h.id')}), h.turn + 1 FROM holder h WHERE h.id IS NOT NULL AND h.turn <= $2`;
}

/** Of dead workers first, and of none more than is counted, so that what is sorted is little. */
function leasesQuery(schema: string): string {
  const ownLeases = `SELECT s.id, s.agent_id, s.lease_epoch, s.leased_at FROM ${schema}.session s WHERE s.lease_worker = h.id LIMIT $2 + 1`;
  return `SELECT s.id AS "sessionId", s.agent_id AS "agentId", s.worker AS "workerId", (SELECT w.owner FROM ${schema}.worker w WHERE w.id = s.worker) AS owner, s.is_alive AS "isAlive",
      s.lease_epoch AS epoch, ${millisecondsOf('s.leased_at')} AS since
    FROM (SELECT h.id AS worker, h.is_alive, lease.* FROM (SELECT id, id IN (SELECT id FROM living) AS is_alive FROM holder WHERE id IS NOT NULL ORDER BY is_alive, id) AS h
      CROSS JOIN LATERAL (${ownLeases}) AS lease LIMIT $2 + 1) AS s
    ORDER BY s.is_alive, s.leased_at, s.id LIMIT $1`;
}

/** By the index of times: those that wait longest come first, so what is left out has waited less. */
function dueQuery(schema: string): string {
  const lives = (id: string): string => `coalesce(${id} IN (SELECT id FROM living), false)`;
  const claimer = `(SELECT c.worker FROM ${schema}.claim c WHERE c.session_id = a.session_id AND c.until > moment.at)`;
  const waker = `(SELECT s.lease_worker FROM ${schema}.session s WHERE s.id = a.session_id)`;
  return `SELECT a.session_id, a.tenant, a.priority, a.due_at_ms FROM moment CROSS JOIN LATERAL (
      SELECT a.session_id, a.tenant, a.priority, a.due_at_ms FROM ${schema}.activation a WHERE a.due_at_ms <= moment.ms ORDER BY a.due_at_ms LIMIT $3) AS a
    WHERE NOT ${lives(claimer)} AND NOT ${lives(waker)} LIMIT $2 + 1`;
}

const LAG = `SELECT tenant, priority, count(DISTINCT session_id)::int AS sessions, min(due_at_ms)::float8 AS since FROM due GROUP BY tenant, priority ORDER BY since, tenant, priority LIMIT ${PARTS}`;

/**
 * Whatever lets a session go on makes it due, so one that has nothing to do is still as its view says, however old that
 * is.
 */
function parkedIds(schema: string): string {
  const head = `(SELECT s.head FROM ${schema}.session s WHERE s.id = v.session_id)`;
  const isDue = `(SELECT true FROM ${schema}.activation a WHERE a.session_id = v.session_id LIMIT 1)`;
  return `SELECT v.session_id FROM (SELECT v.session_id, v.head FROM ${schema}.view v WHERE v.is_parked ORDER BY v.session_id DESC LIMIT $3) AS v
    WHERE v.head = ${head} OR (${head} IS NOT NULL AND ${isDue} IS NULL) LIMIT $2 + 1`;
}

/** Why it was parked stands near the end of its log. */
function parkedQuery(schema: string, hasReasons: boolean): string {
  const agent = `(SELECT s.agent_id FROM ${schema}.session s WHERE s.id = p.session_id)`;
  return `SELECT p.session_id AS "sessionId", ${agent} AS "agentId", e.at, e.data FROM (SELECT session_id FROM parked ORDER BY session_id DESC LIMIT $1) AS p
    LEFT JOIN LATERAL (SELECT at, ${hasReasons ? 'data' : 'NULL AS data'} FROM ${schema}.event e WHERE e.session_id = p.session_id AND e.type = 'session.parked' ORDER BY e.seq DESC LIMIT 1) AS e ON true
    ORDER BY p.session_id DESC`;
}
