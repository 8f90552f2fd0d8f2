/**
 * The stage in a workspace. Its agent may put anything there, at any time: folders are held open while something is
 * done in them and no link is followed, so that nothing outside of the workspace is ever read or written. On Linux
 * files are reached through the open folder; elsewhere the folder is checked again.
 */
import { constants } from 'node:fs';
import { open, readdir, realpath, rename } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { Stage, StagedFile, SharedFilesStage } from '../../actors/memory/shared-files-stage.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { STAGE_FOLDER } from '../../machines/stored-names.ts';
import { sharedFilePath, sharedFilePathProblem } from '../../machines/memory/shared-file-path.ts';
import {
  MAX_SHARED_FILES_BYTES,
  MAX_SHARED_FILES,
  MAX_SHARED_FILE_BYTES,
  versionNumber,
} from '../../machines/memory/shared-files-version.ts';
import { hasCode } from '../system/error-codes.ts';
import { HeldFolder } from '../system/held-folder.ts';
import { READING_NO_LINK, bytesOf, isNoPlainFile } from '../system/own-files.ts';
import { draftOf, removeDraft } from '../system/whole-files.ts';
import { storing } from './storage.ts';

/** Begins with a point: it is no shared file. */
const ORIGIN_FILE = '.staged-version.json';
const IGNORE_FILE = '.gitignore';

const NEW_FILE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
/** What is staged is there again at the next wake. */
const MAKING = { mode: 0o755, durability: 'os' } as const;
const FILE_MODE = 0o644;

const origin = z.strictObject({
  version: z.union([z.literal(0), versionNumber]),
  paths: z.array(sharedFilePath).max(MAX_SHARED_FILES * 2),
});

const MAX_ORIGIN_BYTES = 512 * 1024;

export function createWorkspaceStage(): SharedFilesStage {
  return {
    put: (workspaceDirectory, version, files) =>
      storing(`stage files in ${workspaceDirectory}`, () =>
        inStage(workspaceDirectory, { isMade: true }, async (stage) => {
          for (const { path, content } of files) await putFile(stage, path, content);
          const before = await readOrigin(stage);
          const paths = [...new Set([...(before?.paths ?? []), ...files.map(({ path }) => path)])].slice(
            0,
            MAX_SHARED_FILES * 2,
          );
          await putIn(stage, ORIGIN_FILE, Buffer.from(`${JSON.stringify({ version, paths })}\n`));
          // In a worktree it is not to be committed.
          await putIn(stage, IGNORE_FILE, Buffer.from('*\n'));
        }),
      ).then(() => undefined),
    read: (workspaceDirectory) =>
      storing(
        `read what is staged in ${workspaceDirectory}`,
        async () => (await inStage(workspaceDirectory, { isMade: false }, readStage)) ?? { files: [] },
      ),
  };
}

async function inStage<Result>(
  workspaceDirectory: string,
  options: { readonly isMade: boolean },
  work: (stage: HeldFolder) => Promise<Result>,
): Promise<Result | undefined> {
  const path = await realpath(workspaceDirectory);
  const workspace = await HeldFolder.open(path, { refused: (_actual, expected) => unsafe(expected) }).catch(
    (error: unknown) => {
      throw isNoPlainFile(error) ? unsafe(path) : error;
    },
  );
  try {
    return await within(workspace, STAGE_FOLDER, options, work);
  } finally {
    await workspace.close();
  }
}

/** Works in a folder in it. Undefined when there is none and none is to be made. */
async function within<Result>(
  folder: HeldFolder,
  name: string,
  { isMade }: { readonly isMade: boolean },
  work: (folder: HeldFolder) => Promise<Result>,
): Promise<Result | undefined> {
  const inner = await (isMade ? folder.enterOrMake(name, MAKING) : folder.enter(name)).catch((error: unknown) => {
    if (!isMade && hasCode(error, 'ENOENT')) return undefined;
    throw isNoPlainFile(error) ? unsafe(join(folder.realPath, name)) : error;
  });
  if (inner === undefined) return undefined;
  try {
    return await work(inner);
  } finally {
    await inner.close();
  }
}

async function putFile(folder: HeldFolder, path: string, content: Uint8Array): Promise<void> {
  const slash = path.indexOf('/');
  if (slash === -1) return putIn(folder, path, content);
  await within(folder, path.slice(0, slash), { isMade: true }, (inner) =>
    putFile(inner, path.slice(slash + 1), content),
  );
}

/** All at once, and in the place of a link rather than through it. */
async function putIn(folder: HeldFolder, name: string, content: Uint8Array): Promise<void> {
  const draft = draftOf(folder.at(name));
  try {
    const handle = await open(draft, NEW_FILE_FLAGS, FILE_MODE);
    try {
      await handle.writeFile(content);
    } finally {
      await handle.close();
    }
    await rename(draft, folder.at(name));
  } catch (error) {
    await removeDraft(draft);
    throw error;
  }
}

async function readStage(stage: HeldFolder): Promise<Stage> {
  const files: StagedFile[] = [];
  await collect(stage, '', { files, room: MAX_SHARED_FILES_BYTES });
  const from = await readOrigin(stage);
  return {
    ...(from === undefined ? {} : { origin: from }),
    files: files.toSorted((one, other) => (one.path < other.path ? -1 : 1)),
  };
}

interface Collection {
  readonly files: StagedFile[];
  room: number;
}

async function collect(folder: HeldFolder, below: string, collection: Collection): Promise<void> {
  for (const entry of await readdir(folder.at(), { withFileTypes: true })) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (sharedFilePathProblem(path) !== undefined) continue;
    if (entry.isDirectory())
      await within(folder, entry.name, { isMade: false }, (inner) => collect(inner, path, collection));
    else if (entry.isFile()) await collectFile(folder, entry.name, path, collection);
  }
}

async function collectFile(folder: HeldFolder, name: string, path: string, collection: Collection): Promise<void> {
  const content = await readPlain(folder, name, MAX_SHARED_FILE_BYTES, path);
  if (content === undefined) return;
  collection.files.push({ path, content });
  collection.room -= content.length;
  if (collection.room < 0) throw tooLarge(`the files together hold more than ${MAX_SHARED_FILES_BYTES} bytes`);
  if (collection.files.length > MAX_SHARED_FILES) throw tooLarge(`there are more than ${MAX_SHARED_FILES} files`);
}

/** A second name may be that of a file elsewhere, whose content may not be shared. */
async function readPlain(
  folder: HeldFolder,
  name: string,
  maxBytes: number,
  path: string,
): Promise<Buffer | undefined> {
  const handle = await open(folder.at(name), READING_NO_LINK).catch(ignoringAbsence);
  if (handle === undefined) return undefined;
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) return undefined;
    if (stats.nlink > 1)
      throw new RuntimeError('STAGE_UNSAFE', `${path} in ${STAGE_FOLDER} has a second name elsewhere`, {
        category: 'permission',
        hint: 'Copy it instead of linking it.',
      });
    if (stats.size > maxBytes) throw tooLarge(`${path} holds ${stats.size} bytes, at most ${maxBytes} are shared`);
    const bytes = await bytesOf(handle, maxBytes + 1);
    if (bytes.length > maxBytes) throw tooLarge(`${path} grows while it is read`);
    return Buffer.from(bytes);
  } finally {
    await handle.close();
  }
}

/** What an agent has made of it is read as nothing. */
async function readOrigin(stage: HeldFolder): Promise<Stage['origin']> {
  const text = await readPlain(stage, ORIGIN_FILE, MAX_ORIGIN_BYTES, ORIGIN_FILE).catch(() => undefined);
  try {
    return origin.parse(JSON.parse(text?.toString() ?? ''));
  } catch {
    return undefined;
  }
}

function ignoringAbsence(error: unknown): undefined {
  if (!isNoPlainFile(error)) throw error;
}

function unsafe(path: string): RuntimeError {
  return new RuntimeError('STAGE_UNSAFE', `expected ${path} to be a folder, and no link`, {
    category: 'permission',
    hint: 'Move away what is in its place.',
    details: { path },
  });
}

function tooLarge(problem: string): RuntimeError {
  return new RuntimeError('STAGE_TOO_LARGE', `what is staged is too much: ${problem}`, {
    category: 'capacity',
    hint: 'Remove what is not to be shared.',
  });
}
