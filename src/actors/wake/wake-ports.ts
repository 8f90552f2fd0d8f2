/** Everything a wake needs from outside. */
import type { AgentRunEvent } from '../../machines/run/run-output.ts';
import type { RunLimits } from '../../machines/run/run-decision.ts';
import type { PriceTable } from '../../machines/run/prices.ts';
import type { SessionOpening } from '../../machines/session/due-sessions.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { WakeOutcome } from '../../machines/wake/wake-outcome.ts';
import type { CommandPlaces, PlaceGuard, PolicyStore, ReadShell } from '../permission/permission-ports.ts';
import type { AgentRunConfig } from '../run/agent-runtime.ts';
import type { AuthProfiles } from '../run/auth-profiles.ts';
import type { CandidateHealthStore } from '../run/candidate-health-store.ts';
import type { AgentRuntimeRegistry } from '../run/agent-runtime-registry.ts';
import type { AgentCatalog } from '../session/agent-catalog.ts';
import type { LiveWords } from '../words/live-words.ts';
import type { SessionEnvironments } from '../environment/session-environment.ts';
import type { SessionDirectories } from '../session/session-directories.ts';
import type { JournalCache } from '../session/journal-cache.ts';
import type { JournalPorts, SessionJournal } from '../session/session-journal.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { LackedHere } from '../workspace-copy/lacked-here.ts';
import type { WorkspaceCopies } from '../workspace-copy/workspace-copies.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import type { SubflowWorktrees } from '../subagent/subflow-worktrees.ts';
import type { Tool, ToolProgress } from '../turn/tool.ts';
import type { ToolExecutor } from '../turn/tool-executor.ts';
import type { OutputStore } from '../turn/output-store.ts';
import type { ToolSource } from '../turn/tool-source.ts';
import type { DefinitionMarks } from './definition-marks.ts';
import type { Reconcile } from './end-survivors.ts';
import type { KeptConversations } from './kept-conversations.ts';
import type { WakeHook } from './wake-hook.ts';

export interface WakePorts extends JournalPorts {
  /** Sessions whose state is folded already. */
  readonly journals: JournalCache;
  /** Conversations that are loaded already. */
  readonly conversations: KeptConversations;
  /**
   * Has what a session works in where it is woken. Absent: the machines that wake it share that already, or there is
   * one.
   */
  readonly workspaceCopies?: WorkspaceCopies | undefined;
  /**
   * What a session needs and this process has not got: it is left to those who have. Absent: that is for its workspace
   * to say, or what is missing fails the wake.
   */
  readonly lackedHere?: LackedHere | undefined;
  /** Puts it into the parent's log that this session came to rest, if the parent does not know. */
  readonly tellParent: (journal: SessionJournal) => Promise<void>;
  readonly agents: AgentCatalog;
  /** Tells definitions of agents apart. */
  readonly marks: DefinitionMarks;
  readonly runtimes: AgentRuntimeRegistry;
  readonly runConfig: AgentRunConfig;
  /** What one model step may spend on trying. */
  readonly runLimits: Partial<RunLimits>;
  /** The accounts that pay. Absent: backends find their credentials themselves. */
  readonly profiles: AuthProfiles | undefined;
  /** What is known of candidates that have failed. Absent: nothing is learned. */
  readonly candidateHealth: CandidateHealthStore | undefined;
  readonly directories: SessionDirectories;
  readonly tools: readonly Tool[];
  /** Where tools of MCP servers come from. */
  readonly toolSource: ToolSource | undefined;
  readonly executor: ToolExecutor;
  readonly readShell: ReadShell | undefined;
  readonly policy: PolicyStore | undefined;
  readonly places: CommandPlaces | undefined;
  readonly guard: PlaceGuard | undefined;
  readonly outputs: OutputStore | undefined;
  /** What sessions work in. Absent: in their workspace, with nothing shut in. */
  readonly environments: SessionEnvironments | undefined;
  /** What agents have learned before. Absent: nothing is told of it. */
  readonly memory?: WakeMemory | undefined;
  /** What goes along with wakes, in this order. */
  readonly hooks: readonly WakeHook[];
  /** Whether a person can be asked, unless a wake says otherwise. */
  readonly humans: 'reachable' | 'none';
  /** Prices of one's own. */
  readonly prices: PriceTable;
  /** Wakes another session as soon as no other process does. */
  readonly trigger: (sessionId: string, options: WakeOptions) => Promise<WakeOutcome>;
  /** Gives children worktrees. Absent: none gets one. */
  readonly worktrees: SubflowWorktrees | undefined;
  /** Runs the wakes of sessions that are to run in a process of their own. Absent: they run here. */
  readonly elsewhere: WakeElsewhere | undefined;
  /** Names this process in the log. */
  readonly owner: string;
  /**
   * Ends what dead processes left running. A wake that takes over from one that died awaits it before it writes
   * anything or calls the model. When it fails, that is reported and is part of what the log says about the dead wake;
   * the wake goes on all the same, since a session must not be frozen by a process that cannot be ended.
   */
  readonly reconcile: Reconcile;
  /** Hears what is said in wakes. Absent: no one follows it. */
  readonly live?: Pick<LiveWords, 'step' | 'progress'> | undefined;
  /** Hears what wakes store. */
  readonly telemetry: Pick<Telemetry, 'take'>;
  readonly onListenerError: OnListenerError;
}

/** What a wake is told of what its agent has learned before. */
export interface WakeMemory {
  /** A part of the instructions; undefined when there is nothing to tell. */
  brief(agentId: string): Promise<string | undefined>;
}

/** Runs one wake in another process, to its end. */
export interface WakeElsewhere {
  wake(session: SessionState, options: WakeOptions): Promise<WakeOutcome>;
}

export interface WakeOptions {
  /** This process is the one that was made for the session. Default false. */
  readonly isHere?: boolean | undefined;
  /** Aborting it stops the wake early; what was done stays done. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Aborting it ends at once what `signal` lets come to its end: tools that are not to be cut short, and backends that
   * are slow to stop.
   */
  readonly force?: AbortSignal | undefined;
  /** `none`: no person can be asked, so whatever would ask is denied. Default: as the runtime says. */
  readonly humans?: 'reachable' | 'none' | undefined;
  /** Hears how far long tool calls have come. Not stored. */
  readonly onToolProgress?:
    | ((
        call: { readonly callId: string; readonly name: string; readonly input: unknown },
        progress: ToolProgress,
      ) => void)
    | undefined;
  /** What the worker has been told of the session when it was found due. */
  readonly opening?: SessionOpening | undefined;
  /** No client asked for this wake: what made it due is the session's own. Default false. */
  readonly isAutonomous?: boolean | undefined;
  /** Hears what the backend streams while it runs. Not stored. */
  readonly onRunEvent?: ((event: AgentRunEvent) => void) | undefined;
}
