/** The paths that an agent sees, and the folders of the host that they stand for. */
import * as z from 'zod';

/**
 * What lies there. `workspace`: where the session works. `agent`: what all sessions of the agent share, changed by
 * promotion only. `runtime`: what the session keeps for itself. `learnings`: what the agent has learned. `vault`:
 * secrets, which no tool reads.
 */
const mountKind = z.enum(['workspace', 'agent', 'runtime', 'learnings', 'skills', 'vault', 'declared']);

type MountKind = z.output<typeof mountKind>;

/** `none`: it is there by name only. */
type MountAccess = 'rw' | 'ro' | 'none';

export interface Mount {
  readonly kind: MountKind;
  /** As the agent sees it: absolute, without a slash at the end. */
  readonly path: string;
  /** On the host: absolute, every link followed. A vault has none. */
  readonly directory?: string | undefined;
  readonly access: MountAccess;
}

export const WORKSPACE_PATH = '/workspace';
export const AGENT_PATH = '/workspace/agent';
export const RUNTIME_PATH = '/runtime';
export const LEARNINGS_PATH = '/memory/learnings';
/** Of all agents. */
export const SKILLS_PATH = '/skills';
/** Of the agent itself, where it has any. */
export const AGENT_SKILLS_PATH = '/agent-skills';
export const VAULTS_PATH = '/vaults';

/** Real paths: absolute, every link followed. */
export interface MountFolders {
  readonly workspace: string;
  readonly agent: string;
  readonly runtime: string;
  readonly learnings: string;
  readonly skills: string;
  readonly agentSkills?: string | undefined;
}

export interface MountTableParts {
  readonly folders: MountFolders;
  /** With the real paths of their sources. */
  readonly declared: readonly { readonly path: string; readonly source: string; readonly access: 'ro' | 'rw' }[];
  readonly vaults: readonly string[];
}

/** What every session has, then what its environment declares, then its vaults. */
export function mountTable({ folders, declared, vaults }: MountTableParts): readonly Mount[] {
  const { workspace, agent, runtime, learnings, skills, agentSkills } = folders;
  return [
    { kind: 'workspace', path: WORKSPACE_PATH, directory: workspace, access: 'rw' },
    { kind: 'agent', path: AGENT_PATH, directory: agent, access: 'ro' },
    { kind: 'runtime', path: RUNTIME_PATH, directory: runtime, access: 'rw' },
    { kind: 'learnings', path: LEARNINGS_PATH, directory: learnings, access: 'ro' },
    { kind: 'skills', path: SKILLS_PATH, directory: skills, access: 'ro' },
    ...(agentSkills === undefined
      ? []
      : [{ kind: 'skills' as const, path: AGENT_SKILLS_PATH, directory: agentSkills, access: 'ro' as const }]),
    ...declared.map(({ path, source, access }): Mount => ({ kind: 'declared', path, directory: source, access })),
    ...vaults.map((name): Mount => ({ kind: 'vault', path: `${VAULTS_PATH}/${name}`, access: 'none' })),
  ];
}

export interface MountedPath {
  readonly mount: Mount;
  /** From the mount's folder, with slashes; empty for the folder itself. */
  readonly rest: string;
}

/**
 * What a path that an agent named stands for, by the longest mount that it lies in. Undefined for one that lies in
 * none. @param path absolute and plain: without `.`, `..` and double slashes
 */
export function mountAt(mounts: readonly Mount[], path: string): MountedPath | undefined {
  const found = mounts
    .filter((mount) => path === mount.path || path.startsWith(`${mount.path}/`))
    .toSorted((one, other) => other.path.length - one.path.length)[0];
  return found === undefined ? undefined : { mount: found, rest: path.slice(found.path.length + 1) };
}

/**
 * What a path of the host is called by the agent: by the longest folder that it lies in. Undefined where it lies in
 * none.
 */
export function shownPath(mounts: readonly Mount[], realPath: string): string | undefined {
  const found = mounts
    .flatMap(({ path, directory }) =>
      directory !== undefined && (realPath === directory || realPath.startsWith(`${directory}/`))
        ? [{ path, directory }]
        : [],
    )
    .toSorted((one, other) => other.directory.length - one.directory.length)[0];
  return found === undefined ? undefined : `${found.path}${realPath.slice(found.directory.length)}`;
}
