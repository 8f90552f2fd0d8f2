/** Worker processes over one database: the same races and deaths as over one directory, which stand for those of machines. */
import { createPostgresScheduleStore } from '../../../src/adapters/postgres/schedule-store.ts';
import { describeSharedSchedule } from '../../contracts/shared-schedule.contract.ts';
import { openSharedTables } from '../../support/shared-tables.ts';

describeSharedSchedule('in a database', async () => {
  const tables = await openSharedTables();
  return { place: tables.url, store: createPostgresScheduleStore({ database: tables.one }), dispose: () => tables.drop() };
});
