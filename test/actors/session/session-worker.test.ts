import { afterEach, describe, expect, it } from 'vitest';
import { wakeConflict } from '../../../src/actors/session/event-store.ts';
import { MemoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import type { Activation } from '../../../src/machines/session/activation.ts';
import type { WakePriority } from '../../../src/machines/wake/directive.ts';
import { START, START_MS, idOf, message, newEvent } from '../../support/session-events.ts';
import { due, makeSession, openWorkerSetup, outcomeOf, removeDue } from '../../support/worker-setup.ts';
import type { WorkerSetup, WorkerSetupOptions } from '../../support/worker-setup.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;

const setups: WorkerSetup[] = [];
const open = async (options: WorkerSetupOptions = {}): Promise<WorkerSetup> => {
  const setup = await openWorkerSetup(options);
  setups.push(setup);
  return setup;
};
afterEach(async () => {
  for (const setup of setups.splice(0)) await setup.close();
});

const range = (count: number, from = 1): number[] => Array.from({ length: count }, (_, index) => from + index);

describe('a worker', () => {
  it('wakes a session as soon as a hint is made, and rests when it has slept', async () => {
    const setup = await open();
    expect(setup.worker.status()).toMatchObject({ phase: 'working', running: [], waiting: 0 });
    await setup.add(due(1));
    expect(setup.worker.status()).toMatchObject({
      running: [{ sessionId: idOf(1), since: START, activation: due(1) }],
    });
    await setup.wakes[0]?.end();
    expect(setup.news()).toEqual(['woke 1', 'slept 1', 'idle']);
    expect(setup.worker.status()).toMatchObject({ running: [], counts: { begun: 1, succeeded: 1, failed: 0 } });
  });

  it('never runs more wakes at once than it may, nor two of one session', async () => {
    const setup = await open({ concurrency: 3 });
    await setup.add(
      ...range(10).map((n) => due(n)),
      ...range(10).map((n) => due(n, { causeId: `again-${n}`, priority: 'low' })),
    );
    let most = 0;
    while (setup.wakes.length > 0) {
      most = Math.max(most, setup.wakes.length);
      expect(new Set(setup.wakes.map(({ sessionId }) => sessionId)).size).toBe(setup.wakes.length);
      await setup.add(due(setup.order.at(-1) ?? 0, { causeId: 'more', priority: 'high' }));
      await setup.wakes[0]?.end();
    }
    expect(most).toBe(3);
    expect(new Set(setup.order)).toEqual(new Set(range(10)));
  });

  it('wakes by urgency: priority, then what somebody waits for, then time', async () => {
    const setup = await open({
      concurrency: 1,
      prepare: (store) =>
        store.activations.add([
          due(1, { priority: 'low', dueAtMs: START_MS - HOUR_MS }),
          due(2, { kind: 'retry' }),
          due(3, { kind: 'wake' }),
          due(4),
          due(5, { dueAtMs: START_MS - 1 }),
          due(6, { priority: 'high', kind: 'wake' }),
        ]),
    });
    while (setup.wakes.length > 0) await setup.wakes[0]?.end();
    expect(setup.order).toEqual([6, 5, 4, 3, 2, 1]);
  });

  it('lets what is more urgent go first even when it comes later', async () => {
    const setup = await open({
      concurrency: 1,
      prepare: (store) => store.activations.add(range(20).map((n) => due(n))),
    });
    await setup.add(due(99, { priority: 'high' }));
    await setup.wakes[0]?.end();
    expect(setup.order).toEqual([1, 99]);
  });

  it('lets no busy session starve the others of the same urgency', async () => {
    const setup = await open({
      concurrency: 1,
      prepare: (store) => store.activations.add(range(5).map((n) => due(n))),
    });
    // The first session is due again, and as early as can be, whenever it has slept.
    for (let wakes = 0; wakes < 9; wakes += 1) {
      const [wake] = setup.wakes;
      const isBusy = wake?.sessionId === idOf(1);
      await wake?.end();
      if (isBusy) await setup.add(due(1, { causeId: `busy-${wakes}`, dueAtMs: START_MS - HOUR_MS }));
    }
    expect(setup.order.slice(0, 6)).toEqual([1, 2, 3, 4, 5, 1]);
  });

  it('does not starve others though more sessions than it holds at once stay due for ever', async () => {
    const busy = range(200);
    const setup = await open({
      concurrency: 8,
      prepare: (store) =>
        store.activations.add([
          ...busy.map((n) => due(n, { dueAtMs: START_MS - HOUR_MS })),
          ...range(40, 1_000).map((n) => due(n)),
        ]),
      play: async (sessionId, { store, clock }) => {
        await removeDue(store, sessionId, clock.now());
        const number = Number.parseInt(sessionId.replace('-', '').slice(0, 12), 16) - START_MS;
        if (number <= 200)
          await store.activations.add([
            due(number, { causeId: `busy-${Math.random().toString(36).slice(2)}`, dueAtMs: START_MS - HOUR_MS }),
          ]);
        return outcomeOf(sessionId);
      },
    });
    for (let round = 0; round < 300 && new Set(setup.order.filter((n) => n >= 1_000)).size < 40; round += 1)
      await setup.settle();
    expect(new Set(setup.order.filter((n) => n >= 1_000)).size).toBe(40);
    // Everybody had a turn before the busy ones had many.
    const firsts = range(40, 1_000).map((n) => setup.order.indexOf(n));
    expect(Math.max(...firsts)).toBeLessThan(200 * 2);
  });

  it('sleeps until the next one is due, is never early, and says how late it was', async () => {
    const setup = await open();
    await setup.add(due(1, { kind: 'wake', dueAtMs: START_MS + 90 * SECOND_MS }));
    expect(setup.worker.status()).toMatchObject({ nextDueAt: new Date(START_MS + 90 * SECOND_MS).toISOString() });
    await setup.clock.advance(90 * SECOND_MS - 1);
    expect(setup.order).toEqual([]);
    await setup.clock.advance(1);
    await setup.settle();
    expect(setup.order).toEqual([1]);
    expect(setup.told.find(({ type }) => type === 'woke')).toMatchObject({ latenessMs: 0 });
    await setup.add(due(2, { dueAtMs: START_MS + 30 * SECOND_MS }));
    expect(setup.worker.status().lateness).toEqual({
      lastMs: 60 * SECOND_MS,
      meanMs: 30 * SECOND_MS,
      maxMs: 60 * SECOND_MS,
    });
  });

  it('checks no more often than there is a reason to', async () => {
    let checks = 0;
    const setup = await open({
      restLimitMs: HOUR_MS,
      prepare: async (store) => {
        const check = store.activations.due.bind(store.activations);
        store.activations.due = (query) => {
          checks += 1;
          return check(query);
        };
      },
    });
    expect(checks).toBeLessThanOrEqual(2);
    checks = 0;
    await setup.clock.advance(10 * HOUR_MS);
    expect(checks).toBe(10);
  });

  it('finds what nobody told it of within its rest', async () => {
    const setup = await open({
      restLimitMs: 60 * SECOND_MS,
      prepare: async (store) => void (store.activations.watch = () => () => undefined),
    });
    await setup.add(due(1));
    expect(setup.order).toEqual([]);
    await setup.clock.advance(60 * SECOND_MS);
    await setup.settle();
    expect(setup.order).toEqual([1]);
  });

  it('is not fooled by a wall clock that jumps', async () => {
    const setup = await open({ restLimitMs: 60 * SECOND_MS });
    await setup.add(due(1, { dueAtMs: START_MS + 10 * SECOND_MS }));
    setup.clock.jumpWallClock(-HOUR_MS);
    await setup.clock.advance(10 * SECOND_MS);
    expect(setup.order).toEqual([]);
    setup.clock.jumpWallClock(2 * HOUR_MS);
    await setup.clock.advance(60 * SECOND_MS);
    await setup.settle();
    expect(setup.order).toEqual([1]);
  });

  it('wakes only the sessions of its agent', async () => {
    const setup = await open({ agentId: 'other' });
    await setup.add(due(1), due(2, { agentId: 'other' }));
    expect(setup.order).toEqual([2]);
  });

  it('gets through ten thousand that are due at once', async () => {
    const count = 10_000;
    const setup = await open({
      concurrency: 50,
      untilIdle: true,
      prepare: (store) => store.activations.add(range(count).map((n) => due(n))),
      play: async (sessionId, { store }) => {
        await store.activations.remove([due(Number.parseInt(sessionId.replace('-', '').slice(0, 12), 16) - START_MS)]);
        return outcomeOf(sessionId);
      },
    });
    const { counts } = await setup.worker.ended;
    expect(counts).toMatchObject({ begun: count, succeeded: count });
    expect(new Set(setup.order).size).toBe(count);
  });

  it.each([
    [{ concurrency: 0 }],
    [{ concurrency: 1.5 }],
    [{ agentId: '../x' }],
    [{ drainLimitMs: -1 }],
    [{ conurrency: 2 }],
  ])('refuses the options %j', async (options) => {
    await expect(openWorkerSetup(options as WorkerSetupOptions)).rejects.toMatchObject({
      code: 'WORKER_OPTIONS_INVALID',
    });
  });

  it.each<WakePriority>(['low', 'normal', 'high'])(
    'is not hurt by a listener that throws while it wakes a session of %s priority',
    async (priority) => {
      const setup = await open();
      setup.worker.events$.subscribe(() => {
        throw new Error('listener');
      });
      await setup.add(due(1, { priority }));
      await setup.wakes[0]?.end();
      expect(setup.news()).toEqual(['woke 1', 'slept 1', 'idle']);
    },
  );
});

describe('a session that somebody else wakes', () => {
  it('is left to him until he may be done, while others go on', async () => {
    let free: () => void = () => undefined;
    const setup = await open({ concurrency: 1 });
    setup.store.wakeRightFreed = () =>
      new Promise<void>((resolve) => {
        free = resolve;
      });
    await setup.add(due(1), due(2));
    await setup.wakes[0]?.fail(wakeConflict(idOf(1)));
    expect(setup.order).toEqual([1, 2]);
    expect(setup.worker.status().setAside).toMatchObject([{ sessionId: idOf(1), phase: 'contended', attempts: 1 }]);
    await setup.wakes[0]?.end();
    expect(setup.order).toEqual([1, 2]);
    free();
    await setup.clock.advance(100);
    await setup.settle();
    expect(setup.order).toEqual([1, 2, 1]);
    await setup.wakes[0]?.end();
    expect(setup.news()).toEqual(['woke 1', 'contended 1', 'woke 2', 'slept 2', 'woke 1', 'slept 1', 'idle']);
  });

  it('does not make it spin when the right seems free at once, time and again', async () => {
    const setup = await open({ play: (sessionId) => Promise.reject(wakeConflict(sessionId)) });
    setup.store.wakeRightFreed = () => Promise.resolve();
    await setup.add(due(1));
    const soon = setup.order.length;
    expect(soon).toBeLessThan(5);
    await setup.clock.advance(60 * SECOND_MS);
    expect(setup.order.length).toBeLessThan(soon + 8);
  });

  it('is waited for by a bounded number of waits, and by time beyond', async () => {
    let waits = 0;
    const setup = await open({ concurrency: 100, play: (sessionId) => Promise.reject(wakeConflict(sessionId)) });
    setup.store.wakeRightFreed = (_sessionId, signal) => {
      waits += 1;
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    };
    await setup.add(...range(60).map((n) => due(n)));
    expect(waits).toBe(32);
    expect(setup.order).toHaveLength(60);
    await setup.clock.advance(SECOND_MS);
    await setup.settle();
    // Those without a wait came back by time.
    expect(setup.order).toHaveLength(88);
  });

  it('is checked again in time when nobody says that it is free', async () => {
    const setup = await open();
    setup.store.wakeRightFreed = (_sessionId, signal) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    await setup.add(due(1));
    await setup.wakes[0]?.fail(wakeConflict(idOf(1)));
    await setup.clock.advance(30 * SECOND_MS);
    await setup.settle();
    expect(setup.order).toEqual([1, 1]);
  });
});

describe('a wake that breaks', () => {
  const disk = (): RuntimeError =>
    new RuntimeError('STORAGE_FAILED', 'the disk is full', { category: 'storage', hint: 'Free some space.' });

  it('is tried again after a second, two, four and so on up to five minutes, and counts as parked from the third time on', async () => {
    const setup = await open({ play: () => Promise.reject(disk()) });
    await setup.add(due(1));
    const gaps: number[] = [];
    let last = START_MS;
    setup.worker.events$.subscribe((event) => {
      if (event.type !== 'woke') return;
      gaps.push((Date.parse(event.at) - last) / SECOND_MS);
      last = Date.parse(event.at);
    });
    await setup.clock.advance(1_400 * SECOND_MS);
    expect(gaps).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
    expect(setup.told.filter(({ type }) => type === 'failed')).toHaveLength(2);
    expect(setup.told.find(({ type }) => type === 'parked')).toMatchObject({
      reason: { code: 'STORAGE_FAILED', hint: 'Free some space.' },
      againAt: new Date(START_MS + 7 * SECOND_MS).toISOString(),
    });
    expect(setup.worker.status().setAside).toMatchObject([
      { phase: 'parked', attempts: 12, reason: { message: 'the disk is full' } },
    ]);
  });

  it('hinders no other session', async () => {
    const setup = await open({
      concurrency: 1,
      play: (sessionId, { store, clock }) =>
        sessionId === idOf(1)
          ? Promise.reject(disk())
          : removeDue(store, sessionId, clock.now()).then(() => outcomeOf(sessionId)),
    });
    await setup.add(...range(5).map((n) => due(n)));
    expect(setup.order).toEqual([1, 2, 3, 4, 5]);
  });

  it('starts counting anew once it went well', async () => {
    let isBroken = true;
    const setup = await open({
      play: (sessionId, { store, clock }) =>
        isBroken ? Promise.reject(disk()) : removeDue(store, sessionId, clock.now()).then(() => outcomeOf(sessionId)),
    });
    await setup.add(due(1));
    await setup.clock.advance(4 * SECOND_MS);
    isBroken = false;
    await setup.clock.advance(60 * SECOND_MS);
    expect(setup.worker.status()).toMatchObject({ setAside: [], counts: { succeeded: 1, failed: 3 } });
    isBroken = true;
    await setup.add(due(1, { causeId: 'new' }));
    expect(setup.worker.status().setAside).toMatchObject([{ phase: 'backed_off', attempts: 1 }]);
  });

  it('says what broke even when it was no error of ours', async () => {
    const setup = await open({ play: () => Promise.reject(new TypeError('undefined is not a function')) });
    await setup.add(due(1));
    expect(setup.worker.status().setAside).toMatchObject([
      { reason: { code: 'WAKE_CRASHED', message: 'the wake broke: undefined is not a function' } },
    ]);
  });

  it('and throws before it has begun is the same', async () => {
    const setup = await open({
      ports: {
        wake: () => {
          throw new Error('at once');
        },
      },
    });
    await setup.add(due(1));
    expect(setup.news()).toEqual(['woke 1', 'failed 1', 'idle']);
  });
});

describe('a log that leaves due what its session was woken for', () => {
  it.each(['failed', 'budget_reached', 'sleep'] as const)(
    'does not make the worker spin when wakes end as %s',
    async (outcome) => {
      const setup = await open({ play: (sessionId) => Promise.resolve(outcomeOf(sessionId, outcome)) });
      await setup.add(due(1));
      expect(setup.order).toHaveLength(2);
      expect(setup.worker.status().setAside).toMatchObject([
        { phase: 'backed_off', reason: { code: 'ACTIVATION_REPEATS' } },
      ]);
      for (let second = 0; second < 60; second += 1) {
        await setup.clock.advance(SECOND_MS);
        await setup.settle();
      }
      expect(setup.order).toHaveLength(7);
    },
  );

  it('holds back that session only for that hint', async () => {
    const setup = await open({ play: (sessionId) => Promise.resolve(outcomeOf(sessionId, 'failed')) });
    await setup.add(due(1));
    expect(setup.order).toHaveLength(2);
    await setup.add(due(2));
    expect(setup.order.slice(2)).toEqual([2, 2]);
  });

  it('is found out although a hint that leads to nothing stands before it', async () => {
    const setup = await open({ play: (sessionId) => Promise.resolve(outcomeOf(sessionId, 'failed')) });
    await makeSession(setup.store, 1);
    await setup.store.append(idOf(1), [newEvent(7, message('unread'))]);
    await setup.add(due(1, { priority: 'high' }), due(1, { causeId: idOf(7) }));
    expect(setup.order.length).toBeLessThan(5);
    expect(setup.worker.status().setAside).toMatchObject([
      { phase: 'backed_off', reason: { code: 'ACTIVATION_REPEATS' } },
    ]);
  });
});

describe('a busy session', () => {
  const ended = { type: 'session.status_changed', data: { to: 'terminated', stopReason: 'terminated' } } as const;
  const read = due(1, { causeId: idOf(7), dueAtMs: START_MS - SECOND_MS });
  const work = (n: number): Activation => due(1, { causeId: `work-${n}` });

  it('is not held back by a hint that came back after its message was read, and is rid of it', async () => {
    let wakes = 0;
    // Each wake does its work, and the next message is there before anybody has checked again.
    const setup = await open({
      play: async (sessionId, { store }) => {
        wakes += 1;
        await store.activations.remove([work(wakes)]);
        if (wakes < 8) await store.activations.add([work(wakes + 1)]);
        return outcomeOf(sessionId);
      },
    });
    await makeSession(setup.store, 1);
    await setup.store.append(idOf(1), [newEvent(7, message('read')), newEvent(8, ended)]);
    await setup.add(read, work(1));
    expect(setup.order).toHaveLength(8);
    expect(setup.worker.status()).toMatchObject({ setAside: [], counts: { begun: 8, succeeded: 8 } });
    expect((await setup.store.activations.due({ nowMs: START_MS, limit: 10 })).due).toEqual([]);
  });

  it('is not held back while nobody can say what its hint speaks of, as long as it has other things to do', async () => {
    let wakes = 0;
    const setup = await open({
      play: async (sessionId, { store }) => {
        wakes += 1;
        await store.activations.remove([work(wakes)]);
        if (wakes < 8) await store.activations.add([work(wakes + 1)]);
        return outcomeOf(sessionId, wakes > 8 ? 'nothing_to_do' : 'sleep');
      },
    });
    await makeSession(setup.store, 1);
    await setup.add(due(1, { causeId: 'unknown', priority: 'high' }), work(1));
    expect(setup.order).toHaveLength(9);
    expect(setup.worker.status()).toMatchObject({
      setAside: [{ phase: 'early' }],
      counts: { succeeded: 8, nothingToDo: 1 },
    });
  });
});

describe('a session that another worker is about to wake', () => {
  /** A store whose workers reserve sessions; `taken` are those that another has. */
  const reserving = (taken: Set<string>, news: string[]): MemoryEventStore => {
    const store = new MemoryEventStore();
    return Object.assign(store, {
      activations: Object.assign(store.activations, {
        reserve: ({ sessionId }: { readonly sessionId: string }) => !taken.has(sessionId),
        release: (sessionId: string) => news.push(sessionId),
      }),
    });
  };

  it('is left to it, and searched for again soon while a slot is free', async () => {
    const taken = new Set([idOf(1)]);
    const released: string[] = [];
    const setup = await open({ store: reserving(taken, released) });
    await setup.add(due(1), due(2));
    expect(setup.order).toEqual([2]);
    await setup.wakes[0]?.end();
    expect(released).toEqual([idOf(2)]);
    taken.clear();
    await setup.clock.advance(20);
    await setup.settle();
    expect(setup.order).toEqual([2, 1]);
    await setup.wakes[0]?.fail(new Error('broken'));
    expect(released).toEqual([idOf(2), idOf(1)]);
  });

  it('keeps a worker that is to end when nothing is due', async () => {
    const taken = new Set([idOf(1)]);
    const setup = await open({
      store: reserving(taken, []),
      untilIdle: true,
      prepare: (store) => store.activations.add([due(1)]),
    });
    await setup.clock.advance(SECOND_MS);
    expect(setup.worker.phase).toBe('working');
    await setup.store.activations.remove([due(1)]);
    await setup.clock.advance(20);
    await setup.settle();
    expect(await setup.worker.ended).toMatchObject({ endedBecause: 'idle', counts: { begun: 0 } });
  });
});
