/** PostgreSQL gives what every store, every index of what is due and every giver of the right to wake gives. */
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { PostgresEventStore } from '../../../src/adapters/postgres/postgres-event-store.ts';
import { describeActivationIndex } from '../../contracts/activation-index.contract.ts';
import { describeEventStore } from '../../contracts/event-store.contract.ts';
import { describeWakeRights } from '../../contracts/wake-right.contract.ts';
import { emptyStores } from './empty-stores.ts';

const { open, database } = emptyStores();

async function storeAlone(): Promise<{ readonly store: PostgresEventStore; dispose(): Promise<void> }> {
  const store = await open();
  return { store, dispose: () => store.close() };
}

describeEventStore('PostgreSQL', storeAlone);

describeWakeRights('PostgreSQL', storeAlone);

describeActivationIndex('PostgreSQL', async () => {
  const here = await open();
  const there = await PostgresEventStore.open({ url: database().url, clock: createSystemClock() });
  return {
    index: here.activations,
    elsewhere: there.activations,
    // The store's own timers are not the index's.
    clock: createSimulatedClock(),
    dispose: async () => {
      await here.close();
      await there.close();
    },
  };
});
