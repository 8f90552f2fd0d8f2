/**
 * What every event store does, whatever it stands on. Each case wants a store of its own that is fresh and empty, and
 * leaves closing it to the caller that opened it. Beside it stand the contracts of the right to wake and of the index
 * of what is due.
 */
import type { EventStore } from '../actors/session/event-store.ts';
import { named } from './contract-case.ts';
import type { ContractCase } from './contract-case.ts';
import { appendingCases } from './store-appending.ts';
import { readingCases } from './store-reading.ts';
import { recordCases } from './store-records.ts';
import { refusingCases } from './store-refusing.ts';
import { sessionCases } from './store-sessions.ts';

export const eventStoreContract: readonly ContractCase<EventStore>[] = named('an event store,', [
  ...sessionCases,
  ...appendingCases,
  ...refusingCases,
  ...readingCases,
  ...recordCases,
]);
