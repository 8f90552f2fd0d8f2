/**
 * Temporary folders for the whole run, in which each test file gets its own; removed at its end whatever became of the
 * test files.
 *
 * Most of the time that a store takes is the disk's: each record is on it before anybody hears of it. What the disk
 * does with it no test can see, so those files that ask for it have their temporary folder in memory, where the same
 * calls cost next to nothing.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Absolute paths of the folders in which each test file gets its own temporary folder. */
    readonly scratchFolders: Readonly<Record<ScratchPlace, string>>;
    /**
     * Not `memory` for files that need a sandbox: it has a /dev of its own, so that nothing in ours can be its
     * workspace. Those that share a process all the same are listed in on-disk.ts.
     */
    readonly scratchPlace: ScratchPlace;
  }
}

/** `memory` is the ordinary folder where the machine has none in memory that will do. */
export type ScratchPlace = 'ordinary' | 'memory';

/** Where Linux has a file system in memory for everybody. */
const IN_MEMORY = '/dev/shm';
/** Source: TMPFS_MAGIC in include/uapi/linux/magic.h. */
const TMPFS = 0x01021994;
/** Many times what all test files together have written at once. Containers often have 64 MiB there. */
const MIN_FREE_BYTES = 512 * 1024 * 1024;

const made: string[] = [];

export function setup(project: TestProject): void {
  const ordinary = makeFolder(tmpdir());
  project.provide('scratchFolders', { ordinary, memory: isFastEnough(IN_MEMORY) ? makeFolder(IN_MEMORY) : ordinary });
}

export function teardown(): void {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
}

function makeFolder(parent: string): string {
  // Short, because the path of a Unix socket below it may have 107 characters at most.
  const folder = mkdtempSync(join(realpathSync(parent), 'wct-'));
  made.push(folder);
  return folder;
}

/** Whether files in `folder` are in memory, with room for all tests, and with programs among them that may run. */
export function isFastEnough(folder: string, minFreeBytes = MIN_FREE_BYTES): boolean {
  let probe: string | undefined;
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
