/** How much space is left on the disk of a folder, for this user, and what takes it there. */
import { lstat, opendir, statfs } from 'node:fs/promises';
import { join } from 'node:path';

/** In bytes. Undefined where the system does not say. */
export async function freeSpace(folder: string): Promise<number | undefined> {
  return statfs(folder).then(
    ({ bavail, bsize, blocks }) => (blocks > 0 ? bavail * bsize : undefined),
    () => undefined,
  );
}

/** How many entries of a folder are gone through in search of what is large. */
const MAX_ENTRIES = 20_000;
const MAX_NAMED = 3;

/** The largest files below a folder, largest first; links are not followed, and what cannot be read is left out. */
export async function largestFiles(
  folder: string,
): Promise<readonly { readonly path: string; readonly bytes: number }[]> {
  let largest: { readonly path: string; readonly bytes: number }[] = [];
  const folders = [folder];
  let left = MAX_ENTRIES;
  for (let next = folders.shift(); next !== undefined && left > 0; next = folders.shift()) {
    try {
      for await (const entry of await opendir(next)) {
        if ((left -= 1) < 0) break;
        const path = join(next, entry.name);
        if (entry.isDirectory()) folders.push(path);
        if (!entry.isFile()) continue;
        const { blocks } = await lstat(path);
        largest = [...largest, { path, bytes: blocks * 512 }].toSorted((one, other) => other.bytes - one.bytes);
        largest.length = Math.min(largest.length, MAX_NAMED);
      }
    } catch {
      // Gone since, or not for us.
    }
  }
  return largest;
}
