/** The composition root for Node.js: picks the default adapters and keeps everything under one home directory. */
import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../actors/clock/clock.ts';
import { createSystemClock } from '../actors/clock/system-clock.ts';
import type { SlotOwners } from '../actors/schedule/slot-owners.ts';
import { watchStore } from '../actors/session/store-watch.ts';
import { reportToConsole } from '../actors/streams/listener-errors.ts';
import type { ProcessTree } from '../actors/task/process-tree.ts';
import type { HostExchange } from '../actors/host/host-exchange.ts';
import type { HostLife } from '../actors/host/host-life.ts';
import type { AgentCatalog } from '../actors/session/agent-catalog.ts';
import type { EnvironmentCatalog } from '../actors/environment/environment-catalog.ts';
import type { VaultCatalog } from '../actors/vault/vault-catalog.ts';
import { makePrivateDirectory } from '../adapters/files/durable-files.ts';
import { createHomeGuard } from '../adapters/files/home-guard.ts';
import { HomeLayout } from '../adapters/files/layout.ts';
import { storageFailed } from '../adapters/files/storage-errors.ts';
import { FileCommandPlaces } from '../adapters/command-places/file-command-places.ts';
import { createOpenTelemetry } from '../adapters/opentelemetry/open-telemetry.ts';
import type { Telemetry } from '../actors/telemetry/telemetry.ts';
import { agentsOf, checkOwnTools } from './agents.ts';
import { nodeBackends } from './backends.ts';
import { processReadings } from './process-readings.ts';
import { nodeEnvironments } from './environments.ts';
import type { NodeEnvironments } from './environments.ts';
import type { FleetAnswerer } from './fleet-answers.ts';
import type { CreateInspectorOptions, Inspectable, Inspector } from './inspector.ts';
import { createAttachmentFiles } from '../adapters/files/attachment-files.ts';
import { configPath, loadConfig, withConfig } from './config-module.ts';
import { tendJobs } from './jobs.ts';
import { nodeMemory } from './memory.ts';
import type { HomeMemory, NodeMemory } from './memory.ts';
import { checkedOptions } from './runtime-options.ts';
import { copyBounds } from '../actors/workspace-copy/copy-bounds.ts';
import { lackedHere } from '../actors/workspace-copy/lacked-here.ts';
import type { CheckedOptions, NodeRuntimeOptions } from './runtime-options.ts';
import { slotOwners, withSchedules } from './schedules.ts';
import type { HomeSchedules } from './schedules.ts';
import { openNodeStore } from './stores.ts';
import type { NodeStore, NodeStoreOptions } from './node-store.ts';
import { PROCESSES_FOLDER, TASK_LOGS_FOLDER, homeProcesses, homeTasks } from './tasks.ts';
import type { HomeTasks } from './tasks.ts';
import { tellLacks } from './told-lacks.ts';
import { openTasksElsewhere, tellOfTasks } from './tasks-elsewhere.ts';
import type { TasksElsewhere } from '../actors/task/tasks-elsewhere.ts';
import { nodeTools, redactionFor } from './tools.ts';
import { nodeFolderChanges, nodeSubagents } from './subagents.ts';
import { readShell } from '../adapters/shell-syntax/shell-reader.ts';
import { createRuntime } from '../runtime.ts';
import type { Runtime, RuntimePorts } from '../runtime.ts';

const DEFAULT_HOME = '.wakechart';

export interface NodeRuntime extends Runtime, HomeMemory, HomeSchedules {
  /** The tasks of other processes over the home, on this machine: `tasks` are those of this one. */
  readonly tasksElsewhere: TasksElsewhere;
  /** What sessions may work in, as people have written it. */
  readonly environments: EnvironmentCatalog;
  /** The vaults of the home: names of secrets, never their values. */
  readonly vaults: VaultCatalog;
}

/**
 * A runtime over a home directory. Any number of processes may open the same home at once, and any number of machines
 * the same database.
 * @throws RuntimeError RUNTIME_OPTIONS_INVALID, AGENT_DEFINED_TWICE, TOOL_INVALID, TOOL_EXISTS; HOME_NEWER, and
 * STORAGE_FAILED when the home cannot be made; with `config` also CONFIG_NOT_FOUND, CONFIG_FAILED, CONFIG_INVALID; with `store` also
 * POSTGRES_DRIVER_MISSING, STORE_OPTIONS_INVALID, STORE_SCHEMA_OLD, STORE_SCHEMA_NEW, STORE_SERVER_OLD,
 * STORE_NOT_SYNCED
 */
export async function createNodeRuntime(given: NodeRuntimeOptions = {}): Promise<NodeRuntime> {
  const options = await completed(given);
  const checked = checkedOptions(options);
  const { home: named, durability, leaseMs, readsOnly } = checked;
  const layout = new HomeLayout(named ?? (process.env['WAKECHART_HOME'] || DEFAULT_HOME));
  const owner = `${hostname()}:${process.pid}`;
  const opened = await openNodeStore({
    layout,
    clock: options.clock ?? createSystemClock(),
    durability,
    leaseMs,
    readsOnly,
    owner,
    options: options.store,
  });
  try {
    if (!readsOnly) await makeHome(layout);
    return await runtimeOver({ layout, opened, owner, options, checked });
  } catch (error) {
    await opened.store.close();
    throw error;
  }
}

/** With what their config gives. */
type CompletedOptions = Omit<NodeRuntimeOptions, 'store' | 'config'> & {
  readonly store?: NodeStoreOptions | undefined;
  /** Absolute. */
  readonly config?: string | undefined;
};

async function completed(options: NodeRuntimeOptions): Promise<CompletedOptions> {
  const { config } = checkedOptions(options);
  const file = config === undefined ? undefined : configPath(config);
  const { store, ...all } = file === undefined ? options : withConfig(options, await loadConfig(file));
  return { ...all, store: store === 'files' ? undefined : store, config: file };
}

interface RuntimeParts {
  readonly layout: HomeLayout;
  readonly opened: NodeStore;
  readonly owner: string;
  readonly options: CompletedOptions;
  readonly checked: CheckedOptions;
}

function placesOf(home: string): {
  readonly places: FileCommandPlaces;
  readonly guard: ReturnType<typeof createHomeGuard>;
} {
  const guard = createHomeGuard(home);
  return { places: new FileCommandPlaces(guard), guard };
}

/** What else of a home is made of: its processes, and the environments and tasks over them. */
interface Foundation extends HomeTasks {
  readonly hostLife: HostLife & HostExchange;
  readonly owners: SlotOwners;
  readonly processTree: ProcessTree;
  readonly worked: NodeEnvironments;
}

function foundationOf({
  layout,
  opened,
  options,
  checked: { maxConcurrentTasks, environment },
}: RuntimeParts): Foundation {
  const { inspect, onListenerError } = options;
  const { clock, schedules } = opened;
  const { hostLife, processTree } = homeProcesses(layout.home, clock);
  const owners = slotOwners(layout.home, opened, hostLife);
  const worked = nodeEnvironments({
    layout,
    clock,
    defaultEnvironmentId: environment,
    inCode: options.environments,
    storeUrl: options.store?.postgres,
    onTrouble: onListenerError ?? reportToConsole,
  });
  const tasks = homeTasks(
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
  return { hostLife, owners, processTree, worked, ...tasks };
}

async function runtimeOver(parts: RuntimeParts): Promise<NodeRuntime> {
  const { layout, opened, options, checked } = parts;
  const { clock, schedules } = opened;
  const foundation = foundationOf(parts);
  const { hostLife, owners, processTree, worked, scheduled } = foundation;
  const { ports, knowing } = await portsOver(parts, foundation);
  const runtime = createRuntime(ports);
  checkOwnTools(options.agents ?? [], runtime.tools);
  if (checked.reconcileOnStart) await runtime.reconcile();
  answerQuestions(runtime, parts);
  tellOfTasks(
    hostLife,
    runtime.inspection.systems.map(({ tasks }) => tasks),
    ports.toolTasks,
  );
  return withSchedules(
    {
      ...runtime,
      startWorker: tendedWorkers(runtime, { clock, opened, options }),
      ...knowing.opened(),
      tasksElsewhere: openTasksElsewhere({ home: layout.home, clock, hostLife, processTree }),
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
      onListenerError: options.onListenerError,
    },
  );
}

/** What inspectors of other machines ask of the sessions that this runtime wakes. Loaded with the first question. */
function answerQuestions({ sessions, inspection }: Runtime, { opened, options }: RuntimeParts): void {
  let answerer: Promise<FleetAnswerer> | undefined;
  opened.fleet?.questions?.answerWith(async (question) => {
    answerer ??= import('./fleet-answers.ts').then(({ fleetAnswers }) =>
      fleetAnswers({ sessions, inspection, onProblem: options.onListenerError ?? reportToConsole }),
    );
    return (await answerer)(question);
  });
}

async function portsOver(
  parts: RuntimeParts,
  foundation: Foundation,
): Promise<{ readonly ports: RuntimePorts; readonly knowing: NodeMemory }> {
  const { layout, opened, owner, options, checked } = parts;
  const { store, clock, policy, hold } = opened;
  const { processTree, worked, tasks } = foundation;
  const backends = await nodeBackends({
    home: layout.home,
    clock,
    processTree,
    onListenerError: options.onListenerError,
    runConfig: options.runConfig,
    backends: options.backends ?? [],
    candidateHealth: opened.candidateHealth,
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
  const agents = await agentsOf(layout, options);
  const ports: RuntimePorts = {
    clock,
    store,
    words: opened.words,
    directories: layout,
    agents,
    attachments: createAttachmentFiles(layout),
    ...(await workspaceCopiesOf(parts, { agents, worked })),
    ...backends,
    telemetry: telemetryOf(options),
    askStore: opened.check,
    processReadings,
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
    changes: nodeFolderChanges(layout, checked.readsOnly ? 'elsewhere' : 'home'),
    subagents: jobsOf(parts, { ...foundation, agents }),
    ...givenPorts(options),
  };
  return { ports, knowing };
}

/** What sessions work in, as machines that share a store hand it on; and what they need that is not here. */
async function workspaceCopiesOf(
  { layout, opened: { workspaceCopies }, options }: RuntimeParts,
  { agents, worked }: { readonly agents: AgentCatalog; readonly worked: NodeEnvironments },
): Promise<Partial<RuntimePorts>> {
  const { environments, catalog } = worked;
  const lacks = lackedHere({ agents, environments, catalog });
  if (workspaceCopies === undefined) return { lackedHere: lacks };
  const { nodeWorkspaceCopies } = await import('./workspace-copies.ts');
  const copies = nodeWorkspaceCopies({
    layout,
    copies: workspaceCopies,
    boundBecause: copyBounds({ agents, environments, catalog }),
    lackedHere: lacks,
    onTrouble: options.onListenerError ?? reportToConsole,
  });
  return { ...copies, lackedHere: lacks };
}

function telemetryOf({ telemetry, onListenerError }: NodeRuntimeOptions): Telemetry {
  return (
    telemetry ??
    createOpenTelemetry(onListenerError === undefined ? {} : { onError: (error) => onListenerError(error, 'listener') })
  );
}

function jobsOf(
  { layout, opened, options, checked: { environment } }: RuntimeParts,
  { processTree, hostLife, agents }: Foundation & { readonly agents: AgentCatalog },
): ReturnType<typeof nodeSubagents> {
  return nodeSubagents({
    layout,
    agents,
    clock: opened.clock,
    processTree,
    hostLife,
    providers: options.runConfig?.providers,
    humans: options.humans,
    environment,
    options: options.subagents ?? {},
    config: options.config,
    store: options.store,
    modelOf: opened.modelOf,
    shared: opened.jobs,
  });
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

/**
 * Beside its sessions a worker takes care of jobs that no other process would settle, and after the store that all of it
 * is in.
 */
function tendedWorkers(
  runtime: Runtime,
  {
    clock,
    opened,
    options: { onStoreNews, onListenerError },
  }: Pick<RuntimeParts, 'opened' | 'options'> & { readonly clock: Clock },
): Runtime['startWorker'] {
  return (wanted) => {
    const worker = runtime.startWorker(wanted);
    tellLacks(worker, onListenerError);
    if (opened.answers !== undefined && onStoreNews !== undefined) {
      const end = watchStore({ clock, ask: opened.answers, onNews: onStoreNews });
      worker.ended.then(end, end);
    }
    if (opened.jobs !== undefined)
      tendJobs(worker, {
        clock,
        reconcile: () => runtime.subagents.reconcile(),
        onTrouble: (error) => (onListenerError ?? reportToConsole)(error, 'listener'),
      });
    return worker;
  };
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
