/** Where the keys of a tree lead from one row, and what they open or close. Lists of what was found have the same keys, and nothing to open. */

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

const PAGE_ROWS = 15;

/** Undefined: the key is of no use here. */
export function moveOf(key: string, { index, count, isOpen, parent }: TreePlace): TreeMove | undefined {
  if (count === 0) return undefined;
  const to = (row: number): TreeMove => ({ to: Math.max(0, Math.min(count - 1, row)) });
  switch (key) {
    case 'ArrowDown':
      return to(index + 1);
    case 'ArrowUp':
      return to(index < 0 ? 0 : index - 1);
    case 'PageDown':
      return to(index + PAGE_ROWS);
    case 'PageUp':
      return to(index - PAGE_ROWS);
    case 'Home':
      return to(0);
    case 'End':
      return to(count - 1);
    case 'ArrowRight':
      if (isOpen === false) return { open: true };
      return isOpen === true ? to(index + 1) : undefined;
    case 'ArrowLeft':
      if (isOpen === true) return { open: false };
      return parent >= 0 ? to(parent) : undefined;
    default:
      return undefined;
  }
}
