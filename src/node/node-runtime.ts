/** The composition root for Node.js: picks the default adapters and keeps everything under one home directory. */
import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import type { InspectionEvent } from 'xstate';
import { z } from 'zod';
import type { Clock } from '../actors/clock/clock.ts';
import { createSystemClock } from '../actors/clock/system-clock.ts';
import type { AgentRunConfig, AgentRuntime } from '../actors/run/agent-runtime.ts';
import { ScheduleRegistry } from '../actors/schedule/durable-registry.ts';
import { createDurableScheduleRunner } from '../actors/schedule/durable-runner.ts';
import { DurableSchedules } from '../actors/schedule/durable-schedules.ts';
import { createScheduledTaskRunner as createRunnerOfSchedules } from '../actors/schedule/scheduled-task-runner.ts';
import type { ScheduledTaskRunnerOptions } from '../actors/schedule/scheduled-task-runner.ts';
import { createSlotOwners } from '../actors/schedule/slot-owners.ts';
import type { SlotOwners } from '../actors/schedule/slot-owners.ts';
import { watchStore } from '../actors/session/store-watch.ts';
import type { StoreNews } from '../actors/session/store-watch.ts';
import { LET_GO, WorkerFires } from '../actors/session/worker-fires.ts';
import { reportToConsole } from '../actors/streams/listener-errors.ts';
import type { OnListenerError } from '../actors/streams/listener-errors.ts';
import type { ScheduleStore } from '../actors/schedule/schedule-store.ts';
import { BackgroundTaskManager } from '../actors/task/background-task-manager.ts';
import type { ProcessTree } from '../actors/task/process-tree.ts';
import type { HostLife } from '../actors/host/host-life.ts';
import type { BackgroundTaskRunner, BackgroundTaskRunners } from '../actors/task/task-runner.ts';
import type { ScheduledTaskRequest } from '../machines/task/task-request.ts';
import type { EnvironmentCatalog } from '../actors/environment/environment-catalog.ts';
import type { VaultCatalog } from '../actors/vault/vault-catalog.ts';
import type { Tool } from '../actors/turn/tool.ts';
import type { ToolServerNews } from '../actors/turn/tool-source.ts';
import { FileAgentCatalog } from '../adapters/agents/file-agent-catalog.ts';
import { createCronerPlan } from '../adapters/cron/croner-plan.ts';
import { makePrivateDirectory } from '../adapters/files/durable-files.ts';
import { createHomeGuard } from '../adapters/files/home-guard.ts';
import { HomeLayout } from '../adapters/files/layout.ts';
import { storageFailed } from '../adapters/files/storage-errors.ts';
import { HOSTS_FOLDER, createHostLife } from '../adapters/host-life/socket-host-life.ts';
import { createProcessTree } from '../adapters/process-tree/process-tree.ts';
import { FileCommandPlaces } from '../adapters/command-places/file-command-places.ts';
import { createOpenTelemetry } from '../adapters/opentelemetry/open-telemetry.ts';
import type { Telemetry } from '../actors/telemetry/telemetry.ts';
import type { RunLimits } from '../machines/run/run-decision.ts';
import { nodeBackends } from './backends.ts';
import { nodeEnvironments } from './environments.ts';
import type { CreateInspectorOptions, Inspectable, Inspector } from './inspector.ts';
import { createAttachmentFiles } from '../adapters/files/attachment-files.ts';
import { lookAfterJobs } from './jobs.ts';
import { nodeMemory } from './memory.ts';
import type { HomeMemory } from './memory.ts';
import { nodeStoreOptions, openNodeStore, schedulesOfHome } from './stores.ts';
import type { NodeStore, NodeStoreOptions, SharedSchedules } from './stores.ts';
import { nodeTools, redactionFor } from './tools.ts';
import { nodeFolderChanges, nodeSubagentOptions, nodeSubagents } from './subagents.ts';
import type { NodeSubagentOptions } from './subagents.ts';
import { createManagedShellProcessRunner } from '../adapters/shell/shell-runner.ts';
import type { ManagedShellProcessRunnerOptions } from '../adapters/shell/shell-runner.ts';
import { readShell } from '../adapters/shell-syntax/shell-reader.ts';
import { priceTable } from '../machines/run/prices.ts';
import type { PriceTable } from '../machines/run/prices.ts';
import type { CommandEnvironmentSettings } from '../machines/turn/shell/environment.ts';
import { environmentId } from '../machines/ids.ts';
import { parseOrThrow } from '../machines/validate.ts';
import { createRuntime } from '../runtime.ts';
import type { Runtime, RuntimePorts } from '../runtime.ts';

const DEFAULT_HOME = '.wakechart';

/** Folders of a home beside `agents`. */
const PROCESSES_FOLDER = 'processes';
const TASK_LOGS_FOLDER = 'task-logs';

/** As long as a worker lets its wakes go on. */
const DRAIN_LIMIT_MS = 30_000;

export interface NodeRuntimeOptions {
  /**
   * The home directory; made when it is not there. Default: $WAKECHART_HOME, else `.wakechart` in the working
   * directory.
   */
  readonly home?: string | undefined;
  /**
   * The database in which sessions, schedules and cooldowns live, for any number of machines. Default: the files of the
   * home.
   */
  readonly store?: NodeStoreOptions | undefined;
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
   * Whether it only looks at the home: then no folder of it is made, and reading leaves no copies behind. What is asked
   * for is stored all the same. Default false.
   */
  readonly looksOnly?: boolean | undefined;
  /**
   * Backends besides those that come with Wakechart (`script`, `embedded`, `cli-agent`, `acp`); one with an id of
   * theirs stands in for it.
   */
  readonly runtimes?: readonly AgentRuntime[] | undefined;
  /** Tools besides the managed ones. */
  readonly tools?: readonly Tool[] | undefined;
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
  readonly clock?: Clock | undefined;
  /** Hears XState's inspection events of every task, wake and tool call. */
  readonly inspect?: ((event: InspectionEvent) => void) | undefined;
  readonly onListenerError?: OnListenerError | undefined;
  /** Hears that a database has not answered for five seconds, and that it answers again, while a worker runs. */
  readonly onStoreNews?: ((news: StoreNews) => void) | undefined;
}

const port = z.custom<object>((value) => typeof value === 'object' && value !== null, 'expected an object');
const listener = z.custom<unknown>((value) => typeof value === 'function', 'expected a function');

/** Every option by name, so that a misspelt one is refused instead of ignored. */
const optionShapes = {
  home: z.string().min(1).optional(),
  store: nodeStoreOptions.optional(),
  durability: z.enum(['disk', 'os']).default('disk'),
  leaseMs: z.number().int().positive().optional(),
  maxConcurrentTasks: z.number().int().positive().optional(),
  reconcileOnStart: z.boolean().default(true),
  looksOnly: z.boolean().default(false),
  runtimes: z.array(z.unknown()).optional(),
  tools: z.array(z.unknown()).optional(),
  humans: z.enum(['reachable', 'none']).optional(),
  prices: priceTable.optional(),
  commandEnvironment: port.optional(),
  onToolServerNews: listener.optional(),
  runConfig: port.optional(),
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

const settings = z.strictObject(optionShapes, {
  error: (issue) =>
    issue.code === 'unrecognized_keys'
      ? `unknown options: ${issue.keys?.join(', ') ?? ''}; the known ones are ${Object.keys(optionShapes).join(', ')}`
      : undefined,
});

export interface DefaultRunnersOptions {
  /** The home directory; process records, task logs and schedules lie in it. */
  readonly home: string;
  readonly clock?: Clock | undefined;
  /** Default: one that keeps its records in the home. */
  readonly processTree?: ProcessTree | undefined;
  /** Takes secrets out of what commands put out. */
  readonly redactionOf?: ManagedShellProcessRunnerOptions['redactionOf'];
  /** Keeps which slots of schedules were fired. Default: files in the home. */
  readonly slots?: ScheduleStore | undefined;
  /**
   * Names runs of schedules, and tells whether others live. Default: one that is silent for a minute is taken for dead.
   */
  readonly owners?: SlotOwners | undefined;
}

/** The runners that come with Wakechart: shell commands as `process` tasks, cron schedules as `scheduled` tasks. */
export function createDefaultBackgroundTaskRunners(
  options: DefaultRunnersOptions,
): Required<Pick<BackgroundTaskRunners, 'process' | 'scheduled'>> {
  const { clock = createSystemClock() } = options;
  const home = resolve(options.home);
  const processTree = options.processTree ?? createProcessTree({ clock, directory: join(home, PROCESSES_FOLDER) });
  return {
    process: createManagedShellProcessRunner({
      processTree,
      clock,
      logDirectory: join(home, TASK_LOGS_FOLDER),
      redactionOf: options.redactionOf,
    }),
    scheduled: createScheduledTaskRunner({
      clock,
      store: options.slots ?? schedulesOfHome(home).slots,
      owners: options.owners,
    }),
  };
}

/** Cron schedules as `scheduled` tasks; read by croner and fired by the system clock unless told otherwise. */
export function createScheduledTaskRunner(
  options: Partial<ScheduledTaskRunnerOptions> = {},
): BackgroundTaskRunner<ScheduledTaskRequest> {
  const { clock = createSystemClock(), cron = createCronerPlan(), ...rest } = options;
  return createRunnerOfSchedules({ ...rest, clock, cron });
}

export interface StopSchedulesOptions {
  /** How long commands that run may go on, in milliseconds, before they are cancelled. Default 30,000. */
  readonly drainLimitMs?: number | undefined;
}

export interface NodeRuntime extends Runtime, HomeMemory {
  /** What sessions may work in, as people have written it. */
  readonly environments: EnvironmentCatalog;
  /** The vaults of the home: names of secrets, never their values. */
  readonly vaults: VaultCatalog;
  /** The schedules that are kept in the home, those that other processes fire too. */
  readonly schedules: ScheduleRegistry;
  /** Fires them here from now on, as a worker does, until they are stopped or the runtime shuts down. Idempotent. */
  startSchedules(): Promise<void>;
  /**
   * Fires nothing more here, at once and for good, and resolves when no command that they have started runs any more.
   */
  stopSchedules(options?: StopSchedulesOptions): Promise<void>;
}

/**
 * A runtime over a home directory. Any number of processes may open the same home at once, and any number of machines
 * the same database.
 * @throws RuntimeError RUNTIME_OPTIONS_INVALID, STORAGE_FAILED when the home cannot be made; with `store` also
 * POSTGRES_DRIVER_MISSING, STORE_OPTIONS_INVALID, STORE_SCHEMA_OLD, STORE_SCHEMA_NEW, STORE_SERVER_OLD,
 * STORE_NOT_SYNCED
 */
export async function createNodeRuntime(options: NodeRuntimeOptions = {}): Promise<NodeRuntime> {
  const checked = parseOrThrow(settings, options, { what: 'runtime options', code: 'RUNTIME_OPTIONS_INVALID' });
  const { home: named, durability, leaseMs, looksOnly } = checked;
  const layout = new HomeLayout(named ?? (process.env['WAKECHART_HOME'] || DEFAULT_HOME));
  if (!looksOnly) await makeHome(layout);
  const owner = `${hostname()}:${process.pid}`;
  const opened = await openNodeStore({
    layout,
    clock: options.clock ?? createSystemClock(),
    durability,
    leaseMs,
    looksOnly,
    owner,
    options: options.store,
  });
  try {
    return await runtimeOver({ layout, opened, owner, options, checked });
  } catch (error) {
    await opened.store.close();
    throw error;
  }
}

interface RuntimeParts {
  readonly layout: HomeLayout;
  readonly opened: NodeStore;
  readonly owner: string;
  readonly options: NodeRuntimeOptions;
  readonly checked: z.output<typeof settings>;
}

function placesOf(home: string): {
  readonly places: FileCommandPlaces;
  readonly guard: ReturnType<typeof createHomeGuard>;
} {
  const guard = createHomeGuard(home);
  return { places: new FileCommandPlaces(guard), guard };
}

async function runtimeOver({
  layout,
  opened,
  owner,
  options,
  checked: { maxConcurrentTasks, reconcileOnStart, looksOnly, environment },
}: RuntimeParts): Promise<NodeRuntime> {
  const { inspect, onListenerError } = options;
  const { store, clock, schedules, policy, hold, modelOf } = opened;
  const hostLife = createHostLife({ directory: join(layout.home, HOSTS_FOLDER) });
  const owners = slotOwners(layout.home, opened, hostLife);
  const processTree = createProcessTree({ clock, directory: join(layout.home, PROCESSES_FOLDER), hostLife });
  const worked = nodeEnvironments({
    layout,
    clock,
    defaultEnvironmentId: environment,
    storeUrl: options.store?.postgres,
    onTrouble: onListenerError ?? reportToConsole,
  });
  const { tasks, scheduled } = homeTasks(
    {
      home: layout.home,
      clock,
      processTree,
      redactionOf: redactionFor(worked.secrets),
      slots: schedules.slots,
      owners,
    },
    { maxConcurrent: maxConcurrentTasks, inspect, onListenerError },
  );
  const backends = await nodeBackends({
    home: layout.home,
    clock,
    processTree,
    onListenerError,
    runConfig: options.runConfig,
    runtimes: options.runtimes ?? [],
    standings: opened.standings,
  });
  const gate = { readShell, ...placesOf(layout.home), policy };
  const tools = nodeTools({ layout, secrets: worked.secrets, store, hold, processTree, clock, options });
  const knowing = nodeMemory({
    layout,
    clock,
    environments: worked.environments,
    commands: { host: tools.ports.shellHost, environment: tools.ports.commandEnvironment, keeper: tools.ports.outputs },
    gate: { ...gate, humans: options.humans ?? 'reachable' },
    models: { ...backends, prices: options.prices },
    shells: tools.shells,
  });
  const agents = new FileAgentCatalog({ agentsDirectory: layout.agents });
  const runtime = createRuntime({
    clock,
    store,
    directories: layout,
    agents,
    attachments: createAttachmentFiles(layout),
    ...(opened.hands === undefined
      ? {}
      : (await import('./workspace-copies.ts')).nodeHands({
          layout,
          copies: opened.hands,
          agents,
          environments: worked.environments,
          catalog: worked.catalog,
          onTrouble: onListenerError ?? reportToConsole,
        })),
    ...backends,
    telemetry:
      options.telemetry ??
      createOpenTelemetry(
        onListenerError === undefined ? {} : { onError: (error) => onListenerError(error, 'listener') },
      ),
    tasks,
    processTree,
    owner,
    ...gate,
    ...tools.ports,
    ...knowing.ports,
    environments: worked.environments,
    ...worked.redactions,
    home: layout.home,
    fleet: opened.fleet,
    storeWord: opened.word,
    changes: nodeFolderChanges(layout, looksOnly ? 'elsewhere' : 'home'),
    subagents: nodeSubagents({
      layout,
      clock,
      processTree,
      hostLife,
      providers: options.runConfig?.providers,
      humans: options.humans,
      environment,
      options: options.subagents ?? {},
      store: options.store,
      modelOf,
      shared: opened.jobs,
    }),
    ...givenPorts(options),
  });
  if (reconcileOnStart) await runtime.reconcile();
  return withSchedules(
    {
      ...runtime,
      startWorker: lookingAround(runtime, { clock, opened, options }),
      ...knowing.opened(),
      environments: worked.catalog,
      vaults: worked.vaults,
    },
    {
      home: layout.home,
      clock,
      hostLife,
      owners,
      endLeft: () => processTree.reconcile(),
      scheduled,
      schedules,
      onListenerError,
    },
  );
}

/**
 * Opens the inspector of a runtime: everything its actors do from now on, and its sessions, in a browser on this
 * machine. The runtime closes it when it is shut down. Before the first call nothing of it is loaded and nothing is
 * recorded.
 * @throws RuntimeError INSPECTOR_OPTIONS_INVALID, RECORDER_OPTIONS_INVALID, INSPECTOR_PAGE_MISSING,
 * INSPECTOR_PORT_TAKEN, INSPECTOR_CANNOT_LISTEN, RUNTIME_SHUT_DOWN
 */
export async function createInspector(runtime: Inspectable, options: CreateInspectorOptions = {}): Promise<Inspector> {
  return (await import('./inspector.ts')).createInspector(runtime, options);
}

/** Machines that share a database do not see each other's processes. */
function slotOwners(home: string, { jobs }: NodeStore, life: HostLife): SlotOwners {
  const place = async (): Promise<string> =>
    (await (await import('../adapters/hand-files/host-id.ts')).hostOfHome(home)).id;
  return createSlotOwners({ life, place: jobs === undefined ? undefined : place });
}

interface HomeTasks {
  readonly tasks: BackgroundTaskManager;
  readonly scheduled: ReturnType<typeof createDurableScheduleRunner>;
}

/**
 * Beside its sessions a worker looks after jobs that no other process would settle, and after the store that all of it
 * is in.
 */
function lookingAround(
  runtime: Runtime,
  {
    clock,
    opened,
    options: { onStoreNews, onListenerError },
  }: Pick<RuntimeParts, 'opened' | 'options'> & { readonly clock: Clock },
): Runtime['startWorker'] {
  return (wanted) => {
    const worker = runtime.startWorker(wanted);
    if (opened.answers !== undefined && onStoreNews !== undefined) {
      const end = watchStore({ clock, ask: opened.answers, onNews: onStoreNews });
      worker.ended.then(end, end);
    }
    if (opened.jobs !== undefined)
      lookAfterJobs(worker, {
        clock,
        reconcile: () => runtime.subagents.reconcile(),
        onTrouble: (error) => (onListenerError ?? reportToConsole)(error, 'listener'),
      });
    return worker;
  };
}

function homeTasks(
  runnerOptions: DefaultRunnersOptions,
  {
    maxConcurrent,
    ...heard
  }: Pick<NodeRuntimeOptions, 'inspect' | 'onListenerError'> & { readonly maxConcurrent: number | undefined },
): HomeTasks {
  const runners = createDefaultBackgroundTaskRunners(runnerOptions);
  const scheduled = createDurableScheduleRunner(runners.scheduled);
  const tasks = new BackgroundTaskManager({
    runners: { ...runners, scheduled },
    clock: runnerOptions.clock,
    ...heard,
    ...(maxConcurrent === undefined ? {} : { maxConcurrent }),
  });
  return { tasks, scheduled };
}

function givenPorts({
  humans,
  prices,
  runLimits,
  onListenerError,
}: NodeRuntimeOptions): Pick<RuntimePorts, 'humans' | 'prices' | 'runLimits' | 'onListenerError'> {
  return {
    ...(runLimits === undefined ? {} : { runLimits }),
    ...(humans === undefined ? {} : { humans }),
    ...(prices === undefined ? {} : { prices }),
    ...(onListenerError === undefined ? {} : { onListenerError }),
  };
}

interface ScheduleParts {
  readonly home: string;
  readonly clock: Clock;
  readonly hostLife: HostLife;
  readonly owners: SlotOwners;
  readonly endLeft: () => Promise<unknown>;
  readonly scheduled: ReturnType<typeof createDurableScheduleRunner>;
  readonly schedules: SharedSchedules;
  readonly onListenerError: OnListenerError | undefined;
}

type HomeRuntime = Omit<NodeRuntime, 'schedules' | 'startSchedules' | 'stopSchedules'>;

function withSchedules(
  runtime: HomeRuntime,
  { home, clock, hostLife, owners, endLeft, scheduled, schedules: shared, onListenerError }: ScheduleParts,
): NodeRuntime {
  const registry = new ScheduleRegistry({ ...shared, cron: createCronerPlan(), clock });
  const fires = new WorkerFires();
  const schedules = new DurableSchedules({
    registry,
    tasks: runtime.tasks,
    runner: {
      ...scheduled,
      adopt: (key, firesOf) => scheduled.adopt(key, (children) => fires.follow(firesOf(children))),
    },
    sessions: runtime.sessions,
    clock,
    cwd: home,
    owners,
    endLeft,
    environment: (name) => process.env[name],
    onTrouble: ({ error }) => onListenerError?.(error, 'listener'),
  });
  let starting: Promise<void> | undefined;
  const shutdown = async (reason?: string): Promise<void> => {
    // Before the store closes: what fires now could not be written.
    await schedules.stop(reason);
    await fires.end(reason ?? 'the runtime is shutting down');
    try {
      await runtime.shutdown(reason);
    } finally {
      await hostLife.close();
    }
  };
  const stopSchedules = async ({ drainLimitMs = DRAIN_LIMIT_MS }: StopSchedulesOptions = {}): Promise<void> => {
    await schedules.stop(LET_GO);
    await fires.drain(clock, drainLimitMs);
  };
  const startSchedules = (): Promise<void> => (starting ??= schedules.start());
  return {
    ...runtime,
    schedules: registry,
    startSchedules,
    stopSchedules,
    shutdown,
    [Symbol.asyncDispose]: () => shutdown(),
  };
}

/**
 * A home often lies in a repository, whose commits must not take accounts and logs along. A file that is there already
 * stays as it is.
 */
async function keepOutOfGit(home: string): Promise<void> {
  // A home that cannot be written can be read all the same.
  await writeFile(join(home, '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 }).catch(() => undefined);
}

async function makeHome({ home, agents }: HomeLayout): Promise<void> {
  try {
    for (const folder of [home, agents, join(home, PROCESSES_FOLDER), join(home, TASK_LOGS_FOLDER)])
      await makePrivateDirectory(folder);
    await keepOutOfGit(home);
  } catch (error) {
    throw storageFailed(`make the home directory ${home}`, error);
  }
}
