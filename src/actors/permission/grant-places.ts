/**
 * Where something that was allowed happens, told so that it is the same on every machine: a session's own workspace
 * goes from machine to machine, and lies in another folder on each of them.
 */

/** From the session's own workspace, with slashes; empty for the workspace itself. */
export interface InWorkspace {
  readonly inWorkspace: string;
}

/** A text is an absolute path of one machine. The two never look alike. */
export type GrantPlace = string | InWorkspace;

const STEPS_OUT = new Set(['', '.', '..']);

/**
 * @param roots the names that the workspace has here, absolute: as the runtime calls it, and with every link followed
 */
export function placeInWorkspace(path: string, roots: readonly string[]): GrantPlace {
  for (const root of roots) {
    if (path === root) return { inWorkspace: '' };
    const rest = path.startsWith(`${root}/`) ? path.slice(root.length + 1) : undefined;
    // A path that is not plain may lead out of it.
    if (rest?.split('/').some((step) => STEPS_OUT.has(step)) === false) return { inWorkspace: rest };
  }
  return path;
}

/** How a folder is reached from another one: `../runtime`. @param from absolute and plain @param to likewise */
export function fromFolder(from: string, to: string): string {
  const [base, target] = [from.split('/'), to.split('/')];
  const parts = base.findIndex((name, index) => name !== target[index]);
  const shared = parts === -1 ? base.length : parts;
  return [...base.slice(shared).map(() => '..'), ...target.slice(shared)].join('/');
}
