import { Actor, assign, createActor, emit, fromPromise, setup } from 'xstate';
import type { AnyActorLogic, AnyActorRef, InspectionEvent } from 'xstate';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { taskLifecycle } from '../../src/machines/task/task-lifecycle.ts';
import { buildsChildrenDirectly, moveChild, startChild, stopChild } from '../../src/actors/xstate-child.ts';
import {
  keepLiveActors,
  liveActorsOf,
  takeUnseen,
  watchSystem,
  watchesDirectly,
} from '../../src/actors/xstate-system.ts';
import { chartWatch } from '../../src/machines/chart-watch.ts';

interface Seen {
  readonly type: string;
  readonly event: unknown;
  readonly actor: string;
  readonly value: unknown;
}

/** Runs a child through a life and records everything that its parent, a subscriber and an inspector see. */
function lifeOf(start: (parent: AnyActorRef) => AnyActorRef): { seen: Seen[]; heard: unknown[]; told: unknown[] } {
  const seen: Seen[] = [];
  const told: unknown[] = [];
  const snapshot = { status: 'active' as const, output: undefined, error: undefined };
  const parent = createActor(
    {
      transition: (state: typeof snapshot, event: object) => {
        told.push(event);
        return state;
      },
      getInitialSnapshot: () => snapshot,
      getPersistedSnapshot: () => snapshot,
    },
    {
      id: 'parent',
      inspect: (event: InspectionEvent) =>
        seen.push({
          type: event.type,
          event: 'event' in event ? event.event : undefined,
          actor: (event.actorRef as AnyActorRef).id,
          value: 'snapshot' in event ? (event.snapshot as { value?: unknown }).value : undefined,
        }),
    },
  );
  parent.start();
  const child = start(parent);
  const heard: unknown[] = [];
  child.subscribe({
    next: (state: { value: unknown }) => heard.push(state.value),
    complete: () => heard.push('complete'),
  });
  const { send } = child;
  for (const type of ['START', 'STARTED', 'NONSENSE', 'COMPLETE']) send({ type });
  return { seen, heard, told };
}

describe('a child made directly', () => {
  it('is used with the installed XState: its fields are still the ones this code knows', () => {
    expect(buildsChildrenDirectly).toBe(true);
  });

  it('is an XState actor with the same fields as one made by createActor', () => {
    const parent = createActor(taskLifecycle as unknown as AnyActorLogic).start();
    const direct = startChild(parent, taskLifecycle, 'child');
    const official = createActor(taskLifecycle as unknown as AnyActorLogic, { parent, id: 'child' }).start();
    expect(direct).toBeInstanceOf(Actor);
    // Some are made when they are first read.
    for (const [field, value] of Object.entries(official))
      expect([field, typeof Reflect.get(direct, field)]).toEqual([field, typeof value]);
    expect(direct.getPersistedSnapshot()).toEqual(official.getPersistedSnapshot());
    expect(direct.toJSON?.()).toEqual((official as unknown as AnyActorRef).toJSON?.());
    expect((direct as unknown as { system: unknown }).system).toBe((official as unknown as { system: unknown }).system);
  });

  it('lives, is heard and is inspected exactly like one made by createActor', () => {
    const direct = lifeOf((parent) => startChild(parent, taskLifecycle, 'child'));
    const official = lifeOf((parent) => {
      const child = createActor(taskLifecycle as unknown as AnyActorLogic, { parent, id: 'child' });
      child.start();
      return child;
    });
    expect(direct).toEqual(official);
    expect(direct.told).toContainEqual({ type: 'xstate.done.actor.child', output: undefined, actorId: 'child' });
    expect(direct.heard).toEqual([
      { running: 'starting' },
      { running: 'active' },
      { running: 'active' },
      'completed',
      'complete',
    ]);
  });

  it('keeps subscribers to itself', () => {
    const parent = createActor(taskLifecycle as unknown as AnyActorLogic).start();
    const first = startChild(parent, taskLifecycle, 'first');
    const second = startChild(parent, taskLifecycle, 'second');
    const heard: string[] = [];
    first.subscribe(() => heard.push('first'));
    first.on('*', () => heard.push('emitted'));
    second.send({ type: 'START' });
    expect(heard).toEqual([]);
    first.send({ type: 'START' });
    expect(heard).toEqual(['first']);
  });
});

interface Told {
  readonly type: string;
  readonly actorRef: AnyActorRef;
  readonly rootId?: string;
}

/** A machine that does what XState tells inspectors of: a child, a timer, an action, something emitted. */
const busyMachine = setup({
  types: { context: {} as { count: number }, emitted: {} as { type: 'said' } },
  actors: { work: fromPromise(() => Promise.resolve(7)) },
}).createMachine({
  id: 'busy',
  context: { count: 0 },
  initial: 'working',
  states: {
    working: {
      invoke: { src: 'work', onDone: 'waiting' },
      on: { COUNT: { actions: assign({ count: ({ context }) => context.count + 1 }) } },
    },
    waiting: { after: { 60_000: 'late' }, on: { SAY: { actions: emit({ type: 'said' }) }, END: 'ended' } },
    late: {},
    ended: { type: 'final' },
  },
});

describe('a system that is watched', () => {
  const tasks = (): AnyActorRef => createActor(taskLifecycle as unknown as AnyActorLogic).start();
  const systemOf = (actor: AnyActorRef): object => (actor as unknown as { readonly system: object }).system;

  it('is watched directly with the installed XState, which still tells everything in the one place that this code knows', () => {
    expect(watchesDirectly).toBe(true);
  });

  it('tells a watch exactly what it tells an inspector, in the same order', async () => {
    const root = createActor(busyMachine);
    const told: Told[] = [];
    const heard: Told[] = [];
    watchSystem(root, (inspected) => told.push(inspected as Told));
    root.system.inspect((inspected) => heard.push(inspected as unknown as Told));
    root.start();
    root.send({ type: 'COUNT' });
    startChild(root, taskLifecycle, 'direct').send({ type: 'START' });
    while (!root.getSnapshot().matches('waiting')) await Promise.resolve();
    for (const type of ['SAY', 'UNHEARD', 'END']) root.send({ type });
    expect(new Set(told.map(({ type }) => type))).toEqual(
      new Set(['@xstate.actor', '@xstate.event', '@xstate.microstep', '@xstate.snapshot', '@xstate.action']),
    );
    expect(told.map((each) => ({ ...each, rootId: root.sessionId }))).toEqual(heard);
    told.forEach((each, index) => expect(each.actorRef).toBe(heard[index]?.actorRef));
  });

  it('is as it was when the last watch has ended, in whatever order they end', () => {
    const root = tasks();
    const before = Object.entries(systemOf(root));
    const told: string[] = [];
    const watch = (name: string) =>
      watchSystem(root, ({ type }: { readonly type?: string }) => type === '@xstate.event' && told.push(name));
    const [first, second] = [watch('first'), watch('second')];
    root.send({ type: 'START' });
    first();
    first();
    root.send({ type: 'STARTED' });
    second();
    root.send({ type: 'COMPLETE' });
    expect(told).toEqual(['first', 'second', 'second']);
    expect(Object.entries(systemOf(root))).toEqual(before);
  });

  it('tells one function twice that watches twice, and each watch ends by itself', () => {
    const root = tasks();
    let count = 0;
    const watch = (inspected: { readonly type?: string }): void => {
      if (inspected.type === '@xstate.event') count += 1;
    };
    const end = watchSystem(root, watch);
    watchSystem(root, watch);
    root.send({ type: 'START' });
    end();
    root.send({ type: 'STARTED' });
    expect(count).toBe(3);
  });

  it('survives somebody who puts himself over it: nothing is told twice, and it does not grow however often it is watched', () => {
    const root = tasks();
    const system = systemOf(root) as { _sendInspectionEvent: (event: object) => void };
    let over = 0;
    let told = 0;
    const end = watchSystem(root, () => (told += 1));
    const under = system._sendInspectionEvent;
    const above = (event: object): void => {
      over += 1;
      under(event);
    };
    system._sendInspectionEvent = above;
    end();
    for (let count = 0; count < 50_000; count += 1) watchSystem(root, () => (told += 1))();
    expect(system._sendInspectionEvent).toBe(above);
    const last = watchSystem(root, () => (told += 1));
    root.send({ type: 'START' });
    last();
    root.send({ type: 'STARTED' });
    expect([told, over]).toEqual([3, 6]);
  });
});

/** A root that notes what it is told, in a system whose actors are kept. */
function keptRoot(): { readonly root: AnyActorRef; readonly told: string[] } {
  const told: string[] = [];
  const snapshot = { status: 'active' as const, output: undefined, error: undefined };
  const root = createActor({
    transition: (state: typeof snapshot, { type }: { readonly type: string }) => {
      told.push(type);
      return state;
    },
    getInitialSnapshot: () => snapshot,
    getPersistedSnapshot: () => snapshot,
  });
  keepLiveActors(root, false);
  root.start();
  told.length = 0;
  return { root, told };
}

/** Moves a child as its owner does: the chart is asked, then the child is moved. */
function move(child: AnyActorRef, type: string): boolean {
  const next = taskLifecycle.next(child.getSnapshot() as never, type);
  if (next === undefined) throw new Error(`the chart does not take ${type}`);
  return moveChild(child, { type }, next);
}

const valueOf = (child: AnyActorRef): unknown => (child.getSnapshot() as { readonly value: unknown }).value;

describe('a child that nothing checks', () => {
  // The suite watches charts everywhere, which counts as a check.
  const { watcher } = chartWatch;
  beforeEach(() => {
    chartWatch.watcher = undefined;
  });
  afterEach(() => {
    chartWatch.watcher = watcher;
  });

  it('moves through its chart, runs until it ends, and leaves the telling of its end to its owner', () => {
    const { root, told } = keptRoot();
    const child = startChild(root, taskLifecycle, 'child');
    expect([move(child, 'START'), move(child, 'STARTED')]).toEqual([false, false]);
    expect([valueOf(child), liveActorsOf(root)]).toEqual([{ running: 'active' }, [root, child]]);
    expect(move(child, 'COMPLETE')).toBe(false);
    expect([valueOf(child), liveActorsOf(root), told]).toEqual(['completed', [root], []]);
    child.send({ type: 'FAIL' });
    expect(valueOf(child)).toBe('completed');
  });

  it('takes events that are sent to it like any other actor', () => {
    const { root, told } = keptRoot();
    const child = startChild(root, taskLifecycle, 'child');
    move(child, 'START');
    child.send({ type: 'STARTED' });
    expect(valueOf(child)).toEqual({ running: 'active' });
    child.send({ type: 'COMPLETE' });
    expect([valueOf(child), liveActorsOf(root), told]).toEqual(['completed', [root], ['xstate.done.actor.child']]);
  });

  it.each(['an inspector', 'a watch', 'a subscriber', 'a watcher of charts'] as const)(
    'tells all from then on when %s comes',
    (who) => {
      const { root, told } = keptRoot();
      const child = startChild(root, taskLifecycle, 'child');
      move(child, 'START');
      const heard: unknown[] = [];
      if (who === 'an inspector') root.system.inspect(({ type }) => heard.push(type));
      if (who === 'a watch') watchSystem(root, (inspected) => heard.push((inspected as Told).type));
      if (who === 'a subscriber') child.subscribe((state: { readonly value: unknown }) => heard.push(state.value));
      if (who === 'a watcher of charts')
        chartWatch.watcher = (_machine, taken, actor) => void (actor === child && heard.push(taken.length));
      expect([move(child, 'STARTED'), move(child, 'COMPLETE')]).toEqual([true, true]);
      const telling = ['@xstate.event', '@xstate.microstep', '@xstate.snapshot'];
      const expected = {
        'an inspector': [
          ...telling,
          '@xstate.event',
          '@xstate.microstep',
          '@xstate.event',
          '@xstate.snapshot',
          '@xstate.snapshot',
        ],
        'a watch': [
          ...telling,
          '@xstate.event',
          '@xstate.microstep',
          '@xstate.event',
          '@xstate.snapshot',
          '@xstate.snapshot',
        ],
        'a subscriber': [{ running: 'active' }, 'completed'],
        'a watcher of charts': [1, 1],
      } satisfies Record<typeof who, unknown[]>;
      expect(heard).toEqual(expected[who]);
      expect(told).toEqual(['xstate.done.actor.child']);
    },
  );

  it('is stopped by its parent before its end', () => {
    const { root } = keptRoot();
    const child = startChild(root, taskLifecycle, 'child');
    const other = startChild(root, taskLifecycle, 'other');
    stopChild(child);
    expect([child.getSnapshot().status, liveActorsOf(root)]).toEqual(['stopped', [root, other]]);
  });

  it('leaves the others in the order of their making, wherever it stood among them', () => {
    const { root } = keptRoot();
    const made = ['first', 'second', 'third', 'fourth', 'fifth'].map((id) => startChild(root, taskLifecycle, id));
    const [first, second, third, fourth, fifth] = made;
    for (const [gone, left] of [
      [third, [first, second, fourth, fifth]],
      [fifth, [first, second, fourth]],
      [first, [second, fourth]],
    ] as const) {
      if (gone !== undefined) move(gone, 'CANCEL');
      expect(liveActorsOf(root)).toEqual([root, ...left]);
    }
  });
});

describe('a root that nothing checks', () => {
  const { watcher } = chartWatch;
  beforeEach(() => {
    chartWatch.watcher = undefined;
  });
  afterEach(() => {
    chartWatch.watcher = watcher;
  });

  it('takes an event at once; what is sent meanwhile waits for its end, also when it throws', () => {
    const { root, told } = keptRoot();
    const order: string[] = [];
    expect(
      takeUnseen(root, { type: 'OUTER' }, () => {
        root.send({ type: 'LATER' });
        expect(takeUnseen(root, { type: 'INNER' }, () => order.push('inner'))).toBe(false);
        order.push(`outer, told ${told.length}`);
      }),
    ).toBe(true);
    expect([order, told]).toEqual([['outer, told 0'], ['LATER']]);
    expect(() =>
      takeUnseen(root, { type: 'BROKEN' }, () => {
        root.send({ type: 'AFTER' });
        throw new Error('it broke');
      }),
    ).toThrow('it broke');
    expect(told).toEqual(['LATER', 'AFTER']);
  });

  it('leaves the event to be sent where something checks', () => {
    const { root } = keptRoot();
    root.subscribe(() => undefined);
    expect(takeUnseen(root, { type: 'SEEN' }, () => undefined)).toBe(false);
    const inspected = keptRoot().root;
    inspected.system.inspect(() => undefined);
    expect(takeUnseen(inspected, { type: 'SEEN' }, () => undefined)).toBe(false);
  });
});
