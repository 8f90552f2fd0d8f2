/**
 * The facts of a session as files in the workspace, readable by their owner only. They can be made anew at any time, so
 * no disk is waited for; the agent may write where they are, so nothing that it puts there is followed or trusted.
 */
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { lstat, opendir, unlink } from 'node:fs/promises';
import type { ArtifactFiles, ArtifactPlace } from '../../actors/artifact/artifact-files.ts';
import type { Artifact } from '../../machines/artifact/artifact.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { systemCodeOf } from '../system/error-codes.ts';
import { stateOf } from './file-chunks.ts';
import type { HeldFolder } from '../system/held-folder.ts';
import { KeyedMutex } from '../../actors/concurrency/mutex.ts';
import { Places, openRegularFile } from './places.ts';
import { RUNTIME_FOLDER, openRuntimeFolder } from './runtime-folder.ts';
import { isDraft, putWholeFile } from '../system/held-file.ts';

const PRIVATE_FILE_MODE = 0o600;

/** Folders whose files are remembered, so that checking whether one has changed costs no reading. */
const MAX_KNOWN_FOLDERS = 64;

/** A draft that is older than this belongs to a process that was killed. */
const DRAFT_AGE_MS = 60_000;

/** Where sessions that share a workspace have a folder each. */
const SESSIONS_FOLDER = 'sessions';

const SHARED_INDEX: Artifact = {
  name: 'index.md',
  text: `# What is here\n\nSeveral sessions may work in this folder. What the runtime lays out for each of them is in \`${SESSIONS_FOLDER}\`, in a folder named by the id of the session; begin with the \`index.md\` in there. Outputs that were too long to be shown whole are in \`outputs\`.\n`,
};

/** How a file was when it was written or last found to be right. */
interface KnownFile {
  readonly hash: string;
  readonly state: string;
}

type KnownFiles = Map<string, KnownFile>;

export function createArtifactFiles(): ArtifactFiles {
  const mutex = new KeyedMutex();
  /** By real path, the one used last at the end. */
  const known = new Map<string, KnownFiles>();
  const inFolder = async (folder: HeldFolder, artifacts: readonly Artifact[]): Promise<readonly string[]> => {
    const files = known.get(folder.realPath) ?? (await firstCheck(folder));
    known.delete(folder.realPath);
    known.set(folder.realPath, files);
    const [oldest] = known.keys();
    if (known.size > MAX_KNOWN_FOLDERS && oldest !== undefined) known.delete(oldest);
    return putAll(folder, files, artifacts);
  };
  return {
    async layOut(
      { workspaceDirectory, sessionId }: ArtifactPlace,
      artifacts: readonly Artifact[],
    ): Promise<readonly string[]> {
      try {
        const places = await Places.open({ workspaceDirectory });
        return await mutex.run(places.workspace, async () => {
          if (sessionId !== undefined) await within(places, [], (folder) => inFolder(folder, [SHARED_INDEX]));
          return within(places, sessionId === undefined ? [] : [SESSIONS_FOLDER, sessionId], (folder) =>
            inFolder(folder, artifacts),
          );
        });
      } catch (error) {
        throw notLaidOut(error);
      }
    },
  };
}

async function within<Result>(
  places: Places,
  names: readonly string[],
  use: (folder: HeldFolder) => Promise<Result>,
): Promise<Result> {
  const folder = await openRuntimeFolder(places, names);
  try {
    return await use(folder);
  } finally {
    await folder.close();
  }
}

/** Takes away what killed processes have left. */
async function firstCheck(folder: HeldFolder): Promise<KnownFiles> {
  for await (const { name } of await opendir(folder.at())) {
    if (!isDraft(name)) continue;
    const stats = await lstat(folder.at(name)).catch(() => undefined);
    if (stats !== undefined && Date.now() - stats.mtimeMs > DRAFT_AGE_MS)
      await unlink(folder.at(name)).catch(() => undefined);
  }
  return new Map();
}

/** One that cannot be written keeps no other from being. */
async function putAll(
  folder: HeldFolder,
  files: KnownFiles,
  artifacts: readonly Artifact[],
): Promise<readonly string[]> {
  const results = await Promise.allSettled(artifacts.map((artifact) => put(folder, files, artifact)));
  const names = new Set(artifacts.map(({ name }) => name));
  // What says nothing any more goes: it would be taken for true.
  for (const name of files.keys())
    if (!names.has(name) && files.delete(name)) await unlink(folder.at(name)).catch(() => undefined);
  const failure = results.find((result) => result.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  return artifacts
    .filter((_, index) => results[index]?.status === 'fulfilled' && results[index].value)
    .map(({ name }) => name);
}

/** Of artifacts that are laid out again as they are. */
const hashes = new WeakMap<Artifact, string>();

function hashOf(artifact: Artifact): string {
  const hash = hashes.get(artifact) ?? createHash('sha256').update(artifact.text).digest('base64');
  hashes.set(artifact, hash);
  return hash;
}

/** Says whether it had to be written. */
async function put(folder: HeldFolder, files: KnownFiles, artifact: Artifact): Promise<boolean> {
  const { name, text } = artifact;
  const hash = hashOf(artifact);
  const before = files.get(name);
  const present = stateAt(folder, name);
  if (before !== undefined && before.hash === hash && present === before.state) return false;
  const content = Buffer.from(text);
  if (before === undefined && present !== undefined && (await holds(folder, name, content))) {
    files.set(name, { hash, state: present });
    return false;
  }
  await putWholeFile(folder, { name, content, mode: PRIVATE_FILE_MODE, as: 'replace' });
  const state = stateAt(folder, name);
  if (state !== undefined) files.set(name, { hash, state });
  return true;
}

/**
 * What changes with every change to it, also to its mode; undefined when nothing is there. In a folder that has just
 * been opened a check takes microseconds, and each step checks all files: to ask another thread for each would cost
 * more than all else that is done here.
 */
function stateAt(folder: HeldFolder, name: string): string | undefined {
  try {
    const stats = lstatSync(folder.at(name), { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? undefined : stateOf(stats);
  } catch {
    return undefined;
  }
}

/** Whether a file of ours says just this, as a process before this one has left it. */
async function holds(folder: HeldFolder, name: string, content: Buffer): Promise<boolean> {
  const handle = await openRegularFile(folder.at(name), name).catch(() => undefined);
  if (handle === undefined) return false;
  try {
    const { size, mode, nlink } = await handle.stat();
    if (size !== content.length || (mode & 0o777) !== PRIVATE_FILE_MODE || nlink !== 1) return false;
    return content.equals(await handle.readFile());
  } finally {
    await handle.close();
  }
}

function notLaidOut(error: unknown): RuntimeError {
  const reason = RuntimeError.is(error) ? error.message : (systemCodeOf(error) ?? messageOf(error));
  return new RuntimeError(
    'ARTIFACTS_NOT_WRITTEN',
    `could not lay out the facts of a session in ${RUNTIME_FOLDER} of its workspace: ${reason}`,
    {
      category: 'storage',
      hint: `Check that ${RUNTIME_FOLDER} in the workspace is a folder that can be written, and that the disk is not full. The session goes on without them.`,
      details: { reason },
      cause: error,
    },
  );
}
