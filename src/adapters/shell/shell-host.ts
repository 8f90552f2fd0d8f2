/** What the shell tools need of Node besides tasks: the environment, an interrupt, and where a path or a process really is. */
import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { ProcessFolder, ShellHost } from '../../actors/shell/shell-host.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';

/** As many as Linux follows in one path. */
const MAX_LINKS = 40;

export function createShellHost(): ShellHost {
  return {
    environment: () => process.env,
    interrupt(processId) {
      try {
        process.kill(-processId, 'SIGINT');
      } catch {
        // It has gone by itself.
      }
    },
    resolveInside(workspace, path) {
      const root = realpathSync.native(workspace);
      const real = realOf(resolve(root, path), path);
      if (isWithin(root, real)) return real;
      throw new RuntimeError('PATH_OUTSIDE_WORKSPACE', `expected a folder in the workspace, received ${path}`, { category: 'permission', hint: 'Name a folder from the workspace, such as "src".' });
    },
    leadsThrough,
    folderOfProcess,
  };
}

function realOf(path: string, given: string): string {
  try {
    return realpathSync.native(path);
  } catch (cause) {
    throw new RuntimeError('FOLDER_NOT_FOUND', `there is no folder ${given} in the workspace: ${messageOf(cause)}`, { category: 'not_found', hint: 'Look what is there with glob or ls.', cause });
  }
}

/** Link by link: one in the folder leads elsewhere tomorrow, wherever it leads now. */
function leadsThrough(folder: string, path: string): boolean {
  const names = path.split('/');
  let current = '/';
  let links = 0;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    const next = join(current, name);
    if (isWithin(folder, next)) return true;
    const target = targetOf(next);
    if (target === undefined) {
      current = next;
      continue;
    }
    links += 1;
    // Nothing can be found through it.
    if (links > MAX_LINKS) return false;
    if (isAbsolute(target)) current = '/';
    else current = dirname(next);
    names.unshift(...target.split('/'));
  }
  return false;
}

/** Undefined for what is no link, does not exist or cannot be looked at. */
function targetOf(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}

/** Linux tells; a deleted folder by a name that nothing has, which is therefore not what decides. */
function folderOfProcess(processId: number): ProcessFolder {
  const link = `/proc/${processId}/cwd`;
  try {
    const path = readlinkSync(link);
    return statSync(link).nlink === 0 ? { kind: 'gone' } : { kind: 'known', path };
  } catch {
    return { kind: 'unknown' };
  }
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith('../') && !isAbsolute(way);
}
