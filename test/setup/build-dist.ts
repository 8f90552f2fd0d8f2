/**
 * Builds dist/ once before the tests, in under a tenth of a second when nothing changed.
 *
 * Type errors do not stop the run: most tests load the sources. They are handed on, and test/package/build.test.ts
 * fails with them.
 */
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { build } from '../../scripts/build.mjs';
import { buildPage } from '../../scripts/build-page.mjs';

declare module 'vitest' {
  interface ProvidedContext {
    /** What the compiler had to say about src/; empty when all is well. */
    readonly buildErrors: string;
  }
}

export async function setup(project: TestProject): Promise<void> {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const { ok, output } = build(root);
  const page = await buildPage(root);
  project.provide('buildErrors', ok && page.ok ? '' : `${output}${page.output}`);
}
