/**
 * Where paths lead once every symbolic link is followed. For folders that the runtime itself works with at every step,
 * such as the home: the system answers from memory in microseconds, and to ask in another thread costs ten times that.
 * A path that a model or a mount names is followed by another thread: it may lead to a file system that does not
 * answer.
 */
import { realpathSync } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { hasDescriptorPaths } from './held-folder.ts';

/** The real path of a folder of the runtime; undefined where it cannot be followed. */
export function realPathOfOwn(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** The same of any path, and the path itself where it cannot be followed. */
export function realPathOrItself(path: string): string {
  return realPathOfOwn(path) ?? path;
}

/** Where an absolute path leads, as far as it exists. */
export async function nearestRealPath(absolute: string): Promise<string> {
  const missing: string[] = [];
  for (let current = absolute; ; current = dirname(current)) {
    const found = await realpath(current).catch(() => undefined);
    if (found !== undefined) return join(found, ...missing);
    if (dirname(current) === current) return absolute;
    missing.unshift(basename(current));
  }
}

/**
 * Where a path leads when links above it are followed and one in its own place is not, with its last name as the
 * system writes it where folders are proven by their paths: a disk may take another case or form of Unicode for the
 * same.
 * @throws what the system says of the folder around it
 */
export async function realPlaceOf(path: string): Promise<string> {
  const place = join(await realpath(dirname(path)), basename(path));
  if (hasDescriptorPaths()) return place;
  const found = await lstat(place).catch(() => undefined);
  return found === undefined || found.isSymbolicLink() ? place : realpath(place);
}
