/** One temporary folder for the whole run, removed at its end whatever became of the test files. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Absolute path of the folder in which each test file gets its own temporary folder. */
    readonly scratchFolder: string;
  }
}

let scratchFolder: string | undefined;

export function setup(project: TestProject): void {
  // Short, because the path of a Unix socket below it may have 107 characters at most.
  scratchFolder = mkdtempSync(join(realpathSync(tmpdir()), 'wct-'));
  project.provide('scratchFolder', scratchFolder);
}

export function teardown(): void {
  if (scratchFolder !== undefined) rmSync(scratchFolder, { recursive: true, force: true });
}
