/**
 * What an event store does with what is appended: it stores all or nothing, in one order, once, and says how safe it
 * is.
 */
import type { EventStore } from '../actors/session/event-store.ts';
import { named } from './contract-case.ts';
import type { ContractCase } from './contract-case.ts';
import { SUCCEEDED, expectRefusal, expectSame, outcomeOf } from './expectations.ts';
import {
  AGENT_ID,
  SESSION_ID,
  claimOf,
  creation,
  idOf,
  messagesOf,
  numbersTo,
  placesOf,
  toolUseOf,
} from './session-fixtures.ts';
import { storeCase, storedPlaces } from './store-case.ts';

const storing: readonly ContractCase<EventStore>[] = [
  storeCase('gives each event the next number and says how durable it is', async (store) => {
    const { events, durability, isDuplicate } = await store.append(SESSION_ID, messagesOf(2, 3));
    expectSame(
      { durability, isDuplicate },
      { durability: store.durability, isDuplicate: false },
      'what the result says',
    );
    expectSame(
      placesOf(events),
      [
        [2, idOf(2)],
        [3, idOf(3)],
      ],
      'the events of the result',
    );
    expectSame(
      await storedPlaces(store),
      [
        [1, idOf(1)],
        [2, idOf(2)],
        [3, idOf(3)],
      ],
      'what a reader gets',
    );
  }),

  storeCase('returns exactly what a reader gets, whatever characters it is made of', async (store) => {
    const input = { a: [1, -0.5, 1e21, 'ü\u2028\n\r\0\ud83d\ude00', null, true], __proto: {}, '': '' };
    const { events } = await store.append(SESSION_ID, [toolUseOf(2, input)]);
    expectSame(events[0]?.data, toolUseOf(2, input).data, 'the data of the result');
    expectSame(await store.read(SESSION_ID, { from: 2 }), events, 'what a reader gets');
  }),

  storeCase('keeps nothing that the caller can still change', async (store) => {
    const list = ['before'];
    const event = toolUseOf(2, {});
    const { events } = await store.append(SESSION_ID, [
      { ...event, data: { callId: 'c', name: 'n', input: { list }, spanId: 's' } },
    ]);
    list[0] = 'after';
    const kept = { callId: 'c', name: 'n', input: { list: ['before'] }, spanId: 's' };
    expectSame(events[0]?.data, kept, 'the result, after the caller has changed what was appended');
    expectSame(
      (await store.read(SESSION_ID, { from: 2 }))[0]?.data,
      kept,
      'the stored event, after the caller has changed what was appended',
    );
  }),

  storeCase('keeps the numbers dense under many appenders', async (store) => {
    const results = await Promise.all(numbersTo(64).map((n) => store.append(SESSION_ID, messagesOf(100 + n))));
    const numbers = results.map(({ events: [event] }) => event?.seq ?? 0).toSorted((one, other) => one - other);
    expectSame(numbers, numbersTo(65, 2), 'the sequence numbers of 64 appends at once');
    expectSame(await store.head(SESSION_ID), 65, 'the last sequence number');
    const stored = new Map((await store.read(SESSION_ID)).map(({ seq, id }) => [seq, id]));
    const misplaced = results.flatMap(({ events }) => events).filter(({ seq, id }) => stored.get(seq) !== id);
    expectSame(placesOf(misplaced), [], 'events that lie elsewhere than their result says');
  }),
];

const repeating: readonly ContractCase<EventStore>[] = [
  storeCase('stores once under one key, and gives the first result again', async (store) => {
    const first = await store.append(SESSION_ID, messagesOf(2, 3), { idempotencyKey: 'k' });
    await store.append(SESSION_ID, messagesOf(4));
    const again = await store.append(SESSION_ID, messagesOf(5), { idempotencyKey: 'k' });
    expectSame(again, { ...first, isDuplicate: true }, 'the result of the second append');
    expectSame(await store.findByKey(SESSION_ID, 'k'), again, 'what is found by the key');
    expectSame(await store.findByKey(SESSION_ID, 'other'), undefined, 'what is found by a key that was never used');
    expectSame(await store.head(SESSION_ID), 4, 'the last sequence number');
  }),

  storeCase('stores once under one key when it is used many times at once', async (store) => {
    const results = await Promise.all(
      numbersTo(16).map((n) => store.append(SESSION_ID, messagesOf(100 + n), { idempotencyKey: 'k' })),
    );
    expectSame(
      new Set(results.map(({ events }) => JSON.stringify(placesOf(events)))).size,
      1,
      'how many different results sixteen appends have',
    );
    expectSame(results.filter(({ isDuplicate }) => !isDuplicate).length, 1, 'how many of them stored something');
    expectSame(await store.head(SESSION_ID), 2, 'the last sequence number');
  }),

  storeCase('keeps the keys of one session apart from those of another', async (store) => {
    const other = idOf(50);
    await store.create({ sessionId: other, agentId: AGENT_ID }, creation(51));
    await store.append(SESSION_ID, messagesOf(2), { idempotencyKey: 'k' });
    expectSame(
      (await store.append(other, messagesOf(52), { idempotencyKey: 'k' })).isDuplicate,
      false,
      'whether the key of another session counts',
    );
    expectSame(
      await storedPlaces(store, other),
      [
        [1, idOf(51)],
        [2, idOf(52)],
      ],
      'the log of the other session',
    );
  }),

  storeCase('stores an event once, however often it is appended', async (store) => {
    const first = await store.append(SESSION_ID, messagesOf(2, 3));
    await store.append(SESSION_ID, messagesOf(4));
    expectSame(
      await store.append(SESSION_ID, messagesOf(2, 3)),
      { ...first, isDuplicate: true },
      'the result of the second append',
    );
    expectSame(
      await store.findById(SESSION_ID, idOf(2)),
      { ...first, isDuplicate: true },
      'what is found by the id of its first event',
    );
    expectSame(await store.findById(SESSION_ID, idOf(77)), undefined, 'what is found by an id that was never stored');
    expectSame(await store.head(SESSION_ID), 4, 'the last sequence number');
  }),
];

const competing: readonly ContractCase<EventStore>[] = [
  storeCase('is refused when the head was expected elsewhere, and leaves no trace', async (store) => {
    await store.append(SESSION_ID, messagesOf(2));
    await expectRefusal(
      store.append(SESSION_ID, messagesOf(3), { expectedHead: 1 }),
      'HEAD_MOVED',
      'an append at an earlier head',
    );
    expectSame(await store.head(SESSION_ID), 2, 'the last sequence number afterwards');
    expectSame(
      await outcomeOf(store.append(SESSION_ID, messagesOf(3), { expectedHead: 2 })),
      SUCCEEDED,
      'an append at the head',
    );
  }),

  storeCase('at an expected head is won by exactly one of many', async (store) => {
    const outcomes = await Promise.all(
      numbersTo(16).map((n) => outcomeOf(store.append(SESSION_ID, messagesOf(100 + n), { expectedHead: 1 }))),
    );
    expectSame(
      outcomes.toSorted(),
      [...Array<string>(15).fill('HEAD_MOVED'), SUCCEEDED],
      'the outcomes of sixteen at once',
    );
    expectSame(await store.head(SESSION_ID), 2, 'the last sequence number');
  }),

  storeCase('lets exactly one of many claim an epoch', async (store) => {
    const outcomes = await Promise.all(
      numbersTo(8).map((n) => outcomeOf(store.append(SESSION_ID, claimOf(100 + n, 1)))),
    );
    expectSame(
      outcomes.toSorted(),
      [...Array<string>(7).fill('EPOCH_SUPERSEDED'), SUCCEEDED],
      'the outcomes of eight at once',
    );
    expectSame(await store.head(SESSION_ID), 2, 'the last sequence number');
  }),
];

export const appendingCases: readonly ContractCase<EventStore>[] = named('appending,', [
  ...storing,
  ...repeating,
  ...competing,
]);
