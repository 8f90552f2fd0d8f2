/**
 * What every event store does, whatever it stands on: the published cases, run with vitest. Each adapter runs them
 * against itself.
 */
import { describe, it } from 'vitest';
import type { EventStore } from '../../src/actors/session/event-store.ts';
import { eventStoreContract } from '../../src/testing/event-store-contract.ts';

export { outcomeOf as codeOf } from '../../src/testing/expectations.ts';

export interface StoreUnderTest {
  readonly store: EventStore;
  /** Releases everything, the store included. */
  dispose(): Promise<void>;
}

export function describeEventStore(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`${name}, as an event store`, () => {
    it.each(eventStoreContract.map((each) => [each.name, each.run] as const))('%s', async (_name, run) => {
      const { store, dispose } = await open();
      try {
        await run(store);
      } finally {
        await dispose();
      }
    });
  });
}
