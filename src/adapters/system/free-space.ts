/** How much room is left on the disk of a folder, for this user. */
import { statfs } from 'node:fs/promises';

/** In bytes. Undefined where the system does not say. */
export async function freeSpace(folder: string): Promise<number | undefined> {
  return statfs(folder).then(
    ({ bavail, bsize, blocks }) => (blocks > 0 ? bavail * bsize : undefined),
    () => undefined,
  );
}
