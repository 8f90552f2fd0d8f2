/** How the news of one process reach another: by the doorbell, and by checking where nobody rings. */
import { afterEach, describe, expect, it } from 'vitest';
import type { PostgresEventStore } from '../../../src/adapters/postgres/postgres-event-store.ts';
import type { PostgresEventStoreOptions } from '../../../src/adapters/postgres/postgres-options.ts';
import { hint } from '../../../src/testing/hints.ts';
import { IDENTITY, SESSION_ID, creation, messagesOf } from '../../../src/testing/session-fixtures.ts';
import { cutConnections } from '../../support/postgres-server.ts';
import { emptyStores } from './empty-stores.ts';

const { open, another, database } = emptyStores();

const stores: PostgresEventStore[] = [];

afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
});

async function two(
  options: Partial<PostgresEventStoreOptions> = {},
): Promise<readonly [PostgresEventStore, PostgresEventStore]> {
  const pair = [await open(options), await another(options)] as const;
  stores.push(...pair);
  await pair[0].create(IDENTITY, creation());
  return pair;
}

/** Resolves at the next news; the wait begins at once. */
function newsOf(watch: (onChange: () => void) => () => void): Promise<void> {
  return new Promise((resolve) => {
    const stop = watch(() => {
      stop();
      resolve();
    });
  });
}

/** Polls are a day apart: only what is rung is heard. */
const ONLY_HEARING = { pollMs: 86_400_000, slowPollMs: 86_400_000 } as const;

async function hearing(store: PostgresEventStore): Promise<void> {
  while (!store.isHearing) await new Promise((resolve) => setImmediate(resolve));
}

describe('news of another process', () => {
  it('come by the doorbell: of an append, and of what is due', async () => {
    const [here, there] = await two(ONLY_HEARING);
    await hearing(there);
    const appended = newsOf((onChange) => there.watch(SESSION_ID, onChange));
    const due = newsOf((onChange) => there.activations.watch(onChange));
    await here.append(SESSION_ID, messagesOf(2), { activate: [hint()] });
    await Promise.all([appended, due]);
    expect(await there.head(SESSION_ID)).toBe(2);
  });

  it('are found by checking where nobody listens', async () => {
    const [here, there] = await two({ news: 'poll', pollMs: 20 });
    expect(there.isHearing).toBe(false);
    const first = newsOf((onChange) => there.watch(SESSION_ID, onChange));
    await first;
    const appended = newsOf((onChange) => there.watch(SESSION_ID, onChange));
    const due = newsOf((onChange) => there.activations.watch(onChange));
    await here.append(SESSION_ID, messagesOf(2), { activate: [hint()] });
    await Promise.all([appended, due]);
    expect(await there.head(SESSION_ID)).toBe(2);
  });

  it('are heard again after the connection of the doorbell was cut, and what was missed meanwhile is searched for', async () => {
    const [here, there] = await two(ONLY_HEARING);
    await hearing(there);
    const missed = newsOf((onChange) => there.watch(SESSION_ID, onChange));
    await cutConnections(database().url);
    // The loss itself makes it check.
    await here.append(SESSION_ID, messagesOf(2));
    await missed;
    await hearing(there);
    const heard = newsOf((onChange) => there.watch(SESSION_ID, onChange));
    await hearing(here);
    await here.append(SESSION_ID, messagesOf(3));
    await heard;
    expect(await there.head(SESSION_ID)).toBe(3);
  });

  it('of two hundred sessions at once all arrive, though a notification holds fewer', async () => {
    const [here, there] = await two(ONLY_HEARING);
    await hearing(there);
    const ids = Array.from({ length: 200 }, (_, index) => `019b76da-a800-7000-8000-${String(index).padStart(12, '0')}`);
    const all = Promise.all(ids.map((id) => newsOf((onChange) => there.watch(id, onChange))));
    const [first = SESSION_ID] = ids;
    for (const [index, sessionId] of ids.entries())
      if (sessionId !== SESSION_ID) await here.create({ sessionId, agentId: 'tester' }, creation(5_000 + index));
    await Promise.all(ids.map((sessionId, index) => here.append(sessionId, messagesOf(9_000 + index))));
    await all;
    expect(await there.head(first)).toBe(2);
  });
});
