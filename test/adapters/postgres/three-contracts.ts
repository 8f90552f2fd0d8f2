/**
 * What every store, every index of what is due and every giver of the right to wake does, asked of PostgreSQL however
 * it is reached.
 */
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { PostgresEventStore } from '../../../src/adapters/postgres/postgres-event-store.ts';
import { describeActivationIndex } from '../../contracts/activation-index.contract.ts';
import { describeEventStore } from '../../contracts/event-store.contract.ts';
import { describeWakeRights } from '../../contracts/wake-right.contract.ts';

export interface ReachedStores {
  /** Over the database, which is emptied before. */
  open(): Promise<PostgresEventStore>;
  /** Another one over the same database, as it is. */
  another(): Promise<PostgresEventStore>;
}

export function describeThreeContracts(name: string, { open, another }: ReachedStores): void {
  const storeAlone = async (): Promise<{ readonly store: PostgresEventStore; dispose(): Promise<void> }> => {
    const store = await open();
    return { store, dispose: () => store.close() };
  };
  describeEventStore(name, storeAlone);
  describeWakeRights(name, storeAlone);
  describeActivationIndex(name, async () => {
    const here = await open();
    const there = await another();
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
}
