/**
 * The rows of a tree of which some actors are open, by their number. Only what is open is gone through: the children of
 * an open actor are one run of rows that its open children interrupt, so however many children there are, finding a row
 * and counting all of them cost the same.
 */
import { countUpTo } from '../../../machines/inspection-log/inspected-actor.ts';
import type { InspectionWorld } from '../../../machines/inspection-log/inspection-world.ts';
import type { ShownChildren } from './shown-children.ts';

export interface TreeRow {
  readonly key: string;
  /** From 1. */
  readonly level: number;
  /** Among its siblings that have rows, from 0. */
  readonly place: number;
  readonly siblings: number;
  readonly isOpen: boolean;
}

interface Branch {
  /** Absent for the one that holds what has no parent. */
  readonly key: string | undefined;
  readonly level: number;
  readonly children: ShownChildren;
  /** Those of the children that are open, with their places, ascending. */
  open: { readonly place: number; readonly branch: Branch }[];
  /** Of each of those, the row within this branch, from 0. */
  starts: number[];
  /** Rows of all that is in it. */
  size: number;
}

export interface TreeOptions {
  readonly world: InspectionWorld;
  /** Keys of actors that are open, wherever they are. */
  readonly open: Iterable<string>;
  readonly childrenOf: (key: string | undefined) => ShownChildren;
}

export class TreeRows {
  readonly #top: Branch;
  readonly #branches = new Map<string, Branch>();
  readonly #world: InspectionWorld;

  constructor({ world, open, childrenOf }: TreeOptions) {
    this.#world = world;
    const byParent = new Map<string | undefined, string[]>();
    for (const key of open) {
      const actor = world.actor(key);
      if (actor === undefined || actor.childCount === 0) continue;
      const siblings = byParent.get(actor.parent);
      if (siblings === undefined) byParent.set(actor.parent, [key]);
      else siblings.push(key);
    }
    this.#top = branchOf(undefined, 1, childrenOf(undefined));
    const all = [this.#top];
    // It grows while it is walked: parents stand before their children.
    for (const branch of all) {
      for (const key of byParent.get(branch.key) ?? []) {
        const place = branch.children.placeOf(key, world.orderOf(key) ?? -1);
        if (place < 0) continue;
        const inner = branchOf(key, branch.level + 1, childrenOf(key));
        branch.open.push({ place, branch: inner });
        this.#branches.set(key, inner);
        all.push(inner);
      }
    }
    for (const branch of all.toReversed()) measure(branch);
  }

  get count(): number {
    return this.#top.size;
  }

  /** @param index from 0 */
  row(index: number): TreeRow | undefined {
    if (index < 0 || index >= this.count) return undefined;
    let branch = this.#top;
    let left = index;
    for (;;) {
      const before = lastUpTo(branch.starts, left);
      const nearest = branch.open[before];
      const start = branch.starts[before] ?? 0;
      if (nearest === undefined) return rowOf(branch, left);
      if (left === start) return rowOf(branch, nearest.place, true);
      if (left > start + nearest.branch.size)
        return rowOf(branch, nearest.place + (left - start - nearest.branch.size));
      left -= start + 1;
      branch = nearest.branch;
    }
  }

  /** The number of its row. -1: it has none, since something above it is not open or it is not shown. */
  indexOf(key: string): number {
    let index = -1;
    let inner = key;
    for (;;) {
      const order = this.#world.orderOf(inner);
      if (order === undefined) return -1;
      const parent = this.#world.actor(inner)?.parent;
      const branch = parent === undefined ? this.#top : this.#branches.get(parent);
      const place = branch?.children.placeOf(inner, order) ?? -1;
      if (branch === undefined || place < 0) return -1;
      index += 1 + rowOfPlace(branch, place);
      if (parent === undefined) return index;
      inner = parent;
    }
  }
}

function branchOf(key: string | undefined, level: number, children: ShownChildren): Branch {
  return { key, level, children, open: [], starts: [], size: 0 };
}

/** The branches in it are measured. */
function measure(branch: Branch): void {
  branch.open.sort((one, other) => one.place - other.place);
  let inside = 0;
  for (const { place, branch: inner } of branch.open) {
    branch.starts.push(place + inside);
    inside += inner.size;
  }
  branch.size = branch.children.count + inside;
}

function rowOf({ children, level }: Branch, place: number, isOpen = false): TreeRow {
  return { key: children.keyAt(place), level, place, siblings: children.count, isOpen };
}

/** The row within the branch of the child at this place. */
function rowOfPlace({ open, starts }: Branch, place: number): number {
  const before = lastUpTo(
    open.map((each) => each.place),
    place,
  );
  const nearest = open[before];
  const start = starts[before] ?? 0;
  if (nearest === undefined) return place;
  return nearest.place === place ? start : start + nearest.branch.size + (place - nearest.place);
}

/** The place of the last number up to `most`; -1, where none is. */
function lastUpTo(numbers: readonly number[], most: number): number {
  return countUpTo(numbers.length, (place) => (numbers[place] as number) <= most) - 1;
}
