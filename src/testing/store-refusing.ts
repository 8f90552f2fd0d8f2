/** What an event store refuses to append, and what becomes of the hints that come with an append. */
import type { EventStore } from '../actors/session/event-store.ts';
import { MAX_RECORD_BYTES } from '../machines/session/limits.ts';
import type { Activation } from '../machines/session/activation.ts';
import { named } from './contract-case.ts';
import type { ContractCase } from './contract-case.ts';
import { SUCCEEDED, expectRefusal, expectSame, outcomeOf } from './expectations.ts';
import { hint } from './hints.ts';
import { SESSION_ID, START_MS, claimOf, idOf, messageOf, messagesOf, resultOf } from './session-fixtures.ts';
import { storeCase } from './store-case.ts';

const NO_EVENT = 'SESSION_EVENT_INVALID';

const refusing = named('appending,', [
  storeCase('is refused to a wake that was superseded', async (store) => {
    await store.append(SESSION_ID, claimOf(2, 1));
    await store.append(SESSION_ID, claimOf(3, 2));
    await expectRefusal(
      store.append(SESSION_ID, [messageOf(4, 1)]),
      'EPOCH_SUPERSEDED',
      'an append under the epoch before',
    );
    expectSame(await store.head(SESSION_ID), 3, 'the last sequence number afterwards');
    expectSame(
      await outcomeOf(store.append(SESSION_ID, [messageOf(5, 2)])),
      SUCCEEDED,
      'an append under the epoch that holds',
    );
  }),

  storeCase('refuses what is too large', async (store) => {
    await expectRefusal(
      store.append(SESSION_ID, [resultOf(2, MAX_RECORD_BYTES)]),
      'RECORD_TOO_LARGE',
      `an event of more than ${MAX_RECORD_BYTES} bytes`,
    );
    expectSame(await store.head(SESSION_ID), 1, 'the last sequence number afterwards');
  }),

  storeCase('refuses what is no JSON, no event, or of two epochs', async (store) => {
    const cyclic: { self?: unknown } = {};
    cyclic.self = cyclic;
    await expectRefusal(
      store.append(SESSION_ID, [{ ...messageOf(2), data: cyclic }]),
      NO_EVENT,
      'data that holds itself',
    );
    await expectRefusal(
      store.append(SESSION_ID, [{ ...messageOf(2), data: { big: 1n } }]),
      NO_EVENT,
      'data with a big integer',
    );
    await expectRefusal(
      store.append(SESSION_ID, [{ ...messageOf(2), id: 'no uuid' }]),
      NO_EVENT,
      'an id that is no UUID',
    );
    await expectRefusal(store.append(SESSION_ID, [messageOf(2, 1), messageOf(3, 2)]), NO_EVENT, 'events of two epochs');
    expectSame(await store.head(SESSION_ID), 1, 'the last sequence number afterwards');
  }),

  storeCase('of a bad one does not hurt the good ones beside it', async (store) => {
    const outcomes = await Promise.all([
      outcomeOf(store.append(SESSION_ID, messagesOf(2))),
      outcomeOf(store.append(SESSION_ID, [{ ...messageOf(3), id: 'no uuid' }])),
      outcomeOf(store.append(SESSION_ID, messagesOf(4))),
    ]);
    expectSame(outcomes, [SUCCEEDED, NO_EVENT, SUCCEEDED], 'the outcomes of three appends at once');
    expectSame(await store.head(SESSION_ID), 3, 'the last sequence number');
  }),
]);

/** The causes of everything that the store knows to be due. */
async function dueCauses(store: EventStore): Promise<string[]> {
  const { due } = await store.activations.due({ nowMs: START_MS, limit: 10 });
  return due.flatMap(({ activations }) => activations.map(({ causeId }) => causeId));
}

const made: Activation = hint({ causeId: idOf(2) });

const activating = named('appending with hints of what is due,', [
  storeCase('has made them when it resolves, and removes what is settled', async (store) => {
    await store.append(SESSION_ID, messagesOf(2), { activate: [made] });
    expectSame(await dueCauses(store), [made.causeId], 'what is due');
    await store.append(SESSION_ID, messagesOf(3), { activate: [hint({ causeId: 'next' })], settle: [made] });
    expectSame(await dueCauses(store), ['next'], 'what is due after it was settled');
  }),

  storeCase('removes none when the append is refused', async (store) => {
    await store.append(SESSION_ID, messagesOf(2), { activate: [made] });
    await expectRefusal(
      store.append(SESSION_ID, messagesOf(3), { expectedHead: 1, settle: [made] }),
      'HEAD_MOVED',
      'an append at an earlier head',
    );
    expectSame(await dueCauses(store), [made.causeId], 'what is due');
  }),
]);

export const refusingCases: readonly ContractCase<EventStore>[] = [...refusing, ...activating];
