/**
 * Copies of the folders that sessions work in.
 *
 *   COPY_TABLE    one row for each session whose folder a process has reported: its home, and which copy there is
 *   ADDED_TABLE   files that came for it since, such as attachments; paths that are long or no plain text by their hash
 *   PIECE_TABLE   the contents, by hash, each session for itself
 */
import { ADDED_TABLE, COPY_TABLE, PIECE_TABLE } from '../workspace-copy-tables.ts';
import type { Migration } from './migration.ts';

const TABLES = `
CREATE TABLE $s.${COPY_TABLE} (
  session_id uuid PRIMARY KEY REFERENCES $s.session ON DELETE CASCADE,
  epoch integer NOT NULL,
  host_id text,
  host_name text,
  bound text,
  copy_epoch integer,
  manifest_id text,
  files integer,
  bytes bigint,
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CHECK ((host_id IS NULL) = (host_name IS NULL)),
  CHECK ((manifest_id IS NULL) = (copy_epoch IS NULL) AND (manifest_id IS NULL) = (files IS NULL) AND (manifest_id IS NULL) = (bytes IS NULL))
) WITH (fillfactor = 70);

CREATE TABLE $s.${ADDED_TABLE} (
  session_id uuid NOT NULL REFERENCES $s.session ON DELETE CASCADE,
  path text COLLATE "C" NOT NULL,
  file text NOT NULL,
  added_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (session_id, path)
);

CREATE TABLE $s.${PIECE_TABLE} (
  session_id uuid NOT NULL REFERENCES $s.session ON DELETE CASCADE,
  hash bytea NOT NULL,
  bytes bytea NOT NULL,
  put_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (session_id, hash)
);
ALTER TABLE $s.${PIECE_TABLE} ALTER COLUMN bytes SET STORAGE EXTERNAL;
`;

export const workspaceCopiesMigration: Migration = {
  version: 3,
  // Databases hold it under this name, and compare.
  name: 'hand-copies',
  serves: 1,
  statements: (schema) => TABLES.replaceAll('$s', schema),
};
