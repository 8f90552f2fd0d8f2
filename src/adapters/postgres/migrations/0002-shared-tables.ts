/**
 * What workers share beside sessions.
 *
 *   schedule_log, schedule_record    what was recorded of the slots of each schedule, append-only; a log is added up by every worker alike
 *   schedule_definition              the schedules themselves
 *   schedule_standing                how they stand: paused, parked, how often they ran
 *   candidate_standing               how models stand with accounts: what cools down, what is disabled, who probes. No secret is here
 *   policy                           the rules that people have kept by an answer, one row for each agent
 *   job, job_owner                   jobs of subagents, under numbers that no two machines give, and the processes that own them
 *
 * The four before the last have one shape, for they are used in one way: a row is a whole value, which only a writer
 * that has seen the revision before replaces. A row whose body is null was removed; it stays, so that no revision ever
 * comes twice.
 */
import { OWN_OPERATORS } from './migration.ts';
import type { Migration } from './migration.ts';

const LOGS = `
CREATE TABLE $s.schedule_log (
  schedule text COLLATE "C" PRIMARY KEY,
  head bigint NOT NULL DEFAULT 0,
  folded_through bigint NOT NULL DEFAULT 0,
  folded text
) WITH (fillfactor = 70);

CREATE TABLE $s.schedule_record (
  schedule text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  write_id uuid NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (schedule, seq)
);
CREATE INDEX schedule_record_by_write ON $s.schedule_record (write_id);
`;

/**
 * Stores records behind all others of the schedule, once for each write id, and gives what a reader has to add up. The
 * row of the schedule is locked first: what follows sees all that earlier holders of the lock have stored, this very
 * write included when its answer was lost.
 */
const APPEND = `
CREATE FUNCTION $s.append_schedule_records_1(p_schedule text, p_write uuid, p_bodies text[])
RETURNS TABLE (first_seq bigint, folded_from bigint, folded_history text, tail text[]) ${OWN_OPERATORS} AS $body$
DECLARE
  v_log record;
BEGIN
  INSERT INTO $s.schedule_log (schedule) VALUES (p_schedule) ON CONFLICT DO NOTHING;
  SELECT l.head, l.folded_through, l.folded INTO STRICT v_log FROM $s.schedule_log l WHERE l.schedule = p_schedule FOR UPDATE;
  SELECT min(r.seq) INTO first_seq FROM $s.schedule_record r WHERE r.write_id = p_write AND r.schedule = p_schedule;
  IF first_seq IS NULL THEN
    first_seq := v_log.head + 1;
    INSERT INTO $s.schedule_record (schedule, seq, write_id, body)
      SELECT p_schedule, v_log.head + b.nth, p_write, b.body FROM unnest(p_bodies) WITH ORDINALITY AS b (body, nth);
    UPDATE $s.schedule_log l SET head = l.head + cardinality(p_bodies) WHERE l.schedule = p_schedule;
  END IF;
  folded_from := v_log.folded_through;
  folded_history := v_log.folded;
  tail := ARRAY(SELECT r.body FROM $s.schedule_record r WHERE r.schedule = p_schedule AND r.seq > v_log.folded_through ORDER BY r.seq);
  RETURN NEXT;
END $body$;
`;

const revised = (table: string): string => `
CREATE TABLE $s.${table} (
  key text COLLATE "C" PRIMARY KEY,
  position bigint GENERATED ALWAYS AS IDENTITY,
  revision bigint NOT NULL,
  writes uuid[] NOT NULL,
  body text,
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 70);
`;

const REVISED = ['schedule_definition', 'schedule_standing', 'candidate_standing', 'policy'].map(revised).join('');

/** A number without a body was given to a job whose process died before it said more. */
const JOBS = `
CREATE TABLE $s.job_owner (
  id uuid PRIMARY KEY,
  place text NOT NULL,
  token text,
  alive_until timestamptz NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE $s.job (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  owner uuid,
  claim uuid,
  place text,
  machine text,
  stage text,
  has_output boolean NOT NULL DEFAULT false,
  body text,
  made_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 70);
`;

export const sharedTablesMigration: Migration = {
  version: 2,
  name: 'shared-tables',
  serves: 1,
  statements: (schema) => [LOGS, APPEND, REVISED, JOBS].join('\n').replaceAll('$s', schema),
};
