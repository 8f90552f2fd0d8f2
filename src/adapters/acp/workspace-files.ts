/**
 * Files of the workspace for an agent: read and written whole, and from nowhere else, whatever a path or a link says.
 * What was opened is looked at again, so that a link put in between changes nothing.
 */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, realpath, rename, unlink } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { systemCodeOf } from '../system/error-codes.ts';
import { HeldFolder, pathOfHandle } from '../system/held-folder.ts';
import { isThere } from '../system/whole-files.ts';
import { RequestRefused } from './agent-link.ts';

const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
const DRAFT_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const PRIVATE_MODE = 0o600;
const USUAL_MODE = 0o666;
/** As any program would make it. */
const USUAL_FOLDER = { mode: 0o777, durability: 'os' } as const;
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
  // The process that makes the file that it names would follow it.
  if (first !== undefined && (await isThere(join(existing, first))))
    throw invalid(`${path} leads through a symbolic link to nowhere`);
  const real = join(existing, ...missing);
  return { real, named: join(workspaceDir, relative(root, real)) };
}

/** @param place the real one @throws RequestRefused */
export async function readWorkspaceFile(place: string, maxBytes: number): Promise<Buffer> {
  const file = await open(place, READ_FLAGS).catch((error: unknown) => notOpened(place, error));
  try {
    if ((await pathOfHandle(file, place)) !== place) throw changed(place);
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
    const target = folder.at(basename(place));
    const before = await lstat(target).catch(() => undefined);
    if (before?.isFile() === false) throw invalid(`${place} is no file`);
    const draft = folder.at(`.wakechart-${randomUUID()}.draft`);
    try {
      await writeDraft(draft, content, before?.mode);
      await folder.confirm();
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
  // No other user may read what a private file is to hold before it has its mode.
  const file = await open(draft, DRAFT_FLAGS, mode === undefined ? USUAL_MODE : PRIVATE_MODE);
  try {
    await file.writeFile(content);
    if (mode !== undefined) await file.chmod(mode & MODE_BITS);
  } finally {
    await file.close();
  }
}

/** Opens a folder, and makes what is missing of it, each in the one above it that is held open meanwhile. */
async function folderFor(path: string): Promise<HeldFolder> {
  const { existing, missing } = await nearestExisting(path);
  if (join(existing, ...missing) !== path) throw changed(path);
  return HeldFolder.open(existing, { refused: (_actual, expected) => changed(expected) })
    .then((folder) => folder.into(missing, USUAL_FOLDER))
    .catch((error: unknown) => notOpened(path, error));
}

function notOpened(path: string, error: unknown): never {
  if (error instanceof RequestRefused) throw error;
  const code = systemCodeOf(error);
  if (code === 'ENOENT') throw new RequestRefused('missing', `there is no ${path}`);
  if (code === 'ELOOP' || code === 'ENOTDIR') throw changed(path);
  throw new RequestRefused('failed', `${path} cannot be opened: ${code ?? 'the system refuses it'}`);
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
