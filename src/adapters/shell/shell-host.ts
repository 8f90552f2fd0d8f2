/** What the shell tools need of Node besides tasks: the environment, an interrupt, and where a path really leads. */
import { realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve } from 'node:path';
import type { ShellHost } from '../../actors/shell/shell-host.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';

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
      const root = realpathSync(workspace);
      const real = realOf(resolve(root, path), path);
      const way = relative(root, real);
      if (way !== '..' && !way.startsWith('../') && !isAbsolute(way)) return real;
      throw new RuntimeError('PATH_OUTSIDE_WORKSPACE', `expected a folder in the workspace, received ${path}`, { category: 'permission', hint: 'Name a folder from the workspace, such as "src".' });
    },
  };
}

function realOf(path: string, given: string): string {
  try {
    return realpathSync(path);
  } catch (cause) {
    throw new RuntimeError('FOLDER_NOT_FOUND', `there is no folder ${given} in the workspace: ${messageOf(cause)}`, { category: 'not_found', hint: 'Look what is there with glob or ls.', cause });
  }
}
