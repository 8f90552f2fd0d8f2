/**
 * How the tests of the backend that asks models over HTTP run against the provider packages of one major of the AI SDK:
 * those in the folder that AI_SDK names, such as `sdk-7`. `npm run test:sdks` runs them so for each major on each Node.
 */
import { readFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { ClosingLine } from '../setup/closing-line.ts';
import { removeForeignVariables } from '../setup/foreign-variables.ts';

removeForeignVariables(process.env);

declare module 'vitest' {
  interface ProvidedContext {
    /** The versions of the packages that are to be met. */
    readonly packages: Readonly<Record<string, string>>;
  }
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const name = process.env['AI_SDK'] ?? '';
const versions = JSON.parse(readFileSync(new URL('versions.json', import.meta.url), 'utf8')) as Record<
  string,
  { readonly packages?: Readonly<Record<string, string>> }
>;
const packages = versions[name]?.packages;
if (packages === undefined) throw new Error(`AI_SDK="${name}" is none of versions.json: run npm run test:sdks`);

export default defineConfig({
  root,
  resolve: {
    alias: Object.keys(packages).map((find) => ({
      find: new RegExp(`^${find}$`),
      replacement: join(root, '.build/programs', name, 'node_modules', find),
    })),
  },
  test: {
    include: ['test/adapters/embedded/*.test.ts', 'test/programs/met-packages.sdk.ts'],
    // It runs dist/, in a process that has no packages at all.
    exclude: ['test/adapters/embedded/hosts.test.ts'],
    setupFiles: ['test/setup/leave-nothing-behind.ts'],
    globalSetup: ['test/setup/scratch-folder.ts'],
    pool: 'forks',
    isolate: false,
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 15_000 } },
    reporters: ['default', new ClosingLine()],
    allowOnly: false,
    passWithNoTests: false,
    env: { TZ: 'UTC', GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1' },
    provide: { packages, sharesProcess: true, scratchPlace: 'memory', leftoverGraceMs: 3_000 },
  },
});
