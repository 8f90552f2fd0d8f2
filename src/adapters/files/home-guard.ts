/** Guards a home directory: its policy, agents, records and logs are nothing that an agent changes unasked, wherever that works. */
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import type { PlaceGuard } from '../../actors/permission/place-guard.ts';

/** Folders of a home in which sessions work: their own ones, and worktrees. What belongs to those for the runtime lies beside them. */
const PLACE_OF_WORK = /^(?:agents\/[^/]+\/sessions\/[^/]+\/workspace|worktrees\/[^/]+)(?:\/|$)/;

/** @param home absolute */
export function createHomeGuard(home: string): PlaceGuard {
  return {
    isFolder: (path) => stat(path).then((found) => found.isDirectory(), () => false),
    async protects(path, workspaceDirectory) {
      const [realHome, target] = await Promise.all([nearestRealPath(home), nearestRealPath(resolve(workspaceDirectory, path))]);
      if (!isWithin(realHome, target)) return false;
      const workspace = await nearestRealPath(workspaceDirectory);
      const isOwnPlace = isWithin(realHome, workspace) && PLACE_OF_WORK.test(relative(realHome, workspace).split(sep).join('/'));
      return !(isOwnPlace && isWithin(workspace, target));
    },
  };
}

/** Where a path leads, as far as it exists. */
async function nearestRealPath(absolute: string): Promise<string> {
  const missing: string[] = [];
  for (let current = absolute; ; current = dirname(current)) {
    const found = await realpath(current).catch(() => undefined);
    if (found !== undefined) return join(found, ...missing);
    if (dirname(current) === current) return absolute;
    missing.unshift(basename(current));
  }
}

/** Letter case does not count: on some systems it names the same folder. */
function isWithin(folder: string, path: string): boolean {
  const [outer, inner] = [folder.toLowerCase(), path.toLowerCase()];
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep);
}
