/**
 * Small random machines, nested and parallel, with guards by name, wildcards, history, timers, actors that never answer
 * and eventless transitions.
 */
import fc from 'fast-check';
import { and, assign, createActor, fromPromise, not, setup, stateIn } from 'xstate';
import type { AnyActorRef, AnyStateMachine } from 'xstate';
import { z } from 'zod';
import { chartEvents } from '../../../src/machines/inspection/chart-events.ts';
import { describeChart } from '../../../src/machines/inspection/describe-chart.ts';
import { exploreChart } from '../../../src/machines/inspection/explore-chart.ts';
import type { ExplorationLimits } from '../../../src/machines/inspection/exploration-limits.ts';
import type { Chart } from '../../../src/machines/inspection/chart.ts';

const EVENTS = ['A', 'B', 'C', 'part.one', 'part.two'] as const;
const TRIGGERS = [...EVENTS, '*', 'part.*'] as const;
const GUARDS = ['even', 'flag', 'not even', 'both', 'inside'] as const;

/** A state before its place, and so what its transitions may lead to, is known: targets are numbers, taken round. */
interface Sketch {
  readonly kind: 'leaf' | 'final' | 'compound' | 'parallel';
  readonly children: readonly Sketch[];
  readonly on: readonly { readonly trigger: (typeof TRIGGERS)[number]; readonly steps: readonly StepSketch[] }[];
  readonly always: { readonly to: number; readonly guard: (typeof GUARDS)[number] | undefined } | undefined;
  readonly hasTimer: boolean;
  readonly invoke: { readonly takesDone: boolean; readonly takesError: boolean } | undefined;
  readonly history: 'shallow' | 'deep' | undefined;
  readonly to: number;
}

interface StepSketch {
  readonly to: number | undefined;
  readonly guard: (typeof GUARDS)[number] | undefined;
  readonly bumps: boolean;
  readonly reenters: boolean;
}

const guard = fc.option(fc.constantFrom(...GUARDS), { nil: undefined });
const step: fc.Arbitrary<StepSketch> = fc.record({
  to: fc.option(fc.nat(30), { nil: undefined }),
  guard,
  bumps: fc.boolean(),
  reenters: fc.boolean(),
});
const parts = {
  on: fc.array(fc.record({ trigger: fc.constantFrom(...TRIGGERS), steps: fc.array(step, { maxLength: 3 }) }), {
    maxLength: 3,
  }),
  always: fc.option(fc.record({ to: fc.nat(30), guard }), { nil: undefined, freq: 5 }),
  hasTimer: fc.boolean(),
  invoke: fc.option(fc.record({ takesDone: fc.boolean(), takesError: fc.boolean() }), { nil: undefined, freq: 3 }),
  history: fc.option(fc.constantFrom('shallow' as const, 'deep' as const), { nil: undefined, freq: 4 }),
  to: fc.nat(30),
};
const leaf: fc.Arbitrary<Sketch> = fc.record({
  kind: fc.constantFrom('leaf' as const, 'leaf' as const, 'final' as const),
  children: fc.constant([]),
  ...parts,
});
const inner = (children: fc.Arbitrary<Sketch>): fc.Arbitrary<Sketch> =>
  fc.record({
    kind: fc.constantFrom('compound' as const, 'compound' as const, 'parallel' as const),
    children: fc.array(children, { minLength: 1, maxLength: 3 }),
    ...parts,
  });
const outermost: fc.Arbitrary<Sketch> = inner(fc.oneof(leaf, inner(fc.oneof(leaf, inner(leaf)))));

interface Placed {
  readonly sketch: Sketch;
  readonly path: readonly string[];
  readonly children: readonly Placed[];
}

function place(sketch: Sketch, path: readonly string[]): Placed {
  return { sketch, path, children: sketch.children.map((child, index) => place(child, [...path, `s${index}`])) };
}

const flat = (placed: Placed): readonly Placed[] => [placed, ...placed.children.flatMap(flat)];
const nameOf = (path: readonly string[]): string => ['random', ...path].join('.');

const base = setup({
  types: { context: {} as { count: number }, events: {} as { type: string; flag?: boolean } },
  actors: { work: fromPromise(() => new Promise<void>(() => undefined)) },
  guards: {
    even: ({ context }) => context.count % 2 === 0,
    flag: ({ event }) => event.flag === true,
    'not even': not('even'),
    both: and(['even', 'flag']),
    inside: stateIn('#random.s0'),
  },
  actions: { bump: assign(({ context }) => ({ count: (context.count + 1) % 3 })) },
});

function configOf(placed: Placed, all: readonly Placed[], histories: readonly string[]): object {
  const { sketch, path, children } = placed;
  const targets = [...all.map((each) => nameOf(each.path)).slice(1), ...histories];
  const target = (number: number): string => `#${targets[number % targets.length] ?? ''}`;
  const isFinal = sketch.kind === 'final' && path.length > 0;
  // Only to states further down in the document, so that nothing goes in circles.
  const later = all.slice(all.indexOf(placed) + 1).filter((each) => !each.path.join('.').startsWith(path.join('.')));
  const next = later[sketch.always?.to === undefined ? 0 : sketch.always.to % Math.max(1, later.length)];
  const transition = ({ to, guard: named, bumps, reenters }: StepSketch): object => ({
    ...(to === undefined ? {} : { target: target(to) }),
    ...(named === undefined ? {} : { guard: named }),
    ...(bumps ? { actions: 'bump' } : {}),
    ...(reenters ? { reenter: true } : {}),
  });
  const states = Object.fromEntries([
    ...children.map((child) => [child.path.at(-1) ?? '', configOf(child, all, histories)] as const),
    ...(sketch.history !== undefined && children.length > 0
      ? [
          [
            'before',
            {
              type: 'history',
              history: sketch.history,
              id: `${nameOf(path)}.before`,
              ...(sketch.kind === 'parallel' ? { target: 's0' } : {}),
            },
          ] as const,
        ]
      : []),
  ]);
  return {
    id: nameOf(path),
    ...(isFinal ? { type: 'final' } : {}),
    ...(sketch.kind === 'parallel' ? { type: 'parallel', states } : {}),
    ...(sketch.kind === 'compound' ? { initial: 's0', states } : {}),
    ...(isFinal
      ? {}
      : partsOf(
          sketch,
          transition,
          target,
          path.length > 0 && next !== undefined ? `#${nameOf(next.path)}` : undefined,
        )),
  };
}

function partsOf(
  { on, always, hasTimer, invoke, to, kind }: Sketch,
  transition: (step: StepSketch) => object,
  target: (number: number) => string,
  next: string | undefined,
): object {
  return {
    on: Object.fromEntries(
      on.map(({ trigger, steps }) => [trigger, steps.length === 0 ? undefined : steps.map(transition)]),
    ),
    ...(always !== undefined && next !== undefined
      ? { always: [{ target: next, ...(always.guard === undefined ? {} : { guard: always.guard }) }] }
      : {}),
    ...(hasTimer ? { after: { 50: target(to) } } : {}),
    ...(invoke === undefined
      ? {}
      : {
          invoke: {
            src: 'work',
            ...(invoke.takesDone ? { onDone: target(to + 1) } : {}),
            ...(invoke.takesError ? { onError: target(to + 2) } : {}),
          },
        }),
    ...(kind === 'compound' && hasTimer ? { onDone: target(to + 3) } : {}),
  };
}

const events = chartEvents({
  commands: Object.fromEntries(
    EVENTS.map((type) => [
      type,
      { says: 'something', from: 'a test', data: { flag: z.boolean() }, samples: [{ flag: true }, { flag: false }] },
    ]),
  ),
});

export const randomChart: fc.Arbitrary<Chart> = outermost.map((sketch): Chart => {
  const placed = place(sketch, []);
  const all = flat(placed);
  const histories = all
    .filter((each) => each.sketch.history !== undefined && each.children.length > 0)
    .map(({ path }) => `${nameOf(path)}.before`);
  return {
    machine: base.createMachine({
      context: { count: 0 },
      ...configOf(placed, all, histories),
    } as never) as unknown as AnyStateMachine,
    events,
  };
});

/** Random machines have more snapshots than a test has time for. */
export const FEW: ExplorationLimits = { maxSnapshots: 60, maxPerConfiguration: 6 };

/** Those that a real actor can be sent events of: none of them makes it go in circles for ever. */
export const calmChart: fc.Arbitrary<Chart> = randomChart.filter((chart) => {
  const { failures, isCut } = exploreChart(chart, describeChart(chart.machine, { events: chart.events ?? {} }), {
    ...FEW,
    maxSnapshots: 200,
  });
  return failures.length === 0 && !isCut;
});

/** An actor whose timers never go off by themselves. */
export function stillActor({ machine, input }: Chart): AnyActorRef {
  return createActor(machine, { input, clock: { setTimeout: () => 0, clearTimeout: () => undefined } });
}
