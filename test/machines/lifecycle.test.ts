import { createActor, createMachine, setup } from 'xstate';
import type { AnyActorLogic, InspectionEvent, StateValue } from 'xstate';
import { describe, expect, it } from 'vitest';
import { compileLifecycle } from '../../src/machines/lifecycle.ts';
import type { CompiledLifecycle } from '../../src/machines/lifecycle.ts';
import { supervisorLifecycle } from '../../src/machines/task/supervisor-machine.ts';
import { taskLifecycle } from '../../src/machines/task/task-lifecycle.ts';

const parallel = setup({ types: { events: {} as { type: 'A' } | { type: 'B' } | { type: 'RESET' } } }).createMachine({
  id: 'parallel',
  type: 'parallel',
  states: {
    left: { initial: 'off', states: { off: { on: { A: 'on' } }, on: { tags: ['lit'], on: { B: 'off' } } } },
    right: {
      initial: 'off',
      on: { RESET: { target: '.off', reenter: true } },
      states: { off: { on: { B: 'on' } }, on: { on: { A: undefined } } },
    },
  },
});

const charts: { readonly name: string; readonly compiled: CompiledLifecycle }[] = [
  { name: 'the task chart', compiled: taskLifecycle as unknown as CompiledLifecycle },
  { name: 'the supervisor chart', compiled: supervisorLifecycle as unknown as CompiledLifecycle },
  { name: 'a parallel chart', compiled: compileLifecycle(parallel) },
];

/** What an inspector sees of one actor that is sent the events, with everything that identifies the actor left out. */
function inspected(logic: AnyActorLogic, events: readonly string[]): unknown[] {
  const seen: InspectionEvent[] = [];
  const actor = createActor(logic, { inspect: (event) => seen.push(event) });
  actor.start();
  for (const type of events) if (actor.getSnapshot().status === 'active') actor.send({ type });
  return seen.map((event) => ({
    type: event.type,
    event: 'event' in event ? event.event : undefined,
    value: 'snapshot' in event ? (event.snapshot as unknown as { value?: StateValue }).value : undefined,
    transitions:
      '_transitions' in event
        ? event._transitions.map((transition) => [transition.eventType, transition.target?.map((node) => node.id)])
        : undefined,
  }));
}

describe.each(charts)('$name, compiled', ({ compiled }) => {
  const { machine } = compiled;

  it('answers every event in every state as XState does', () => {
    for (const snapshot of compiled.snapshots) {
      for (const type of [...compiled.events, 'UNKNOWN']) {
        const full = machine.resolveState({ value: snapshot.value, context: {} });
        const interpreted = createActor(machine, { snapshot: machine.getPersistedSnapshot(full) });
        interpreted.start();
        if (snapshot.status === 'active') interpreted.send({ type });
        const after = interpreted.getSnapshot() as { value: StateValue; status: string };
        const next = compiled.next(snapshot, type) ?? snapshot;
        expect({ from: snapshot.value, type, value: next.value, status: next.status }).toEqual({
          from: snapshot.value,
          type,
          value: after.value,
          status: after.status,
        });
        expect(snapshot.can({ type })).toBe((full as { can(event: object): boolean }).can({ type }));
      }
    }
  });

  it('matches and tags its states as XState does', () => {
    for (const snapshot of compiled.snapshots) {
      const full = machine.resolveState({ value: snapshot.value, context: {} }) as {
        matches(value: StateValue): boolean;
        tags: Set<string>;
        status: string;
      };
      for (const other of compiled.snapshots) expect(snapshot.matches(other.value)).toBe(full.matches(other.value));
      expect([...snapshot.tags]).toEqual([...full.tags]);
      expect(snapshot.status).toBe(full.status);
    }
  });

  it('shows an inspector the same events, transitions and snapshots as the interpreted machine', () => {
    const walks = compiled.events.flatMap((first) =>
      compiled.events.flatMap((second) => compiled.events.map((third) => [first, second, third])),
    );
    for (const walk of walks)
      expect(inspected(compiled as unknown as AnyActorLogic, walk)).toEqual(inspected(machine, walk));
  });

  it('keeps one snapshot object per configuration', () => {
    const reached = compiled.snapshots.flatMap((snapshot) =>
      compiled.events.flatMap((type) => compiled.next(snapshot, type) ?? []),
    );
    expect(new Set([compiled.initial, ...reached])).toEqual(new Set(compiled.snapshots));
    expect(reached.every((snapshot) => compiled.snapshots.includes(snapshot))).toBe(true);
  });

  it('restores what it persisted and refuses a state it does not know', () => {
    for (const snapshot of compiled.snapshots) {
      const persisted = JSON.parse(JSON.stringify(compiled.getPersistedSnapshot(snapshot))) as never;
      expect(compiled.restoreSnapshot?.(persisted, undefined as never)).toBe(snapshot);
    }
    expect(() => compiled.restoreSnapshot?.({ value: 'gone' } as never, undefined as never)).toThrow(
      /has no state "gone"/,
    );
  });

  it('is marked stopped when its actor is stopped', () => {
    const actor = createActor(compiled as unknown as AnyActorLogic);
    actor.start();
    actor.stop();
    expect(actor.getSnapshot()).toMatchObject({ status: 'stopped', value: compiled.initial.value });
  });
});

describe('a chart that is more than a lifecycle', () => {
  it.each([
    ['context', createMachine({ id: 'c', context: { count: 0 }, initial: 'a', states: { a: {} } }), /context/],
    [
      'a guard',
      createMachine({
        id: 'c',
        initial: 'a',
        states: { a: { on: { GO: { target: 'b', guard: () => true } } }, b: {} },
      }),
      /a guard/,
    ],
    [
      'an action',
      createMachine({ id: 'c', initial: 'a', states: { a: { on: { GO: { actions: () => undefined } } } } }),
      /a transition action/,
    ],
    [
      'an entry action',
      createMachine({ id: 'c', initial: 'a', states: { a: { entry: () => undefined } } }),
      /entry actions/,
    ],
    [
      'a timer',
      createMachine({ id: 'c', initial: 'a', states: { a: { after: { 10: 'b' } }, b: {} } }),
      /a delayed transition|entry actions/,
    ],
    [
      'an eventless transition',
      createMachine({ id: 'c', initial: 'a', states: { a: { always: 'b' }, b: {} } }),
      /an eventless transition/,
    ],
    [
      'an invoked actor',
      createMachine({ id: 'c', initial: 'a', states: { a: { invoke: { src: 'work' } } } }),
      /an invoked actor/,
    ],
  ])('is refused by name: %s', (_feature, machine, message) => {
    expect(() => compileLifecycle(machine)).toThrow(message);
  });
});
