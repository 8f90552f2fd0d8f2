/** A network that loses answers: what was stored is stored once, and whoever asked hears so. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { PostgresEventStore } from '../../../src/adapters/postgres/postgres-event-store.ts';
import { SUCCEEDED } from '../../../src/testing/expectations.ts';
import { hint } from '../../../src/testing/hints.ts';
import {
  IDENTITY,
  SESSION_ID,
  claimOf,
  creation,
  idOf,
  messagesOf,
  numbersTo,
  placesOf,
} from '../../../src/testing/session-fixtures.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { unreliableProxy } from '../../support/postgres-proxy.ts';
import type { UnreliableProxy } from '../../support/postgres-proxy.ts';
import { cutConnections } from '../../support/postgres-server.ts';
import { emptyStores } from './empty-stores.ts';

const { open, another, database } = emptyStores();

let proxy: UnreliableProxy;
let direct: PostgresEventStore;
let store: PostgresEventStore;

beforeEach(async () => {
  direct = await open();
  proxy = await unreliableProxy({ to: database().url });
  store = await PostgresEventStore.open({
    url: proxy.url,
    clock: createSystemClock(),
    news: 'poll',
    pollMs: 86_400_000,
    slowPollMs: 86_400_000,
    poolSize: 1,
  });
});

afterEach(async () => {
  await Promise.all([store.close(), direct.close()]);
  await proxy.stop();
});

/** What each step would have done over a network that loses nothing. */
const steps: readonly (readonly [
  name: string,
  act: (store: PostgresEventStore) => Promise<unknown>,
  check: (direct: PostgresEventStore) => Promise<unknown>,
  expected: unknown,
])[] = [
  [
    'an append',
    (to) => to.append(SESSION_ID, messagesOf(2, 3)),
    async (from) => placesOf(await from.read(SESSION_ID)),
    [1, 2, 3].map((n) => [n, idOf(n)]),
  ],
  [
    'an append with a key',
    (to) => to.append(SESSION_ID, messagesOf(2), { idempotencyKey: 'k' }),
    async (from) => [await from.head(SESSION_ID), (await from.findByKey(SESSION_ID, 'k'))?.events.length],
    [2, 1],
  ],
  [
    'an append at an expected head',
    (to) => to.append(SESSION_ID, messagesOf(2), { expectedHead: 1 }),
    (from) => from.head(SESSION_ID),
    2,
  ],
  ['the claim of an epoch', (to) => to.append(SESSION_ID, claimOf(2, 1)), (from) => from.head(SESSION_ID), 2],
  [
    'an append that makes something due',
    (to) => to.append(SESSION_ID, messagesOf(2), { activate: [hint({ causeId: idOf(2) })] }),
    async (from) => (await from.activations.due({ nowMs: from.clock.now(), limit: 5 })).due.length,
    1,
  ],
  [
    'the creation of a session',
    (to) => to.create({ sessionId: idOf(50), agentId: 'tester' }, creation(51)),
    (from) => from.head(idOf(50)),
    1,
  ],
  [
    'a right to wake',
    async (to) => (await to.acquireWakeRight(SESSION_ID, { epoch: 0, isOpen: false })).epoch,
    (from) => codeOf(from.acquireWakeRight(SESSION_ID, { epoch: 0, isOpen: false })),
    'WAKE_CONFLICT',
  ],
  [
    'the end of a right to wake',
    async (to) => (await to.acquireWakeRight(SESSION_ID, { epoch: 0, isOpen: false })).release(),
    (from) => codeOf(from.acquireWakeRight(SESSION_ID, { epoch: 0, isOpen: false })),
    SUCCEEDED,
  ],
  [
    'the deletion of a session',
    (to) => to.delete(SESSION_ID, { epoch: 0, isOpen: false }),
    (from) => codeOf(from.head(SESSION_ID)),
    'SESSION_NOT_FOUND',
  ],
];

describe('over a network that loses an answer', () => {
  it.each(steps)('%s takes place once, and says so, whichever answer is lost', async (_name, act, check, expected) => {
    await direct.create(IDENTITY, creation());
    const before = proxy.requests;
    await act(store);
    const requests = proxy.requests - before;
    expect(await check(direct)).toEqual(expected);
    for (const nth of numbersTo(requests)) {
      await direct.close();
      direct = await open();
      await direct.create(IDENTITY, creation());
      proxy.loseAnswerOf(nth);
      expect(await codeOf(act(store))).toBe(SUCCEEDED);
      expect(await check(direct)).toEqual(expected);
    }
  });

  it('a server that is away for a while is waited for, and nothing is doubled', async () => {
    await direct.create(IDENTITY, creation());
    proxy.refuse(true);
    proxy.cut();
    const appended = Promise.all(numbersTo(20).map((n) => store.append(SESSION_ID, messagesOf(100 + n))));
    await new Promise((resolve) => setTimeout(resolve, 60));
    proxy.refuse(false);
    expect((await appended).map(({ isDuplicate }) => isDuplicate)).toEqual(Array.from({ length: 20 }, () => false));
    expect(await direct.head(SESSION_ID)).toBe(21);
  });

  it('connections that are cut again and again lose no append and double none', async () => {
    const busy = await another({ poolSize: 3 });
    await direct.create(IDENTITY, creation());
    const appends = numbersTo(60).map(async (n) => busy.append(SESSION_ID, messagesOf(100 + n)));
    const cuts = (async () => {
      for (let times = 0; times < 8; times += 1) await cutConnections(database().url);
    })();
    const results = await Promise.all(appends);
    await cuts;
    expect(new Set(results.flatMap(({ events }) => events.map(({ seq }) => seq))).size).toBe(60);
    expect(await direct.head(SESSION_ID)).toBe(61);
    await busy.close();
  });

  it('a statement that nobody waits for any more does not hold its place on the server', async () => {
    await direct.create(IDENTITY, creation());
    const { schema } = direct.database;
    const blocked = await another({ callLimitMs: 150, patienceMs: 1_000, poolSize: 2, news: 'poll' });
    await direct.database.transaction(async (run) => {
      await run(`LOCK TABLE ${schema}.session IN ACCESS EXCLUSIVE MODE`);
      expect(await codeOf(blocked.append(SESSION_ID, messagesOf(2)))).toBe('STORAGE_FAILED');
      const [waiting] = await run<{ readonly backends: number }>(
        `SELECT count(*)::integer AS backends FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      expect(waiting?.backends).toBeLessThanOrEqual(2);
    });
    await blocked.close();
  });

  it('a store ends though its server says nothing any more', async () => {
    await direct.create(IDENTITY, creation());
    await store.acquireWakeRight(SESSION_ID, { epoch: 0, isOpen: false });
    proxy.fallSilent();
    const append = codeOf(store.append(SESSION_ID, messagesOf(2)));
    // The limit of a statement, of which there would be two, is as long as a test may take.
    await store.close();
    expect(await append).not.toBe(SUCCEEDED);
  });

  it('whoever is not patient hears that the server is away, and may find the event later', async () => {
    const impatient = await PostgresEventStore.open({
      url: proxy.url,
      clock: createSystemClock(),
      news: 'poll',
      patienceMs: 0,
      poolSize: 1,
    });
    await direct.create(IDENTITY, creation());
    proxy.refuse(true);
    proxy.cut();
    expect(await codeOf(impatient.append(SESSION_ID, messagesOf(2)))).toBe('STORAGE_FAILED');
    proxy.refuse(false);
    expect(await codeOf(impatient.append(SESSION_ID, messagesOf(2)))).toBe(SUCCEEDED);
    expect(await direct.head(SESSION_ID)).toBe(2);
    await impatient.close();
  });
});
