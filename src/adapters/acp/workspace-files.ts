/**
 * Files of the workspace for an agent: read and written whole, and from nowhere else, whatever a path or a link says.
 * What was opened is looked at again, so that a link put in between changes nothing.
 */
import { randomUUID } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { lstat, mkdir, open, readlink, realpath, rename, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { systemCodeOf, unlessCode } from '../system/error-codes.ts';
import { isThere } from '../system/whole-files.ts';
import { RequestRefused } from './agent-link.ts';

/** Containers may come without it. */
const HAS_DESCRIPTORS = existsSync('/proc/self/fd');

const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
const FOLDER_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const DRAFT_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const PRIVATE_MODE = 0o600;
const USUAL_MODE = 0o666;
const MODE_BITS = 0o777;

const invalid = (message: string): RequestRefused => new RequestRefused('invalid', message);
const changed = (path: string): RequestRefused =>
  new RequestRefused('failed', `${path} leads somewhere else now than when it was allowed`);

export interface WorkspacePlace {
  /** Where it really is. */
  readonly real: string;
  /** The same by the name of the workspace, as rules know it. */
  readonly named: string;
}

/**
 * Where an absolute path leads, in the workspace. @throws RequestRefused for one that leads elsewhere, or cannot be
 * followed
 */
export async function placeInWorkspace(path: string, workspaceDir: string): Promise<WorkspacePlace> {
  if (!isAbsolute(path) || path.includes('\0'))
    throw invalid(`expected an absolute path, received ${JSON.stringify(path.slice(0, 500))}`);
  const root = await realpath(workspaceDir);
  const { existing, missing } = await nearestExisting(resolve(path));
  if (existing !== root && !existing.startsWith(root.endsWith(sep) ? root : root + sep))
    throw invalid(`${path} lies outside the workspace`);
  const [first] = missing;
  // It would be followed by whoever makes the file that it names.
  if (first !== undefined && (await isThere(join(existing, first))))
    throw invalid(`${path} leads through a symbolic link to nowhere`);
  const real = join(existing, ...missing);
  return { real, named: join(workspaceDir, relative(root, real)) };
}

/** @param place the real one @throws RequestRefused */
export async function readWorkspaceFile(place: string, maxBytes: number): Promise<Buffer> {
  const file = await opened(place, READ_FLAGS);
  try {
    await confirm(file, place);
    const stats = await file.stat();
    if (!stats.isFile()) throw invalid(`${place} is no file`);
    if (stats.size > maxBytes) throw invalid(`${place} has ${stats.size} bytes, and ${maxBytes} are read at most`);
    const bytes = Buffer.alloc(stats.size);
    let length = 0;
    // One that shrinks meanwhile is shorter than was said, one that grows is read as it was.
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = (await file.read(bytes, length, bytes.length - length, length)).bytesRead;
    return bytes.subarray(0, length);
  } finally {
    await file.close();
  }
}

/**
 * All at once: others see what was there before, or all of this. Folders on the way are made. @throws RequestRefused
 */
export async function writeWorkspaceFile(place: string, content: Buffer): Promise<void> {
  const folder = await folderFor(dirname(place));
  try {
    const target = inFolder(folder, dirname(place), basename(place));
    const before = await lstat(target).catch(() => undefined);
    if (before?.isFile() === false) throw invalid(`${place} is no file`);
    const draft = inFolder(folder, dirname(place), `.wakechart-${randomUUID()}.draft`);
    try {
      await writeDraft(draft, content, before?.mode);
      await confirm(folder, dirname(place));
      await rename(draft, target);
    } catch (error) {
      await unlink(draft).catch(() => undefined);
      throw error;
    }
  } finally {
    await folder.close();
  }
}

async function writeDraft(draft: string, content: Buffer, mode: number | undefined): Promise<void> {
  // Nobody may read what a private file is to hold before it has its mode.
  const file = await open(draft, DRAFT_FLAGS, mode === undefined ? USUAL_MODE : PRIVATE_MODE);
  try {
    await file.writeFile(content);
    if (mode !== undefined) await file.chmod(mode & MODE_BITS);
  } finally {
    await file.close();
  }
}

/** Opens a folder, and makes what is missing of it, each in the one above it that is held open meanwhile. */
async function folderFor(path: string): Promise<FileHandle> {
  const { existing, missing } = await nearestExisting(path);
  if (join(existing, ...missing) !== path) throw changed(path);
  let folder = await opened(existing, FOLDER_FLAGS);
  let reached = existing;
  try {
    await confirm(folder, reached);
    for (const name of missing) {
      await mkdir(inFolder(folder, reached, name)).catch(unlessCode('EEXIST'));
      const next = await opened(inFolder(folder, reached, name), FOLDER_FLAGS);
      await folder.close();
      folder = next;
      reached = join(reached, name);
      await confirm(folder, reached);
    }
    return folder;
  } catch (error) {
    await folder.close();
    throw error;
  }
}

/** On Linux through its descriptor, so that nobody can put a link in place of it in between. */
function inFolder(folder: FileHandle, path: string, name: string): string {
  return HAS_DESCRIPTORS ? `/proc/self/fd/${folder.fd}/${name}` : join(path, name);
}

async function opened(path: string, flags: number): Promise<FileHandle> {
  return open(path, flags).catch((error: unknown) => {
    const code = systemCodeOf(error);
    if (code === 'ENOENT') throw new RequestRefused('missing', `there is no ${path}`);
    if (code === 'ELOOP' || code === 'ENOTDIR') throw changed(path);
    throw new RequestRefused('failed', `${path} cannot be opened: ${code ?? 'the system refuses it'}`);
  });
}

/** Proves that what is open lies where it was looked for. */
async function confirm(handle: FileHandle, place: string): Promise<void> {
  const actual = HAS_DESCRIPTORS ? await readlink(`/proc/self/fd/${handle.fd}`) : await realpath(place);
  if (actual !== place) throw changed(place);
}

async function nearestExisting(
  path: string,
): Promise<{ readonly existing: string; readonly missing: readonly string[] }> {
  const missing: string[] = [];
  for (let current = path; ; current = dirname(current)) {
    try {
      return { existing: await realpath(current), missing };
    } catch (error) {
      const code = systemCodeOf(error);
      if (code !== 'ENOENT' || dirname(current) === current)
        throw invalid(`${path} cannot be followed: ${code ?? 'the system refuses it'}`);
      missing.unshift(basename(current));
    }
  }
}
