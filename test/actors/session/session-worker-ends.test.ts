import { afterEach, describe, expect, it } from 'vitest';
import { sessionNotFound, wakeConflict } from '../../../src/actors/session/event-store.ts';
import { MemoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { START_MS, idOf, message, newEvent } from '../../support/session-events.ts';
import { due, makeSession, openWorkerHouse, outcomeOf } from '../../support/worker-house.ts';
import type { WorkerHouse, WorkerHouseOptions } from '../../support/worker-house.ts';

const SECOND_MS = 1_000;

const houses: WorkerHouse[] = [];
const open = async (options: WorkerHouseOptions = {}): Promise<WorkerHouse> => {
  const house = await openWorkerHouse(options);
  houses.push(house);
  return house;
};
afterEach(async () => {
  for (const house of houses.splice(0)) await house.close();
});

const hints = async ({ store, clock }: WorkerHouse): Promise<string[]> =>
  (await store.activations.due({ nowMs: clock.now(), limit: 1_000 })).due.flatMap(({ activations }) =>
    activations.map(({ causeId }) => causeId),
  );

/** A wake that finds nothing to do. */
const idly = (sessionId: string): ReturnType<NonNullable<WorkerHouseOptions['play']>> =>
  Promise.resolve(outcomeOf(sessionId, 'nothing_to_do'));

describe('a hint that leads to nothing', () => {
  it('is removed at once when the log knows its cause', async () => {
    const house = await open({ play: idly });
    await makeSession(house.store, 1);
    // Its message is read already, as the log says by the session's having ended.
    const ended = { type: 'session.status_changed', data: { to: 'terminated', stopReason: 'terminated' } } as const;
    await house.store.append(idOf(1), [newEvent(7, message('old')), newEvent(8, ended)]);
    await house.add(due(1, { causeId: idOf(7) }));
    expect(await hints(house)).toEqual([]);
    expect(house.news()).toEqual(['woke 1', 'passed 1', 'idle']);
    expect(house.worker.status()).toMatchObject({ setAside: [], counts: { nothingToDo: 1 } });
  });

  it('stays while its sender may be about to write, and is removed when he had time enough', async () => {
    const house = await open({ play: idly });
    await makeSession(house.store, 1);
    await house.add(due(1));
    expect(house.worker.status().setAside).toMatchObject([{ phase: 'early' }]);
    await house.clock.advance(50 * SECOND_MS);
    expect(await hints(house)).toEqual(['cause-1']);
    await house.clock.advance(60 * SECOND_MS);
    await house.settle();
    expect(await hints(house)).toEqual([]);
    // It checked often at first and seldom later.
    expect(house.order.length).toBeLessThan(16);
  });

  it('is checked again soon, so that a message that was a moment late is not', async () => {
    let isThere = false;
    const house = await open({
      play: (sessionId, { store }) =>
        isThere ? store.activations.remove([due(1)]).then(() => outcomeOf(sessionId)) : idly(sessionId),
    });
    await makeSession(house.store, 1);
    await house.add(due(1));
    isThere = true;
    await house.clock.advance(10);
    await house.settle();
    expect(house.news()).toEqual(['woke 1', 'passed 1', 'idle', 'woke 1', 'slept 1', 'idle']);
  });

  it('stays when the log makes it due', async () => {
    const house = await open({ play: idly });
    await makeSession(house.store, 1);
    await house.store.append(idOf(1), [newEvent(7, message('unread'))]);
    await house.clock.advance(120 * SECOND_MS);
    await house.add(due(1, { causeId: idOf(7) }));
    expect(await hints(house)).toEqual([idOf(7)]);
  });

  it('of a session that does not exist is removed when its sender had time enough', async () => {
    const house = await open({ play: (sessionId) => Promise.reject(sessionNotFound(sessionId)) });
    await house.add(due(1), due(2, { dueAtMs: START_MS - 60 * SECOND_MS }));
    expect(await hints(house)).toEqual(['cause-1']);
    await house.clock.advance(120 * SECOND_MS);
    await house.settle();
    expect(await hints(house)).toEqual([]);
    expect(house.worker.status()).toMatchObject({ setAside: [], counts: { failed: 0 } });
  });

  it('does not keep what comes later waiting', async () => {
    const late = due(1, { causeId: 'late' });
    let isThere = false;
    const house = await open({
      play: async (sessionId, { store }) => {
        if (!isThere) return idly(sessionId);
        isThere = false;
        await store.activations.remove([late]);
        return outcomeOf(sessionId);
      },
    });
    await makeSession(house.store, 1);
    await house.add(due(1));
    await house.clock.advance(20 * SECOND_MS);
    await house.settle();
    const checks = house.order.length;
    expect(house.worker.status().setAside).toMatchObject([{ phase: 'early' }]);
    isThere = true;
    await house.add(late);
    expect(house.order.length).toBeGreaterThan(checks);
    expect(house.worker.status().counts).toMatchObject({ succeeded: 1 });
  });

  it('of a session that somebody has deleted and brought back stays when its log makes it due', async () => {
    const house = await open({ play: (sessionId) => Promise.reject(sessionNotFound(sessionId)) });
    await makeSession(house.store, 1);
    await house.store.append(idOf(1), [newEvent(7, message('unread'))]);
    await house.clock.advance(120 * SECOND_MS);
    await house.add(due(1, { causeId: idOf(7) }));
    expect(await hints(house)).toEqual([idOf(7)]);
  });

  it('of a session that is brought back while it is removed stays too', async () => {
    const house = await open({ play: (sessionId) => Promise.reject(sessionNotFound(sessionId)) });
    const remove = house.store.activations.remove.bind(house.store.activations);
    let isBack = false;
    house.store.activations.remove = async (removed) => {
      if (!isBack) {
        isBack = true;
        await makeSession(house.store, 1);
        await house.store.append(idOf(1), [newEvent(7, message('unread'))]);
      }
      await remove(removed);
    };
    await house.clock.advance(120 * SECOND_MS);
    await house.add(due(1, { causeId: idOf(7) }));
    expect(isBack).toBe(true);
    expect(await hints(house)).toEqual([idOf(7)]);
  });

  it('and cannot be removed does not make the worker spin', async () => {
    const house = await open({ play: (sessionId) => Promise.reject(sessionNotFound(sessionId)) });
    house.store.activations.remove = () =>
      Promise.reject(new RuntimeError('STORAGE_FAILED', 'read-only', { category: 'storage' }));
    await house.add(due(1, { dueAtMs: 0 }));
    await house.clock.advance(6 * SECOND_MS);
    expect(house.order.length).toBeLessThan(5);
    expect(house.worker.status().setAside).toMatchObject([{ phase: 'parked', reason: { message: 'read-only' } }]);
  });
});

describe('a worker that is to end when idle', () => {
  it('ends when nothing is due, whatever is due later', async () => {
    const house = await open({
      untilIdle: true,
      prepare: (store) => store.activations.add([due(1), due(2, { kind: 'wake', dueAtMs: START_MS + 1 })]),
    });
    await house.wakes[0]?.end();
    expect(await house.worker.ended).toMatchObject({
      endedBecause: 'idle',
      counts: { begun: 1, succeeded: 1 },
      setAside: [],
    });
    expect(house.worker.status().phase).toBe('stopped');
    expect(house.clock.pendingTimers).toBe(0);
  });

  it('waits for what somebody else does, and not for what failed', async () => {
    let free: () => void = () => undefined;
    const house = await open({ untilIdle: true, prepare: (store) => store.activations.add([due(1), due(2)]) });
    house.store.wakeRightFreed = () =>
      new Promise<void>((resolve) => {
        free = resolve;
      });
    await house.wakes[0]?.fail(wakeConflict(idOf(1)));
    await house.wakes[0]?.fail(new Error('broken'));
    expect(house.worker.status().phase).toBe('working');
    await house.store.activations.remove([due(1)]);
    free();
    await house.clock.advance(100);
    expect(await house.worker.ended).toMatchObject({
      endedBecause: 'idle',
      counts: { contended: 1, failed: 1 },
      setAside: [{ sessionId: idOf(2), reason: { code: 'WAKE_CRASHED' } }],
    });
  });

  it('fails when it cannot see what is due', async () => {
    const house = await open({
      untilIdle: true,
      prepare: async (store) =>
        void (store.activations.due = () =>
          Promise.reject(new RuntimeError('STORAGE_FAILED', 'no such disk', { category: 'storage' }))),
    });
    await house.clock.advance(10 * SECOND_MS);
    await expect(house.worker.ended).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
    expect(house.news()).toEqual(['troubled', 'troubled', 'troubled']);
    expect(house.clock.pendingTimers).toBe(0);
  });
});

describe('a worker that cannot see what is due', () => {
  it('says so, tries again after a time that grows, and goes on when it can', async () => {
    let isBroken = true;
    const house = await open({
      prepare: async (store) => {
        const check = store.activations.due.bind(store.activations);
        store.activations.due = (query) => (isBroken ? Promise.reject(new Error('broken')) : check(query));
      },
    });
    expect(house.worker.status().trouble).toMatchObject({ code: 'WORKER_CRASHED' });
    await house.add(due(1), due(2));
    await house.clock.advance(2 * SECOND_MS);
    expect(house.news()).toEqual(['troubled', 'troubled']);
    isBroken = false;
    await house.clock.advance(10 * SECOND_MS);
    expect(house.order).toEqual([1, 2]);
    expect(house.worker.status().trouble).toBeUndefined();
  });
});

describe('stopping a worker', () => {
  it('lets what runs end, takes nothing new, and leaves the rest due', async () => {
    const house = await open({ concurrency: 1 });
    await house.add(due(1), due(2));
    const ended = house.worker.stop();
    expect(house.worker.status().phase).toBe('draining');
    await house.add(due(3));
    expect(house.wakes.map(({ signal }) => signal.aborted)).toEqual([false]);
    await house.wakes[0]?.end();
    expect(await ended).toMatchObject({ endedBecause: 'stopped', counts: { begun: 1, succeeded: 1 } });
    expect(await hints(house)).toEqual(['cause-2', 'cause-3']);
    expect(house.order).toEqual([1]);
    expect(house.clock.pendingTimers).toBe(0);
  });

  it('stops what does not end within the limit', async () => {
    const house = await open({ drainLimitMs: 5 * SECOND_MS });
    await house.add(due(1));
    const ended = house.worker.stop({ reason: 'the machine is going down' });
    const [wake] = house.wakes;
    await house.clock.advance(5 * SECOND_MS - 1);
    expect(wake?.signal.aborted).toBe(false);
    await house.clock.advance(1);
    expect(String(wake?.signal.reason)).toContain('the machine is going down');
    expect(await ended).toMatchObject({ endedBecause: 'forced', counts: { aborted: 1, failed: 0 } });
  });

  it('stops what runs at once when told so, also after it was asked to drain', async () => {
    const house = await open();
    await house.add(due(1), due(2));
    const drained = house.worker.stop();
    const forced = house.worker.stop({ running: 'abort', reason: 'now' });
    expect(house.wakes.every(({ signal }) => signal.aborted)).toBe(true);
    expect(await forced).toMatchObject({ endedBecause: 'forced', counts: { aborted: 2 } });
    expect(await drained).toBe(await forced);
    expect(await house.worker.stop({ running: 'abort' })).toBe(await forced);
  });

  it('is over only when the wakes are, even when they are deaf', async () => {
    let end: () => void = () => undefined;
    const house = await open({
      play: (sessionId) =>
        new Promise((resolve) => {
          end = () => resolve(outcomeOf(sessionId));
        }),
    });
    await house.add(due(1));
    let isOver = false;
    const forced = house.worker.stop({ running: 'abort' }).then(() => {
      isOver = true;
    });
    await house.settle();
    expect(isOver).toBe(false);
    expect(house.worker.status()).toMatchObject({ phase: 'forced', running: [{ sessionId: idOf(1) }] });
    end();
    await forced;
  });

  it('sets nothing aside any more', async () => {
    const house = await open();
    await house.add(due(1), due(2), due(3));
    const ended = house.worker.stop();
    await house.wakes[0]?.fail(new Error('broken'));
    await house.wakes[0]?.fail(wakeConflict(idOf(2)));
    await house.wakes[0]?.end('nothing_to_do');
    await ended;
    expect(house.clock.pendingTimers).toBe(0);
    expect(house.news().filter((line) => !line.startsWith('woke'))).toEqual(['failed 1', 'contended 2', 'passed 3']);
  });

  it('happens by itself when the runtime ends', async () => {
    const house = await open();
    await house.add(due(1));
    await house.wakes[0]?.fail(new RuntimeError('RUNTIME_SHUT_DOWN', 'over', { category: 'conflict' }));
    expect(await house.worker.ended).toMatchObject({ endedBecause: 'forced', counts: { aborted: 1, failed: 0 } });
  });

  it('completes what one listens to', async () => {
    const house = await open();
    let isComplete = false;
    house.worker.events$.subscribe({
      complete: () => {
        isComplete = true;
      },
    });
    await house.worker[Symbol.asyncDispose]();
    expect(isComplete).toBe(true);
    let isCompleteAtOnce = false;
    house.worker.events$.subscribe({
      complete: () => {
        isCompleteAtOnce = true;
      },
    });
    expect(isCompleteAtOnce).toBe(true);
  });
});

describe('an index that lost hints', () => {
  const suspect = (): MemoryEventStore => {
    const store = new MemoryEventStore();
    let isSuspect = true;
    store.activations.isSuspect = () => Promise.resolve(isSuspect);
    const rebuilt = store.activations.rebuilt.bind(store.activations);
    store.activations.rebuilt = async (activations) => {
      await rebuilt(activations);
      isSuspect = false;
    };
    return store;
  };

  it('is made again from the logs at the start, while the worker works', async () => {
    const store = suspect();
    for (const n of [1, 2, 3]) await makeSession(store, n);
    await store.append(idOf(2), [newEvent(7, message('unread'))]);
    const house = await open({ store });
    await house.settle();
    expect(house.order).toEqual([2]);
    expect(house.worker.status().running).toMatchObject([{ activation: { causeId: idOf(7), kind: 'ingress' } }]);
  });

  it('keeps a worker that is to end when idle until it is whole', async () => {
    const store = suspect();
    await makeSession(store, 1);
    await store.append(idOf(1), [newEvent(7, message('unread'))]);
    const list = store.list.bind(store);
    let go: () => void = () => undefined;
    store.list = async (filter) => {
      await new Promise<void>((resolve) => {
        go = resolve;
      });
      return list(filter);
    };
    const house = await open({ store, untilIdle: true });
    expect(house.worker.status()).toMatchObject({ phase: 'working', isRebuilding: true });
    go();
    await house.settle();
    await house.wakes[0]?.end();
    expect(await house.worker.ended).toMatchObject({ counts: { succeeded: 1 } });
  });

  it('is made again later when that failed, and the worker works meanwhile', async () => {
    const store = suspect();
    await makeSession(store, 1);
    await store.append(idOf(1), [newEvent(7, message('unread'))]);
    const list = store.list.bind(store);
    let failures = 2;
    store.list = (filter) => {
      failures -= 1;
      return failures >= 0 ? Promise.reject(new Error('unreadable')) : list(filter);
    };
    const house = await open({ store });
    await house.add(due(5));
    expect(house.order).toEqual([5]);
    await house.clock.advance(3 * SECOND_MS);
    await house.settle();
    expect(house.order).toEqual([5, 1]);
  });

  it('and cannot be made again ends a worker that is to end when idle, once what is known to be due is done', async () => {
    const store = suspect();
    await makeSession(store, 1);
    await store.append(idOf(1), [newEvent(7, message('unread'))]);
    store.activations.rebuilt = () =>
      Promise.reject(new RuntimeError('STORAGE_FAILED', 'the disk is full', { category: 'storage' }));
    const house = await open({ store, untilIdle: true });
    await house.add(due(5));
    await house.clock.advance(60 * SECOND_MS);
    await house.settle();
    expect(house.worker.status()).toMatchObject({ phase: 'working', running: [{ sessionId: idOf(5) }] });
    expect(house.told.filter(({ type }) => type === 'troubled')).toHaveLength(3);
    await house.wakes[0]?.end();
    await expect(house.worker.ended).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
    expect(house.clock.pendingTimers).toBe(0);
  });

  it('shows a session that nobody can read instead of hiding it', async () => {
    const store = suspect();
    for (const n of [1, 2]) await makeSession(store, n);
    await store.append(idOf(2), [newEvent(7, message('unread'))]);
    const read = store.read.bind(store);
    store.read = (sessionId, options) =>
      sessionId === idOf(1) ? Promise.reject(new Error('damaged')) : read(sessionId, options);
    const house = await open({
      store,
      play: (sessionId) =>
        sessionId === idOf(1)
          ? Promise.reject(new Error('damaged'))
          : Promise.resolve(outcomeOf(sessionId, 'nothing_to_do')),
    });
    await house.clock.advance(8 * SECOND_MS);
    expect(house.worker.status().setAside).toContainEqual(
      expect.objectContaining({ sessionId: idOf(1), phase: 'parked' }),
    );
  });
});
