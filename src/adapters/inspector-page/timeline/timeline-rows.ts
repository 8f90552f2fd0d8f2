/** The rows of a timeline: one bar each, in the order in which they began, those within others below them. */
import { isBad } from '../../../machines/inspection-log/actor-outcome.ts';
import type { SessionBar } from '../../../machines/inspection-log/session-bar.ts';

export interface TimelineRow {
  readonly bar: SessionBar;
  /** From 1. */
  readonly level: number;
  /** Among its siblings, from 0. */
  readonly place: number;
  readonly siblings: number;
  /** Undefined: there is nothing in it. */
  readonly isOpen: boolean | undefined;
  /** Of what is in it and not to be seen: how many have failed, or are unknown. */
  readonly failed: number;
}

/** More rows, and wakes that are over are closed at first. */
const MANY = 300;

/** As it is while the reader has not opened or closed it. */
export function isOpenAtFirst({ kind, to, id }: SessionBar, newest: number, count: number): boolean {
  return count <= MANY || kind !== 'wake' || to === undefined || id === newest;
}

export function rowsOf(root: SessionBar, isOpen: (bar: SessionBar) => boolean): readonly TimelineRow[] {
  const rows: TimelineRow[] = [];
  const add = (bar: SessionBar, level: number, place: number, siblings: number): void => {
    const open = bar.children.length === 0 ? undefined : isOpen(bar);
    rows.push({ bar, level, place, siblings, isOpen: open, failed: open === false ? failedIn(bar) : 0 });
    if (open === true)
      for (const [index, child] of bar.children.entries()) add(child, level + 1, index, bar.children.length);
  };
  add(root, 1, 0, 1);
  return rows;
}

function failedIn({ children }: SessionBar): number {
  return children.reduce((sum, child) => sum + Number(isBad(child.outcome)) + failedIn(child), 0);
}

/** The bar with this number. */
export function barIn(root: SessionBar, id: number): SessionBar | undefined {
  if (root.id === id) return root;
  // Children have higher numbers than what they are in, and stand in their order.
  for (const child of root.children.toReversed())
    if (child.id <= id) {
      const found = barIn(child, id);
      if (found !== undefined) return found;
    }
  return undefined;
}
