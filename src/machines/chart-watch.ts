/**
 * Where a watcher can see what compiled charts do. There is none unless asked for, and then a transition costs one
 * comparison more.
 */
import type { AnyStateMachine } from 'xstate';
import type { TakenTransitions } from './xstate-internals.ts';

/**
 * Told of each transition before its actor hears of it. It must not throw, and must not move a chart.
 * @param taken XState's own definitions; a forbidden event is among them, though nothing moves
 * @param actor who took them; absent where a chart was followed by `next`, without an actor
 */
export type ChartWatcher = (machine: AnyStateMachine, taken: TakenTransitions, actor?: object) => void;

/** Read at every transition. */
export const chartWatch: { watcher: ChartWatcher | undefined } = { watcher: undefined };

/** One at a time. @returns what puts back the watcher before it */
export function watchCharts(watcher: ChartWatcher): () => void {
  const before = chartWatch.watcher;
  chartWatch.watcher = watcher;
  return () => {
    chartWatch.watcher = before;
  };
}
