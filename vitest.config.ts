/**
 * How the tests run, alone in a process or many in one: against the sources, with dist/ built for the few that load it.
 */
import { availableParallelism, devNull } from 'node:os';
import { defineConfig } from 'vitest/config';
import type { TestProjectInlineConfiguration } from 'vitest/config';
import { ClosingLine } from './test/setup/closing-line.ts';
import { LongestFirst } from './test/setup/longest-first.ts';
import { removeForeignVariables } from './test/setup/foreign-variables.ts';

removeForeignVariables(process.env);

/**
 * Long runs of real processes, most of all of those that misbehave: `npm run test:matrix`, which CI runs after `npm
 * test`.
 */
const areLongRunsAskedFor = process.env['CRASH_MATRIX'] !== undefined || process.env['CHAOS_SECONDS'] !== undefined;
const LONG_RUNS = [
  'test/runtime/{chaos*,crash,crash-improvement,crash-matrix,shells-of-ended-sessions}.test.ts',
  'test/**/*-processes.test.ts',
  'test/actors/shell/shell-stopping.test.ts',
  'test/adapters/acp/{behaving,contract,files,opening,terminals,tools}.test.ts',
  'test/package/build.test.ts',
  'test/adapters/{bubblewrap/bubblewrap,import-logs/damaged-logs,shared-files/killed}.test.ts',
  'test/adapters/git/{clean-worktrees,create,keeping,lost-work,reconcile,remove,unsafe-repository}.test.ts',
  'test/cli/{person,retrieval,worktree}.test.ts',
  'test/adapters/files/{log-equivalence,store-trouble}.test.ts',
  'test/adapters/{shell-syntax/shells-agree,cli-agent/contract,mcp/stdio}.test.ts',
  'test/adapters/child-process/{jobs,worker-environment,worker-service}.test.ts',
  'test/{actors/wake/model-fuzz,fuzz/logs,testing/charts-of-others}.test.ts',
  'test/adapters/{child-process/real-worker,cli-agent/misbehavior,mcp/stdio-life,process-tree/reconcile,shell/shell-chaos}.test.ts',
];

/** Files that have a process of their own and the ordinary temporary folder. All others leave their process as they found it, so that many of
 *  them can run in one, which spares each the start and the imports, and but for those in test/setup/on-disk.ts have their files in memory, which
 *  spares each the waits for the disk: a file that does not put back what it replaced fails there. */
const ALONE = areLongRunsAskedFor
  ? [
      // They need a sandbox, namespaces or mounts, which take nothing in /dev.
      'test/adapters/bubblewrap/bubblewrap.test.ts',
      'test/adapters/files/lease-processes.test.ts',
      'test/adapters/postgres/chaos-full-disk-processes.test.ts',
      'test/runtime/chaos-full-disk.test.ts',
      'test/scenarios/improvement/{ended-workers,full-disk,killed-shell,workers-in-sandbox}-processes.test.ts',
      'test/scenarios/subagents/containers-processes.test.ts',
      // They start many programs.
      'test/{cli/demo,cli/worker,setup/leave-nothing-behind}-processes.test.ts',
    ]
  : [
      // Their pipes are named after the process that made them, or they watch its clock.
      'test/adapters/shell/shell-pipes-{left,missing}.test.ts',
      'test/actors/clock/clock.test.ts',
    ];

/** Rules of the tree and its generated pages, for which they load a compiler: `npm run lint`, as the other rules. */
const COMPILING = areLongRunsAskedFor
  ? []
  : ['test/docs/{configuration,errors}.test.ts', 'test/package/public-types.test.ts', 'test/structure/*.test.ts'];

/** They run the programs of others, with a configuration of their own: `npm run test:programs`. */
const OTHERS = ['test/programs/**'];

/** What holds for all of them. The folders and programs that all files share are set up once, so that is not among it. */
const EACH = {
  setupFiles: ['test/setup/leave-nothing-behind.ts', 'test/setup/chart-hits.ts', 'test/setup/property-seed.ts'],
  pool: 'forks',
  // What tests make dies young: in a small place for it the collector took a sixth of the processor time, and more in
  // threads of its own, where every core has a worker. And most of what they run runs once or ten times: what V8 makes
  // fast only after ten times as much (67,584 otherwise) took a fifth less, where nothing made fast took a third more.
  // Later V8s have no such flag, and would not start with it.
  execArgv: [
    '--max-semi-space-size=64',
    '--single-threaded-gc',
    ...(process.versions.node.startsWith('20.') ? ['--interrupt-budget=600000'] : []),
  ],
  // Packages in CommonJS as Node gives them: what Vitest puts in front of each costs every use of it.
  deps: { interopDefault: false },
  // A limit for what hangs, not a measure of speed: a loaded machine must not fail a test that would have passed.
  testTimeout: areLongRunsAskedFor ? 120_000 : 30_000,
  hookTimeout: areLongRunsAskedFor ? 120_000 : 30_000,
  // What a page or a process is to come to show is polled for as long as those that wait for it by name wait.
  expect: { poll: { timeout: 15_000 } },
  // A `.only` that slips through would hide every other test, here as much as in CI.
  allowOnly: false,
  // The same everywhere: no time zone and no git settings of the machine's owner.
  env: { TZ: 'UTC', GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1' },
} satisfies TestProjectInlineConfiguration['test'];

export default defineConfig({
  test: {
    // A file that has not changed is not compiled again: in CI the long runs find what the others have compiled.
    experimental: { fsModuleCache: true },
    projects: [
      // First, because the longest files are here: the many short ones then fill what is left.
      {
        test: {
          ...EACH,
          name: 'alone',
          include: ALONE,
          exclude: areLongRunsAskedFor ? [] : LONG_RUNS,
          isolate: true,
          provide: { sharesProcess: false, scratchPlace: 'ordinary' },
        },
      },
      ...(COMPILING.length === 0
        ? []
        : [
            {
              test: {
                ...EACH,
                name: 'compiling',
                include: COMPILING,
                isolate: false,
                provide: { sharesProcess: true, scratchPlace: 'ordinary' as const },
              },
            },
          ]),
      {
        test: {
          ...EACH,
          name: 'sharing',
          include: areLongRunsAskedFor ? LONG_RUNS : ['test/**/*.test.ts'],
          exclude: areLongRunsAskedFor ? ALONE : [...LONG_RUNS, ...ALONE, ...COMPILING, ...OTHERS],
          isolate: false,
          provide: { sharesProcess: true, scratchPlace: 'memory' },
        },
      },
    ],
    globalSetup: [
      'test/setup/scratch-folder.ts',
      'test/setup/postgres-folder.ts',
      'test/setup/build-dist.ts',
      'test/setup/chart-hits-folder.ts',
      'test/setup/property-seed-of-commit.ts',
    ],
    reporters: ['default', new ClosingLine()],
    sequence: { sequencer: LongestFirst },
    // More than the machine has cores: a quarter of the time of a file is spent on waiting for what it has started.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    teardownTimeout: 10_000,
    allowOnly: false,
    passWithNoTests: false,
    provide: { leftoverGraceMs: 3_000 },
  },
});
