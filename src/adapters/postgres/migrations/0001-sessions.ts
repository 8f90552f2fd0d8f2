/**
 * Sessions, their events, what is due, and who works. Kept narrow: an append touches one row of `session`, and adds to
 * `event`.
 *
 *   session      one row each; its lease lies in it, so that a takeover and an append meet at one lock
 *   event        append-only, in 16 hash partitions by session; the first event of a record says how many belong to it, and its key
 *   blob         data of more than 64 KiB, beside the partitions that every worker reads
 *   activation   what is due, as hints; `claim` says which worker has taken a session for the next moments
 *   worker       one row for each open store that wakes; its renewal keeps every lease that it holds
 *   view         the newest folded state
 */
import type { Migration } from './migration.ts';
import { SESSION_FUNCTIONS } from './session-functions.ts';
import { WORK_FUNCTIONS } from './work-functions.ts';

const EVENT_PARTITIONS = 16;

const TABLES = `
CREATE TABLE $s.worker (
  id uuid PRIMARY KEY,
  owner text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  alive_until timestamptz NOT NULL,
  claimed_tenant text NOT NULL DEFAULT ''
) WITH (fillfactor = 50);

CREATE TABLE $s.session (
  id uuid PRIMARY KEY,
  agent_id text NOT NULL,
  tenant text NOT NULL,
  head integer NOT NULL,
  epoch integer NOT NULL,
  lease_given integer NOT NULL DEFAULT 0,
  lease_epoch integer,
  lease_worker uuid,
  lease_token uuid,
  leased_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 70);
CREATE INDEX session_by_agent ON $s.session (agent_id, id);
CREATE INDEX session_by_worker ON $s.session (lease_worker) WHERE lease_worker IS NOT NULL;

CREATE TABLE $s.event (
  session_id uuid NOT NULL,
  seq integer NOT NULL,
  id uuid NOT NULL,
  type text NOT NULL,
  v integer NOT NULL,
  epoch integer,
  at text NOT NULL,
  record_events integer,
  record_key text,
  data text,
  PRIMARY KEY (session_id, seq)
) PARTITION BY HASH (session_id);
CREATE UNIQUE INDEX event_by_id ON $s.event (session_id, id) WHERE record_events IS NOT NULL;
CREATE UNIQUE INDEX event_by_key ON $s.event (session_id, record_key) WHERE record_key IS NOT NULL;

CREATE TABLE $s.blob (
  session_id uuid NOT NULL,
  seq integer NOT NULL,
  data text NOT NULL,
  PRIMARY KEY (session_id, seq)
);

CREATE TABLE $s.activation (
  session_id uuid NOT NULL,
  agent_id text NOT NULL,
  tenant text NOT NULL,
  cause_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  priority text NOT NULL,
  rank smallint NOT NULL,
  due_at_ms bigint NOT NULL,
  PRIMARY KEY (session_id, cause_id, due_at_ms, rank, agent_id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX activation_to_claim ON $s.activation (tenant, rank, due_at_ms);
CREATE INDEX activation_by_time ON $s.activation (due_at_ms);

CREATE TABLE $s.claim (
  session_id uuid PRIMARY KEY,
  worker uuid NOT NULL,
  until timestamptz NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX claim_by_worker ON $s.claim (worker);

CREATE TABLE $s.view (
  session_id uuid PRIMARY KEY,
  head integer NOT NULL,
  fold_version integer NOT NULL,
  status text NOT NULL,
  is_parked boolean NOT NULL,
  state text NOT NULL,
  saved_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 70);
CREATE INDEX view_parked ON $s.view (session_id) WHERE is_parked;
`;

const partition = (number: number): string =>
  `CREATE TABLE $s.event_${number} PARTITION OF $s.event FOR VALUES WITH (MODULUS ${EVENT_PARTITIONS}, REMAINDER ${number});`;

const PARTITIONS = Array.from({ length: EVENT_PARTITIONS }, (_, number) => partition(number)).join('\n');

export const sessionsMigration: Migration = {
  version: 1,
  name: 'sessions',
  serves: 1,
  formerly: '2d95582d7d684fa0f12f86fac2474d322af184fee965022024e9b7050ea8fa13',
  statements: (schema) => [TABLES, PARTITIONS, SESSION_FUNCTIONS, WORK_FUNCTIONS].join('\n').replaceAll('$s', schema),
};
