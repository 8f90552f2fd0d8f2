/**
 * The folder in which the test files of a run say which transitions of the charts they saw. What an earlier run said is
 * removed.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Absolute path. Absent where a run has no use for it. */
    readonly chartHitsFolder: string;
  }
}

export function setup(project: TestProject): void {
  const folder = fileURLToPath(new URL('../../.build/chart-hits/', import.meta.url));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  project.provide('chartHitsFolder', folder);
}
