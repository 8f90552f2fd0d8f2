/**
 * What an event store gives to a process that copies it, and takes from it: records as they were appended, with their
 * boundaries and keys.
 */
import { MAX_READ_EVENTS } from '../actors/session/event-store.ts';
import type { EventStore, SessionRecord, StoredRecord } from '../actors/session/event-store.ts';
import { named } from './contract-case.ts';
import type { ContractCase } from './contract-case.ts';
import { expectRefusal, expectSame } from './expectations.ts';
import {
  AGENT_ID,
  SESSION_ID,
  claimOf,
  creation,
  idOf,
  messageOf,
  messagesOf,
  numbersTo,
  placesOf,
} from './session-fixtures.ts';
import { storeCase, storedPlaces } from './store-case.ts';

const COPY = { sessionId: idOf(500), agentId: AGENT_ID } as const;

/** Sequence numbers and key of each record. */
function shapesOf(
  records: readonly StoredRecord[],
): readonly (readonly [from: number, to: number | undefined, key: string | null])[] {
  return records.map(({ events, key }) => [events[0].seq, events.at(-1)?.seq, key ?? null]);
}

const reading = named('reading records,', [
  storeCase('gives each as it was appended, with its key', async (store) => {
    await store.append(SESSION_ID, messagesOf(2, 3), { idempotencyKey: 'k' });
    await store.append(SESSION_ID, [...claimOf(4, 1), messageOf(5, 1)]);
    await store.append(SESSION_ID, messagesOf(9), { idempotencyKey: 'k' });
    const records = await store.records(SESSION_ID);
    expectSame(
      shapesOf(records),
      [
        [1, 1, null],
        [2, 3, 'k'],
        [4, 5, null],
      ],
      'where they begin and end, and their keys',
    );
    expectSame(
      records.flatMap(({ events }) => events),
      await store.read(SESSION_ID),
      'their events, which are those of a reader',
    );
  }),

  storeCase('begins with the record that holds a number, and ends after as many as were asked for', async (store) => {
    await store.append(SESSION_ID, messagesOf(2, 3, 4));
    await store.append(SESSION_ID, messagesOf(5));
    await store.append(SESSION_ID, messagesOf(6));
    expectSame(
      shapesOf(await store.records(SESSION_ID, { from: 3, limit: 2 })),
      [
        [2, 4, null],
        [5, 5, null],
      ],
      'two records from the middle of one on',
    );
    expectSame(shapesOf(await store.records(SESSION_ID, { from: 6 })), [[6, 6, null]], 'the last record');
    expectSame(await store.records(SESSION_ID, { from: 7 }), [], 'what is behind the last record');
  }),

  storeCase('goes on page by page, each record once', async (store) => {
    const head = 1 + MAX_READ_EVENTS + 600;
    for (let n = 2; n < head; n += 200)
      await store.append(SESSION_ID, [messageOf(n), ...numbersTo(n + 199, n + 1).map((each) => messageOf(each))]);
    const read: StoredRecord[] = [];
    for (let from = 1; from <= head;) {
      const page = await store.records(SESSION_ID, { from });
      const last = page.at(-1)?.events.at(-1)?.seq;
      if (last === undefined) break;
      read.push(...page);
      from = last + 1;
    }
    expectSame(
      shapesOf(read),
      [[1, 1, null], ...numbersTo(8).map((n) => [2 + 200 * (n - 1), 1 + 200 * n, null])],
      'all records',
    );
  }),

  storeCase('says so when the session is not there', async (store) => {
    await expectRefusal(store.records(idOf(99)), 'SESSION_NOT_FOUND', 'reading the records of an unknown id');
  }),
]);

const LOG: readonly [SessionRecord, ...SessionRecord[]] = [
  { events: creation(501) },
  { events: messagesOf(502, 503), key: 'k' },
  { events: [...claimOf(504, 3), messageOf(505, 3)] },
];

const making = named('creating a session from records,', [
  storeCase('stores them with their boundaries, keys and epochs', async (store) => {
    const { events, isDuplicate } = await store.createFromRecords(COPY, LOG);
    expectSame(
      { places: placesOf(events), isDuplicate },
      { places: numbersTo(5).map((n) => [n, idOf(500 + n)]), isDuplicate: false },
      'the result',
    );
    expectSame(
      shapesOf(await store.records(COPY.sessionId)),
      [
        [1, 1, null],
        [2, 3, 'k'],
        [4, 5, null],
      ],
      'the records of the session',
    );
    expectSame(await store.read(COPY.sessionId), events, 'what a reader gets');
    await expectRefusal(
      store.append(COPY.sessionId, [messageOf(506, 2)]),
      'EPOCH_SUPERSEDED',
      'an append under an epoch that has been passed',
    );
  }),

  storeCase('knows a retry of each of them', async (store) => {
    await store.createFromRecords(COPY, LOG);
    const again = await store.append(COPY.sessionId, messagesOf(506), { idempotencyKey: 'k' });
    expectSame(
      { places: placesOf(again.events), isDuplicate: again.isDuplicate },
      {
        places: [
          [2, idOf(502)],
          [3, idOf(503)],
        ],
        isDuplicate: true,
      },
      'an append under a key that came with them',
    );
    expectSame(
      placesOf((await store.findById(COPY.sessionId, idOf(504)))?.events ?? []),
      [
        [4, idOf(504)],
        [5, idOf(505)],
      ],
      'what is found by the id of a first event',
    );
    expectSame(await store.head(COPY.sessionId), 5, 'the last sequence number');
  }),

  storeCase('makes nothing when one of them would not count', async (store) => {
    const bad: readonly SessionRecord[] = [
      { events: messagesOf(502) },
      { events: messagesOf(509), key: 'k' },
      { events: [messageOf(509, 2)] },
    ];
    for (const record of bad)
      await expectRefusal(
        store.createFromRecords(COPY, [...LOG, record]),
        'SESSION_EVENT_INVALID',
        'a repeated id, a repeated key, or an epoch that was over',
      );
    await expectRefusal(store.head(COPY.sessionId), 'SESSION_NOT_FOUND', 'searching for it afterwards');
  }),

  storeCase('makes no second session under an id that is taken, and leaves the first as it is', async (store) => {
    await expectRefusal(
      store.createFromRecords({ ...COPY, sessionId: SESSION_ID }, LOG),
      'SESSION_EXISTS',
      'creating it again',
    );
    expectSame(await storedPlaces(store), [[1, idOf(1)]], 'the log afterwards');
  }),
]);

export const recordCases: readonly ContractCase<EventStore>[] = [...reading, ...making];
