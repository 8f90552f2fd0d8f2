// @ts-check
/** Where files may lie in memory: a file system on a disk takes several times the processor time to write them. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where Linux has a file system in memory for everybody. */
export const IN_MEMORY = '/dev/shm';
/** Source: TMPFS_MAGIC in include/uapi/linux/magic.h. */
const TMPFS = 0x01021994;
/** Many times what all test files together have written at once. Containers often have 64 MiB there. */
const MIN_FREE_BYTES = 512 * 1024 * 1024;

/**
 * Whether files in `folder` are in memory, with room for all that is to lie there, and with programs among them that
 * may run.
 * @param {string} folder @param {number} [minFreeBytes] default: what all tests together need
 */
export function isFastEnough(folder, minFreeBytes = MIN_FREE_BYTES) {
  /** @type {string | undefined} */
  let probe;
  try {
    const { type, bavail, bsize } = statfsSync(folder);
    if (type !== TMPFS || bavail * bsize < minFreeBytes) return false;
    probe = mkdtempSync(join(folder, 'wct-'));
    const program = join(probe, 'program');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
    return spawnSync(program).status === 0;
  } catch {
    // It is not there, or not for us.
    return false;
  } finally {
    if (probe !== undefined) rmSync(probe, { recursive: true, force: true });
  }
}
