/** What a runtime over a home can be told, and how that is checked. */
import type { InspectionEvent } from 'xstate';
import * as z from 'zod';
import type { Clock } from '../actors/clock/clock.ts';
import type { AgentRunConfig, AgentRuntime } from '../actors/run/agent-runtime.ts';
import type { StoreNews } from '../actors/session/store-watch.ts';
import type { OnListenerError } from '../actors/streams/listener-errors.ts';
import type { Telemetry } from '../actors/telemetry/telemetry.ts';
import type { Tool } from '../actors/turn/tool.ts';
import type { ToolServerNews } from '../actors/turn/tool-source.ts';
import { closestName } from '../machines/closest-name.ts';
import type { EnvironmentFile } from '../machines/environment/environment-definition.ts';
import { environmentId } from '../machines/ids.ts';
import { providerTable } from '../machines/run/provider-settings.ts';
import { priceTable } from '../machines/run/prices.ts';
import type { PriceTable } from '../machines/run/prices.ts';
import type { RunLimits } from '../machines/run/run-decision.ts';
import type { CommandEnvironmentSettings } from '../machines/turn/shell/environment.ts';
import type { DefinedAgent } from '../actors/turn/define-agent.ts';
import { isRecord, parseOrThrow } from '../machines/validate.ts';
import { nodeStoreOptions } from './node-store.ts';
import type { NodeStoreOptions } from './node-store.ts';
import { nodeSubagentOptions } from './subagents.ts';
import type { NodeSubagentOptions } from './subagents.ts';

/** What a config may say: what is the same for every process that works in the home. */
const CONFIG_KEYS = [
  'agents',
  'tools',
  'backends',
  'environments',
  'store',
  'environment',
  'prices',
  'runConfig',
  'runLimits',
  'commandEnvironment',
  'subagents',
  'telemetry',
] as const satisfies readonly (keyof NodeRuntimeOptions)[];

export type WakechartConfig = Pick<NodeRuntimeOptions, (typeof CONFIG_KEYS)[number]>;

export interface NodeRuntimeOptions {
  /**
   * The home directory; made when it is not there. Default: $WAKECHART_HOME, else `.wakechart` in the working
   * directory.
   */
  readonly home?: string | undefined;
  /**
   * The database in which sessions, schedules and cooldowns live, for any number of machines. Default: the files of the
   * home,
   * or what the config says. `files`: the files of the home, whatever the config says.
   */
  readonly store?: NodeStoreOptions | 'files' | undefined;
  /** `os` acknowledges before events are on the disk, and says so in every receipt. Default `disk`. */
  readonly durability?: 'disk' | 'os' | undefined;
  /**
   * How long the process of a wake may give no sign of life, in milliseconds, before another one may take the session
   * over. On one machine a process that died is known to be dead at once. Default 15,000.
   */
  readonly leaseMs?: number | undefined;
  /** Tasks that run at the same time. Default 4. */
  readonly maxConcurrentTasks?: number | undefined;
  /** Whether to end what crashed processes left running, before anything else. Default true. */
  readonly reconcileOnStart?: boolean | undefined;
  /**
   * Whether it only checks the home: then no folder of it is made, and reading leaves no copies behind. What is asked
   * for is stored all the same. Default false.
   */
  readonly readsOnly?: boolean | undefined;
  /**
   * Backends besides those that come with Wakechart (`script`, `embedded`, `cli-agent`, `acp`); one with an id of
   * theirs stands in for it.
   */
  readonly backends?: readonly AgentRuntime[] | undefined;
  /** Tools besides the managed ones, as `defineTool` makes them. Agents that name no tools have them too. */
  readonly tools?: readonly Tool[] | undefined;
  /** Agents besides those of the home, as `defineAgent` makes them. Nothing of them is stored: what the code says counts. */
  readonly agents?: readonly DefinedAgent[] | undefined;
  /**
   * Environments besides those of the home, by name, with the keys of an environment file. Nothing of them is stored
   * before a wake enters one.
   */
  readonly environments?: Readonly<Record<string, EnvironmentFile>> | undefined;
  /**
   * A module whose default export (`defineConfig`) gives more of these options, by its path or `file:` URL: processes
   * that are started for sessions and jobs load it too, while they know nothing of functions that are given here.
   */
  readonly config?: string | URL | undefined;
  /** `none`: no person can be asked, so what would ask is denied. Default `reachable`. */
  readonly humans?: 'reachable' | 'none' | undefined;
  /** Prices of models in US dollars per million tokens, before the known ones. */
  readonly prices?: PriceTable | undefined;
  /**
   * What commands of tools get besides PATH, HOME and the like: variables by name, and with values. The names in
   * $WAKECHART_PASS_ENV, separated by commas, are passed too. Nothing else of our environment reaches them.
   */
  readonly commandEnvironment?: CommandEnvironmentSettings | undefined;
  /** Hears what happens to MCP servers while no call waits for them. */
  readonly onToolServerNews?: ((news: ToolServerNews) => void) | undefined;
  /** Providers besides those of `providers.yaml` in the home, and the backends that serve them. */
  readonly runConfig?: AgentRunConfig | undefined;
  /** What one model step may spend on trying: attempts, waits. */
  readonly runLimits?: Partial<RunLimits> | undefined;
  /** How subagents run: in processes, in worktrees, and how many. */
  readonly subagents?: NodeSubagentOptions | undefined;
  /** The environment of agents that name none. Default `host`: nothing is shut in. */
  readonly environment?: string | undefined;
  /** Hears what wakes store. Default: spans of OpenTelemetry, as soon as the program registers a provider of it. */
  readonly telemetry?: Telemetry | undefined;
  /** What time it is, for tests. Default: the system's. */
  readonly clock?: Clock | undefined;
  /** Hears XState's inspection events of every task, wake and tool call. */
  readonly inspect?: ((event: InspectionEvent) => void) | undefined;
  /** Hears what a listener of yours threw, and trouble that ends nothing. Default: the console. */
  readonly onListenerError?: OnListenerError | undefined;
  /** Hears that a database has not answered for five seconds, and that it answers again, while a worker runs. */
  readonly onStoreNews?: ((news: StoreNews) => void) | undefined;
}

const port = z.custom<object>((value) => typeof value === 'object' && value !== null, 'expected an object');
const listener = z.custom<unknown>((value) => typeof value === 'function', 'expected a function');

const definedAgent = z.custom<DefinedAgent>(
  (value) => isRecord(value) && isRecord(value['definition']) && Array.isArray(value['tools']),
  'expected an agent as defineAgent({ id, model, instructions }) makes it',
);

/** Every option by name, so that a misspelt one is refused instead of ignored. */
const optionShapes = {
  home: z.string().min(1).optional(),
  store: z.union([z.literal('files'), nodeStoreOptions]).optional(),
  durability: z.enum(['disk', 'os']).default('disk'),
  leaseMs: z.number().int().positive().optional(),
  maxConcurrentTasks: z.number().int().positive().optional(),
  reconcileOnStart: z.boolean().default(true),
  readsOnly: z.boolean().default(false),
  backends: z.array(z.unknown()).optional(),
  tools: z.array(z.unknown()).optional(),
  agents: z.array(definedAgent).optional(),
  environments: z.record(z.string(), z.looseObject({})).optional(),
  config: z.union([z.string().min(1), z.instanceof(URL)], 'expected the path or the file: URL of a module').optional(),
  humans: z.enum(['reachable', 'none']).optional(),
  prices: priceTable.optional(),
  commandEnvironment: port.optional(),
  onToolServerNews: listener.optional(),
  runConfig: z.strictObject({ backend: z.string().optional(), providers: providerTable.optional() }).optional(),
  runLimits: z
    .strictObject({
      maxAttempts: z.number().int().min(1).max(1_000),
      maxBackOffs: z.number().int().nonnegative(),
      maxWaitMs: z.number().nonnegative(),
    })
    .partial()
    .optional(),
  subagents: nodeSubagentOptions.optional(),
  environment: environmentId.optional(),
  telemetry: port.optional(),
  clock: port.optional(),
  inspect: listener.optional(),
  onStoreNews: listener.optional(),
  onListenerError: listener.optional(),
} satisfies Record<keyof NodeRuntimeOptions, z.ZodType>;

const settings = z.strictObject(optionShapes, { error: unknownKeys(Object.keys(optionShapes)) });

function unknownKeys(known: readonly string[]): (issue: z.core.$ZodRawIssue) => string | undefined {
  return (issue) => {
    if (issue.code !== 'unrecognized_keys') return undefined;
    const keys: readonly string[] = issue.keys;
    const [only = ''] = keys.length === 1 ? keys : [];
    const meant = closestName(only, known);
    return meant === undefined
      ? `unknown options: ${keys.join(', ')}; the known ones are ${known.join(', ')}`
      : `unknown options: ${only}; did you mean "${meant}"?`;
  };
}

/** Options with their defaults. */
export type CheckedOptions = z.output<typeof settings>;

/** @throws RuntimeError RUNTIME_OPTIONS_INVALID */
export function checkedOptions(options: NodeRuntimeOptions): CheckedOptions {
  return parseOrThrow(settings, options, { what: 'runtime options', code: 'RUNTIME_OPTIONS_INVALID' });
}

const configSettings = z.strictObject(Object.fromEntries(CONFIG_KEYS.map((key) => [key, optionShapes[key]])), {
  error: unknownKeys(CONFIG_KEYS),
});

/** What a module exports, when it is a config. @throws RuntimeError CONFIG_INVALID naming the file */
export function checkConfig(exported: unknown, file: string): WakechartConfig {
  parseOrThrow(configSettings, exported, {
    what: `the default export of ${file}`,
    code: 'CONFIG_INVALID',
    hint: `A config may have ${CONFIG_KEYS.join(', ')}.`,
  });
  return exported as WakechartConfig;
}
