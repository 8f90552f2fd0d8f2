/** The mounts of a session as bubblewrap gets them: what stands where, in which order, and by which number it is known again. */
import { constants } from 'node:fs';
import { lstat, open, readlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { AGENT_PATH, WORKSPACE_PATH } from '../../machines/environment/mount-table.ts';
import type { Mount } from '../../machines/environment/mount-table.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';

export type BoundPlace =
  | {
      readonly kind: 'mount';
      /** In the sandbox. */
      readonly path: string;
      /** On the host. */
      readonly directory: string;
      readonly access: 'ro' | 'rw';
      /** `device:inode` of what the session may work in, which somebody could replace. The runtime replaces its own folders itself. */
      readonly identity?: string | undefined;
    }
  | { readonly kind: 'hidden'; readonly path: string };

export interface BoundMounts {
  /** Each after those that it lies in. */
  readonly places: readonly BoundPlace[];
  readonly workspaceDirectory: string;
  /** False where its own path is in the way of its name. */
  readonly linksWorkspace: boolean;
}

export interface MountRequest {
  readonly mounts: readonly Mount[];
  readonly workspaceDirectory: string;
  readonly hidden: readonly string[];
}

type Held = Mount & { readonly directory: string; readonly access: 'ro' | 'rw' };

/** What must not be covered: the sandbox has its own, or nothing would run in it. */
const SYSTEM = ['/proc', '/dev', '/usr', '/bin', '/sbin', '/lib', '/lib64', '/etc', '/tmp'];
/** Who the agent shares its own folders with, where there is no room for them in the workspace. */
const SHARED_AGENT_PATH = '/agent';

/** @throws RuntimeError MOUNT_UNAVAILABLE for a folder that is not there, is a link, or cannot be shown where it is to be */
export async function boundMounts({ mounts, workspaceDirectory, hidden }: MountRequest): Promise<BoundMounts> {
  const held = mounts.filter((mount): mount is Held => mount.directory !== undefined && mount.access !== 'none' && mount.kind !== 'workspace');
  const workspace: Held = { kind: 'workspace', path: workspaceDirectory, directory: workspaceDirectory, access: mounts.find(({ kind }) => kind === 'workspace')?.access === 'ro' ? 'ro' : 'rw' };
  requireRoom(workspaceDirectory, held);
  const places = await Promise.all([workspace, ...(await withAgent(held, workspaceDirectory))].map(placeOf));
  const all = [...places, ...hiddenPlaces(places, hidden)];
  return {
    places: all.toSorted((one, other) => depthOf(one.path) - depthOf(other.path)),
    workspaceDirectory,
    linksWorkspace: !all.some(({ path }) => isWithin(WORKSPACE_PATH, path)),
  };
}

function requireRoom(workspaceDirectory: string, held: readonly Held[]): void {
  if (workspaceDirectory === '/' || SYSTEM.some((each) => isWithin(workspaceDirectory, each)) || ['/proc', '/dev'].some((each) => isWithin(each, workspaceDirectory))) {
    throw unavailable(`${workspaceDirectory} holds what the sandbox itself needs, so it cannot be a workspace in one`, 'Give the session a folder of its own to work in.');
  }
  const covering = held.find(({ path, directory }) => isWithin(path, workspaceDirectory) && `${directory}${workspaceDirectory.slice(path.length)}` !== workspaceDirectory);
  if (covering !== undefined) throw unavailable(`the mount ${covering.path} would cover the workspace ${workspaceDirectory}`, 'Mount it at another path.');
}

/** The agent's folder lies in the workspace where that has room for it, and never through a link; nothing is made there. */
async function withAgent(held: readonly Held[], workspaceDirectory: string): Promise<readonly Held[]> {
  const agent = held.find(({ path }) => path === AGENT_PATH);
  if (agent === undefined) return held;
  const inside = `${workspaceDirectory}/agent`;
  const hasRoom = await lstat(inside).then((found) => found.isDirectory(), () => false);
  const others = held.filter((each) => each !== agent);
  return [...others, { ...agent, path: SHARED_AGENT_PATH }, ...(hasRoom ? [{ ...agent, path: inside }] : [])];
}

async function placeOf({ kind, path, directory, access }: Held): Promise<Extract<BoundPlace, { readonly kind: 'mount' }>> {
  const identity = await identityOf(directory);
  const isSettled = kind === 'workspace' || kind === 'runtime' || kind === 'declared';
  return { kind: 'mount', path, directory, access, ...(isSettled ? { identity } : {}) };
}

/** Of the very folder that has this path: the look at its name and its number cannot come apart. */
async function identityOf(directory: string): Promise<string> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(directory, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { dev, ino } = await handle.stat({ bigint: true });
    const real = await readlink(`/proc/self/fd/${handle.fd}`);
    if (real !== directory) throw unavailable(`expected the folder ${directory}, and a link leads to ${real}`, 'Name the folder itself.');
    return `${dev}:${ino}`;
  } catch (cause) {
    if (RuntimeError.is(cause)) throw cause;
    throw unavailable(`the folder ${directory} cannot be mounted: ${messageOf(cause)}`, 'It must be there, and no link, when a wake begins.', cause);
  } finally {
    await handle?.close();
  }
}

/** Wherever a mount shows what is not to be seen. A mount that lies in that itself is declared, and stays. */
function hiddenPlaces(places: readonly Extract<BoundPlace, { readonly kind: 'mount' }>[], hidden: readonly string[]): readonly BoundPlace[] {
  return places.flatMap(({ path, directory }) =>
    hidden.filter((each) => each !== directory && isWithin(directory, each)).map((each): BoundPlace => ({ kind: 'hidden', path: `${path}${each.slice(directory.length)}` })),
  );
}

function depthOf(path: string): number {
  return path.split('/').length;
}

function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function unavailable(message: string, hint: string, cause?: unknown): RuntimeError {
  return new RuntimeError('MOUNT_UNAVAILABLE', message, { category: 'not_found', hint, cause });
}
