/**
 * Composes the actors into one runtime over whatever ports it is given. `createNodeRuntime` in node.ts gives it the
 * default adapters.
 */
import type { AgentRunConfig, AgentRuntime } from './actors/run/agent-runtime.ts';
import type { AuthProfiles } from './actors/run/auth-profiles.ts';
import type { CandidateHealthStore } from './actors/run/candidate-health-store.ts';
import { AgentRuntimeRegistry } from './actors/run/agent-runtime-registry.ts';
import type { Clock } from './actors/clock/clock.ts';
import { endOnce, takeEvery } from './actors/concurrency/ordered-end.ts';
import type { Fleet } from './actors/inspection/fleet.ts';
import type { AgentCatalog } from './actors/session/agent-catalog.ts';
import type { AttachmentStore } from './actors/session/attachment-store.ts';
import type { SessionEnvironments } from './actors/environment/session-environment.ts';
import type { EventStore } from './actors/session/event-store.ts';
import type { LogRedaction } from './actors/session/session-journal.ts';
import { createIdSource } from './actors/session/id-source.ts';
import type { IdSource } from './actors/session/id-source.ts';
import type { SessionDirectories } from './actors/session/session-directories.ts';
import { JournalCache } from './actors/session/journal-cache.ts';
import type { BoundsPorts } from './actors/session/parent-bounds.ts';
import { tellParent } from './actors/session/lineage.ts';
import type { LineagePorts } from './actors/session/lineage.ts';
import type { SessionWorker } from './actors/session/session-worker.ts';
import type { SessionWorkerOptions } from './actors/session/session-worker-types.ts';
import { SessionWorkers } from './actors/session/session-workers.ts';
import { Sessions } from './actors/session/sessions.ts';
import { reportToConsole, safely } from './actors/streams/listener-errors.ts';
import { placesOf } from './actors/workspace-copy/lacked-here.ts';
import type { LackedHere } from './actors/workspace-copy/lacked-here.ts';
import type { WorkspaceCopies } from './actors/workspace-copy/workspace-copies.ts';
import type { OnListenerError } from './actors/streams/listener-errors.ts';
import { createSubagentServices } from './actors/subagent/subagent-services.ts';
import type { SubagentServices, SubagentServicesOptions, SubagentPorts } from './actors/subagent/subagent-services.ts';
import type { SubagentManager } from './actors/subagent/subagent-manager.ts';
import type { SubagentRunner } from './actors/subagent/subagent-runner.ts';
import type { ReconciledJob } from './actors/subagent/job-recovery.ts';
import type { ReconciledWorktree, WorktreeStore } from './actors/subagent/worktree-adapter.ts';
import type { BackgroundTaskManager } from './actors/task/background-task-manager.ts';
import type { ProcessTree, ReconciledProcessTree } from './actors/task/process-tree.ts';
import { createAskHumanTool } from './actors/turn/ask-human-tool.ts';
import { createShellRunTool } from './actors/turn/shell-run-tool.ts';
import { ToolExecutor } from './actors/turn/tool-executor.ts';
import type { Tool } from './actors/turn/tool.ts';
import type { ShellHost } from './actors/shell/shell-host.ts';
import type { OutputStore } from './actors/turn/output-store.ts';
import type { ToolSource } from './actors/turn/tool-source.ts';
import { withQuotaNotes } from './actors/turn/quota-notes.ts';
import type { QuotaNote } from './actors/turn/quota-notes.ts';
import type { CommandPlaces, PlaceGuard, PolicyStore, ReadShell } from './actors/permission/permission-ports.ts';
import type { RunLimits } from './machines/run/run-decision.ts';
import type { PriceTable } from './machines/run/prices.ts';
import type { CommandEnvironmentSettings } from './machines/turn/shell/environment.ts';
import type { TextRedaction } from './machines/vault/text-redaction.ts';
import { watchRuntime } from './actors/telemetry/runtime-operations.ts';
import type { RuntimeOperations, WatchedRuntime } from './actors/telemetry/runtime-operations.ts';
import type { Telemetry } from './actors/telemetry/telemetry.ts';
import { DefinitionMarks } from './actors/wake/definition-marks.ts';
import type { MetricReading } from './machines/telemetry/metric-catalog.ts';
import { KeptConversations } from './actors/wake/kept-conversations.ts';
import type { HookSource, RuntimeServices } from './actors/wake/hook-source.ts';
import type { WakeMemory, WakeOptions } from './actors/wake/wake-ports.ts';
import { Waker } from './actors/wake/waker.ts';
import { checkTools } from './machines/turn/tool-check.ts';
import { checkWakeOptions } from './machines/wake/wake-options.ts';
import type { WakeOutcome } from './machines/wake/wake-outcome.ts';
import { ShutdownHooks } from './actors/inspection/runtime-inspection.ts';
import type { InspectedFolders, RuntimeInspection } from './actors/inspection/runtime-inspection.ts';
import { RuntimeWords } from './actors/words/runtime-words.ts';
import type { WordsOptions } from './actors/words/runtime-words.ts';
import type { SessionWord } from './machines/words/session-word.ts';
import type { WordChannel } from './actors/words/word-channel.ts';

/** What was found of earlier processes, and what was done about it. */
export interface Reconciliation {
  readonly processTrees: readonly ReconciledProcessTree[];
  /** Subagent jobs of theirs. */
  readonly jobs: readonly ReconciledJob[];
  /** Worktrees of theirs. */
  readonly worktrees: readonly ReconciledWorktree[];
}

export interface RuntimePorts {
  /** What time it is, and waiting. */
  readonly clock: Clock;
  /** The logs of sessions. The runtime closes it. */
  readonly store: EventStore;
  /** Where the workspaces of sessions are. */
  readonly directories: SessionDirectories;
  /** Finds agents by their names. */
  readonly agents: AgentCatalog;
  /** The backends. */
  readonly runtimes: readonly AgentRuntime[];
  /** The runtime shuts it down when it is shut down itself. */
  readonly tasks: BackgroundTaskManager;
  /** Tools besides the managed ones. */
  readonly tools?: readonly Tool[] | undefined;
  /**
   * What commands may know of the system. Without it `shell_run` stays in the workspace and gets the environment of its
   * runner.
   */
  readonly shellHost?: ShellHost | undefined;
  /** What commands get besides the usual variables. */
  readonly commandEnvironment?: CommandEnvironmentSettings | undefined;
  /** What to tell an agent after a command, if anything. */
  readonly quotaNote?: QuotaNote | undefined;
  /** Ends what tools keep beyond a call, after the wakes and before the tasks. */
  readonly closeTools?: ((reason: string) => Promise<void>) | undefined;
  /** Ends what tools keep for a session, when it is terminated or deleted here. */
  readonly closeSession?: ((sessionId: string) => Promise<void>) | undefined;
  /** Connects to the MCP servers that agents name. The runtime closes it. Without it their tools are skipped. */
  readonly toolSource?: ToolSource | undefined;
  /** Reads command lines for rules about them. Without it no rule allows one. */
  readonly readShell?: ReadShell | undefined;
  /** Checks where command lines lead that only read. Without it they ask, as all others do. */
  readonly places?: CommandPlaces | undefined;
  /** Knows the folders of the runtime's own, which no agent changes unasked. Without it none is guarded. */
  readonly guard?: PlaceGuard | undefined;
  /** Keeps what people have allowed for always. Without it "always" means as long as the session lasts. */
  readonly policy?: PolicyStore | undefined;
  /** Keeps outputs that are too long for a model. Without it the rest of them is lost. */
  readonly outputs?: OutputStore | undefined;
  /** Keeps the files that come with messages. Without it messages are texts only. */
  readonly attachments?: AttachmentStore | undefined;
  /**
   * Has what a session works in where it is woken, when several machines share the store. Without it every session
   * stays with what lies here.
   */
  readonly workspaceCopies?: WorkspaceCopies | undefined;
  /** What a session needs and this process lacks: it is left to others. Absent: its wake fails. Copies ask it themselves. */
  readonly lackedHere?: LackedHere | undefined;
  /** What sessions work in. Without it in their workspace, with nothing shut in. */
  readonly environments?: SessionEnvironments | undefined;
  /** Takes out of every event what no log may keep. Without it events are stored as they come. */
  readonly redaction?: LogRedaction | undefined;
  /** Carries what models say between processes. Without it followers hear the wakes of this runtime only. */
  readonly words?: WordChannel | undefined;
  /**
   * Takes out of a text what no reader may see, for inspectors and those who follow words. Without it they are shown
   * what there is.
   */
  readonly redactText?: TextRedaction | undefined;
  /**
   * Makes `redactText` know what it can be told without running a program, for inspectors. @returns what stays unknown,
   * by name
   */
  readonly learnSecrets?: (() => Promise<readonly string[]>) | undefined;
  /** What tools keep running beside the tasks, for inspectors. The caller that brings it ends it. */
  readonly toolTasks?: readonly BackgroundTaskManager[] | undefined;
  /** Absolute path of the home that all of it lies in, for inspectors: commands name it. */
  readonly home?: string | undefined;
  /** How inspectors see what sessions have changed. Without it they show nothing of that. */
  readonly changes?: InspectedFolders | undefined;
  /** How a command names the store, for inspectors. Default: it lies in the home. */
  readonly storeWord?: string | undefined;
  /** The workers over the store, for inspectors. */
  readonly fleet?: Fleet | undefined;
  /** What agents have learned before. Without it wakes are told nothing of it. */
  readonly memory?: WakeMemory | undefined;
  /** What goes along with wakes: tools about sessions, and what is done before and after their turns. */
  readonly hookSources?: readonly ((services: RuntimeServices) => HookSource)[] | undefined;
  /** `none`: no person can be asked, so whatever would ask is denied. Default `reachable`. */
  readonly humans?: 'reachable' | 'none' | undefined;
  /** Prices of models in US dollars per million tokens, before the known ones. */
  readonly prices?: PriceTable | undefined;
  /** Providers, and what backends are to know of them. */
  readonly runConfig?: AgentRunConfig | undefined;
  /** Hears what wakes store, for traces and metrics. The runtime closes it. */
  readonly telemetry?: Telemetry | undefined;
  /** Resolves when the store has answered and is as it should be, for operators. Default: it is not asked. */
  readonly askStore?: (() => Promise<unknown>) | undefined;
  /** What the program tells of itself, for operators. */
  readonly processReadings?: (() => readonly MetricReading[]) | undefined;
  /** What one model step may spend on trying: attempts, waits. */
  readonly runLimits?: Partial<RunLimits> | undefined;
  /** The accounts that pay for runs. Without it backends find their credentials themselves. */
  readonly profiles?: AuthProfiles | undefined;
  /** What is known of candidates that have failed. Without it nothing is learned from failures. */
  readonly candidateHealth?: CandidateHealthStore | undefined;
  /** What subagents need beyond this process. Without it they run in it. */
  readonly subagents?: SubagentPorts | undefined;
  /** Makes ids, for tests. Default: UUIDs that sort by time. */
  readonly ids?: IdSource | undefined;
  /** Names this process in the logs. */
  readonly owner?: string | undefined;
  /** Owns the processes of tasks; ends those that a crashed process left. */
  readonly processTree?: Pick<ProcessTree, 'reconcile' | 'usageOf'> | undefined;
  /** Hears what a listener threw, and trouble that ends nothing. Default: the console. */
  readonly onListenerError?: OnListenerError | undefined;
}

export interface Runtime extends AsyncDisposable {
  readonly tasks: BackgroundTaskManager;
  /** Jobs that agents do beside everything else, each in a session of its own. */
  readonly subagents: SubagentManager;
  /** Runs jobs in this process. A worker that was made for a job runs it with this. */
  readonly localSubagents: SubagentRunner;
  /** What is left in worktrees of subagents. Absent where none is made. */
  readonly worktrees: WorktreeStore | undefined;
  readonly sessions: Sessions;
  readonly agents: AgentCatalog;
  /** The managed tools and those that the program brings: whatever an agent file can name by its name alone. */
  readonly tools: readonly Tool[];
  readonly runtimes: AgentRuntimeRegistry;
  /** What `createInspector` attaches to. */
  readonly inspection: RuntimeInspection;
  /**
   * What the model of a session says while it says it, and how far its calls have come, in whichever process it is
   * woken: from what was said of the step so far, until `signal` aborts or the runtime is shut down. Lossy by design,
   * and repaired by the log: pieces are dropped for a reader that is slow, and `lost` says so. Iterating throws
   * SESSION_NOT_FOUND where there is no such session.
   */
  words(sessionId: string, options?: WordsOptions): AsyncIterable<SessionWord>;
  /** What a session needs and this process has not got: its workers leave it to those of other processes. */
  lacks(session: Parameters<LackedHere>[0]): ReturnType<LackedHere>;
  /** What `createHealthHandler` attaches to. */
  readonly operations: RuntimeOperations;
  /** One wake of a session, to its end. @throws RuntimeError WAKE_OPTIONS_INVALID */
  wake(sessionId: string, options?: WakeOptions): Promise<WakeOutcome>;
  /**
   * The same, for callers who only know that something has changed: while a wake of the session runs, here or
   * elsewhere, it is followed by one more. Resolves with a wake that began after the call; several calls share one,
   * with the options of the first.
   */
  trigger(sessionId: string, options?: WakeOptions): Promise<WakeOutcome>;
  /**
   * Starts a worker: it wakes the sessions that have something to do, until it is stopped or the runtime is shut down.
   * @throws RuntimeError WORKER_OPTIONS_INVALID
   */
  startWorker(options?: SessionWorkerOptions): SessionWorker;
  /**
   * Ends what processes that crashed left running, settles their subagent jobs and takes care of their worktrees.
   * Sessions need none: the next wake of one does it and puts the session right.
   */
  reconcile(): Promise<Reconciliation>;
  /**
   * Stops workers and wakes, then tasks, then closes the store, each of them whatever becomes of the others; rejects
   * with the first failure. Idempotent.
   */
  shutdown(reason?: string): Promise<void>;
}

/** @throws RuntimeError TOOL_INVALID, TOOL_EXISTS, ENVIRONMENT_INVALID */
export function createRuntime(ports: RuntimePorts): Runtime {
  const { clock, store, agents, tasks, redaction, ids = createIdSource({ clock }) } = ports;
  const onListenerError = safely(ports.onListenerError ?? reportToConsole);
  const runtimes = new AgentRuntimeRegistry(ports.runtimes);
  const core = { store, ids, clock, redaction, journals: new JournalCache({ store, ids, clock, redaction }) };
  const trigger: Runtime['trigger'] = (sessionId, options) => waker.trigger(sessionId, options);
  const { sessions, subagents } = sessionsAndJobs(ports, { ...core, trigger, onListenerError });
  const reconcileTrees = async (): Promise<readonly ReconciledProcessTree[]> =>
    (await ports.processTree?.reconcile()) ?? [];
  const hookSources = hookSourcesOf(ports, { ...core, sessions, runtimes, onListenerError });
  const turn = turnPorts(ports, hookSources);
  const words = wordsOf(ports);
  const hooks = new ShutdownHooks();
  const { metrics, operations }: WatchedRuntime = watchRuntime({
    ...ports,
    ...{ workers: () => workers, runningWakes: () => waker.size, isShutDown: () => hooks.isOver },
  });
  const waker: Waker = new Waker({
    ...core,
    tellParent: (journal) => tellParent(journal, core),
    ...{ runtimes, ...placesOf(ports), conversations: new KeptConversations() },
    ...{ ...turn, telemetry: metrics },
    ...{ worktrees: subagents.subflowWorktrees, elsewhere: subagents.elsewhere },
    trigger,
    supervisor: tasks.supervisor,
    live: words.live,
    reconcile: reconcileTrees,
    onListenerError,
  });
  const wake: Runtime['wake'] = (sessionId, options) => waker.wake(sessionId, options);
  const workers = new SessionWorkers({ ...core, wake, supervisor: tasks.supervisor, metrics, onListenerError });
  // Jobs and wakes first: they use the tasks, and they want to write how they ended. Inspectors see all of it end.
  const shutdown = endOnce((reason) =>
    takeEvery([
      async () => hooks.begin(),
      () => workers.shutdown(reason),
      () => subagents.shutdown(reason),
      () => waker.shutdown(reason),
      () => words.close(),
      () => hooks.readLast(),
      ...lastSteps(ports, { sessions, hookSources, reason }),
      () => hooks.close(),
    ]),
  );
  return {
    tasks,
    ...facesOf(ports, subagents, { hooks, live: words.live }),
    operations,
    sessions,
    agents,
    tools: turn.tools,
    runtimes,
    words: (sessionId, options) => words.of(sessionId, options),
    wake: asAsked(wake),
    trigger: asAsked(trigger),
    startWorker: (options) => workers.start(options),
    reconcile: async () => ({ processTrees: await reconcileTrees(), ...(await subagents.reconcile()) }),
    shutdown,
    [Symbol.asyncDispose]: () => shutdown(),
  };
}

/** What a caller gives is checked before anything is done. */
function asAsked(wake: Runtime['wake']): Runtime['wake'] {
  return async (sessionId, options) => {
    checkWakeOptions(options);
    return wake(sessionId, options);
  };
}

function wordsOf({ words: channel, redactText: redact, store }: RuntimePorts): RuntimeWords {
  return new RuntimeWords({ channel, redact, check: (sessionId) => store.identify(sessionId) });
}

type SessionCore = LineagePorts & Pick<SubagentServicesOptions, 'trigger' | 'onListenerError'>;

/** Each ends what the other has begun. */
function sessionsAndJobs(
  { agents, attachments, environments, directories, policy, guard, humans = 'reachable', ...ports }: RuntimePorts,
  core: SessionCore,
): { readonly sessions: Sessions; readonly subagents: SubagentServices } {
  const closeSession = async (sessionId: string): Promise<void> => ports.closeSession?.(sessionId);
  const endSession = async (sessionId: string, reason: string): Promise<void> => {
    await closeSession(sessionId);
    await subagents.endSession(sessionId, reason);
  };
  const sessions = new Sessions({ ...core, agents, attachments, environments, policy, closeSession: endSession });
  const subagents: SubagentServices = createSubagentServices({
    ...core,
    ports: ports.subagents ?? {},
    sessions,
    agents,
    policy,
    guard,
    environments,
    directories,
    humans,
    closeSession,
  });
  return { sessions, subagents };
}

const DEFAULT_OWNER = 'runtime';

interface InspectedParts {
  readonly hooks: ShutdownHooks;
  readonly live: RuntimeWords['live'];
}

function facesOf(
  ports: RuntimePorts,
  subagents: SubagentServices,
  inspected: InspectedParts,
): Pick<Runtime, 'subagents' | 'localSubagents' | 'worktrees' | 'inspection' | 'lacks'> {
  return {
    lacks: async (session) => (ports.lackedHere ?? ports.workspaceCopies?.lackedHere)?.(session),
    subagents: subagents.jobs,
    localSubagents: subagents.local,
    worktrees: subagents.worktrees,
    inspection: inspectionOf(ports, subagents, inspected),
  };
}

function inspectionOf(
  {
    clock,
    tasks,
    toolTasks = [],
    redactText = (text) => text,
    learnSecrets,
    prices = {},
    processTree,
    changes,
    fleet,
    storeWord,
    lackedHere,
    home,
    owner = DEFAULT_OWNER,
  }: RuntimePorts,
  { systems }: SubagentServices,
  { hooks, live }: InspectedParts,
): RuntimeInspection {
  const all = [
    { label: 'tasks and wakes', tasks },
    ...systems,
    ...toolTasks.map((each) => ({ label: 'what tools keep open', tasks: each })),
  ];
  return {
    systems: all.filter((each, index) => all.findIndex((other) => other.tasks === each.tasks) === index),
    clock,
    home,
    redact: redactText,
    live,
    owner,
    learnSecrets,
    prices,
    processTree,
    changes,
    fleet,
    storeWord,
    lackedHere,
    hasEnded: () => hooks.isOver,
    onShutdown: (close) => hooks.add(close),
    onRest: (read) => hooks.addReader(read),
  };
}

interface LastParts {
  readonly sessions: Sessions;
  readonly hookSources: readonly HookSource[];
  readonly reason: string;
}

function hookSourcesOf(
  { hookSources = [], agents, environments, policy, directories, tasks, runConfig = {} }: RuntimePorts,
  services: Omit<RuntimeServices, keyof BoundsPorts | 'directories' | 'tasks' | 'runConfig'>,
): readonly HookSource[] {
  return hookSources.map((join) => join({ ...services, agents, environments, policy, directories, tasks, runConfig }));
}

function lastSteps(
  { closeTools, toolSource, tasks, telemetry, store }: RuntimePorts,
  { sessions, hookSources, reason }: LastParts,
): readonly (() => Promise<void>)[] {
  return [
    ...hookSources.map((each) => async () => each.close?.()),
    async () => closeTools?.(reason),
    async () => toolSource?.close(reason),
    () => tasks.shutdown(reason),
    async () => sessions.close(),
    async () => telemetry?.close(),
    () => store.close(),
  ];
}

/** What wakes need for their turns. */
function turnPorts(
  {
    clock,
    tasks,
    directories,
    runConfig = {},
    runLimits = {},
    profiles,
    candidateHealth,
    agents,
    owner = DEFAULT_OWNER,
    tools = [],
    toolSource,
    readShell,
    policy,
    places,
    guard,
    outputs,
    environments,
    humans = 'reachable',
    prices = {},
    ...ports
  }: RuntimePorts,
  hookSources: readonly HookSource[],
) {
  const shellRun = createShellRunTool(tasks, {
    clock,
    host: ports.shellHost,
    environment: ports.commandEnvironment,
    keeper: outputs,
  });
  const commands = ports.quotaNote === undefined ? [shellRun] : withQuotaNotes([shellRun], ports.quotaNote);
  const all = [...commands, createAskHumanTool(), ...hookSources.flatMap((each) => each.tools ?? []), ...tools];
  checkTools(all);
  return {
    marks: new DefinitionMarks({ agents, tools: all }),
    directories,
    runConfig,
    runLimits,
    profiles,
    candidateHealth,
    agents,
    owner,
    tools: all,
    toolSource,
    executor: new ToolExecutor({ clock }),
    readShell,
    policy,
    places,
    guard,
    outputs,
    environments,
    memory: ports.memory,
    hooks: hookSources.flatMap((each) => each.hook ?? []),
    humans,
    prices,
  };
}
