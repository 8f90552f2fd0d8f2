/** PostgreSQL keeps workspace copies as every keeper does. */
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { createIdSource } from '../../../src/actors/session/id-source.ts';
import { createPostgresWorkspaceCopyStore } from '../../../src/adapters/postgres/workspace-copy-store.ts';
import { creation } from '../../../src/testing/session-fixtures.ts';
import { describeWorkspaceCopyStore } from '../../contracts/workspace-copy-store.contract.ts';
import { emptyStores } from './empty-stores.ts';

const { open, another } = emptyStores();
const ids = createIdSource({ clock: createSystemClock() });

describeWorkspaceCopyStore('PostgreSQL', async () => {
  const [here, there] = [await open(), await another()];
  return {
    copies: createPostgresWorkspaceCopyStore({ database: here.database }),
    beside: createPostgresWorkspaceCopyStore({ database: there.database }),
    impatient: createPostgresWorkspaceCopyStore({ database: there.database, graceMs: 0 }),
    newSession: async () => {
      const sessionId = ids.next();
      await here.create({ sessionId, agentId: 'coder' }, creation());
      return sessionId;
    },
    dispose: async () => {
      await here.close();
      await there.close();
    },
  };
});
