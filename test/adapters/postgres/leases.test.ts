/** The right to wake, where the holder is another process that may be silent, or come back from the dead. */
import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { PostgresEventStore } from '../../../src/adapters/postgres/postgres-event-store.ts';
import { SUCCEEDED } from '../../../src/testing/expectations.ts';
import { SESSION_ID, IDENTITY, claimOf, creation, messageOf } from '../../../src/testing/session-fixtures.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { emptyStores } from './empty-stores.ts';

const { open, another } = emptyStores();

const NEW = { epoch: 0, isOpen: false };

async function pair(): Promise<readonly [PostgresEventStore, PostgresEventStore]> {
  const stores = [await open(), await another()] as const;
  await stores[0].create(IDENTITY, creation());
  return stores;
}

async function expire(store: PostgresEventStore): Promise<void> {
  await store.database.run(
    `UPDATE ${store.database.schema}.worker SET alive_until = clock_timestamp() - interval '1 second' WHERE id = $1`,
    [store.workerId],
  );
}

describe('the right to wake over PostgreSQL', () => {
  it('stays with a living holder and passes on when its time has run out, under an epoch above its own', async () => {
    const [silent, next] = await pair();
    const held = await silent.acquireWakeRight(SESSION_ID, NEW);
    expect(await codeOf(next.acquireWakeRight(SESSION_ID, NEW))).toBe('WAKE_CONFLICT');
    await expire(silent);
    const taken = await next.acquireWakeRight(SESSION_ID, NEW);
    expect([held.epoch, taken.epoch]).toEqual([1, 2]);
    await Promise.all([silent.close(), next.close()]);
  });

  it('fences off a holder that comes back: what it writes is refused, and its release takes nothing away', async () => {
    const [zombie, next] = await pair();
    const held = await zombie.acquireWakeRight(SESSION_ID, NEW);
    await zombie.append(SESSION_ID, claimOf(2, held.epoch));
    await expire(zombie);
    const taken = await next.acquireWakeRight(SESSION_ID, { epoch: 1, isOpen: true });
    await next.append(SESSION_ID, claimOf(3, taken.epoch));
    expect(await codeOf(zombie.append(SESSION_ID, [messageOf(4, held.epoch)]))).toBe('EPOCH_SUPERSEDED');
    await held.release();
    expect(await codeOf(zombie.acquireWakeRight(SESSION_ID, { epoch: 2, isOpen: true }))).toBe('WAKE_CONFLICT');
    expect(taken.lost.aborted).toBe(false);
    await Promise.all([zombie.close(), next.close()]);
  });

  it('is never given twice under one epoch, also when nothing was written under the first', async () => {
    const [here, there] = await pair();
    const first = await here.acquireWakeRight(SESSION_ID, NEW);
    await first.release();
    const second = await there.acquireWakeRight(SESSION_ID, NEW);
    expect(second.epoch).toBeGreaterThan(first.epoch);
    await Promise.all([here.close(), there.close()]);
  });

  it('is told to whoever waits in another process', async () => {
    const [here, there] = await pair();
    const held = await here.acquireWakeRight(SESSION_ID, NEW);
    const freed = there.wakeRightFreed(SESSION_ID, new AbortController().signal);
    await held.release();
    await freed;
    expect(await codeOf(there.acquireWakeRight(SESSION_ID, NEW))).toBe(SUCCEEDED);
    await Promise.all([here.close(), there.close()]);
  });

  it('is lost by a holder that could not renew it in time, whatever the database would say', async () => {
    const others = await pair();
    const clock = createSimulatedClock();
    const cutOff = await another({ clock, leaseMs: 10_000, news: 'poll', pollMs: 86_400_000, slowPollMs: 86_400_000 });
    const held = await cutOff.acquireWakeRight(SESSION_ID, NEW);
    // Nobody renews while no time passes here; then all of it passes at once.
    const lost = new Promise<unknown>((resolve) =>
      held.lost.addEventListener('abort', () => resolve(held.lost.reason), { once: true }),
    );
    clock.advanceNow(11_000);
    expect(await lost).toMatchObject({ code: 'WAKE_LEASE_EXPIRED' });
    await Promise.all([cutOff, ...others].map((store) => store.close()));
  });

  it('ends with the store that closes: the next has it at once', async () => {
    const [leaving, next] = await pair();
    await leaving.acquireWakeRight(SESSION_ID, NEW);
    await leaving.close();
    expect(await codeOf(next.acquireWakeRight(SESSION_ID, NEW))).toBe(SUCCEEDED);
    await next.close();
  });
});
