import { afterEach, describe, expect, it } from 'vitest';
import { sessionNotFound, wakeConflict } from '../../../src/actors/session/event-store.ts';
import { MemoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { START_MS, idOf, message, newEvent } from '../../support/session-events.ts';
import { due, makeSession, openWorkerSetup, outcomeOf } from '../../support/worker-setup.ts';
import type { WorkerSetup, WorkerSetupOptions } from '../../support/worker-setup.ts';

const SECOND_MS = 1_000;

const setups: WorkerSetup[] = [];
const open = async (options: WorkerSetupOptions = {}): Promise<WorkerSetup> => {
  const setup = await openWorkerSetup(options);
  setups.push(setup);
  return setup;
};
afterEach(async () => {
  for (const setup of setups.splice(0)) await setup.close();
});

const hints = async ({ store, clock }: WorkerSetup): Promise<string[]> =>
  (await store.activations.due({ nowMs: clock.now(), limit: 1_000 })).due.flatMap(({ activations }) =>
    activations.map(({ causeId }) => causeId),
  );

/** A wake that finds nothing to do. */
const idly = (sessionId: string): ReturnType<NonNullable<WorkerSetupOptions['play']>> =>
  Promise.resolve(outcomeOf(sessionId, 'nothing_to_do'));

describe('a hint that leads to nothing', () => {
  it('is removed at once when the log knows its cause', async () => {
    const setup = await open({ play: idly });
    await makeSession(setup.store, 1);
    // Its message is read already, as the log says by the session's having ended.
    const ended = { type: 'session.status_changed', data: { to: 'terminated', stopReason: 'terminated' } } as const;
    await setup.store.append(idOf(1), [newEvent(7, message('old')), newEvent(8, ended)]);
    await setup.add(due(1, { causeId: idOf(7) }));
    expect(await hints(setup)).toEqual([]);
    expect(setup.news()).toEqual(['woke 1', 'passed 1', 'idle']);
    expect(setup.worker.status()).toMatchObject({ setAside: [], counts: { nothingToDo: 1 } });
  });

  it('stays while its sender may be about to write, and is removed when he had time enough', async () => {
    const setup = await open({ play: idly });
    await makeSession(setup.store, 1);
    await setup.add(due(1));
    expect(setup.worker.status().setAside).toMatchObject([{ phase: 'early' }]);
    await setup.clock.advance(50 * SECOND_MS);
    expect(await hints(setup)).toEqual(['cause-1']);
    await setup.clock.advance(60 * SECOND_MS);
    await setup.settle();
    expect(await hints(setup)).toEqual([]);
    // It checked often at first and seldom later.
    expect(setup.order.length).toBeLessThan(16);
  });

  it('is checked again soon, so that a message that was a moment late is not', async () => {
    let isThere = false;
    const setup = await open({
      play: (sessionId, { store }) =>
        isThere ? store.activations.remove([due(1)]).then(() => outcomeOf(sessionId)) : idly(sessionId),
    });
    await makeSession(setup.store, 1);
    await setup.add(due(1));
    isThere = true;
    await setup.clock.advance(10);
    await setup.settle();
    expect(setup.news()).toEqual(['woke 1', 'passed 1', 'idle', 'woke 1', 'slept 1', 'idle']);
  });

  it('stays when the log makes it due', async () => {
    const setup = await open({ play: idly });
    await makeSession(setup.store, 1);
    await setup.store.append(idOf(1), [newEvent(7, message('unread'))]);
    await setup.clock.advance(120 * SECOND_MS);
    await setup.add(due(1, { causeId: idOf(7) }));
    expect(await hints(setup)).toEqual([idOf(7)]);
  });

  it('of a session that does not exist is removed when its sender had time enough', async () => {
    const setup = await open({ play: (sessionId) => Promise.reject(sessionNotFound(sessionId)) });
    await setup.add(due(1), due(2, { dueAtMs: START_MS - 60 * SECOND_MS }));
    expect(await hints(setup)).toEqual(['cause-1']);
    await setup.clock.advance(120 * SECOND_MS);
    await setup.settle();
    expect(await hints(setup)).toEqual([]);
    expect(setup.worker.status()).toMatchObject({ setAside: [], counts: { failed: 0 } });
  });

  it('does not keep what comes later waiting', async () => {
    const late = due(1, { causeId: 'late' });
    let isThere = false;
    const setup = await open({
      play: async (sessionId, { store }) => {
        if (!isThere) return idly(sessionId);
        isThere = false;
        await store.activations.remove([late]);
        return outcomeOf(sessionId);
      },
    });
    await makeSession(setup.store, 1);
    await setup.add(due(1));
    await setup.clock.advance(20 * SECOND_MS);
    await setup.settle();
    const checks = setup.order.length;
    expect(setup.worker.status().setAside).toMatchObject([{ phase: 'early' }]);
    isThere = true;
    await setup.add(late);
    expect(setup.order.length).toBeGreaterThan(checks);
    expect(setup.worker.status().counts).toMatchObject({ succeeded: 1 });
  });

  it('of a session that somebody has deleted and brought back stays when its log makes it due', async () => {
    const setup = await open({ play: (sessionId) => Promise.reject(sessionNotFound(sessionId)) });
    await makeSession(setup.store, 1);
    await setup.store.append(idOf(1), [newEvent(7, message('unread'))]);
    await setup.clock.advance(120 * SECOND_MS);
    await setup.add(due(1, { causeId: idOf(7) }));
    expect(await hints(setup)).toEqual([idOf(7)]);
  });

  it('of a session that is brought back while it is removed stays too', async () => {
    const setup = await open({ play: (sessionId) => Promise.reject(sessionNotFound(sessionId)) });
    const remove = setup.store.activations.remove.bind(setup.store.activations);
    let isBack = false;
    setup.store.activations.remove = async (removed) => {
      if (!isBack) {
        isBack = true;
        await makeSession(setup.store, 1);
        await setup.store.append(idOf(1), [newEvent(7, message('unread'))]);
      }
      await remove(removed);
    };
    await setup.clock.advance(120 * SECOND_MS);
    await setup.add(due(1, { causeId: idOf(7) }));
    expect(isBack).toBe(true);
    expect(await hints(setup)).toEqual([idOf(7)]);
  });

  it('and cannot be removed does not make the worker spin', async () => {
    const setup = await open({ play: (sessionId) => Promise.reject(sessionNotFound(sessionId)) });
    setup.store.activations.remove = () =>
      Promise.reject(new RuntimeError('STORAGE_FAILED', 'read-only', { category: 'storage' }));
    await setup.add(due(1, { dueAtMs: 0 }));
    await setup.clock.advance(6 * SECOND_MS);
    expect(setup.order.length).toBeLessThan(5);
    expect(setup.worker.status().setAside).toMatchObject([{ phase: 'parked', reason: { message: 'read-only' } }]);
  });
});

describe('a worker that is to end when idle', () => {
  it('ends when nothing is due, whatever is due later', async () => {
    const setup = await open({
      untilIdle: true,
      prepare: (store) => store.activations.add([due(1), due(2, { kind: 'wake', dueAtMs: START_MS + 1 })]),
    });
    await setup.wakes[0]?.end();
    expect(await setup.worker.ended).toMatchObject({
      endedBecause: 'idle',
      counts: { begun: 1, succeeded: 1 },
      setAside: [],
    });
    expect(setup.worker.status().phase).toBe('stopped');
    expect(setup.clock.pendingTimers).toBe(0);
  });

  it('waits for what somebody else does, and not for what failed', async () => {
    let free: () => void = () => undefined;
    const setup = await open({ untilIdle: true, prepare: (store) => store.activations.add([due(1), due(2)]) });
    setup.store.wakeRightFreed = () =>
      new Promise<void>((resolve) => {
        free = resolve;
      });
    await setup.wakes[0]?.fail(wakeConflict(idOf(1)));
    await setup.wakes[0]?.fail(new Error('broken'));
    expect(setup.worker.status().phase).toBe('working');
    await setup.store.activations.remove([due(1)]);
    free();
    await setup.clock.advance(100);
    expect(await setup.worker.ended).toMatchObject({
      endedBecause: 'idle',
      counts: { contended: 1, failed: 1 },
      setAside: [{ sessionId: idOf(2), reason: { code: 'WAKE_CRASHED' } }],
    });
  });

  it('fails when it cannot see what is due', async () => {
    const setup = await open({
      untilIdle: true,
      prepare: async (store) =>
        void (store.activations.due = () =>
          Promise.reject(new RuntimeError('STORAGE_FAILED', 'no such disk', { category: 'storage' }))),
    });
    await setup.clock.advance(10 * SECOND_MS);
    await expect(setup.worker.ended).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
    expect(setup.news()).toEqual(['troubled', 'troubled', 'troubled']);
    expect(setup.clock.pendingTimers).toBe(0);
  });
});

describe('a worker that cannot see what is due', () => {
  it('says so, tries again after a time that grows, and goes on when it can', async () => {
    let isBroken = true;
    const setup = await open({
      prepare: async (store) => {
        const check = store.activations.due.bind(store.activations);
        store.activations.due = (query) => (isBroken ? Promise.reject(new Error('broken')) : check(query));
      },
    });
    expect(setup.worker.status().trouble).toMatchObject({ code: 'WORKER_CRASHED' });
    await setup.add(due(1), due(2));
    await setup.clock.advance(2 * SECOND_MS);
    expect(setup.news()).toEqual(['troubled', 'troubled']);
    isBroken = false;
    await setup.clock.advance(10 * SECOND_MS);
    expect(setup.order).toEqual([1, 2]);
    expect(setup.worker.status().trouble).toBeUndefined();
  });
});

describe('stopping a worker', () => {
  it('lets what runs end, takes nothing new, and leaves the rest due', async () => {
    const setup = await open({ concurrency: 1 });
    await setup.add(due(1), due(2));
    const ended = setup.worker.stop();
    expect(setup.worker.status().phase).toBe('draining');
    await setup.add(due(3));
    expect(setup.wakes.map(({ signal }) => signal.aborted)).toEqual([false]);
    await setup.wakes[0]?.end();
    expect(await ended).toMatchObject({ endedBecause: 'stopped', counts: { begun: 1, succeeded: 1 } });
    expect(await hints(setup)).toEqual(['cause-2', 'cause-3']);
    expect(setup.order).toEqual([1]);
    expect(setup.clock.pendingTimers).toBe(0);
  });

  it('stops what does not end within the limit', async () => {
    const setup = await open({ drainLimitMs: 5 * SECOND_MS });
    await setup.add(due(1));
    const ended = setup.worker.stop({ reason: 'the machine is going down' });
    const [wake] = setup.wakes;
    await setup.clock.advance(5 * SECOND_MS - 1);
    expect(wake?.signal.aborted).toBe(false);
    await setup.clock.advance(1);
    expect(String(wake?.signal.reason)).toContain('the machine is going down');
    expect(await ended).toMatchObject({ endedBecause: 'forced', counts: { aborted: 1, failed: 0 } });
  });

  it('stops what runs at once when told so, also after it was asked to drain', async () => {
    const setup = await open();
    await setup.add(due(1), due(2));
    const drained = setup.worker.stop();
    const forced = setup.worker.stop({ running: 'abort', reason: 'now' });
    expect(setup.wakes.every(({ signal }) => signal.aborted)).toBe(true);
    expect(await forced).toMatchObject({ endedBecause: 'forced', counts: { aborted: 2 } });
    expect(await drained).toBe(await forced);
    expect(await setup.worker.stop({ running: 'abort' })).toBe(await forced);
  });

  it('is over only when the wakes are, even when they are deaf', async () => {
    let end: () => void = () => undefined;
    const setup = await open({
      play: (sessionId) =>
        new Promise((resolve) => {
          end = () => resolve(outcomeOf(sessionId));
        }),
    });
    await setup.add(due(1));
    let isOver = false;
    const forced = setup.worker.stop({ running: 'abort' }).then(() => {
      isOver = true;
    });
    await setup.settle();
    expect(isOver).toBe(false);
    expect(setup.worker.status()).toMatchObject({ phase: 'forced', running: [{ sessionId: idOf(1) }] });
    end();
    await forced;
  });

  it('sets nothing aside any more', async () => {
    const setup = await open();
    await setup.add(due(1), due(2), due(3));
    const ended = setup.worker.stop();
    await setup.wakes[0]?.fail(new Error('broken'));
    await setup.wakes[0]?.fail(wakeConflict(idOf(2)));
    await setup.wakes[0]?.end('nothing_to_do');
    await ended;
    expect(setup.clock.pendingTimers).toBe(0);
    expect(setup.news().filter((line) => !line.startsWith('woke'))).toEqual(['failed 1', 'contended 2', 'passed 3']);
  });

  it('happens by itself when the runtime ends', async () => {
    const setup = await open();
    await setup.add(due(1));
    await setup.wakes[0]?.fail(new RuntimeError('RUNTIME_SHUT_DOWN', 'over', { category: 'conflict' }));
    expect(await setup.worker.ended).toMatchObject({ endedBecause: 'forced', counts: { aborted: 1, failed: 0 } });
  });

  it('completes what one listens to', async () => {
    const setup = await open();
    let isComplete = false;
    setup.worker.events$.subscribe({
      complete: () => {
        isComplete = true;
      },
    });
    await setup.worker[Symbol.asyncDispose]();
    expect(isComplete).toBe(true);
    let isCompleteAtOnce = false;
    setup.worker.events$.subscribe({
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
    const setup = await open({ store });
    await setup.settle();
    expect(setup.order).toEqual([2]);
    expect(setup.worker.status().running).toMatchObject([{ activation: { causeId: idOf(7), kind: 'ingress' } }]);
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
    const setup = await open({ store, untilIdle: true });
    expect(setup.worker.status()).toMatchObject({ phase: 'working', isRebuilding: true });
    go();
    await setup.settle();
    await setup.wakes[0]?.end();
    expect(await setup.worker.ended).toMatchObject({ counts: { succeeded: 1 } });
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
    const setup = await open({ store });
    await setup.add(due(5));
    expect(setup.order).toEqual([5]);
    await setup.clock.advance(3 * SECOND_MS);
    await setup.settle();
    expect(setup.order).toEqual([5, 1]);
  });

  it('and cannot be made again ends a worker that is to end when idle, once what is known to be due is done', async () => {
    const store = suspect();
    await makeSession(store, 1);
    await store.append(idOf(1), [newEvent(7, message('unread'))]);
    store.activations.rebuilt = () =>
      Promise.reject(new RuntimeError('STORAGE_FAILED', 'the disk is full', { category: 'storage' }));
    const setup = await open({ store, untilIdle: true });
    await setup.add(due(5));
    await setup.clock.advance(60 * SECOND_MS);
    await setup.settle();
    expect(setup.worker.status()).toMatchObject({ phase: 'working', running: [{ sessionId: idOf(5) }] });
    expect(setup.told.filter(({ type }) => type === 'troubled')).toHaveLength(3);
    await setup.wakes[0]?.end();
    await expect(setup.worker.ended).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
    expect(setup.clock.pendingTimers).toBe(0);
  });

  it('shows a session that nobody can read instead of hiding it', async () => {
    const store = suspect();
    for (const n of [1, 2]) await makeSession(store, n);
    await store.append(idOf(2), [newEvent(7, message('unread'))]);
    const read = store.read.bind(store);
    store.read = (sessionId, options) =>
      sessionId === idOf(1) ? Promise.reject(new Error('damaged')) : read(sessionId, options);
    const setup = await open({
      store,
      play: (sessionId) =>
        sessionId === idOf(1)
          ? Promise.reject(new Error('damaged'))
          : Promise.resolve(outcomeOf(sessionId, 'nothing_to_do')),
    });
    await setup.clock.advance(8 * SECOND_MS);
    expect(setup.worker.status().setAside).toContainEqual(
      expect.objectContaining({ sessionId: idOf(1), phase: 'parked' }),
    );
  });
});
