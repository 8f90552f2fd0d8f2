/**
 * Rules about paths and paths in mounts, brought together: a pattern that begins with `/` names a path as the agent
 * does (`/runtime/**`), any other one is from the workspace.
 */
import { mayMatchBelow, workspacePath } from './path-glob.ts';
import type { PermissionSubject } from './permission-subject.ts';

type PathSubject = Extract<PermissionSubject, { readonly kind: 'path' }>;

/** A pattern and a path from one and the same folder. */
export interface ComparablePath {
  readonly glob: string;
  readonly path: string;
}

const WORKSPACE = 'workspace';
const ANYWHERE = /^\*\*(?:\/|$)/;

/**
 * For a rule that denies or asks: every way in which its pattern may be about the path. A pattern for any folder holds
 * in every mount, and an absolute one also where it names the workspace as the host does. Undefined when it is unknown
 * where the path leads.
 */
export function restrictedPaths(
  glob: string,
  subject: Pick<PathSubject, 'path' | 'mount'>,
  workspaceDirectory: string,
): readonly ComparablePath[] | undefined {
  const { path, mount } = subject;
  if (mount !== undefined) return restrictedInMount(glob, { path, mount });
  const inside = workspacePath(path, workspaceDirectory);
  if (inside === undefined) return undefined;
  if (!glob.startsWith('/')) return [{ glob, path: inside }];
  const onHost = workspacePath(`/${workspaceDirectory}/${inside}`, '/');
  return [
    { glob: glob.slice(1), path: fromTop(inside) },
    ...(onHost === undefined ? [] : [{ glob: glob.slice(1), path: onHost }]),
  ];
}

function restrictedInMount(
  glob: string,
  { path, mount }: { readonly path: string; readonly mount: string },
): readonly ComparablePath[] {
  if (glob.startsWith('/')) return [{ glob: glob.slice(1), path: path.slice(1) }];
  const below = path.startsWith(`/${WORKSPACE}/`) ? [{ glob, path: path.slice(WORKSPACE.length + 2) }] : [];
  return ANYWHERE.test(glob) ? [...below, { glob, path: path.slice(mount.length + 1) }] : below;
}

/**
 * For a rule that allows: how its pattern is held against the path; undefined when it says nothing about it. Without a
 * pattern the rule is for every path that there is.
 */
export function allowedPath(
  glob: string | undefined,
  { path, mount }: Pick<PathSubject, 'path' | 'mount'>,
  workspaceDirectory: string,
): ComparablePath | undefined {
  if (mount !== undefined) {
    if (glob === undefined) return { glob: '**', path: path.slice(mount.length + 1) };
    return glob.startsWith('/') ? { glob: glob.slice(1), path: path.slice(1) } : undefined;
  }
  const inside = workspacePath(path, workspaceDirectory);
  if (inside === undefined) return undefined;
  return glob?.startsWith('/') === true
    ? { glob: glob.slice(1), path: fromTop(inside) }
    : { glob: glob ?? '**', path: inside };
}

/**
 * For a rule that denies or asks: its pattern from the workspace, widely read; none when it is about other places only.
 */
export function patternsInWorkspace(glob: string, workspaceDirectory: string): readonly string[] {
  if (!glob.startsWith('/')) return [glob];
  const [top = '', ...rest] = glob.slice(1).split('/');
  const named = top.toLowerCase() === WORKSPACE ? [rest.join('/')] : [];
  const onHost = workspacePath(workspaceDirectory, '/');
  // It names the workspace or something in it by the path of the host: then nothing there is read unasked.
  const isOnHost = onHost !== undefined && reachesInto(glob.slice(1), onHost);
  return isOnHost ? [...named, '**'] : named;
}

function reachesInto(glob: string, folder: string): boolean {
  return mayMatchBelow(glob, folder, { matching: 'wide' });
}

function fromTop(inside: string): string {
  return inside === '' ? WORKSPACE : `${WORKSPACE}/${inside}`;
}
