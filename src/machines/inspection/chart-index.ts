/** A chart description, looked up in all the ways that audits need, each in constant time. */
import { ROOT, leavesOf } from './chart-states.ts';
import type { ChartDescription, ChartState, ChartTransition } from './chart-description.ts';

export interface ChartIndex {
  readonly chart: ChartDescription;
  readonly leaves: readonly ChartState[];
  readonly state: (id: string) => ChartState;
  readonly children: (id: string) => readonly ChartState[];
  /** From the state up to the root, itself first. */
  readonly lineage: (id: string) => readonly ChartState[];
  /** Whether `inner` is `outer` or below it. */
  readonly isWithin: (inner: string, outer: string) => boolean;
  /** The transitions that the state itself has. */
  readonly transitionsOf: (id: string) => readonly ChartTransition[];
  /**
   * The children of parallel states above the leaf that it is not in: what runs beside it. The parallel state and the
   * child on the way go with each.
   */
  readonly regionsBeside: (
    id: string,
  ) => readonly { readonly parallel: string; readonly own: string; readonly other: string }[];
}

export function indexChart(chart: ChartDescription): ChartIndex {
  const states = new Map(chart.states.map((state) => [state.id, state]));
  const children = new Map<string, ChartState[]>();
  for (const state of chart.states)
    if (state.parent !== undefined) children.set(state.parent, [...(children.get(state.parent) ?? []), state]);
  const transitions = new Map<string, ChartTransition[]>();
  for (const transition of chart.transitions) {
    const own = transitions.get(transition.source) ?? [];
    own.push(transition);
    transitions.set(transition.source, own);
  }
  const root: ChartState = { id: ROOT, key: chart.id, kind: 'atomic', tags: [], entry: [], exit: [], invokes: [] };
  const state = (id: string): ChartState => states.get(id) ?? root;
  const lineages = new Map<string, readonly ChartState[]>();
  const lineage = (id: string): readonly ChartState[] => {
    const known = lineages.get(id);
    if (known !== undefined) return known;
    const self = state(id);
    const line = self.parent === undefined ? [self] : [self, ...lineage(self.parent)];
    lineages.set(id, line);
    return line;
  };
  const childrenOf = (id: string): readonly ChartState[] => children.get(id) ?? [];
  return {
    chart,
    leaves: leavesOf(chart),
    state,
    children: childrenOf,
    lineage,
    isWithin: (inner, outer) => lineage(inner).some(({ id }) => id === outer),
    transitionsOf: (id) => transitions.get(id) ?? [],
    regionsBeside: (id) =>
      lineage(id).flatMap(({ id: own, parent }) => {
        if (parent === undefined || state(parent).kind !== 'parallel') return [];
        return childrenOf(parent)
          .filter((child) => child.id !== own && child.kind !== 'history')
          .map((child) => ({ parallel: parent, own, other: child.id }));
      }),
  };
}
