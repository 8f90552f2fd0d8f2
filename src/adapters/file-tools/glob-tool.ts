/** `glob`: files by patterns of their paths, the one changed last first. */
import { lstat, stat } from 'node:fs/promises';
import type { Tool } from '../../actors/turn/tool.ts';
import { DEFAULT_GLOB_FILES, MAX_GLOB_COLLECTED } from '../../machines/turn/files/file-limits.ts';
import { globDefinition } from '../../machines/turn/files/glob-files.ts';
import type { GlobInput, GlobOutput } from '../../machines/turn/files/glob-files.ts';
import { parseGlob } from '../../machines/turn/files/glob-pattern.ts';
import { fileFailed } from './file-errors.ts';
import { pathSubject } from './file-tool-ports.ts';
import type { FileToolPorts } from './file-tool-ports.ts';
import { below } from './places.ts';
import type { Places } from './places.ts';
import { TreeWalk } from './tree-walk.ts';
import type { WalkedFolder } from './tree-walk.ts';

/** Files that are checked together. */
const BATCH_FILES = 32;

interface FoundFile {
  readonly path: string;
  readonly changedAtMs: number;
}

export function createGlobTool(ports: FileToolPorts): Tool<GlobInput> {
  return {
    definition: globDefinition,
    subject: ({ path = '.' }, context) => ({ ...pathSubject(path, 'read', context), reachesBelow: true }),
    async run(
      { pattern, path = '.', includeHidden = false, includeIgnored = false, limit = DEFAULT_GLOB_FILES },
      context,
    ) {
      const glob = parseGlob(pattern);
      const places = await ports.places(context);
      const start = await places.locate(path, 'read');
      const { signal } = context;
      const walk = new TreeWalk({ places, start, glob, includeHidden, includeIgnored, signal });
      try {
        // Opened for what it says about a path that is no folder.
        await (await places.openFolder(start)).close();
        const { found, isCut } = await collect(walk, places, signal);
        return outputOf(found, {
          limit,
          notes: [...walk.notes, ...(isCut ? [`The search ended at ${MAX_GLOB_COLLECTED} files.`] : [])],
        });
      } catch (error) {
        throw fileFailed('search', path, error);
      }
    },
  };
}

function outputOf(
  found: readonly FoundFile[],
  { limit, notes }: { readonly limit: number; readonly notes: readonly string[] },
): GlobOutput {
  const sorted = found.toSorted(
    (one, other) => other.changedAtMs - one.changedAtMs || (one.path < other.path ? -1 : 1),
  );
  const cut =
    sorted.length > limit
      ? [
          `The ${limit} changed last of ${sorted.length} files are named. Narrow the pattern or begin in another folder to see others.`,
        ]
      : [];
  const said = [...cut, ...notes];
  return {
    files: sorted.slice(0, limit).map(({ path }) => path),
    found: sorted.length,
    ...(said.length === 0 ? {} : { notes: said }),
  };
}

async function collect(
  walk: TreeWalk,
  places: Places,
  signal: AbortSignal,
): Promise<{ readonly found: readonly FoundFile[]; readonly isCut: boolean }> {
  const found: FoundFile[] = [];
  for await (const { folder, files } of walk.folders()) {
    const shownFolder = places.shownAs(folder.realPath);
    for (let start = 0; start < files.length; start += BATCH_FILES) {
      signal.throwIfAborted();
      const checked = await Promise.all(
        files.slice(start, start + BATCH_FILES).map((file) => check(file, { folder, shownFolder, places })),
      );
      found.push(...checked.flatMap((file) => file ?? []));
      if (found.length >= MAX_GLOB_COLLECTED) return { found: found.slice(0, MAX_GLOB_COLLECTED), isCut: true };
    }
  }
  return { found, isCut: false };
}

interface Surroundings extends Pick<WalkedFolder, 'folder'> {
  readonly shownFolder: string;
  readonly places: Places;
}

/** When a file was changed; undefined when it is gone, or a link to no file that may be read. */
async function check(
  { name, isLink }: WalkedFolder['files'][number],
  { folder, shownFolder, places }: Surroundings,
): Promise<FoundFile | undefined> {
  try {
    const target = isLink ? await places.follow(folder.at(name), 'read') : folder.at(name);
    if (target === undefined) return undefined;
    const stats = await (isLink ? stat(target) : lstat(target));
    return stats.isFile() ? { path: below(shownFolder, name), changedAtMs: stats.mtimeMs } : undefined;
  } catch {
    return undefined;
  }
}
