/**
 * Takes a file of the workspace copy that lies here into the one that is laid out, as it is: under a second name, until
 * the old one goes. Nothing of it is read or written. Only where the old copy goes afterwards: two copies must not
 * share what a process may change in one of them.
 */
import { link, lstat, open, unlink } from 'node:fs/promises';
import { nativePath } from '../system/native-path.ts';
import { READING_NO_LINK } from '../system/own-files.ts';
import { isSettled, checkOf } from './known-copy.ts';

export interface LinkedFile {
  readonly from: string;
  readonly to: string;
  /** How it checked when its content was known. */
  readonly check: string;
  /** Nanoseconds since the epoch by the clock of the file system: before that reading. */
  readonly seenNs: bigint;
}

/** @returns whether it is there now, on the disk; otherwise it has to be copied */
export async function linkFile({ from, to, check, seenNs }: LinkedFile): Promise<boolean> {
  // There nothing is put on the disk that may not be written.
  if (process.platform === 'win32' || !isSettled(check, seenNs)) return false;
  try {
    await putOnDisk(from);
    await link(nativePath(from), nativePath(to));
  } catch {
    // Not allowed, or not known on this file system.
    return false;
  }
  // A process may have put another file, or a link that leads anywhere, in its place just before.
  const stats = await lstat(nativePath(to), { bigint: true });
  if (stats.nlink === 2n && stats.isFile() && isSameBut(checkOf(stats), check)) return true;
  await unlink(nativePath(to));
  return false;
}

/**
 * How it checks when its old name is gone, which its number of names and so its time of change say. Empty: not as it
 * was.
 */
export async function tend(path: string, check: string): Promise<string> {
  const stats = await lstat(nativePath(path), { bigint: true }).catch(() => undefined);
  return stats?.nlink === 1n && isSameBut(checkOf(stats), check) ? checkOf(stats) : '';
}

/** But for the time of its last change of any kind, which comes first. */
function isSameBut(one: string, other: string): boolean {
  return one.slice(one.indexOf(' ')) === other.slice(other.indexOf(' '));
}

/** Before it has two names: what was not changed lately costs nothing then. */
async function putOnDisk(path: string): Promise<void> {
  const file = await open(nativePath(path), READING_NO_LINK);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
