/** How the tests run, alone in a process or many in one: against the sources, with dist/ built for the few that load it. */
import { devNull } from 'node:os';
import { defineConfig } from 'vitest/config';
import type { TestProjectInlineConfiguration } from 'vitest/config';
import { ClosingLine } from './test/setup/closing-line.ts';

/** Long runs of real processes, most of all of those that misbehave: `npm run test:matrix`, which CI runs after `npm test`. */
const areLongRunsAskedFor = process.env['CRASH_MATRIX'] !== undefined || process.env['CHAOS_SECONDS'] !== undefined;
const LONG_RUNS = areLongRunsAskedFor
  ? []
  : [
      'test/runtime/{chaos*,crash,crash-improvement,crash-matrix,shells-of-ended-sessions}.test.ts',
      'test/**/*-processes.test.ts',
      'test/actors/shell/shell-stopping.test.ts',
      'test/adapters/acp/{behaving,contract,files,opening,terminals,tools}.test.ts',
      'test/package/build.test.ts',
      'test/adapters/{bubblewrap/bubblewrap,import-logs/damaged-logs,substrate-files/killed}.test.ts',
      'test/adapters/git/{clean-worktrees,create,keeping,lost-work,reconcile,remove,unsafe-repository}.test.ts',
      'test/adapters/cli/{person,retrieval,worktree}.test.ts',
      'test/adapters/files/{log-equivalence,store-trouble}.test.ts',
      'test/adapters/{shell-syntax/shells-agree,cli-agent/contract,mcp/stdio}.test.ts',
      'test/adapters/child-process/{jobs,worker-service}.test.ts',
      'test/fuzz/logs.test.ts',
      'test/adapters/{child-process/real-worker,cli-agent/misbehavior,mcp/stdio-life,process-tree/reconcile,shell/shell-chaos}.test.ts',
    ];

/** Files that leave their process as they found it, so that many of them can run in one, which spares each the start and the imports.
 *  Not those of command lines, shells and servers, nor what replaces a clock or a variable of the system:
 *  a file that does not put back what it replaced fails here. */
const SHARING = areLongRunsAskedFor
  ? []
  : [
      'test/{histories,machines,properties}/**/*.test.ts',
      'test/actors/{artifact,environment,memory,outcome,retrieval,run,schedule,session,skill,subagent,task,turn,vault,wake}/**/*.test.ts',
      'test/adapters/{command-places,cron,environment-files,file-tools,files,memory,policy-files,retrieval-files,schedule-files,script,shell-syntax,skill-files,vault-files}/**/*.test.ts',
    ];

/** What holds for both. The folders and programs that all files share are set up once, so that is not among it. */
const EACH = {
  setupFiles: ['test/setup/leave-nothing-behind.ts'],
  pool: 'forks',
  // A limit for what hangs, not a measure of speed: a loaded machine must not fail a test that would have passed.
  testTimeout: 30_000,
  hookTimeout: 30_000,
  // A `.only` that slips through would hide every other test, here as much as in CI.
  allowOnly: false,
  // The same everywhere: no time zone and no git settings of the machine's owner.
  env: { TZ: 'UTC', GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1' },
} satisfies TestProjectInlineConfiguration['test'];

export default defineConfig({
  test: {
    projects: [
      // First, because the longest files are here: the many short ones then fill what is left.
      { test: { ...EACH, name: 'alone', include: ['test/**/*.test.ts'], exclude: [...LONG_RUNS, ...SHARING], isolate: true, provide: { sharesProcess: false } } },
      { test: { ...EACH, name: 'sharing', include: SHARING, exclude: LONG_RUNS, isolate: false, provide: { sharesProcess: true } } },
    ],
    globalSetup: ['test/setup/scratch-folder.ts', 'test/setup/build-dist.ts'],
    reporters: ['default', new ClosingLine()],
    // As many as the machine has, where Vitest would leave one of two cores to nobody.
    maxWorkers: '100%',
    teardownTimeout: 10_000,
    allowOnly: false,
    passWithNoTests: false,
    provide: { leftoverGraceMs: 3_000 },
  },
});
