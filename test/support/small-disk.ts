/**
 * A file system of a test's own that is soon full. Where nothing can be mounted the tests that need one are skipped,
 * and counted as skipped.
 */
import { execFileSync } from 'node:child_process';
import { temporaryHome } from './temporary-home.ts';

/** A program of the system, to its end. @throws when it fails */
const call = (name: string, ...words: readonly string[]): void => void execFileSync(name, words, { stdio: 'pipe' });

/** Mounts one over an empty folder. @returns why not; undefined when it is there */
export function mountSmallDisk(path: string, bytes: number): string | undefined {
  try {
    call('mount', '-t', 'tmpfs', '-o', `size=${bytes},mode=0700`, 'tmpfs', path);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export function unmount(path: string): void {
  call('umount', path);
}

/** For `describe.skipIf(whyNoSmallDisk !== undefined)`. */
export const whyNoSmallDisk = await (async () => {
  const probe = await temporaryHome();
  const reason = mountSmallDisk(probe.path, 1_000_000);
  if (reason === undefined) unmount(probe.path);
  await probe.remove();
  return reason;
})();
if (whyNoSmallDisk !== undefined)
  console.warn(`skipped: the tests of a full disk need the right to mount a tmpfs (${whyNoSmallDisk.trim()})`);
