/** What a runner of forked workers is made with, checked before anything is forked. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import * as z from 'zod';
import type { Clock } from '../../actors/clock/clock.ts';
import { createSystemClock } from '../../actors/clock/system-clock.ts';
import type { WorkerKeysRequest } from '../../actors/subagent/worker-keys.ts';
import type { SubagentWorktreeAdapter } from '../../actors/subagent/worktree-adapter.ts';
import type { ProcessTree } from '../../actors/task/process-tree.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { providerTable } from '../../machines/run/provider-settings.ts';
import type { ProviderTable } from '../../machines/run/provider-settings.ts';
import { providerOf, withProvider } from '../../machines/subagent/worker-provider.ts';
import type { SubagentProviderProfile } from '../../machines/subagent/worker-provider.ts';
import { workerAgentDefinition, workerParentConfig } from '../../machines/subagent/worker-protocol.ts';
import type { WorkerAgentDefinition } from '../../machines/subagent/worker-protocol.ts';
import { textWithoutNul } from '../../machines/text-schemas.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import { DEFAULT_KILL_GRACE_MS } from '../../machines/task/task-settings.ts';
import { getDefaultSubagentWorkerPath } from './default-worker-path.ts';

export interface ChildProcessSubagentRunnerOptions {
  /** Owns the processes of the workers, and finds those that a crash left. */
  readonly processTree: ProcessTree;
  readonly clock?: Clock | undefined;
  /** The program that workers run. Default: that of the package. */
  readonly workerPath?: string | undefined;
  /** The home that the sessions of jobs live in. Without it each worker has one of its own, which goes with it. */
  readonly home?: string | undefined;
  /** The database in which the sessions of jobs live, instead of the home. */
  readonly store?: { readonly postgres: string; readonly schema?: string | undefined } | undefined;
  /**
   * Providers besides those of the home: a table of settings by name, or one profile. A profile of a job goes before
   * it.
   */
  readonly providerConfig?: { readonly providers: ProviderTable } | SubagentProviderProfile | undefined;
  /**
   * Names the variables that the agent of a job needs for its models. Their values go to its worker, for that job.
   * Default: those of the providers that `providerConfig` names. Those of the profile and the model of a job come
   * besides.
   */
  readonly keysFor?: ((job: WorkerKeysRequest) => Promise<readonly string[]>) | undefined;
  /** The agent of every job, where no catalog has it. Only for workers without a home. */
  readonly agentDefinition?: WorkerAgentDefinition | undefined;
  /** Given to the worker as it is: JSON. */
  readonly parentContext?: unknown;
  /** Whether a person can answer requests for permission. Default `reachable`. */
  readonly humans?: 'reachable' | 'none' | undefined;
  /** The environment of agents that name none, as in the process that starts the workers. Default `host`. */
  readonly environment?: string | undefined;
  /**
   * A module whose default export (`defineConfig`) every worker gives its runtime: agents, tools, backends. Functions
   * cannot be sent to a process, but they can be imported there.
   */
  readonly config?: string | undefined;
  /** Arguments of Node itself. None of ours are inherited. */
  readonly execArgv?: readonly string[] | undefined;
  /**
   * How long a worker that was asked to end may take before it gets SIGTERM, and then before SIGKILL, in milliseconds.
   * Default 2000.
   */
  readonly killGraceMs?: number | undefined;
  /** How long a worker may take to say that it is there, in milliseconds. Default 30,000. */
  readonly readyTimeoutMs?: number | undefined;
  /** Variables of workers, with their values. A secret is better named by `apiKeyEnv` of a profile. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** False: `worktreeAdapter` is not used. */
  readonly worktreeIsolation?: boolean | undefined;
  readonly worktreeAdapter?: SubagentWorktreeAdapter | undefined;
  /** Where transcripts lie: `<logsDir>/<parentSessionId>/subagents/<jobId>.jsonl`. Without it there are none. */
  readonly logsDir?: string | undefined;
  /** Workers that are kept loaded and waiting. Default 0. */
  readonly warmWorkers?: number | undefined;
  readonly limits?: Partial<ChildProcessLimits> | undefined;
}

interface ChildProcessLimits {
  /** Bytes of one transcript; what comes later is not written. Default 64 MiB. */
  readonly transcriptBytes: number;
}

const MAX_WARM_WORKERS = 64;
const MAX_DURATION_MS = 2_147_483_647;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

const object = z.custom<object>((value) => typeof value === 'object' && value !== null, 'expected an object');
const durationMs = z.number().nonnegative().max(MAX_DURATION_MS);
const text = textWithoutNul.min(1);

const shapes = {
  processTree: object,
  clock: object.optional(),
  workerPath: text.optional(),
  home: text.optional(),
  store: workerParentConfig.shape.store,
  providerConfig: object.optional(),
  keysFor: z
    .custom<NonNullable<ChildProcessSubagentRunnerOptions['keysFor']>>(
      (value) => typeof value === 'function',
      'expected a function',
    )
    .optional(),
  agentDefinition: workerAgentDefinition.optional(),
  parentContext: z.json().optional(),
  humans: z.enum(['reachable', 'none']).optional(),
  environment: workerParentConfig.shape.environment,
  config: text.optional(),
  execArgv: z.array(text).readonly().default([]),
  killGraceMs: durationMs.default(DEFAULT_KILL_GRACE_MS),
  readyTimeoutMs: durationMs.positive().default(30_000),
  env: z.record(z.string().regex(VARIABLE, 'expected the name of a variable'), textWithoutNul).default({}),
  worktreeIsolation: z.boolean().default(true),
  worktreeAdapter: object.optional(),
  logsDir: text.optional(),
  warmWorkers: z.number().int().nonnegative().max(MAX_WARM_WORKERS).default(0),
  limits: z
    .strictObject({
      transcriptBytes: z
        .number()
        .int()
        .positive()
        .default(64 * 1_048_576),
    })
    .prefault({}),
} satisfies Record<keyof ChildProcessSubagentRunnerOptions, z.ZodType>;

const schema = z.strictObject(shapes, {
  error: (issue) =>
    issue.code === 'unrecognized_keys'
      ? `unknown options: ${issue.keys?.join(', ') ?? ''}; the known ones are ${Object.keys(shapes).join(', ')}`
      : undefined,
});

const providerTableOption = z.strictObject({ providers: providerTable });

/** The options, complete; paths are absolute. */
export type CheckedRunnerOptions = Readonly<
  Omit<z.output<typeof schema>, 'processTree' | 'clock' | 'worktreeAdapter' | 'providerConfig' | 'workerPath'> & {
    processTree: ProcessTree;
    clock: Clock;
    worktreeAdapter: SubagentWorktreeAdapter | undefined;
    workerPath: string;
    providers: z.output<typeof providerTable>;
  }
>;

/** @throws RuntimeError SUBAGENT_RUNNER_OPTIONS_INVALID, PROVIDER_PROFILE_INVALID, SUBAGENT_WORKER_MISSING */
export function checkedRunnerOptions(options: ChildProcessSubagentRunnerOptions): CheckedRunnerOptions {
  const { providerConfig, workerPath, home, logsDir, config, ...checked } = parseOrThrow(schema, options, {
    what: 'options of the subagent runner',
    code: 'SUBAGENT_RUNNER_OPTIONS_INVALID',
  });
  return {
    ...checked,
    home: home === undefined ? undefined : resolve(home),
    logsDir: logsDir === undefined ? undefined : resolve(logsDir),
    config:
      config === undefined
        ? undefined
        : checkedFile('config', config, 'Name a module whose default export defineConfig makes.'),
    processTree: options.processTree,
    clock: options.clock ?? createSystemClock(),
    worktreeAdapter: options.worktreeAdapter,
    workerPath: checkedWorkerPath(workerPath),
    providers: providersOf(providerConfig),
  };
}

function providersOf(config: object | undefined): z.output<typeof providerTable> {
  if (config === undefined) return {};
  const table = 'providers' in config ? config : { providers: withProvider({}, providerOf(config)) };
  return parseOrThrow(providerTableOption, table, { what: 'providerConfig', code: 'SUBAGENT_RUNNER_OPTIONS_INVALID' })
    .providers;
}

function checkedWorkerPath(given: string | undefined): string {
  if (given === undefined) return getDefaultSubagentWorkerPath();
  return checkedFile('workerPath', given, 'Leave workerPath out to use the worker of the package.');
}

function checkedFile(option: string, given: string, hint: string): string {
  const path = resolve(given);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) return path;
  throw new RuntimeError('SUBAGENT_WORKER_MISSING', `expected ${option} to be a file, there is none at ${path}`, {
    category: 'validation',
    hint,
  });
}
