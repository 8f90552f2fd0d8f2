/** How the tests run: each file in a process of its own, against the sources, with dist/ built for the few that load it. */
import { devNull } from 'node:os';
import { defineConfig } from 'vitest/config';
import { ClosingLine } from './test/setup/closing-line.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Long runs of real processes: `npm run test:matrix`, which CI runs after `npm test`.
    exclude: process.env['CRASH_MATRIX'] !== undefined || process.env['CHAOS_SECONDS'] !== undefined ? [] : ['test/runtime/{chaos*,crash-matrix}.test.ts', 'test/**/*-processes.test.ts'],
    globalSetup: ['test/setup/scratch-folder.ts', 'test/setup/build-dist.ts'],
    setupFiles: ['test/setup/leave-nothing-behind.ts'],
    reporters: ['default', new ClosingLine()],
    pool: 'forks',
    // As many as the machine has, where Vitest would leave one of two cores to nobody.
    maxWorkers: '100%',
    isolate: true,
    // A limit for what hangs, not a measure of speed: a loaded machine must not fail a test that would have passed.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    teardownTimeout: 10_000,
    // A `.only` that slips through would hide every other test, here as much as in CI.
    allowOnly: false,
    passWithNoTests: false,
    provide: { leftoverGraceMs: 3_000 },
    // The same everywhere: no time zone and no git settings of the machine's owner.
    env: { TZ: 'UTC', GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1' },
  },
});
