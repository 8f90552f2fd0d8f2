/**
 * A right to wake is on the disk of the server before it is answered: one that a crash took would be given again under
 * the same epoch, which two machines had then. That holds whatever the role is set to, and for programs of the version
 * before. Nothing else here says of itself any more that it may be lost; programs say that with the statement.
 */
import type { Migration } from './migration.ts';
import { ACQUIRE, CLAIM, withOwnOperators } from './work-functions.ts';

const DOES_NOT_WAIT = "  PERFORM set_config('synchronous_commit', 'off', true);\n";
const WAITS =
  "  IF current_setting('synchronous_commit') = 'off' THEN PERFORM set_config('synchronous_commit', 'on', true); END IF;\n";

const again = (made: string): string => withOwnOperators(made).replace('CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION');

export const flushedLeasesMigration: Migration = {
  version: 4,
  name: 'flushed-leases',
  serves: 1,
  formerly: '1546cb4ff1d39da8c0d02abb508b22813a4ad9e2809aa52c33f9940ea0015d17',
  statements: (schema) =>
    [ACQUIRE.replace(DOES_NOT_WAIT, WAITS), CLAIM.replace(DOES_NOT_WAIT, '')]
      .map(again)
      .join('\n')
      .replaceAll('$s', schema),
};
