/**
 * Where a chart leads is where XState's own actors go, with their timers and calls: checked on fifty charts as others
 * write them, and on random ones.
 */
import fc from 'fast-check';
import type { AnyStateMachine } from 'xstate';
import { describe, expect, it } from 'vitest';
import { describeChart } from '../../src/machines/inspection/describe-chart.ts';
import { chartPaths, checkChart } from '../../src/testing.ts';
import * as connections from '../machines/inspection/charts-of-others/connections.ts';
import * as devices from '../machines/inspection/charts-of-others/devices.ts';
import * as games from '../machines/inspection/charts-of-others/games.ts';
import * as requests from '../machines/inspection/charts-of-others/requests.ts';
import * as systems from '../machines/inspection/charts-of-others/systems.ts';
import * as views from '../machines/inspection/charts-of-others/views.ts';
import { FEW, calmChart } from '../machines/inspection/random-machines.ts';
import { modelRuns } from '../support/model-runs.ts';
import { xstateAdapter } from './xstate-adapter.ts';

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
