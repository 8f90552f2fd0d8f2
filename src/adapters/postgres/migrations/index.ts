/** Every step of the schema, in order. */
import { sessionsMigration } from './0001-sessions.ts';
import { sharedTablesMigration } from './0002-shared-tables.ts';
import { workspaceCopiesMigration } from './0003-workspace-copies.ts';
import { flushedLeasesMigration } from './0004-flushed-leases.ts';
import { fewerWaysMigration } from './0005-fewer-ways.ts';
import { shorterAppendMigration } from './0006-shorter-append.ts';
import { fleetQuestionsMigration } from './0007-fleet-questions.ts';
import type { Migration } from './migration.ts';

export const MIGRATIONS: readonly Migration[] = [
  ...[sessionsMigration, sharedTablesMigration, workspaceCopiesMigration],
  ...[flushedLeasesMigration, fewerWaysMigration, shorterAppendMigration],
  fleetQuestionsMigration,
];
