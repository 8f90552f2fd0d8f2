/**
 * Files of the workspace for an agent: read and written whole, and from nowhere else, whatever a path or a link says.
 * What was opened is checked again, so that a link put in between changes nothing.
 */
import { lstat, open, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { systemCodeOf } from '../system/error-codes.ts';
import { putWholeFile } from '../system/held-file.ts';
import { HeldFolder, pathOfHandle } from '../system/held-folder.ts';
import { READING_NO_LINK, bytesOf } from '../system/own-files.ts';
import { isThere, isWithin } from '../system/whole-files.ts';
import { RequestRefused } from './agent-link.ts';

/** As any program would make it. */
const USUAL_FOLDER = { mode: 0o777, durability: 'os' } as const;

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
  if (!isWithin(root, existing)) throw invalid(`${path} lies outside the workspace`);
  const [first] = missing;
  // The process that makes the file that it names would follow it.
  if (first !== undefined && (await isThere(join(existing, first))))
    throw invalid(`${path} leads through a symbolic link to nowhere`);
  const real = join(existing, ...missing);
  return { real, named: join(workspaceDir, relative(root, real)) };
}

/** @param place the real one @throws RequestRefused */
export async function readWorkspaceFile(place: string, maxBytes: number): Promise<Buffer> {
  const file = await open(place, READING_NO_LINK).catch((error: unknown) => notOpened(place, error));
  try {
    if ((await pathOfHandle(file, place)) !== place) throw changed(place);
    const stats = await file.stat();
    if (!stats.isFile()) throw invalid(`${place} is no file`);
    if (stats.size > maxBytes) throw invalid(`${place} has ${stats.size} bytes, and ${maxBytes} are read at most`);
    // One that shrinks meanwhile is shorter than was said, one that grows is read as it was.
    return await bytesOf(file, stats.size);
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
    const name = basename(place);
    const before = await lstat(folder.at(name)).catch(() => undefined);
    if (before?.isFile() === false) throw invalid(`${place} is no file`);
    await putWholeFile(folder, { name, content, mode: before?.mode, as: 'replace' });
  } finally {
    await folder.close();
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
