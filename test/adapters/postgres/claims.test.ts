/** What a worker is shown of what is due when many check once. */
import { describe, expect, it } from 'vitest';
import type { Activation } from '../../../src/machines/session/activation.ts';
import type { PostgresEventStore } from '../../../src/adapters/postgres/postgres-event-store.ts';
import { hint } from '../../../src/testing/hints.ts';
import { START_MS, creation, idOf } from '../../../src/testing/session-fixtures.ts';
import { emptyStores } from './empty-stores.ts';

const { open, another } = emptyStores();

const HOUR_MS = 3_600_000;

async function makeDue(
  store: PostgresEventStore,
  count: number,
  {
    first = 1_000,
    agentId = 'tester',
    dueAtMs = START_MS,
  }: { readonly first?: number; readonly agentId?: string; readonly dueAtMs?: number } = {},
): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, index) => idOf(first + index));
  for (const [index, sessionId] of ids.entries())
    await store.create({ sessionId, agentId }, creation(50_000 + first + index));
  await store.activations.add(
    ids.map((sessionId, index): Activation =>
      hint({ sessionId, agentId, causeId: `cause-${index}`, dueAtMs: dueAtMs + index }),
    ),
  );
  return ids;
}

async function claimed(store: PostgresEventStore, claims: number, except: readonly string[] = []): Promise<string[]> {
  const { due } = await store.activations.due({
    nowMs: store.clock.now(),
    limit: 1_000,
    claims,
    except: new Set(except),
  });
  return due.map(({ sessionId }) => sessionId);
}

/** As if its time had run out: nobody waits for it. */
async function expire(store: PostgresEventStore): Promise<void> {
  await store.database.run(
    `UPDATE ${store.database.schema}.worker SET alive_until = clock_timestamp() - interval '1 second' WHERE id = $1`,
    [store.workerId],
  );
}

async function closing(stores: readonly PostgresEventStore[], work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } finally {
    await Promise.all(stores.map((store) => store.close()));
  }
}

describe('claiming what is due', () => {
  it('gives no session to two workers, and no more than each has room for', async () => {
    const stores = [await open(), await another(), await another()];
    await closing(stores, async () => {
      const [first] = stores;
      const ids = await makeDue(first ?? (await another()), 12);
      const found = await Promise.all(stores.map((store) => claimed(store, 5)));
      expect(found.every((each) => each.length <= 5)).toBe(true);
      expect(new Set(found.flat()).size).toBe(found.flat().length);
      // Those who asked at once pass over each other's rows; whoever asks again finds the rest.
      const again = await Promise.all(stores.map((store) => claimed(store, 5)));
      expect(new Set([...found, ...again].flat())).toEqual(new Set(ids));
    });
  });

  it('shows a worker its own claims again, and the next when it leaves some out', async () => {
    const store = await open();
    await closing([store], async () => {
      const ids = await makeDue(store, 4);
      expect(await claimed(store, 2)).toEqual(ids.slice(0, 2));
      expect(await claimed(store, 2)).toEqual(ids.slice(0, 2));
      expect(await claimed(store, 2, ids.slice(0, 2))).toEqual(ids.slice(2));
    });
  });

  it('passes what a dead worker had claimed to the next', async () => {
    const dead = await open();
    const next = await another();
    await closing([dead, next], async () => {
      const ids = await makeDue(dead, 3);
      expect(await claimed(dead, 3)).toEqual(ids);
      expect(await claimed(next, 3)).toEqual([]);
      await expire(dead);
      expect(await claimed(next, 3)).toEqual(ids);
    });
  });

  it('shows no session that somebody living wakes, and says when to ask again', async () => {
    const [here, there] = [await open(), await another()];
    await closing([here, there], async () => {
      const [busy = '', free] = await makeDue(here, 2);
      const right = await here.acquireWakeRight(busy, { epoch: 0, isOpen: false });
      const asked = { nowMs: there.clock.now(), limit: 10, claims: 5 };
      const found = await there.activations.due(asked);
      expect(found.due.map(({ sessionId }) => sessionId)).toEqual([free]);
      expect(found.nextDueAtMs).toBeGreaterThan(asked.nowMs);
      expect(found.nextDueAtMs).toBeLessThan(asked.nowMs + 60_000);
      await right.release();
      expect(await claimed(there, 5, free === undefined ? [] : [free])).toEqual([busy]);
    });
  });

  it('is never early, however far ahead the asker believes to be', async () => {
    const store = await open();
    await closing([store], async () => {
      const nowMs = store.clock.now();
      await makeDue(store, 1, { dueAtMs: nowMs + HOUR_MS });
      const found = await store.activations.due({ nowMs: nowMs + 2 * HOUR_MS, limit: 10, claims: 10 });
      expect(found.due).toEqual([]);
    });
  });

  it('lets a tenant with one session come before the second of a tenant with a thousand', async () => {
    const store = await open({ tenantOf: ({ agentId }) => agentId });
    await closing([store], async () => {
      const many = await makeDue(store, 40, { agentId: 'crowd' });
      const [one] = await makeDue(store, 1, { first: 9_000, agentId: 'quiet', dueAtMs: START_MS + HOUR_MS });
      expect(new Set(await claimed(store, 2))).toEqual(new Set([many[0], one]));
    });
  });

  it('finds as many sessions as there is room for, though one of them has hundreds of hints', async () => {
    const store = await open();
    await closing([store], async () => {
      const [busy = '', ...others] = await makeDue(store, 4, { dueAtMs: START_MS + 1_000 });
      await store.activations.add(
        Array.from({ length: 200 }, (_, index) => hint({ sessionId: busy, causeId: `more-${index}` })),
      );
      expect(new Set(await claimed(store, 4))).toEqual(new Set([busy, ...others]));
    });
  });

  it('passes over what somebody is about to claim, and asks again soon', async () => {
    const [here, there] = [await open(), await another()];
    await closing([here, there], async () => {
      await makeDue(here, 3);
      await claimed(there, 0);
      const { schema } = here.database;
      await here.database.transaction(async (run) => {
        await run(`SELECT 1 FROM ${schema}.activation FOR UPDATE`);
        const nowMs = there.clock.now();
        const found = await there.activations.due({ nowMs, limit: 10, claims: 2 });
        expect(found.due).toEqual([]);
        expect(found.nextDueAtMs).toBeLessThan(nowMs + 1_000);
      });
      expect(await claimed(there, 2)).toHaveLength(2);
    });
  });

  it('begins with the tenant behind the one that it ended with, and gives each its turn', async () => {
    const store = await open({ tenantOf: ({ agentId }) => agentId });
    await closing([store], async () => {
      const tenants = ['amber', 'birch', 'cedar', 'dill'];
      const ids = new Map<string, string>();
      for (const [index, agentId] of tenants.entries())
        for (const id of await makeDue(store, 3, { agentId, first: 2_000 + index * 100 })) ids.set(id, agentId);
      const served: string[] = [];
      const taken: string[] = [];
      for (let checks = 0; checks < 4; checks += 1) {
        const found = await claimed(store, 1, taken);
        taken.push(...found);
        served.push(...found.map((id) => ids.get(id) ?? ''));
      }
      expect(new Set(served)).toEqual(new Set(tenants));
    });
  });

  it('of a worker that has expired is given again under a new name', async () => {
    const store = await open();
    await closing([store], async () => {
      const ids = await makeDue(store, 2);
      await claimed(store, 2);
      const before = store.workerId;
      await expire(store);
      const right = await store.acquireWakeRight(ids[0] ?? '', { epoch: 0, isOpen: false });
      expect(store.workerId).not.toBe(before);
      await right.release();
    });
  });
});
