/**
 * The mounts of a session as bubblewrap gets them: what stands where, in which order, and by which number it is known
 * again.
 */
import { lstat, open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { AGENT_PATH, WORKSPACE_PATH } from '../../machines/environment/mount-table.ts';
import type { Mount } from '../../machines/environment/mount-table.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { pathOfHandle } from '../system/held-folder.ts';
import { READING_NO_LINK } from '../system/own-files.ts';
import { scan } from './folder-check.ts';
import type { FolderCheck, Repository } from './folder-check.ts';
import { isWithin, placesAt } from './hidden-places.ts';
import type { HiddenPlace, HiddenPlaces } from './hidden-places.ts';
import type { SystemView } from './system-view.ts';
import { gitFolderOf, worktreePlaces } from './worktree-places.ts';
import type { NeededPlace } from './worktree-places.ts';

export interface ShownPlace {
  readonly kind: 'mount';
  /** In the sandbox. */
  readonly path: string;
  /** On the host. */
  readonly directory: string;
  readonly access: 'ro' | 'rw';
  /**
   * `device:inode` of what the session may work in, which a command could replace. The runtime replaces its own folders
   * itself.
   */
  readonly identity?: string | undefined;
}

export type BoundPlace =
  | ShownPlace
  | { readonly kind: 'hidden'; readonly path: string; readonly what: 'folder' | 'file' };

export interface BoundMounts {
  /** Each after those that it lies in. */
  readonly places: readonly BoundPlace[];
  /** Sockets of the host that are not to be connected to, by their paths in the sandbox and on the host. */
  readonly sockets: readonly { readonly path: string; readonly source: string }[];
  /** What must not be seen anywhere. */
  readonly hidden: readonly HiddenPlace[];
  /** Of those, what lies in a folder that can be written: it has to be where it was when a command begins. */
  readonly settled: readonly HiddenPlace[];
  /** Folders of branches in which only that of the worktree, `own`, may be changed. By the same path on both sides. */
  readonly branches: readonly { readonly folder: string; readonly own: string }[];
  readonly workspaceDirectory: string;
  /** False where its own path is in the way of its name. */
  readonly linksWorkspace: boolean;
}

export interface MountRequest {
  readonly mounts: readonly Mount[];
  readonly workspaceDirectory: string;
  readonly hidden: HiddenPlaces;
  readonly view: SystemView;
  readonly network: 'open' | 'disabled';
}

type Held = Mount & { readonly directory: string; readonly access: 'ro' | 'rw' };

/** What must not be covered: the sandbox has its own, or nothing would run in it. */
const SYSTEM = ['/proc', '/dev', '/usr', '/bin', '/sbin', '/lib', '/lib64', '/etc', '/tmp'];
/** Who the agent shares its own folders with, where there is no room for them in the workspace. */
const SHARED_AGENT_PATH = '/agent';

/** What the sandbox shows of the system itself, where nothing is mounted. */
export function boundSystem(view: SystemView, { places }: HiddenPlaces): BoundMounts {
  const programs = programPlaces(view);
  return {
    places: inOrder([...programs, ...masksOf(view), ...masksOver([...systemPlaces(view), ...programs], places)]),
    sockets: [],
    hidden: places,
    settled: [],
    branches: [],
    workspaceDirectory: '/',
    linksWorkspace: false,
  };
}

/**
 * @throws RuntimeError MOUNT_UNAVAILABLE for a folder that is not there, is a link, cannot be shown where it is to be,
 * or holds what it must not
 */
export async function boundMounts({
  mounts,
  workspaceDirectory,
  hidden,
  view,
  network,
}: MountRequest): Promise<BoundMounts> {
  const held = mounts.filter(
    (mount): mount is Held => mount.directory !== undefined && mount.access !== 'none' && mount.kind !== 'workspace',
  );
  const workspace: Held = {
    kind: 'workspace',
    path: workspaceDirectory,
    directory: workspaceDirectory,
    access: mounts.find(({ kind }) => kind === 'workspace')?.access === 'ro' ? 'ro' : 'rw',
  };
  requireRoom(workspaceDirectory, held);
  const mounted = await Promise.all([workspace, ...(await withAgent(held, workspaceDirectory))].map(placeOf));
  requireNotHidden(mounted, hidden);
  const writable = mounted.filter(({ access }) => access === 'rw');
  const checks = await scans(mounted, hidden.places);
  // Homes of others: a reader of one has their secrets, and a writer to one decides what runs there.
  const secret = [...hidden.places, ...(await placesAt(checks.flatMap(({ check }) => check.homes)))];
  const [kept, guarded] = await Promise.all([
    keptPlaces(mounted, { checks, network }),
    Promise.all(foldersAround(writable, secret).map(shownPlace)),
  ]);
  const shown = [...programPlaces(view), ...mounted, ...guarded, ...kept.places];
  const places = inOrder([
    ...shown,
    ...kept.masks,
    ...masksOf(view),
    ...masksOver([...systemPlaces(view), ...shown], secret),
  ]);
  return {
    places,
    sockets: kept.sockets,
    branches: kept.branches,
    hidden: secret,
    settled: secret.filter(({ path }) => writable.some(({ directory }) => isWithin(directory, path))),
    workspaceDirectory,
    linksWorkspace: !places.some(({ path }) => isWithin(WORKSPACE_PATH, path)),
  };
}

function requireRoom(workspaceDirectory: string, held: readonly Held[]): void {
  if (
    workspaceDirectory === '/' ||
    SYSTEM.some((each) => isWithin(workspaceDirectory, each)) ||
    ['/proc', '/dev'].some((each) => isWithin(each, workspaceDirectory))
  ) {
    throw unavailable(
      `${workspaceDirectory} holds what the sandbox itself needs, so it cannot be a workspace in one`,
      'Give the session a folder of its own to work in.',
    );
  }
  const covering = held.find(
    ({ path, directory }) =>
      isWithin(path, workspaceDirectory) &&
      `${directory}${workspaceDirectory.slice(path.length)}` !== workspaceDirectory,
  );
  if (covering !== undefined)
    throw unavailable(
      `the mount ${covering.path} would cover the workspace ${workspaceDirectory}`,
      'Mount it at another path.',
    );
}

/**
 * The agent's folder lies in the workspace where that has room for it, and never through a link; nothing is made there.
 */
async function withAgent(held: readonly Held[], workspaceDirectory: string): Promise<readonly Held[]> {
  const agent = held.find(({ path }) => path === AGENT_PATH);
  if (agent === undefined) return held;
  const inside = `${workspaceDirectory}/agent`;
  const hasRoom = await lstat(inside).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const others = held.filter((each) => each !== agent);
  return [...others, { ...agent, path: SHARED_AGENT_PATH }, ...(hasRoom ? [{ ...agent, path: inside }] : [])];
}

async function placeOf({ kind, path, directory, access }: Held): Promise<ShownPlace> {
  const identity = await identityOf(directory);
  const isSettled = kind === 'workspace' || kind === 'runtime' || kind === 'declared';
  return { kind: 'mount', path, directory, access, ...(isSettled ? { identity } : {}) };
}

/** Held to what is there now, by its number. */
async function shownPlace(place: Omit<ShownPlace, 'kind' | 'identity'>): Promise<ShownPlace> {
  return { kind: 'mount', ...place, identity: await identityOf(place.directory) };
}

/** Of the very folder that has this path: its name and its number cannot be read apart. */
async function identityOf(directory: string): Promise<string> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(directory, READING_NO_LINK);
    const { dev, ino } = await handle.stat({ bigint: true });
    const real = await pathOfHandle(handle, directory);
    if (real !== directory)
      throw unavailable(
        `expected the folder ${directory}, and a link leads to ${real ?? 'another place'}`,
        'Name the folder itself.',
      );
    return `${dev}:${ino}`;
  } catch (cause) {
    if (RuntimeError.is(cause)) throw cause;
    throw unavailable(
      `the folder ${directory} cannot be mounted: ${messageOf(cause)}`,
      'It must be there, and no link, when a wake begins.',
      cause,
    );
  } finally {
    await handle?.close();
  }
}

function requireNotHidden(mounted: readonly ShownPlace[], { places, links }: HiddenPlaces): void {
  const own = mounted.find(({ directory }) => places.some(({ path }) => path === directory));
  if (own !== undefined)
    throw unavailable(`${own.directory} is what no sandbox shows`, 'Give the session another folder.');
  // It could be led somewhere else, and the runtime with it.
  const link = links.find((each) =>
    mounted.some(({ directory, access }) => access === 'rw' && isWithin(directory, each)),
  );
  if (link !== undefined)
    throw unavailable(
      `${link} is a link on the way to the home of Wakechart, and lies where commands may write: they could lead it elsewhere`,
      'Put the real folder in place of the link, or name the home by its real path.',
    );
}

interface Scanned {
  readonly place: ShownPlace;
  readonly check: FolderCheck;
}

/** What lies in the home is the session's own: no other program keeps anything in there. */
async function scans(mounted: readonly ShownPlace[], hidden: readonly HiddenPlace[]): Promise<readonly Scanned[]> {
  const foreign = mounted.filter(({ directory }) => !hidden.some(({ path }) => isWithin(path, directory)));
  const checks = await Promise.all(
    foreign.map(async (place) => ({
      place,
      check: await scan(place.directory, (path) => hidden.some((each) => each.path === path)),
    })),
  );
  const missed = checks.find(({ place, check }) => place.access === 'rw' && check.problem !== undefined);
  if (missed !== undefined)
    throw unavailable(
      `${missed.place.directory} cannot be scanned for repositories, sockets and homes that commands must not change: ${missed.check.problem}`,
      'Put that right, or give the session a smaller folder.',
    );
  return checks;
}

interface KeptPlaces extends Pick<BoundMounts, 'sockets' | 'branches'> {
  readonly places: readonly ShownPlace[];
  readonly masks: readonly BoundPlace[];
}

/**
 * What mounts hold that commands may not have as it is: the settings and hooks of repositories, and sockets where there
 * is to be no network.
 */
async function keptPlaces(
  mounted: readonly ShownPlace[],
  { checks, network }: { readonly checks: readonly Scanned[]; readonly network: 'open' | 'disabled' },
): Promise<KeptPlaces> {
  const repositories = (
    await Promise.all(
      checks
        .filter(({ place }) => place.access === 'rw')
        .map(({ place, check }) => repositoryPlaces(place, check.repositories)),
    )
  ).flat();
  const worktrees = (
    await Promise.all(
      mounted.filter(({ access }) => access === 'rw').map(({ path, directory }) => worktreeParts(path, directory)),
    )
  ).flat();
  const shown = [
    ...new Map(
      [...repositories, ...worktrees.filter((part) => part.access !== 'none')].map((each) => [each.path, each]),
    ).values(),
  ];
  return {
    places: await Promise.all(
      shown.map(({ path, directory, access }) =>
        shownPlace({ path, directory, access: access === 'rw' ? 'rw' : 'ro' }),
      ),
    ),
    masks: worktrees.flatMap(({ path, access }): readonly BoundPlace[] =>
      access === 'none' ? [{ kind: 'hidden', path, what: 'file' }] : [],
    ),
    branches: worktrees.flatMap(({ path, own }) => (own === undefined ? [] : [{ folder: path, own }])),
    sockets:
      network === 'open'
        ? []
        : checks.flatMap(({ place, check }) =>
            check.sockets.map((source) => ({ path: placed(place, source), source })),
          ),
  };
}

type Part = Omit<ShownPlace, 'kind' | 'identity' | 'access'> & Pick<NeededPlace, 'access' | 'own'>;

/** To be read only, and in folders that cannot be moved, so that no other one comes in its place. */
async function repositoryPlaces(place: ShownPlace, repositories: readonly Repository[]): Promise<readonly Part[]> {
  const link = repositories.find(({ kind, path }) => kind === 'link' && path === `${place.directory}/.git`);
  if (link !== undefined)
    throw unavailable(
      `${link.path} is a link, which commands could lead to settings of their own`,
      'Put the folder of the repository itself in its place.',
    );
  const named = repositories.filter(({ kind }) => kind !== 'link').map(({ path }) => path);
  // A `.git` may name a folder beside it, which is the repository then.
  const elsewhere = (
    await Promise.all(repositories.filter(({ kind }) => kind !== 'folder').map(({ path }) => gitFolderOf(path)))
  ).filter(
    (path) =>
      path !== undefined &&
      path !== place.directory &&
      isWithin(place.directory, path) &&
      !named.some((each) => isWithin(each, path)),
  );
  const kept = [...named, ...new Set(elsewhere.flatMap((path) => path ?? []))];
  return [
    ...foldersAround(
      [place],
      kept.map((path) => ({ path })),
    ),
    ...kept.map((path): Part => ({ path: placed(place, path), directory: path, access: 'ro' })),
  ];
}

/** The worktree's own name for its repository, and what git needs of that. */
async function worktreeParts(path: string, directory: string): Promise<readonly Part[]> {
  const needed = await worktreePlaces(directory);
  if (needed.length === 0) return [];
  return [
    { path: `${path}/.git`, directory: `${directory}/.git`, access: 'ro' },
    ...needed.map((each): Part => ({ ...each, directory: each.path })),
  ];
}

/** Between a mount and what lies in it: as mounts of their own they cannot be renamed in the sandbox. */
function foldersAround(
  mounted: readonly ShownPlace[],
  inner: readonly { readonly path: string }[],
): readonly Omit<ShownPlace, 'kind' | 'identity'>[] {
  const around = mounted.flatMap((place) =>
    inner.flatMap(({ path }) =>
      path !== place.directory && isWithin(place.directory, path)
        ? between(place.directory, path).map((directory) => ({
            path: placed(place, directory),
            directory,
            access: place.access,
          }))
        : [],
    ),
  );
  return [...new Map(around.map((each) => [each.path, each])).values()];
}

function between(outer: string, inner: string): readonly string[] {
  const names = inner
    .slice(outer.length + 1)
    .split('/')
    .slice(0, -1);
  return names.map((_, index) => `${outer}/${names.slice(0, index + 1).join('/')}`);
}

/** Wherever something shows what is not to be seen. A mount that lies in that itself is the session's, and stays. */
function masksOver(
  shown: readonly Pick<ShownPlace, 'path' | 'directory'>[],
  hidden: readonly HiddenPlace[],
): readonly BoundPlace[] {
  return shown.flatMap((place) =>
    hidden
      .filter(({ path }) => isWithin(place.directory, path))
      .map(({ path, kind }): BoundPlace => ({ kind: 'hidden', path: placed(place, path), what: kind })),
  );
}

function masksOf({ maskedFiles, maskedFolders }: SystemView): readonly BoundPlace[] {
  return [
    ...maskedFiles.map((path): BoundPlace => ({ kind: 'hidden', path, what: 'file' })),
    ...maskedFolders.map((path): BoundPlace => ({ kind: 'hidden', path, what: 'folder' })),
  ];
}

function systemPlaces({ folders }: SystemView): readonly Pick<ShownPlace, 'path' | 'directory'>[] {
  return folders.map((path) => ({ path, directory: path }));
}

function programPlaces({ programs }: SystemView): readonly ShownPlace[] {
  return programs.map((path): ShownPlace => ({ kind: 'mount', path, directory: path, access: 'ro' }));
}

/**
 * Outer ones first. Where something is shown and hidden by the same path, what a session mounts there goes before what
 * the system hides.
 */
function inOrder(places: readonly BoundPlace[]): readonly BoundPlace[] {
  const shown = new Set(places.flatMap(({ kind, path }) => (kind === 'mount' ? [path] : [])));
  const hidden = new Map(
    places.flatMap((place) =>
      place.kind === 'hidden' && !shown.has(place.path) ? [[place.path, place] as const] : [],
    ),
  );
  return [...places.filter(({ kind }) => kind === 'mount'), ...hidden.values()].toSorted(
    (one, other) => depthOf(one.path) - depthOf(other.path),
  );
}

function placed({ path, directory }: Pick<ShownPlace, 'path' | 'directory'>, source: string): string {
  return `${path}${source.slice(directory.length)}`;
}

function depthOf(path: string): number {
  return path.split('/').length;
}

function unavailable(message: string, hint: string, cause?: unknown): RuntimeError {
  return new RuntimeError('MOUNT_UNAVAILABLE', message, { category: 'not_found', hint, cause });
}
