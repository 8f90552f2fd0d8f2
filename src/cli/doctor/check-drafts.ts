/**
 * Finds files that were being written when a process was killed, by their names, in folders that only we write to. No
 * process uses them. Folders are held open on the way, and no link is followed: a command in a workspace may put one
 * anywhere.
 */
import { lstat, readdir, realpath, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Stats } from 'node:fs';
import type { SessionIdentity } from '../../actors/session/event-store.ts';
import { VERSIONS_FOLDER } from '../../machines/stored-names.ts';
import { HomeLayout } from '../../adapters/files/layout.ts';
import { systemCodeOf } from '../../adapters/system/error-codes.ts';
import { HeldFolder } from '../../adapters/system/held-folder.ts';
import { note } from './finding.ts';
import type { Finding, RepairableFinding } from './finding.ts';

/** Younger than this, in milliseconds, a process may still write it. */
export const LEFTOVER_AGE_MS = 3_600_000;

/**
 * What a file is called until it is in its place. Attachments and schedules have names of their own, which may end in
 * the same way.
 */
const DRAFT = /^(\.|.*\.jsonl\.).*[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}.*\.(draft|tmp)$/;

/** Folders of a home, and of a workspace. */
const POLICY_FOLDER = 'policy';
const SCHEDULES_FOLDER = 'schedules';
const ENVIRONMENTS_PATHS = [['environments'], ['environments', '.known']] as const;
/** Of an agent. What lies in the folder of shared files is written by people too, and is left to them. */
const AGENT_FOLDERS = [[], ['learnings'], [VERSIONS_FOLDER], [VERSIONS_FOLDER, 'blobs'], ['retrieval']] as const;
const KEPT_FOLDERS = [[], ['attachments'], ['outputs']] as const;
const WORKSPACE_RUNTIME_FOLDER = '.wakechart-runtime';

/** Schedules lie in folders of folders, no deeper than this. */
const SCHEDULES_DEPTH = 3;

interface DraftsPlace {
  readonly area: Finding['area'];
  /** Trusted as it is. */
  readonly root: string;
  /** From there, one folder in the other. */
  readonly path: readonly string[];
  readonly nowMs: number;
}

/** Drafts beside the sessions of a home: of agents, environments, rules and schedules. */
export async function homeDrafts(home: string, nowMs: number): Promise<RepairableFinding[]> {
  const { agents } = new HomeLayout(home);
  const findings = await draftsIn({ area: 'home', root: home, path: [POLICY_FOLDER], nowMs });
  for (const path of ENVIRONMENTS_PATHS)
    findings.push(...(await draftsIn({ area: 'environments', root: home, path, nowMs })));
  for (const agentId of await foldersIn(agents)) {
    for (const names of AGENT_FOLDERS)
      findings.push(...(await draftsIn({ area: 'agents', root: agents, path: [agentId, ...names], nowMs })));
  }
  for (const path of await foldersBelow(home, [SCHEDULES_FOLDER], SCHEDULES_DEPTH))
    findings.push(...(await draftsIn({ area: 'schedules', root: home, path, nowMs })));
  return findings;
}

/** Drafts of what the runtime keeps in the workspace of a session. What the agent works on is left to its owner. */
export async function sessionDrafts(
  layout: HomeLayout,
  identity: SessionIdentity,
  nowMs: number,
): Promise<RepairableFinding[]> {
  const root = layout.session(identity);
  const found = await Promise.all(
    KEPT_FOLDERS.map((names) =>
      draftsIn({ area: 'sessions', root, path: ['workspace', WORKSPACE_RUNTIME_FOLDER, ...names], nowMs }),
    ),
  );
  return found.flat();
}

/** A folder that is not there, or cannot be read, has none that we could do something about. */
async function draftsIn(place: DraftsPlace): Promise<RepairableFinding[]> {
  const names = await inFolder(place, async (folder) => {
    const drafts = (await readdir(folder.at())).filter((name) => DRAFT.test(name)).toSorted();
    const areOld = await Promise.all(drafts.map((name) => isOldDraft(folder.at(name), place.nowMs)));
    return drafts.filter((_, index) => areOld[index]);
  }).catch(() => []);
  return names.map((name) =>
    note({
      area: place.area,
      where: join(place.root, ...place.path, name),
      what: 'a crash left this half-written',
      remedy: 'No process uses it; it can be removed.',
      repair: () => remove(place, name),
    }),
  );
}

/** It may be gone, or be something else by now. */
async function remove(place: DraftsPlace, name: string): Promise<void> {
  try {
    await inFolder(place, async (folder) => {
      if (await isOldDraft(folder.at(name), place.nowMs)) await unlink(folder.at(name));
    });
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error;
  }
}

async function inFolder<Value>(
  { root, path }: DraftsPlace,
  work: (folder: HeldFolder) => Promise<Value>,
): Promise<Value> {
  // A home may be reached by a link; what lies in it may not.
  const top = await HeldFolder.open(await realpath(root));
  const folder = await top.into(path);
  try {
    return await work(folder);
  } finally {
    await folder.close();
  }
}

async function isOldDraft(path: string, nowMs: number): Promise<boolean> {
  const found: Stats | undefined = await lstat(path).catch(() => undefined);
  return found?.isFile() === true && nowMs - found.mtimeMs > LEFTOVER_AGE_MS;
}

async function foldersBelow(root: string, path: readonly string[], depth: number): Promise<(readonly string[])[]> {
  const below = depth === 0 ? [] : await foldersIn(join(root, ...path));
  const deeper = await Promise.all(below.map((name) => foldersBelow(root, [...path, name], depth - 1)));
  return [path, ...deeper.flat()];
}

async function foldersIn(directory: string): Promise<string[]> {
  return readdir(directory, { withFileTypes: true }).then(
    (entries) =>
      entries
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name)
        .toSorted(),
    () => [],
  );
}
