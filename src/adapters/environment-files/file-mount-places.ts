/**
 * The folders behind the mounts of a session, in a home: its own ones are made, and those that an environment declares
 * are checked with care.
 */
import { lstatSync, realpathSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { mkdir, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import type { MountPlaces, MountRequest } from '../../actors/environment/session-environments.ts';
import type { SessionIdentity } from '../../actors/session/event-store.ts';
import type { DeclaredMount } from '../../machines/environment/environment-definition.ts';
import type { MountFolders } from '../../machines/environment/mount-table.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { SHARED_FILES_FOLDER } from '../../machines/stored-names.ts';
import { hasCode } from '../system/error-codes.ts';
import { nearestRealPath } from '../system/real-path.ts';
import { isWithin } from '../system/whole-files.ts';
import { unwritable } from './environment-errors.ts';
import { SOCKETS_OF_CONTAINERS, placesOfSecrets } from './kept-from-mounts.ts';

const FOLDER_MODE = 0o700;

/** Of the agent's folder. */
const LEARNINGS_FOLDER = 'learnings';
/** Of the session's folder. The rest of `runtime` is the runtime's own. */
const AGENT_RUNTIME_FOLDER = ['runtime', 'agent'] as const;
/** Of the home, and of the agent's folder. */
const SKILLS_FOLDER = 'skills';

export interface FileMountPlacesOptions {
  /** Where things lie. `HomeLayout` is one. */
  readonly layout: {
    /** Absolute. */
    readonly home: string;
    agentDirectory(agentId: string): string;
    session(identity: SessionIdentity): string;
  };
  /** The home folder of the user who runs this. Default: as the system tells. */
  readonly userHome?: string | undefined;
}

export function createFileMountPlaces({ layout, userHome = homedir() }: FileMountPlacesOptions): MountPlaces {
  const own = new OwnFolders();
  return {
    async resolve({ session, workspaceDirectory, declared, environmentId, sandbox }) {
      requireRealHome(layout.home);
      const [folders, sources] = await Promise.all([
        ownFolders({ layout, session, workspaceDirectory, own }),
        checkedSources(declared, { home: layout.home, userHome, environmentId }),
      ]);
      const { workspace } = folders;
      if (sandbox === 'required') await requireShuttable(workspace, { home: layout.home, userHome });
      const overlap = sources
        .map((mount) => ({ mount, problem: overlapProblem(mount, { sources, workspace }) }))
        .find(({ problem }) => problem !== undefined);
      if (overlap?.problem !== undefined)
        throw notMountable(
          { ...overlap.mount, environmentId },
          overlap.problem,
          'Mount folders apart from each other, or with the same access.',
        );
      return { folders, declared: sources };
    },
  };
}

/**
 * Folders that say what agents may do. A link in place of one could be led elsewhere by a process that can write where
 * it leads.
 */
const OF_THE_HOME = ['agents', 'vaults', 'environments'];

function requireRealHome(home: string): void {
  for (const path of OF_THE_HOME.map((name) => join(home, name))) {
    if (check(path)?.isSymbolicLink() === true)
      throw unavailable(path, 'it is a link', 'Make it a real folder of the home.');
  }
}

/** As declared sources are checked. What lies in the home is the session's own. */
async function requireShuttable(
  workspace: string,
  { home, userHome }: { readonly home: string; readonly userHome: string },
): Promise<void> {
  const realHome = await nearestRealPath(home);
  if (workspace.startsWith(`${realHome}${sep}`)) return;
  const secret = (await keptPlaces(userHome)).find((place) => overlaps(workspace, place));
  if (secret !== undefined)
    throw unavailable(
      workspace,
      `a sandbox would show ${secret}, which no agent may see`,
      'Let the session work in a folder apart from it, such as a project.',
    );
  const socket = socketOfContainers(workspace);
  if (socket !== undefined)
    throw unavailable(
      workspace,
      `it holds ${socket}, by which commands would get out of their sandbox`,
      'Let the session work in another folder.',
    );
}

function socketOfContainers(folder: string): string | undefined {
  return SOCKETS_OF_CONTAINERS.find((name) => check(join(folder, name)) !== undefined);
}

/** The same folder with two accesses: what is to be read only could be written by its other name. */
function overlapProblem(
  mount: DeclaredMount,
  { sources, workspace }: { readonly sources: readonly DeclaredMount[]; readonly workspace: string },
): string | undefined {
  if (mount.access === 'rw') return undefined;
  const other = sources.find(({ source, access }) => access === 'rw' && overlaps(source, mount.source));
  if (other !== undefined)
    return `it is to be read only, and overlaps with ${other.source}, which ${other.path} lets agents write`;
  return overlaps(workspace, mount.source)
    ? `it is to be read only, and overlaps with the workspace ${workspace}, which agents write`
    : undefined;
}

async function checkedSources(
  declared: readonly DeclaredMount[],
  {
    home,
    userHome,
    environmentId,
  }: { readonly home: string; readonly userHome: string; readonly environmentId: string },
): Promise<readonly DeclaredMount[]> {
  if (declared.length === 0) return declared;
  const place = { home: await realpath(home), kept: await keptPlaces(userHome), environmentId };
  return Promise.all(declared.map(async (mount) => ({ ...mount, source: await checkedSource(mount, place) })));
}

export interface SourcesCheck {
  /** The home of Wakechart. */
  readonly home: string;
  readonly environmentId: string;
  readonly declared: readonly DeclaredMount[];
  readonly userHome?: string | undefined;
}

/** Why declared mounts could not be had now, without making anything. */
export async function sourceProblems({
  home,
  environmentId,
  declared,
  userHome = homedir(),
}: SourcesCheck): Promise<readonly RuntimeError[]> {
  const place = { home: await nearestRealPath(home), kept: await keptPlaces(userHome), environmentId };
  const found = await Promise.all(
    declared.map((mount) =>
      checkedSource(mount, place).then(
        () => undefined,
        (error: unknown) => error,
      ),
    ),
  );
  return found.filter((error) => RuntimeError.is(error));
}

/** As they are named, and as they are reached. */
async function keptPlaces(userHome: string): Promise<readonly string[]> {
  const places = placesOfSecrets(userHome);
  return [...places, ...(await Promise.all(places.map(nearestRealPath)))];
}

interface OwnFoldersRequest
  extends Pick<FileMountPlacesOptions, 'layout'>, Pick<MountRequest, 'session' | 'workspaceDirectory'> {
  readonly own: OwnFolders;
}

async function ownFolders({ layout, session, workspaceDirectory, own }: OwnFoldersRequest): Promise<MountFolders> {
  const agentFolder = layout.agentDirectory(session.agentId);
  const ofAgent = (name: string): Promise<string> => own.at(agentFolder, [name]);
  const [workspace, agent, learnings, runtime, skills, agentSkills] = await Promise.all([
    own.real(workspaceDirectory),
    ofAgent(SHARED_FILES_FOLDER),
    ofAgent(LEARNINGS_FOLDER),
    own.at(layout.session(session), AGENT_RUNTIME_FOLDER),
    own.at(layout.home, [SKILLS_FOLDER]),
    check(join(agentFolder, SKILLS_FOLDER)) === undefined ? undefined : ofAgent(SKILLS_FOLDER),
  ]);
  return { workspace, agent, learnings, runtime, skills, agentSkills };
}

/** Folders that are remembered. */
const MAX_KNOWN_FOLDERS = 1_000;

/**
 * Folders of the runtime's own. One that was proven to be where it should is proven still while the same folder is in
 * its place.
 */
class OwnFolders {
  /** The one proven last at the end. */
  readonly #known = new Map<string, { readonly identity: string; readonly real: string }>();

  async at(base: string, names: readonly string[]): Promise<string> {
    const path = join(base, ...names);
    return this.#knownAt(path) ?? this.#learn(path, await ownFolder(base, names));
  }

  /** The real path of a folder that is there. @throws RuntimeError MOUNT_UNAVAILABLE */
  async real(path: string): Promise<string> {
    try {
      return this.#knownAt(path) ?? this.#learn(path, realpathSync.native(path));
    } catch (error) {
      throw unavailable(path, 'the workspace is not there', messageOf(error));
    }
  }

  #knownAt(path: string): string | undefined {
    const known = this.#known.get(path);
    return known !== undefined && known.identity === identityOf(path) ? known.real : undefined;
  }

  #learn(path: string, real: string): string {
    const identity = identityOf(path);
    if (identity === undefined) return real;
    this.#known.delete(path);
    this.#known.set(path, { identity, real });
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN_FOLDERS && oldest !== undefined) this.#known.delete(oldest);
    return real;
  }
}

/** Undefined for what is no folder, a link to one above all. */
function identityOf(path: string): string | undefined {
  const found = check(path);
  return found?.isDirectory() === true ? `${found.dev} ${found.ino}` : undefined;
}

/**
 * What is there, links not followed. In this turn of the event loop: every wake checks its folders, and each check
 * takes microseconds.
 */
function check(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Makes a folder below another one. A link on the way from there would lead the agent somewhere else. */
async function ownFolder(base: string, names: readonly string[]): Promise<string> {
  const path = join(base, ...names);
  try {
    await mkdir(path, { recursive: true, mode: FOLDER_MODE });
  } catch (error) {
    if (hasCode(error, 'EEXIST', 'ENOTDIR'))
      throw unavailable(path, 'something else than a folder is in its place', 'Move that away.');
    throw unwritable(path, error);
  }
  const [real, realBase] = await Promise.all([realpath(path), realpath(base)]);
  if (real === join(realBase, ...names)) return real;
  throw unavailable(path, `a link leads from there to ${real}`, 'Make it a real folder.');
}

interface SourceCheck {
  /** Its real path. */
  readonly home: string;
  /** What may not be mounted. */
  readonly kept: readonly string[];
  readonly environmentId: string;
}

async function checkedSource(
  { path, source }: DeclaredMount,
  { home, kept, environmentId }: SourceCheck,
): Promise<string> {
  const refuse = (problem: string, hint: string): RuntimeError =>
    notMountable({ path, source, environmentId }, problem, hint);
  const real = await realpath(source).catch((error: unknown) => {
    throw refuse(
      hasCode(error, 'ENOENT') ? 'it is not there' : messageOf(error),
      'Make the folder, or correct "source" in the environment.',
    );
  });
  const found = await stat(real);
  if (!found.isDirectory()) throw refuse('it is no folder', 'Mount the folder that it lies in.');
  if (dirname(real) === real) throw refuse('it is the whole system', 'Mount the folder that is needed.');
  if (overlaps(real, home))
    throw refuse(
      'it is, holds or lies in the home of Wakechart, where policies, agents and logs are',
      'Mount a folder apart from the home.',
    );
  const secret = kept.find((place) => overlaps(real, place));
  if (secret !== undefined)
    throw refuse(
      `it is, holds or lies in ${secret}, which no agent may see`,
      'Mount the folder that is needed; secrets are given through vaults.',
    );
  const socket = socketOfContainers(real);
  if (socket !== undefined)
    throw refuse(
      `it holds ${socket}, by which commands would get out of their sandbox`,
      'Mount the folder that is needed, without the socket.',
    );
  return real;
}

/** Letter case does not count: on some systems it names the same folder. */
function overlaps(one: string, other: string): boolean {
  const [first, second] = [one.toLowerCase(), other.toLowerCase()];
  return isWithin(first, second) || isWithin(second, first);
}

function unavailable(path: string, problem: string, hint: string): RuntimeError {
  return new RuntimeError('MOUNT_UNAVAILABLE', `expected ${path} to be a folder for the agent: ${problem}`, {
    category: 'storage',
    hint,
    details: { path },
  });
}

function notMountable(
  { path, source, environmentId }: { readonly path: string; readonly source: string; readonly environmentId: string },
  problem: string,
  hint: string,
): RuntimeError {
  return new RuntimeError(
    'MOUNT_UNAVAILABLE',
    `the environment "${environmentId}" (environments/${environmentId}.yaml) mounts ${source} as ${path}, and cannot: ${problem}`,
    {
      category: 'validation',
      hint,
      details: { environmentId, path, source },
    },
  );
}
