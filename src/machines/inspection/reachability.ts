/**
 * Which states can be reached: for sure, because a path of events was found that leads there; perhaps, because
 * transitions do; or not at all. The structural part asks no guard and knows no context: whatever it calls unreachable
 * is so for every context.
 */
import type { StateReach } from './chart-audit.ts';
import { ROOT } from './chart-states.ts';
import type { ChartState, ChartTransition } from './chart-description.ts';
import type { ChartIndex } from './chart-index.ts';
import type { Exploration } from './explore-chart.ts';

/** Every state but the root, in document order. A machine without states has its root only. */
export function reachOf(index: ChartIndex, exploration: Exploration): readonly StateReach[] {
  const witnesses = new Map<string, readonly string[]>();
  for (const { snapshot, leaves, path } of exploration.snapshots) {
    if (snapshot.status === 'error') continue;
    for (const { id } of leaves.flatMap((leaf) => index.lineage(leaf))) if (!witnesses.has(id)) witnesses.set(id, path);
  }
  const structural = structurallyReached(index);
  const passed = passedOf(index, exploration);
  const all = index.chart.states.filter(({ id }) => id !== ROOT || index.chart.states.length === 1);
  return all.map(({ id }): StateReach => {
    const path = witnesses.get(id);
    if (path !== undefined) return { state: id, reach: 'witnessed', path };
    const through = passed.get(id);
    if (through !== undefined) return { state: id, reach: 'witnessed', path: through, isPassed: true };
    return { state: id, reach: structural.has(id) ? 'structural' : 'unreachable', path: [] };
  });
}

/**
 * States that were gone through, each with the shortest path on which that happened: no snapshot shows one that is left
 * at once, nor a history state.
 */
function passedOf(index: ChartIndex, { snapshots, taken }: Exploration): ReadonlyMap<string, readonly string[]> {
  const passed = new Map<string, readonly string[]>();
  const pass = (states: Iterable<string>, path: readonly string[]): void => {
    for (const id of states)
      if ((passed.get(id)?.length ?? Number.MAX_SAFE_INTEGER) > path.length) passed.set(id, path);
  };
  if (snapshots.length > 0 || taken.size > 0) pass(startedWith(index, ROOT), []);
  for (const { id, source, targets } of index.chart.transitions) {
    const path = taken.get(id);
    if (path === undefined) continue;
    pass(
      index.lineage(source).map((state) => state.id),
      path,
    );
    pass(enteredBy(index, targets), path);
  }
  return passed;
}

/** The states that a transition enters for sure: of several targets each may say where a region of another starts. */
export function enteredBy(index: ChartIndex, targets: readonly string[]): readonly string[] {
  return targets.flatMap((target) => [
    ...index.lineage(target).map((state) => state.id),
    ...(targets.length === 1 ? startedWith(index, target) : []),
  ]);
}

/** The states in which `id` starts whenever it is entered by its own name; none of a history state. */
export function startedWith(index: ChartIndex, id: string): readonly string[] {
  const { kind, initial } = index.state(id);
  if (kind === 'parallel')
    return index
      .children(id)
      .filter((child) => child.kind !== 'history')
      .flatMap((child) => [child.id, ...startedWith(index, child.id)]);
  if (kind !== 'compound' || initial === undefined) return [];
  return [...index.lineage(initial).map((state) => state.id), ...startedWith(index, initial)];
}

/** The states that entering `id` enters: itself, those around it, and where they start. */
export function enteredWith(index: ChartIndex, id: string): ReadonlySet<string> {
  const entered = new Set<string>();
  const down = (state: ChartState): void => {
    if (entered.has(state.id)) return;
    entered.add(state.id);
    if (state.initial !== undefined) up(index.state(state.initial), state.kind === 'history' ? ROOT : state.id);
    if (state.kind === 'parallel')
      for (const child of index.children(state.id)) if (child.kind !== 'history') down(child);
  };
  /** Enters the state and what lies around it below `from`; of parallel ones on the way the other regions start too. */
  const up = (state: ChartState, from: string): void => {
    for (const { id: outer, kind, parent } of index.lineage(state.id)) {
      if (outer === from) break;
      if (outer !== state.id) entered.add(outer);
      const isRegion = parent !== undefined && index.state(parent).kind === 'parallel';
      if (isRegion && kind !== 'history')
        for (const beside of index.children(parent))
          if (beside.kind !== 'history' && beside.id !== outer && !entered.has(beside.id)) down(beside);
    }
    down(state);
  };
  up(index.state(id), '(nowhere)');
  return entered;
}

/** Transitions that an earlier one without a guard, of the same state and event, never lets get to. */
export function shadowedTransitions({
  chart,
}: ChartIndex): readonly { readonly shadowed: ChartTransition; readonly by: ChartTransition }[] {
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
  for (let hasGrown = true; hasGrown;) {
    hasGrown = false;
    for (const transition of open) {
      if (
        !reached.has(transition.source) ||
        (transition.kind === 'done' && !canComplete(index, transition.source, reached))
      )
        continue;
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
  if (index.state(id).kind === 'parallel')
    return children.every((child) => child.kind === 'final' || canComplete(index, child.id, reached));
  return children.some(({ id: child, kind }) => kind === 'final' && reached.has(child));
}
