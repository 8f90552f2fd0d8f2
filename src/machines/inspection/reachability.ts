/**
 * Which states can be reached: for sure, because a path of events was found that leads there; perhaps, because transitions do; or not at all.
 * The structural part asks no guard and knows no context: whatever it calls unreachable is so for every context.
 */
import type { Reach, StateReach } from './chart-audit.ts';
import { ROOT } from './chart-description.ts';
import type { ChartState, ChartTransition } from './chart-description.ts';
import type { ChartIndex } from './chart-index.ts';
import type { Exploration } from './explore-chart.ts';

/** Every state but the root, in document order. A machine without states has its root only. */
export function reachOf(index: ChartIndex, { snapshots, taken }: Exploration): readonly StateReach[] {
  const witnesses = new Map<string, readonly string[]>();
  for (const { snapshot, leaves, path } of snapshots) {
    if (snapshot.status === 'error') continue;
    for (const { id } of leaves.flatMap((leaf) => index.lineage(leaf))) if (!witnesses.has(id)) witnesses.set(id, path);
  }
  const structural = structurallyReached(index);
  // Nobody is ever in a history state: it is reached when a transition went through it.
  const passed = new Set(index.chart.transitions.filter(({ id }) => taken.has(id)).flatMap(({ targets }) => targets));
  const all = index.chart.states.filter(({ id }) => id !== ROOT || index.chart.states.length === 1);
  return all.map(({ id, kind }) => {
    const path = witnesses.get(id);
    const isWitnessed = path !== undefined || (kind === 'history' && passed.has(id));
    const reach: Reach = isWitnessed ? 'witnessed' : structural.has(id) ? 'structural' : 'unreachable';
    return { state: id, reach, path: path ?? [] };
  });
}

/** The states that entering `id` enters: itself, those around it, and where they start. */
export function enteredWith(index: ChartIndex, id: string): ReadonlySet<string> {
  const entered = new Set<string>();
  const down = (state: ChartState): void => {
    if (entered.has(state.id)) return;
    entered.add(state.id);
    if (state.initial !== undefined) up(index.state(state.initial), state.kind === 'history' ? ROOT : state.id);
    if (state.kind === 'parallel') for (const child of index.children(state.id)) if (child.kind !== 'history') down(child);
  };
  /** Enters the state and what lies around it below `from`; of parallel ones on the way the other regions start too. */
  const up = (state: ChartState, from: string): void => {
    for (const { id: outer, kind, parent } of index.lineage(state.id)) {
      if (outer === from) break;
      if (outer !== state.id) entered.add(outer);
      const isRegion = parent !== undefined && index.state(parent).kind === 'parallel';
      if (isRegion && kind !== 'history') for (const beside of index.children(parent)) if (beside.kind !== 'history' && beside.id !== outer && !entered.has(beside.id)) down(beside);
    }
    down(state);
  };
  up(index.state(id), '(nowhere)');
  return entered;
}

/** Transitions that an earlier one without a guard, of the same state and event, never lets get to. */
export function shadowedTransitions({ chart }: ChartIndex): readonly { readonly shadowed: ChartTransition; readonly by: ChartTransition }[] {
  const certain = new Map<string, ChartTransition>();
  return chart.transitions.flatMap((transition) => {
    const place = `${transition.source}|${transition.event}`;
    const by = certain.get(place);
    if (by !== undefined) return [{ shadowed: transition, by }];
    if (transition.guard === undefined) certain.set(place, transition);
    return [];
  });
}

function structurallyReached(index: ChartIndex): ReadonlySet<string> {
  const shadowed = new Set(shadowedTransitions(index).map((each) => each.shadowed.id));
  const reached = new Set(enteredWith(index, ROOT));
  const open = new Set(index.chart.transitions.filter(({ id, targets }) => !shadowed.has(id) && targets.length > 0));
  for (let hasGrown = true; hasGrown; ) {
    hasGrown = false;
    for (const transition of open) {
      if (!reached.has(transition.source) || (transition.kind === 'done' && !canComplete(index, transition.source, reached))) continue;
      open.delete(transition);
      for (const id of transition.targets.flatMap((target) => [...enteredWith(index, target)])) reached.add(id);
      hasGrown = true;
    }
  }
  return reached;
}

/** Whether a compound state can come to one of its final states, a parallel one to the end of all its regions. */
export function canComplete(index: ChartIndex, id: string, reached: ReadonlySet<string>): boolean {
  const children = index.children(id).filter(({ kind }) => kind !== 'history');
  if (index.state(id).kind === 'parallel') return children.every((child) => child.kind === 'final' || canComplete(index, child.id, reached));
  return children.some(({ id: child, kind }) => kind === 'final' && reached.has(child));
}
