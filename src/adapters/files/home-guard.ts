/**
 * Guards a home directory: its policy, agents, records and logs are nothing that an agent changes unasked, wherever
 * that works.
 */
import { stat } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';
import type { PlaceGuard } from '../../actors/permission/permission-ports.ts';
import { nearestRealPath, realPathOfOwn } from '../system/real-path.ts';

/**
 * Folders of a home in which sessions work: their own ones, and worktrees. What belongs to those for the runtime lies
 * beside them.
 */
const PLACE_OF_WORK = /^(?:agents\/[^/]+\/sessions\/[^/]+\/workspace|worktrees\/[^/]+)(?:\/|$)/;

/** @param home absolute */
export function createHomeGuard(home: string): PlaceGuard {
  return {
    isFolder: (path) =>
      stat(path).then(
        (found) => found.isDirectory(),
        () => false,
      ),
    async protects(path, workspaceDirectory) {
      // A workspace that was given may lie on a disk that does not answer: that must keep only this call waiting.
      const real = (folder: string): string | Promise<string> =>
        (isWithin(home, folder) ? realPathOfOwn(folder) : undefined) ?? nearestRealPath(folder);
      const [realHome, workspace] = [await real(home), await real(workspaceDirectory)];
      const absolute = resolve(workspaceDirectory, path);
      const target = absolute === workspaceDirectory ? workspace : await nearestRealPath(absolute);
      if (!isWithin(realHome, target)) return false;
      const isOwnPlace =
        isWithin(realHome, workspace) && PLACE_OF_WORK.test(relative(realHome, workspace).split(sep).join('/'));
      return !(isOwnPlace && isWithin(workspace, target));
    },
  };
}

/** Letter case does not count: on some systems it names the same folder. */
function isWithin(folder: string, path: string): boolean {
  const [outer, inner] = [folder.toLowerCase(), path.toLowerCase()];
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep);
}
