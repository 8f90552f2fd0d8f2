/** What is not the same in two workspace copies. */
import type { CopyEntry } from './copy-manifest.ts';

export interface CopyDifference {
  /** As they are after. */
  readonly added: readonly CopyEntry[];
  readonly changed: readonly CopyEntry[];
  /** As they were before. */
  readonly removed: readonly CopyEntry[];
}

/** @param before in the order of a manifest, as `after` is */
export function differenceOf(before: readonly CopyEntry[], after: readonly CopyEntry[]): CopyDifference {
  const known = new Map(before.map((entry) => [entry.path, entry]));
  const [added, changed]: [CopyEntry[], CopyEntry[]] = [[], []];
  for (const entry of after) {
    const old = known.get(entry.path);
    known.delete(entry.path);
    if (old === undefined) added.push(entry);
    else if (!isSameEntry(old, entry)) changed.push(entry);
  }
  return { added, changed, removed: [...known.values()] };
}

export function isSameCopy(before: readonly CopyEntry[], after: readonly CopyEntry[]): boolean {
  return before.length === after.length && before.every((entry, index) => isSameEntry(entry, after[index]));
}

function isSameEntry(one: CopyEntry, other: CopyEntry | undefined): boolean {
  if (other === undefined || one.path !== other.path) return false;
  switch (one.kind) {
    case 'folder':
      return other.kind === 'folder' && one.mode === other.mode;
    case 'link':
      return other.kind === 'link' && one.target === other.target;
    case 'file':
      return (
        other.kind === 'file' &&
        one.mode === other.mode &&
        one.size === other.size &&
        one.pieces.every((piece, index) => piece === other.pieces[index])
      );
  }
}
