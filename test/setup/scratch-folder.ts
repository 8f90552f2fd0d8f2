/**
 * Temporary folders for the whole run, in which each test file gets its own; removed at its end whatever became of the
 * test files.
 *
 * Most of the time that a store takes is the disk's: each record is on it before anybody hears of it. What the disk
 * does with it no test can see, so those files that ask for it have their temporary folder in memory, where the same
 * calls cost next to nothing.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { IN_MEMORY, isFastEnough } from '../../scripts/in-memory.mjs';

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
