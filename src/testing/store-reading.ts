/** What an event store gives to readers: pages, kept states, and news. */
import { MAX_READ_EVENTS } from '../actors/session/event-store.ts';
import type { EventStore } from '../actors/session/event-store.ts';
import { named } from './contract-case.ts';
import type { ContractCase } from './contract-case.ts';
import { expectSame, told } from './expectations.ts';
import { SESSION_ID, foldAll, idOf, messageOf, messagesOf, numbersTo, placesOf } from './session-fixtures.ts';
import { storeCase } from './store-case.ts';

/** More than one page. */
const HEAD = MAX_READ_EVENTS + 501;

/** A case over a session with HEAD events; each one's id has the number of its place. */
function readingCase(name: string, run: (store: EventStore) => Promise<void>): ContractCase<EventStore> {
  return storeCase(name, async (store) => {
    for (let n = 2; n < HEAD; n += 100)
      await store.append(SESSION_ID, [messageOf(n), ...numbersTo(n + 99, n + 1).map((each) => messageOf(each))]);
    await run(store);
  });
}

const reading = named('reading,', [
  readingCase('begins at any number and goes on page by page', async (store) => {
    expectSame(
      placesOf(await store.read(SESSION_ID, { from: 700, limit: 3 })),
      numbersTo(702, 700).map((n) => [n, idOf(n)]),
      'three events from the middle',
    );
    const pages = [await store.read(SESSION_ID), await store.read(SESSION_ID, { from: MAX_READ_EVENTS + 1 })];
    expectSame(
      pages.map((page) => page.length),
      [MAX_READ_EVENTS, 501],
      'the lengths of two pages',
    );
    expectSame(
      placesOf(pages.flat()),
      numbersTo(HEAD).map((n) => [n, idOf(n)]),
      'both pages',
    );
    expectSame(foldAll(pages.flat()).messages, HEAD - 1, 'the messages that they add up to');
  }),

  readingCase('ends where the log ends, and begins at the start when asked for less', async (store) => {
    expectSame(
      placesOf(await store.read(SESSION_ID, { from: HEAD, limit: 5 })),
      [[HEAD, idOf(HEAD)]],
      'what is read from the head on',
    );
    expectSame(await store.read(SESSION_ID, { from: HEAD + 1 }), [], 'what is read behind the head');
    expectSame(
      placesOf(await store.read(SESSION_ID, { from: -5, limit: 1 })),
      [[1, idOf(1)]],
      'what is read from a negative number on',
    );
    expectSame(await store.read(SESSION_ID, { limit: 0 }), [], 'no event');
  }),

  readingCase('never gives more than the most of one page', async (store) => {
    expectSame(
      (await store.read(SESSION_ID, { limit: 1_000_000 })).length,
      MAX_READ_EVENTS,
      'the length of a page that was to have a million events',
    );
  }),
]);

const keeping = named('a kept state', [
  storeCase('is there to fold on from, also when the log has gone on', async (store) => {
    expectSame(await store.checkpoint(SESSION_ID), undefined, 'what is kept before anything was');
    await store.append(SESSION_ID, messagesOf(2));
    const kept = foldAll(await store.read(SESSION_ID));
    await store.saveView(kept);
    await store.append(SESSION_ID, messagesOf(3));
    const state = await store.checkpoint(SESSION_ID);
    expectSame(state, kept, 'the kept state');
    const whole = foldAll(await store.read(SESSION_ID));
    expectSame(foldAll(await store.read(SESSION_ID, { from: 3 }), state), whole, 'the state that is folded on from it');
  }),

  storeCase('cannot be changed by its reader', async (store) => {
    await store.saveView(foldAll(await store.read(SESSION_ID)));
    const state = await store.checkpoint(SESSION_ID);
    expectSame(
      { state: Object.isFrozen(state), parts: Object.isFrozen(state?.pending) },
      { state: true, parts: true },
      'what is frozen',
    );
  }),
]);

const watching: readonly ContractCase<EventStore>[] = [
  storeCase('watching, tells when something was appended, until it is ended', async (store) => {
    let heard = 0;
    let notify: () => void = () => undefined;
    const change = new Promise<void>((resolve) => {
      notify = resolve;
    });
    const stop = store.watch(SESSION_ID, () => {
      heard += 1;
      notify();
    });
    try {
      await store.append(SESSION_ID, messagesOf(2));
      await told(change, 'the news of an append');
    } finally {
      stop();
    }
    stop();
    const before = heard;
    await store.append(SESSION_ID, messagesOf(3));
    expectSame(heard, before, 'how often it was told after watching had ended');
  }),
];

export const readingCases: readonly ContractCase<EventStore>[] = [...reading, ...keeping, ...watching];
