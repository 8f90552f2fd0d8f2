/** How a case of the event store's contract begins: with a session in a store that was empty. */
import type { EventStore } from '../actors/session/event-store.ts';
import type { ContractCase } from './contract-case.ts';
import { IDENTITY, SESSION_ID, creation, placesOf } from './session-fixtures.ts';

/** A case over a store that holds one session with one event. */
export function storeCase(name: string, run: (store: EventStore) => Promise<void>): ContractCase<EventStore> {
  return {
    name,
    async run(store) {
      await store.create(IDENTITY, creation());
      await run(store);
    },
  };
}

/** Where every event of the session lies, as a reader sees it. */
export async function storedPlaces(store: EventStore, sessionId = SESSION_ID): Promise<ReturnType<typeof placesOf>> {
  return placesOf(await store.read(sessionId));
}
