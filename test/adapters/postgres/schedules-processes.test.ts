/**
 * Worker processes over one database: the same races and deaths as over one home. Those of two homes stand for two
 * machines.
 */
import { createPostgresScheduleStore } from '../../../src/adapters/postgres/schedule-store.ts';
import { createNodeRuntime } from '../../../src/node.ts';
import { describeDurableSchedules } from '../../contracts/durable-schedules.contract.ts';
import { describeSharedSchedule } from '../../contracts/shared-schedule.contract.ts';
import { migratedDatabase } from '../../support/postgres-server.ts';
import { openSharedTables } from '../../support/shared-tables.ts';
import { temporaryHome } from '../../support/temporary-home.ts';

describeSharedSchedule('in a database', async () => {
  const tables = await openSharedTables();
  return {
    place: tables.url,
    store: createPostgresScheduleStore({ database: tables.one }),
    dispose: () => tables.drop(),
  };
});

describeDurableSchedules('one database', async () => {
  const [{ url, drop }, here, there] = await Promise.all([migratedDatabase(), temporaryHome(), temporaryHome()]);
  const runtime = await createNodeRuntime({ home: here.path, store: { postgres: url } });
  await runtime.agents.create({
    agentId: 'ticked',
    source: { frontmatter: { name: 'ticked', provider: 'script', model: 'script.json' }, instructions: 'Play.' },
  });
  const { sessionId } = await runtime.sessions.create({ agentId: 'ticked' });
  const dispose = async (): Promise<void> => {
    await runtime.shutdown();
    await Promise.all([drop(), here.remove(), there.remove()]);
  };
  return { runtime, sessionId, homes: [here.path, there.path], url, dispose };
});
