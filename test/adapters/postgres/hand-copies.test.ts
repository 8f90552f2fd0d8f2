/** PostgreSQL keeps copies of hands as every keeper does. */
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { createIdSource } from '../../../src/actors/session/id-source.ts';
import { createPostgresHandCopies } from '../../../src/adapters/postgres/hand-copies.ts';
import { creation } from '../../../src/testing/session-fixtures.ts';
import { describeHandCopies } from '../../contracts/hand-copies.contract.ts';
import { emptyStores } from './empty-stores.ts';

const { open, another } = emptyStores();
const ids = createIdSource({ clock: createSystemClock() });

describeHandCopies('PostgreSQL', async () => {
  const [here, there] = [await open(), await another()];
  return {
    copies: createPostgresHandCopies({ database: here.database }),
    beside: createPostgresHandCopies({ database: there.database }),
    impatient: createPostgresHandCopies({ database: there.database, graceMs: 0 }),
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
