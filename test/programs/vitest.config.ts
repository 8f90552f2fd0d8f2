/**
 * How the tests of real agent programs run: many files in a process, with the ordinary temporary folder, and with time
 * enough for programs that need seconds to start.
 */
import { availableParallelism, devNull } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { ClosingLine } from '../setup/closing-line.ts';
import { removeForeignVariables } from '../setup/foreign-variables.ts';

removeForeignVariables(process.env);

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    experimental: { fsModuleCache: true },
    include: ['test/programs/**/*.test.ts'],
    setupFiles: ['test/setup/leave-nothing-behind.ts'],
    globalSetup: ['test/setup/scratch-folder.ts', 'test/setup/build-dist.ts'],
    pool: 'forks',
    isolate: false,
    // Their programs wait for each other, and for what they have started, a third of the time.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    testTimeout: 240_000,
    // Programs of others stall for reasons of their own: what fails twice fails.
    retry: 1,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: ['default', new ClosingLine()],
    allowOnly: false,
    passWithNoTests: false,
    env: { TZ: 'UTC', GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1' },
    provide: { sharesProcess: true, scratchPlace: 'ordinary', leftoverGraceMs: 10_000 },
  },
});
