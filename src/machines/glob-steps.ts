/**
 * How far into a pattern of a path the names of a path have come: patterns of names, and `**` for any folders. Every
 * step is bounded by the length of the pattern.
 */
import type { NamePattern } from './glob-name.ts';

/** A pattern from its top: `**`, or what one name must be. */
export type GlobPath = readonly (typeof ANY_FOLDERS | NamePattern)[];

export const ANY_FOLDERS = '**';

export interface GlobReading {
  /** Whether `**` may stand for a folder of this name. */
  readonly passes: (name: string) => boolean;
  readonly fits: (pattern: NamePattern, name: string) => boolean;
  /** Whether a pattern that ends in `**` means the folder itself too, and not only what is inside. */
  readonly meansFolder: boolean;
}

/** How many of its first segments may have been used up; its length stands for all. */
export type GlobPositions = ReadonlySet<number>;

export function startOf(path: GlobPath, reading: Pick<GlobReading, 'meansFolder'>): GlobPositions {
  return withoutFolders(path, new Set([0]), reading);
}

export function after(path: GlobPath, positions: GlobPositions, name: string, reading: GlobReading): GlobPositions {
  const next = new Set<number>();
  for (const position of positions) {
    const segment = path[position];
    if (segment === undefined) continue;
    if (segment !== ANY_FOLDERS) {
      if (reading.fits(segment, name)) next.add(position + 1);
    } else if (reading.passes(name)) {
      next.add(position);
      if (position === path.length - 1) next.add(position + 1);
    }
  }
  return withoutFolders(path, next, reading);
}

/** `**` may stand for no folder at all; at the end only where it means the folder itself. */
function withoutFolders(
  path: GlobPath,
  positions: Set<number>,
  { meansFolder }: Pick<GlobReading, 'meansFolder'>,
): GlobPositions {
  const end = meansFolder ? path.length : path.length - 1;
  // A set that grows while it is walked hands out what was added.
  for (const position of positions) if (path[position] === ANY_FOLDERS && position < end) positions.add(position + 1);
  return positions;
}
