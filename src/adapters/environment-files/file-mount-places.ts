/** The folders behind the mounts of a session, in a home: its own ones are made, and those that an environment declares are looked at with care. */
import { lstat, mkdir, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, sep } from 'node:path';
import type { MountPlaces, MountRequest } from '../../actors/environment/mount-places.ts';
import type { SessionIdentity } from '../../actors/session/event-store.ts';
import type { DeclaredMount } from '../../machines/environment/environment-definition.ts';
import type { MountFolders } from '../../machines/environment/mount-table.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { systemCodeOf, unwritable } from './environment-errors.ts';
import { placesOfSecrets } from './kept-from-mounts.ts';

const FOLDER_MODE = 0o700;

/** Of the agent's folder. */
const SUBSTRATE_FOLDER = 'substrate';
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
  /** The home folder of whoever runs this. Default: as the system tells. */
  readonly userHome?: string | undefined;
}

export function createFileMountPlaces({ layout, userHome = homedir() }: FileMountPlacesOptions): MountPlaces {
  return {
    async resolve({ session, workspaceDirectory, declared, environmentId }) {
      const home = await realpath(layout.home);
      const kept = declared.length === 0 ? [] : await keptPlaces(userHome);
      const [folders, sources] = await Promise.all([
        ownFolders({ layout, session, workspaceDirectory }),
        Promise.all(declared.map(async (mount) => ({ ...mount, source: await checkedSource(mount, { home, kept, environmentId }) }))),
      ]);
      return { folders, declared: sources };
    },
  };
}

export interface SourcesCheck {
  /** The home of Wakechart. */
  readonly home: string;
  readonly environmentId: string;
  readonly declared: readonly DeclaredMount[];
  readonly userHome?: string | undefined;
}

/** Why declared mounts could not be had now, without making anything. */
export async function sourceProblems({ home, environmentId, declared, userHome = homedir() }: SourcesCheck): Promise<readonly RuntimeError[]> {
  const check = { home: await nearestRealPath(home), kept: await keptPlaces(userHome), environmentId };
  const found = await Promise.all(declared.map((mount) => checkedSource(mount, check).then(() => undefined, (error: unknown) => error)));
  return found.filter((error) => RuntimeError.is(error));
}

/** As they are named, and as they are reached. */
async function keptPlaces(userHome: string): Promise<readonly string[]> {
  const places = placesOfSecrets(userHome);
  return [...places, ...(await Promise.all(places.map(nearestRealPath)))];
}

async function ownFolders({ layout, session, workspaceDirectory }: Pick<FileMountPlacesOptions, 'layout'> & Pick<MountRequest, 'session' | 'workspaceDirectory'>): Promise<MountFolders> {
  const agentFolder = layout.agentDirectory(session.agentId);
  const ofAgent = (name: string): Promise<string> => ownFolder(agentFolder, [name]);
  const [workspace, agent, learnings, runtime, skills, agentSkills] = await Promise.all([
    realpath(workspaceDirectory).catch((error: unknown) => {
      throw unavailable(workspaceDirectory, 'the workspace is not there', messageOf(error));
    }),
    ofAgent(SUBSTRATE_FOLDER),
    ofAgent(LEARNINGS_FOLDER),
    ownFolder(layout.session(session), AGENT_RUNTIME_FOLDER),
    ownFolder(layout.home, [SKILLS_FOLDER]),
    isThere(join(agentFolder, SKILLS_FOLDER)).then((is) => (is ? ofAgent(SKILLS_FOLDER) : undefined)),
  ]);
  return { workspace, agent, learnings, runtime, skills, agentSkills };
}

/** Makes a folder below another one. A link on the way from there would lead the agent somewhere else. */
async function ownFolder(base: string, names: readonly string[]): Promise<string> {
  const path = join(base, ...names);
  try {
    await mkdir(path, { recursive: true, mode: FOLDER_MODE });
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST' || systemCodeOf(error) === 'ENOTDIR') throw unavailable(path, 'something else than a folder is in its place', 'Move that away.');
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

async function checkedSource({ path, source }: DeclaredMount, { home, kept, environmentId }: SourceCheck): Promise<string> {
  const refuse = (problem: string, hint: string): RuntimeError => notMountable({ path, source, environmentId }, problem, hint);
  const real = await realpath(source).catch((error: unknown) => {
    throw refuse(systemCodeOf(error) === 'ENOENT' ? 'it is not there' : messageOf(error), 'Make the folder, or correct "source" in the environment.');
  });
  const found = await stat(real);
  if (!found.isDirectory()) throw refuse('it is no folder', 'Mount the folder that it lies in.');
  if (dirname(real) === real) throw refuse('it is the whole system', 'Mount the folder that is needed.');
  if (overlaps(real, home)) throw refuse('it is, holds or lies in the home of Wakechart, where policies, agents and logs are', 'Mount a folder apart from the home.');
  const secret = kept.find((place) => overlaps(real, place));
  if (secret !== undefined) throw refuse(`it is, holds or lies in ${secret}, which no agent may see`, 'Mount the folder that is needed; secrets are given through vaults.');
  return real;
}

/** Letter case does not count: on some systems it names the same folder. */
function overlaps(one: string, other: string): boolean {
  const [first, second] = [one.toLowerCase(), other.toLowerCase()];
  return first === second || first.startsWith(`${second}${sep}`) || second.startsWith(`${first}${sep}`);
}

/** Where a path leads, as far as it exists. */
async function nearestRealPath(absolute: string): Promise<string> {
  const missing: string[] = [];
  for (let current = absolute; ; current = dirname(current)) {
    const found = await realpath(current).catch(() => undefined);
    if (found !== undefined) return join(found, ...missing);
    if (dirname(current) === current) return absolute;
    missing.unshift(basename(current));
  }
}

function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

function unavailable(path: string, problem: string, hint: string): RuntimeError {
  return new RuntimeError('MOUNT_UNAVAILABLE', `expected ${path} to be a folder for the agent: ${problem}`, { category: 'storage', hint, details: { path } });
}

function notMountable({ path, source, environmentId }: { readonly path: string; readonly source: string; readonly environmentId: string }, problem: string, hint: string): RuntimeError {
  return new RuntimeError('MOUNT_UNAVAILABLE', `the environment "${environmentId}" (environments/${environmentId}.yaml) mounts ${source} as ${path}, and cannot: ${problem}`, {
    category: 'validation',
    hint,
    details: { environmentId, path, source },
  });
}
