/** The folders that a session may touch, each with what may be done in it, and how paths in them are named. */
import { lstatSync } from 'node:fs';
import { join, posix, relative, resolve, sep } from 'node:path';
import { AGENT_PATH, VAULTS_PATH, mountAt } from '../../machines/environment/mount-table.ts';
import type { Mount } from '../../machines/environment/mount-table.ts';
import { isWithin } from '../system/whole-files.ts';

export interface Root {
  readonly realPath: string;
  readonly access: 'rw' | 'ro';
  /** `read`: a folder that may be read besides, which is no mount. */
  readonly kind: Mount['kind'] | 'read';
  /** As the agent names it. Absent for folders that are no mounts, and for the workspace of a session without any. */
  readonly mount?: string | undefined;
}

/** What a path stands for before any link is followed. */
export type NamedPlace =
  /** `root`: the mount by whose name it was given. */
  | { readonly kind: 'place'; readonly absolute: string; readonly root?: Root | undefined }
  /** `mount`: the path of the vault. */
  | { readonly kind: 'vault'; readonly path: string; readonly mount: string };

export interface MountRootsParts {
  /** As the runtime names it, absolute. */
  readonly directory: string;
  /** The same, every link followed. */
  readonly workspace: string;
  readonly mounts?: readonly Mount[] | undefined;
  /** Real paths. */
  readonly readRoots: readonly string[];
}

/** The folder of the system where a sandbox shows what is the agent's, where the workspace has no place for it. */
const AGENT_ALIAS = '/agent';

export class MountRoots {
  readonly #directory: string;
  readonly #workspace: string;
  readonly #mounts: readonly Mount[];
  /** The workspace first, then the one with the lesser right first. */
  readonly #roots: readonly Root[];

  constructor({ directory, workspace, mounts = [], readRoots }: MountRootsParts) {
    this.#directory = directory;
    this.#workspace = workspace;
    this.#mounts = mounts;
    const declared = mounts.find(({ kind }) => kind === 'workspace');
    const own: Root = {
      realPath: workspace,
      access: declared?.access === 'ro' ? 'ro' : 'rw',
      kind: 'workspace',
      ...(declared === undefined ? {} : { mount: declared.path }),
    };
    const others = mounts.flatMap((mount) => rootOf(mount) ?? []).filter(({ kind }) => kind !== 'workspace');
    this.#roots = [
      own,
      ...others.toSorted((one, other) => rank(one) - rank(other)),
      ...readRoots.map((realPath): Root => ({ realPath, access: 'ro', kind: 'read' })),
    ];
  }

  /** The roots of mounts besides the workspace, as the agent names them. */
  get names(): readonly string[] {
    return this.#roots.flatMap(({ kind, mount }) => (kind === 'workspace' || mount === undefined ? [] : [mount]));
  }

  realPathsOf(kind: Root['kind']): readonly string[] {
    return this.#roots.flatMap((root) => (root.kind === kind ? [root.realPath] : []));
  }

  /**
   * The folder in which a real path lies: the longest one. `preferred` decides between mounts of one and the same
   * folder.
   */
  rootOf(realPath: string, preferred?: Root): Root | undefined {
    const around = this.#roots.filter((root) => isWithin(root.realPath, realPath));
    const longest = around.toSorted((one, other) => other.realPath.length - one.realPath.length)[0];
    return preferred !== undefined && preferred.realPath === longest?.realPath ? preferred : longest;
  }

  /** What a path stands for: by the name of a mount, by a folder of the host, or from the workspace. */
  named(path: string): NamedPlace {
    if (this.#mounts.length === 0) return { kind: 'place', absolute: resolve(this.#directory, path) };
    if (!path.startsWith('/')) return this.#fromWorkspace(path);
    const plain = posix.normalize(path);
    const asNamed = withoutEnd(
      plain === AGENT_ALIAS || plain.startsWith(`${AGENT_ALIAS}/`)
        ? AGENT_PATH + plain.slice(AGENT_ALIAS.length)
        : plain,
    );
    if (asNamed === VAULTS_PATH || asNamed.startsWith(`${VAULTS_PATH}/`))
      return { kind: 'vault', path: asNamed, mount: asNamed.split('/').slice(0, 3).join('/') };
    const found = mountAt(this.#mounts, asNamed);
    const host = this.#hostRoot(plain);
    // A path of the host goes before a name that fits less of it: a workspace may lie in a folder that is called as a
    // mount is.
    if (found === undefined || (host !== undefined && host.length >= found.mount.path.length))
      return { kind: 'place', absolute: resolve(plain) };
    return this.#inMount(found.mount, found.rest);
  }

  /** As results name a place. */
  shownAs(realPath: string, root = this.rootOf(realPath)): string {
    if (root === undefined || root.kind === 'read' || (root.kind !== 'workspace' && root.mount === undefined))
      return realPath;
    const rest = relative(root.realPath, realPath).split(sep).join('/');
    if (root.kind === 'workspace') return rest === '' ? '.' : rest;
    return rest === '' ? (root.mount ?? '') : `${root.mount ?? ''}/${rest}`;
  }

  /**
   * As rules name it: in the workspace under the name that this has for the runtime, which may lead there through
   * links; in a mount by that.
   */
  forRules(realPath: string, root = this.rootOf(realPath)): { readonly path: string; readonly mount?: string } {
    if (root === undefined || root.kind === 'read') return { path: realPath };
    if (root.kind === 'workspace') return { path: resolve(this.#directory, relative(this.#workspace, realPath)) };
    const { mount } = root;
    return mount === undefined ? { path: realPath } : { path: this.shownAs(realPath, root), mount };
  }

  #fromWorkspace(path: string): NamedPlace {
    const plain = posix.normalize(path);
    const agent = this.#mounts.find((mount) => mount.path === AGENT_PATH);
    const isAgents =
      agent !== undefined &&
      (plain === 'agent' || plain.startsWith('agent/')) &&
      !isThere(join(this.#workspace, 'agent'));
    return isAgents
      ? this.#inMount(agent, withoutEnd(plain).slice('agent/'.length))
      : { kind: 'place', absolute: resolve(this.#directory, path) };
  }

  #inMount(mount: Mount, rest: string): NamedPlace {
    if (mount.kind === 'workspace') return { kind: 'place', absolute: join(this.#directory, rest) };
    const root = rootOf(mount);
    if (root === undefined)
      return { kind: 'vault', path: rest === '' ? mount.path : `${mount.path}/${rest}`, mount: mount.path };
    return { kind: 'place', absolute: join(root.realPath, rest), root };
  }

  /** The longest folder of the host in which a path lies by how it is written. */
  #hostRoot(path: string): string | undefined {
    const folders = [this.#directory, ...this.#roots.map(({ realPath }) => realPath)];
    return folders.filter((folder) => isWithin(folder, path)).toSorted((one, other) => other.length - one.length)[0];
  }
}

function rootOf({ kind, path, directory, access }: Mount): Root | undefined {
  return directory === undefined || access === 'none' ? undefined : { realPath: directory, access, kind, mount: path };
}

function rank({ access }: Root): number {
  return access === 'ro' ? 0 : 1;
}

function withoutEnd(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
