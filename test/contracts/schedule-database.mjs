/** Records of schedules in a database, for processes that run the built package. */
import { createSystemClock } from '../../dist/actors/clock/system-clock.js';
import { ConnectedDatabase } from '../../dist/adapters/postgres/postgres-database.js';
import { loadDriver } from '../../dist/adapters/postgres/postgres-driver.js';
import { createPostgresScheduleStore } from '../../dist/adapters/postgres/schedule-store.js';

/** Few records are added up by themselves, so that it happens in the middle of races. @param {string} url */
export async function openScheduleDatabase(url) {
  const settings = {
    url,
    clock: createSystemClock(),
    schema: 'wakechart',
    poolSize: 2,
    patienceMs: 20_000,
    callLimitMs: 20_000,
  };
  return createPostgresScheduleStore({ database: new ConnectedDatabase(await loadDriver(), settings), foldEvery: 12 });
}
