/**
 * In which order the states of a chart are read: by breadth from where it starts, final states last. Layout follows it,
 * and what runs against it is drawn backward.
 */
import { ROOT } from '../../machines/inspection/chart-states.ts';
import type { ChartDescription, ChartState } from '../../machines/inspection/chart-description.ts';

/** The place of each state among its siblings, from 0. */
export function readingOrder({ states, transitions }: ChartDescription): ReadonlyMap<string, number> {
  const ranks = ranksOf({ states, transitions });
  const places = new Map(states.map(({ id }, index) => [id, index]));
  const weight = ({ id, kind }: ChartState): readonly [number, number, number] => [
    kind === 'final' ? 1 : 0,
    ranks.get(id) ?? Number.MAX_SAFE_INTEGER,
    places.get(id) ?? 0,
  ];
  const order = new Map<string, number>();
  for (const siblings of groupedBy(states, parentOf).values()) {
    const weighted = siblings.map((state) => ({ id: state.id, weight: weight(state) }));
    weighted.sort(
      (left, right) =>
        left.weight[0] - right.weight[0] || left.weight[1] - right.weight[1] || left.weight[2] - right.weight[2],
    );
    for (const [index, { id }] of weighted.entries()) order.set(id, index);
  }
  return order;
}

function parentOf({ parent }: ChartState): string | undefined {
  return parent;
}

/** How many events lead to each state at the least. Nothing for one that no transition leads to. */
function ranksOf({
  states,
  transitions,
}: Pick<ChartDescription, 'states' | 'transitions'>): ReadonlyMap<string, number> {
  const byId = new Map(states.map((state) => [state.id, state]));
  const children = groupedBy(states, parentOf);
  const ranks = new Map<string, number>();
  const waiting: string[] = [];
  const enter = (id: string, rank: number): void => {
    const state = byId.get(id);
    if (state === undefined || ranks.has(id)) return;
    ranks.set(id, rank);
    waiting.push(id);
    if (state.parent !== undefined) enter(state.parent, rank);
    if (state.initial !== undefined) enter(state.initial, rank);
    if (state.kind === 'parallel') for (const region of children.get(id) ?? []) enter(region.id, rank);
  };
  const leaving = groupedBy(transitions, ({ source }) => source);
  enter(ROOT, 0);
  for (let index = 0; index < waiting.length; index += 1) {
    const id = waiting[index] ?? ROOT;
    const rank = (ranks.get(id) ?? 0) + 1;
    for (const { targets } of leaving.get(id) ?? []) for (const target of targets) enter(target, rank);
  }
  return ranks;
}

function groupedBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): ReadonlyMap<Key, readonly Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const listed = groups.get(key);
    if (listed === undefined) groups.set(key, [item]);
    else listed.push(item);
  }
  return groups;
}
