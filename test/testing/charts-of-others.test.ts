/**
 * Where a chart leads is where XState's own actors go, with their timers and calls: checked on fifty charts as others
 * write them, and on random ones.
 */
import fc from 'fast-check';
import type { AnyActor, AnyStateMachine } from 'xstate';
import { createActor, fromPromise } from 'xstate';
import { describe, expect, it } from 'vitest';
import { invokesOf, nodesOf } from '../../src/machines/inspection/chart-reading.ts';
import { ChartWalk } from '../../src/machines/inspection/chart-walk.ts';
import type { Chart } from '../../src/machines/inspection/chart.ts';
import { describeChart } from '../../src/machines/inspection/describe-chart.ts';
import { chartPaths, checkChart } from '../../src/testing.ts';
import type { ChartAdapter, ChartWorld } from '../../src/testing/chart-adapter.ts';
import * as connections from '../machines/inspection/charts-of-others/connections.ts';
import * as devices from '../machines/inspection/charts-of-others/devices.ts';
import * as games from '../machines/inspection/charts-of-others/games.ts';
import * as requests from '../machines/inspection/charts-of-others/requests.ts';
import * as systems from '../machines/inspection/charts-of-others/systems.ts';
import * as views from '../machines/inspection/charts-of-others/views.ts';
import { FEW, calmChart } from '../machines/inspection/random-machines.ts';
import { modelRuns } from '../support/model-runs.ts';

const CHARTS = Object.entries<unknown>({ ...views, ...devices, ...games, ...requests, ...connections, ...systems });

const INPUTS: Readonly<Record<string, unknown>> = {
  todoItem: { id: '1', title: 'bread' },
  countdown: { seconds: 3 },
  webSocket: { url: 'ws://127.0.0.1' },
  scored: { start: 1 },
};

/** Their context holds what a child shows, and a call shows nothing before it answers. */
const WITH_CHILDREN: ReadonlySet<string> = new Set(['clock', 'cartTotal']);

describe('a chart of others', () => {
  it.each(CHARTS)('%s leads where XState goes', async (name, given) => {
    const machine = given as AnyStateMachine;
    const input = INPUTS[name];
    const adapter = xstateAdapter(machine, { input, hasOwnContext: !WITH_CHILDREN.has(name) });
    await checkChart({ machine, input }, adapter, { runs: 10 });
    const { states, transitions, unreached } = chartPaths({ machine, input });
    expect(chartPaths({ machine, input })).toEqual({ ...chartPaths({ machine, input }), states, transitions });
    for (const { steps, values } of [...states, ...transitions]) expect(values).toHaveLength(steps.length + 1);
    for (const { because } of unreached) expect(because).not.toBe('');
  });
});

describe('a random chart', () => {
  it('leads where XState goes, along the paths that were found and along others', async () => {
    await fc.assert(
      fc.asyncProperty(calmChart, async (chart) => {
        const invokes = describeChart(chart.machine).states.flatMap((state) => state.invokes);
        // Calls of one name that run at once cannot be told apart.
        fc.pre(invokes.length <= 1);
        const { cover } = chartPaths(chart, FEW);
        const adapter = xstateAdapter(chart.machine, chart);
        for (const { steps, values } of cover) {
          const passed: unknown[] = [];
          const expected: typeof adapter.expected = (snapshot) => {
            passed.push(snapshot.value);
            return adapter.expected?.(snapshot);
          };
          await checkChart(chart, { ...adapter, expected }, { steps });
          expect(passed).toEqual(values);
        }
      }),
      modelRuns(40, { atMost: 400 }),
    );
  });
});

interface Setting extends Pick<Chart, 'input' | 'events' | 'samples'> {
  /** Whether its context is a matter of the chart alone. Default true. */
  readonly hasOwnContext?: boolean;
}

/**
 * XState itself as the real thing of any machine: its actors are replaced by calls of the plan, and nothing else is.
 */
function xstateAdapter(
  machine: AnyStateMachine,
  { hasOwnContext = true, ...known }: Setting = {},
): ChartAdapter<AnyActor> {
  // Those that wildcards take too.
  const { events } = new ChartWalk({ machine, ...known });
  const seen = ({ value, status, context }: Snapshot): object => ({
    value,
    status,
    ...(hasOwnContext ? { context: plain(context) } : {}),
  });
  return {
    start: (world) => createActor(calling(machine, world), { clock: world.clock, input: known.input }).start(),
    events: Object.fromEntries(
      events.map(({ event: { type } }) => [
        type,
        (actor: AnyActor, event: { readonly type: string }) => {
          // An actor at its end complains of what comes.
          if ((actor.getSnapshot() as Snapshot).status === 'active') actor.send(event);
        },
      ]),
    ),
    read: (actor) => seen(actor.getSnapshot() as Snapshot),
    expected: seen,
    stop: (actor) => actor.stop(),
  };
}

interface Snapshot {
  readonly value: unknown;
  readonly status: string;
  readonly context: unknown;
}

/** Actors in it differ in what is no matter of the chart. */
function plain(context: unknown): unknown {
  return JSON.parse(
    JSON.stringify(context ?? null, (_, value: unknown) =>
      typeof value === 'object' && value !== null && 'getSnapshot' in value ? 'an actor' : value,
    ),
  );
}

function calling(original: AnyStateMachine, world: ChartWorld): AnyStateMachine {
  const names = new Map(
    nodesOf(original).flatMap((node) => invokesOf(node).map(({ raw, invocation }) => [raw, invocation.id] as const)),
  );
  // What is spawned is no call that the chart waits for.
  const logic = fromPromise(({ self }) => {
    const name = names.get(self.id);
    return name === undefined ? new Promise(() => undefined) : world.call(name);
  });
  const actors = Object.keys(original.implementations.actors as object);
  const machine = original.provide({ actors: Object.fromEntries(actors.map((name) => [name, logic])) as never });
  for (const node of nodesOf(machine)) {
    const invoke = (node.invoke as readonly object[]).map((each) => ({ ...each, src: logic, input: undefined }));
    if (invoke.length > 0) Object.defineProperty(node, 'invoke', { value: invoke });
  }
  return machine;
}
