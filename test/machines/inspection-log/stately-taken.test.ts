/** What was taken is worked out from states alone: wherever an answer is given, it has to be XState's own. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assign, createActor, createMachine, fromPromise, raise } from 'xstate';
import type { AnyEventObject, AnyStateMachine, InspectionEvent } from 'xstate';
import { charts } from '../../../src/machines/inspection/chart-catalog.ts';
import { transitionIds } from '../../../src/machines/inspection/describe-chart.ts';
import { readDefinition } from '../../../src/machines/inspection-log/stately-definition.ts';
import type { StatelyChart } from '../../../src/machines/inspection-log/stately-definition.ts';
import type { InspectedValue } from '../../../src/machines/inspection-log/inspection-record.ts';
import { TakenTransitions } from '../../../src/machines/inspection-log/stately-taken.ts';
import { UNKNOWN_TRANSITION } from '../../../src/machines/inspection-log/taken-words.ts';
import { StatelyText } from '../../../src/machines/inspection-log/stately-text.ts';

const asSent = (_key: string, value: unknown): unknown => (typeof value === 'function' ? { type: value.name } : value);

function chartOf(machine: AnyStateMachine): StatelyChart {
  const read = readDefinition(JSON.stringify(machine.config, asSent), new StatelyText());
  if (!('chart' in read)) throw new Error(JSON.stringify(read));
  return read;
}

interface Observed {
  readonly type: string;
  readonly before: InspectedValue | undefined;
  readonly after: InspectedValue;
  readonly real: readonly string[];
}

/**
 * Each step as the frames tell it, and what XState took. @param noted by the transitions themselves: XState also
 * reports those that a conflict kept from being taken
 */
function observed(machine: AnyStateMachine, events: readonly AnyEventObject[], noted?: string[]): readonly Observed[] {
  const ids = transitionIds(machine);
  const steps: Observed[] = [];
  let before: InspectedValue | undefined;
  let real: string[] = [];
  const inspect = (seen: InspectionEvent): void => {
    if (seen.actorRef.sessionId !== seen.rootId) return;
    if (seen.type === '@xstate.microstep') real.push(...seen._transitions.map((taken) => ids.get(taken) ?? '?'));
    if (seen.type !== '@xstate.snapshot') return;
    const { value: after } = seen.snapshot as unknown as { readonly value: InspectedValue };
    if (seen.event.type !== 'xstate.init')
      steps.push({ type: seen.event.type, before, after, real: noted?.splice(0) ?? real });
    before = after;
    real = [];
  };
  const actor = createActor(machine, { inspect });
  actor.subscribe({ error: () => undefined });
  actor.start();
  for (const event of events) actor.send(event);
  actor.stop();
  return steps;
}

/** `(unknown)` may stand for anything; what is named has to have been taken, in this order. */
function agrees(told: readonly string[], real: readonly string[]): boolean {
  if (!told.includes(UNKNOWN_TRANSITION))
    return JSON.stringify([...told].toSorted()) === JSON.stringify([...real].toSorted());
  return told.every((id) => id === UNKNOWN_TRANSITION || real.includes(id));
}

function check(machine: AnyStateMachine, events: readonly AnyEventObject[], noted?: string[]): readonly string[] {
  const taken = new TakenTransitions(chartOf(machine));
  return observed(machine, events, noted).flatMap((step) => {
    const told = taken.of(step);
    expect(agrees(told, step.real), `${machine.id} ${JSON.stringify(step)} told ${JSON.stringify(told)}`).toBe(true);
    return told;
  });
}

const KEYS = ['a', 'b', 'c'] as const;
const EVENTS = ['GO', 'BACK', 'DEEP', 'JUMP', 'STAY'] as const;
const random = { seed: 20_260_614, numRuns: 300 };

interface Node {
  readonly kind: 'atomic' | 'compound' | 'parallel';
  readonly children: readonly Node[];
  readonly on: readonly {
    readonly event: string;
    readonly to: number;
    readonly guard: boolean | undefined;
    readonly reenter: boolean;
  }[];
}

const edge = fc.record({
  event: fc.constantFrom(...EVENTS, '*'),
  to: fc.nat(12),
  guard: fc.constantFrom(undefined, true, false),
  reenter: fc.boolean(),
});
const node: fc.Arbitrary<Node> = fc.letrec<{ node: Node }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 2, depthSize: 'small' },
    fc.record({
      kind: fc.constant('atomic' as const),
      children: fc.constant([]),
      on: fc.array(edge, { maxLength: 3 }),
    }),
    fc.record({
      kind: fc.constantFrom('compound' as const, 'parallel' as const),
      children: fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
      on: fc.array(edge, { maxLength: 3 }),
    }),
  ),
})).node;

function pathsOf({ children }: Node, path: string): readonly string[] {
  return children.flatMap((child, index) => [
    `${path}.${KEYS[index] ?? ''}`,
    ...pathsOf(child, `${path}.${KEYS[index] ?? ''}`),
  ]);
}

function configOf({ kind, children, on }: Node, path: string, paths: readonly string[]): Record<string, unknown> {
  const transitions = Object.fromEntries(
    on.map(({ event, to, guard, reenter }) => [
      event,
      [
        {
          target: `#m${paths[to % paths.length] ?? ''}`,
          reenter,
          actions: { type: 'note', params: { id: `${path.slice(1)}|${event}|0` } },
          ...(guard === undefined ? {} : { guard: `is${String(guard)}` }),
        },
      ],
    ]),
  );
  const states = Object.fromEntries(
    children.map((child, index) => [KEYS[index] ?? '', configOf(child, `${path}.${KEYS[index] ?? ''}`, paths)]),
  );
  return {
    ...(kind === 'parallel' ? { type: 'parallel' } : {}),
    ...(kind === 'compound' ? { initial: 'a' } : {}),
    on: transitions,
    ...(children.length === 0 ? {} : { states }),
  };
}

const guards = { istrue: (): boolean => true, isfalse: (): boolean => false };

describe('what a step has taken', () => {
  it('is what XState took, or unknown, in any chart', () => {
    let named = 0;
    fc.assert(
      fc.property(node, fc.array(fc.constantFrom(...EVENTS), { maxLength: 8 }), (root, types) => {
        const outer: Node = {
          ...root,
          kind: root.kind === 'atomic' ? 'compound' : root.kind,
          children: root.children.length === 0 ? [root] : root.children,
        };
        const config = { id: 'm', ...configOf(outer, '', pathsOf(outer, '')) };
        const noted: string[] = [];
        const note = (_scope: unknown, { id }: { readonly id: string }): void => void noted.push(id);
        const machine = createMachine(config as Parameters<typeof createMachine>[0], {
          guards,
          actions: { note: note as () => void },
        }) as unknown as AnyStateMachine;
        for (const id of check(
          machine,
          types.map((type) => ({ type })),
          noted,
        )) {
          if (id !== UNKNOWN_TRANSITION) named += 1;
        }
      }),
      random,
    );
    // An answer that is always “unknown” would agree with everything.
    expect(named).toBeGreaterThan(200);
  });

  it('is found in the charts of this project', () => {
    for (const { machine } of charts)
      expect(readDefinition(JSON.stringify(machine.config, asSent), new StatelyText())).toHaveProperty('chart');
  });

  it('is told of guards by the state that they led to', () => {
    const machine = createMachine(
      {
        id: 'm',
        initial: 'a',
        states: {
          a: {
            on: {
              GO: [
                { guard: 'isfalse', target: 'b' },
                { guard: 'istrue', target: 'c' },
              ],
            },
          },
          b: {},
          c: {},
        },
      },
      { guards },
    );
    expect(check(machine, [{ type: 'GO' }])).toEqual(['a|GO|1']);
  });

  it('is unknown where a guarded transition that stays may have been taken', () => {
    const machine = createMachine(
      { id: 'm', initial: 'a', states: { a: { on: { GO: { guard: 'istrue', actions: assign({}) } } } } },
      { guards },
    );
    expect(check(machine, [{ type: 'GO' }])).toEqual([UNKNOWN_TRANSITION]);
  });

  it('says what is known where more followed in the same step', () => {
    const machine = createMachine({
      id: 'm',
      initial: 'a',
      states: { a: { on: { GO: 'b' } }, b: { always: 'c' }, c: {} },
    });
    expect(check(machine, [{ type: 'GO' }])).toEqual(['a|GO|0', UNKNOWN_TRANSITION]);
  });

  it('is unknown where an action may have sent another event and two ways fit', () => {
    const machine = createMachine(
      {
        id: 'm',
        initial: 'a',
        states: {
          a: { on: { GO: [{ guard: 'istrue', target: 'b', actions: raise({ type: 'ON' }) }, { target: 'c' }] } },
          b: { on: { ON: 'c' } },
          c: {},
        },
      },
      { guards },
    );
    expect(check(machine, [{ type: 'GO' }])).toEqual([UNKNOWN_TRANSITION]);
  });

  it('is empty for an event that no state takes', () => {
    const machine = createMachine({ id: 'm', initial: 'a', states: { a: {} } });
    expect(check(machine, [{ type: 'NOBODY' }])).toEqual([]);
  });

  it('knows the events of invoked actors and of timers by the names in the chart', async () => {
    const machine = createMachine({
      id: 'm',
      initial: 'a',
      states: { a: { invoke: { src: 'work', onDone: 'b' } }, b: {} },
    }).provide({ actors: { work: fromPromise(async () => 1) } });
    const taken = new TakenTransitions(chartOf(machine));
    expect(taken.of({ type: 'xstate.done.actor.0.m.a', before: 'a', after: 'b' })).toEqual(['a|done(work)|0']);
    const timed = createMachine({ id: 't', initial: 'a', states: { a: { after: { 500: 'b', soon: 'b' } }, b: {} } });
    expect(new TakenTransitions(chartOf(timed)).of({ type: 'xstate.after.soon.t.a', before: 'a', after: 'b' })).toEqual(
      ['a|after(soon)|0'],
    );
  });

  it('is unknown where the states are none of the chart', () => {
    const taken = new TakenTransitions(chartOf(createMachine({ id: 'm', initial: 'a', states: { a: {} } })));
    expect(taken.of({ type: 'GO', before: 'a', after: 'elsewhere' })).toEqual([UNKNOWN_TRANSITION]);
    expect(taken.of({ type: 'GO', before: undefined, after: 'a' })).toEqual([UNKNOWN_TRANSITION]);
  });
});
