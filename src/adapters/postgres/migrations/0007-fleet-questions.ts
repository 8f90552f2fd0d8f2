/**
 * What an inspector asks the program that wakes a session: what runs there, or to end it. A row lives for a minute, and
 * a crash of the server may take it: it is asked again.
 */
import type { Migration } from './migration.ts';

const TABLE = `
CREATE UNLOGGED TABLE $s.fleet_question (
  id uuid PRIMARY KEY,
  session_id uuid NOT NULL,
  worker uuid NOT NULL,
  pid integer,
  asked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  answer text
);
`;

export const fleetQuestionsMigration: Migration = {
  version: 7,
  name: 'fleet-questions',
  serves: 1,
  statements: (schema) => TABLE.replaceAll('$s', schema),
};
