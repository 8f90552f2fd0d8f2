/**
 * What an event store does about whole sessions: makes them, knows them, lists them, removes them, and refuses them
 * once it is closed.
 */
import type { EventStore } from '../actors/session/event-store.ts';
import { MAX_RECORD_BYTES } from '../machines/session/limits.ts';
import { named } from './contract-case.ts';
import type { ContractCase } from './contract-case.ts';
import { SUCCEEDED, expectRefusal, expectSame, outcomeOf } from './expectations.ts';
import {
  AGENT_ID,
  IDENTITY,
  NOBODY,
  SESSION_ID,
  claimOf,
  creation,
  foldAll,
  idOf,
  messageOf,
  messagesOf,
  numbersTo,
  placesOf,
  resultOf,
} from './session-fixtures.ts';
import { storeCase, storedPlaces } from './store-case.ts';

const creating = named('creating a session,', [
  storeCase('stores its first events', async (store) => {
    expectSame(
      await store.read(SESSION_ID),
      [{ ...creation()[0], seq: 1, sessionId: SESSION_ID }],
      'what a reader gets',
    );
    expectSame(await store.identify(SESSION_ID), IDENTITY, 'what the session is');
    expectSame(await store.head(SESSION_ID), 1, 'the last sequence number');
  }),

  storeCase('is refused when the session is there, and leaves it as it is', async (store) => {
    await expectRefusal(store.create(IDENTITY, messagesOf(9)), 'SESSION_EXISTS', 'creating it again');
    expectSame(await storedPlaces(store), [[1, idOf(1)]], 'the log afterwards');
  }),

  storeCase('makes nothing when one of its events is none', async (store) => {
    const identity = { sessionId: idOf(50), agentId: AGENT_ID };
    await expectRefusal(
      store.create(identity, [...creation(51), { ...messageOf(52), id: 'no uuid' }]),
      'SESSION_EVENT_INVALID',
      'creating it with a bad event',
    );
    await expectRefusal(store.head(identity.sessionId), 'SESSION_NOT_FOUND', 'searching for it afterwards');
    expectSame(
      placesOf((await store.create(identity, creation(51))).events),
      [[1, idOf(51)]],
      'what is stored when it is created with a good one',
    );
  }),

  storeCase('lets exactly one of many make it', async (store) => {
    const identity = { sessionId: idOf(50), agentId: AGENT_ID };
    const outcomes = await Promise.all(numbersTo(8).map((n) => outcomeOf(store.create(identity, creation(100 + n)))));
    expectSame(
      outcomes.toSorted(),
      [...Array<string>(7).fill('SESSION_EXISTS'), SUCCEEDED],
      'the outcomes of eight who make it at once',
    );
    expectSame((await store.read(identity.sessionId)).length, 1, 'how many events the session has');
  }),

  storeCase('takes a log of several epochs that is larger than one append may be', async (store) => {
    const identity = { sessionId: idOf(50), agentId: AGENT_ID };
    const part = Math.ceil(MAX_RECORD_BYTES / 3);
    const log = [
      ...creation(101),
      ...claimOf(102, 1),
      resultOf(103, part, 1),
      resultOf(104, part, 1),
      ...claimOf(105, 2),
      resultOf(106, part, 2),
      messageOf(107),
    ] as const;
    const { events } = await store.create(identity, log);
    expectSame(
      placesOf(events),
      numbersTo(7).map((n) => [n, idOf(100 + n)]),
      'what was stored',
    );
    expectSame(await store.read(identity.sessionId), events, 'what a reader gets');
    await expectRefusal(
      store.append(identity.sessionId, [messageOf(108, 1)]),
      'EPOCH_SUPERSEDED',
      'an append under an epoch that has been passed',
    );
  }),
]);

const uses: readonly (readonly [name: string, use: (store: EventStore, sessionId: string) => Promise<unknown>])[] = [
  ['identified', (store, id) => store.identify(id)],
  ['appended to', (store, id) => store.append(id, messagesOf(2))],
  ['read', (store, id) => store.read(id)],
  ['measured', (store, id) => store.head(id)],
  ['searched by key', (store, id) => store.findByKey(id, 'k')],
  ['searched by event', (store, id) => store.findById(id, idOf(1))],
  ['folded on from a kept state', (store, id) => store.checkpoint(id)],
  ['deleted', (store, id) => store.delete(id, { epoch: 0, isOpen: false })],
];

const missing = named('when a session is not there,', [
  ...uses.map(([name, use]) =>
    storeCase(`says so when it is to be ${name}`, async (store) => {
      await expectRefusal(use(store, NOBODY), 'SESSION_NOT_FOUND', `an unknown id that is ${name}`);
      await expectRefusal(use(store, '../../etc'), 'SESSION_NOT_FOUND', `something that is no id and is ${name}`);
    }),
  ),

  storeCase('lets it be watched, which does no harm', async (store) => {
    store.watch(NOBODY, () => undefined)();
    expectSame(await store.head(SESSION_ID), 1, 'the last sequence number of the session that is there');
  }),
]);

const listing = named('listing,', [
  storeCase('knows every session, oldest first, and those of one agent', async (store) => {
    const other = { sessionId: idOf(50), agentId: 'other' };
    await store.create(other, creation(51));
    await store.create({ sessionId: idOf(40), agentId: AGENT_ID }, creation(52));
    const idsOf = async (agentId?: string): Promise<string[]> =>
      (await store.list({ agentId })).map(({ sessionId }) => sessionId);
    expectSame(await idsOf(), [SESSION_ID, idOf(40), idOf(50)], 'all sessions');
    expectSame(await idsOf('other'), [other.sessionId], 'those of one agent');
    expectSame(
      (await store.list({ agentId: 'other' })).map(({ agentId }) => agentId),
      ['other'],
      'whose they are',
    );
    expectSame(await idsOf('nobody'), [], 'those of an agent who has none');
    expectSame(
      (await store.list({ newest: 2 })).slice(-2).map(({ sessionId }) => sessionId),
      [idOf(40), idOf(50)],
      'those that were made last',
    );
    expectSame(
      (await store.list({ newest: 1, before: idOf(50) })).slice(-1).map(({ sessionId }) => sessionId),
      [idOf(40)],
      'the one that was made before another',
    );
    expectSame(
      (await store.list({ before: idOf(40) })).map(({ sessionId }) => sessionId),
      [SESSION_ID],
      'those that were made before another',
    );
    const asked = await store.list({ agentId: AGENT_ID, sessionIds: [idOf(40), idOf(41), other.sessionId] });
    expectSame(
      asked.map(({ sessionId }) => sessionId),
      [idOf(40)],
      'of those that are named, the one that is there',
    );
  }),

  storeCase('offers a kept view until the log goes on', async (store) => {
    const state = foldAll(await store.read(SESSION_ID));
    await store.saveView(state);
    expectSame(await store.list(), [{ ...IDENTITY, view: state }], 'the sessions with their views');
    await store.append(SESSION_ID, messagesOf(2));
    expectSame((await store.list())[0]?.view, undefined, 'a view after the log has gone on');
  }),
]);

const deleting = named('deleting a session,', [
  storeCase('leaves nothing of it, and the others as they are', async (store) => {
    await store.create({ sessionId: idOf(50), agentId: AGENT_ID }, creation(51));
    await store.delete(SESSION_ID, { epoch: 0, isOpen: false });
    await expectRefusal(store.read(SESSION_ID), 'SESSION_NOT_FOUND', 'reading it');
    await expectRefusal(store.append(SESSION_ID, messagesOf(2)), 'SESSION_NOT_FOUND', 'appending to it');
    expectSame(
      (await store.list()).map(({ sessionId }) => sessionId),
      [idOf(50)],
      'the sessions that are left',
    );
  }),

  storeCase('is refused while a worker holds the right to wake it, and changes nothing', async (store) => {
    const right = await store.acquireWakeRight(SESSION_ID, { epoch: 0, isOpen: false });
    try {
      await expectRefusal(store.delete(SESSION_ID, { epoch: 0, isOpen: false }), 'SESSION_BUSY', 'deleting it');
      expectSame(await store.head(SESSION_ID), 1, 'the last sequence number afterwards');
    } finally {
      await right.release();
    }
  }),
]);

const closed: readonly ContractCase<EventStore>[] = [
  storeCase('refuses everything once it is closed, also twice', async (store) => {
    await store.close();
    await store.close();
    for (const [name, use] of uses)
      await expectRefusal(use(store, SESSION_ID), 'STORE_CLOSED', `a session that is to be ${name}`);
    await expectRefusal(
      store.acquireWakeRight(SESSION_ID, { epoch: 0, isOpen: false }),
      'STORE_CLOSED',
      'asking for the right to wake it',
    );
    await expectRefusal(store.list(), 'STORE_CLOSED', 'listing');
    await expectRefusal(
      store.create({ sessionId: idOf(60), agentId: AGENT_ID }, creation()),
      'STORE_CLOSED',
      'creating',
    );
  }),
];

export const sessionCases: readonly ContractCase<EventStore>[] = [
  ...creating,
  ...missing,
  ...listing,
  ...deleting,
  ...closed,
];
