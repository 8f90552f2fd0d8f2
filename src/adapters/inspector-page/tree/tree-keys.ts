/**
 * Where the keys of a tree lead from one row, and what they open or close. Lists of what was found have the same keys,
 * and nothing to open.
 */
import { rowAfter } from '../shared/list-keys.ts';

export interface TreePlace {
  /** Of the row that is chosen. -1: none is. */
  readonly index: number;
  readonly count: number;
  /** Undefined: it has no children. */
  readonly isOpen: boolean | undefined;
  /** Row of its parent. -1: it has none. */
  readonly parent: number;
}

export type TreeMove = { readonly to: number } | { readonly open: boolean };

/** Undefined: the key is of no use here. */
export function moveOf(key: string, { index, count, isOpen, parent }: TreePlace): TreeMove | undefined {
  if (count > 0 && key === 'ArrowRight' && isOpen !== undefined)
    return isOpen ? { to: Math.min(count - 1, index + 1) } : { open: true };
  if (count > 0 && key === 'ArrowLeft' && isOpen === true) return { open: false };
  const to = count > 0 && key === 'ArrowLeft' && parent >= 0 ? parent : rowAfter(key, index, count);
  return to === undefined ? undefined : { to };
}
