/** The port to a tool: what it is, how one call of it runs, and what a call sees of the wake that it is a part of. */
import type { AgentDefinition } from '../../machines/agent/agent-definition.ts';
import type { PermissionSubject } from '../../machines/permission/permission-subject.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { ContextReport } from '../../machines/turn/context-report.ts';
import type { ToolDefinition, ToolDescriptor } from '../../machines/turn/tool-definition.ts';
import type { SessionEnvironment } from '../environment/session-environment.ts';
import type { AgentRuntime } from '../run/agent-runtime.ts';
import type { SessionPlace } from '../session/session-directories.ts';

export interface ToolContext {
  readonly session: SessionPlace;
  readonly callId: string;
  /** Absolute; it exists. */
  readonly workspaceDirectory: string;
  /**
   * In which it runs: mounts, sandbox, secrets. Absent where the runtime knows of none: then there is the workspace,
   * and nothing shut in.
   */
  readonly environment?: SessionEnvironment | undefined;
  /** The wake that it is a part of, for tools about the session itself. */
  readonly wake?: HookedWake | undefined;
  /**
   * What was allowed. A tool that finds that it would do something else must not do it. Absent where no person was
   * asked about anything.
   */
  readonly subject?: PermissionSubject | undefined;
  /** Aborted when the call is to stop. The tool must have stopped before its promise settles. */
  readonly signal: AbortSignal;
  /** Says how far a long call has come. Shown to those that follow the wake; not stored. */
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
}

export interface ToolProgress {
  readonly message?: string | undefined;
  readonly done?: number | undefined;
  readonly total?: number | undefined;
}

/** A call that another agent answers. */
export interface Subflow {
  readonly agentId: string;
  readonly message: string;
  /** It works in a process of its own. */
  readonly run?: 'process' | undefined;
  /** It works in a git worktree of its own, made from the repository in the workspace of its caller. */
  readonly isolation?: 'worktree' | undefined;
}

export interface Tool<Input = unknown> {
  readonly definition: ToolDefinition<Input>;
  /**
   * How long a call may take to stop once its signal has aborted, in milliseconds. One that takes longer is answered
   * `cancelled` and left behind. Default 5000.
   */
  readonly stopGraceMs?: number | undefined;
  /** Why the tool cannot be offered now, if it cannot. Such a tool is skipped, and the log says so. */
  unavailable?(): Promise<string | undefined>;
  /**
   * What a call would do, for the rules that allow or deny it. A call without a subject is judged by its tool alone.
   */
  subject?(
    input: Input,
    context: Pick<ToolContext, 'session' | 'workspaceDirectory' | 'environment'>,
  ): PermissionSubject;
  /** For a tool that is a question: what to ask a person, whose answer is the result. Such a tool is never run. */
  question?(input: Input): { readonly question: string; readonly choices?: string[] | undefined };
  /**
   * For a tool that is another agent: which one, and what it is told. Such a tool is never run; a child session is.
   * `agent` is the one that calls. What it throws is the answer to the call.
   */
  subflow?(input: Input, agent?: PreparedAgent): Subflow;
  /**
   * Runs one call with validated input. The result is a JSON value for the model; what it throws is told to the model.
   * A tool that a client runs has no `run`: the call waits for the result to be sent.
   */
  run?(input: Input, context: ToolContext): Promise<unknown>;
}

/** A tool that an agent names and does not have. */
export interface SkippedTool {
  readonly name: string;
  readonly reason: string;
}

/** The agent of a wake, with the tools that it has now. */
export interface PreparedAgent {
  readonly definition: AgentDefinition;
  readonly runtime: AgentRuntime;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly descriptors: readonly ToolDescriptor[];
  /** Tools that the agent names and cannot have now. */
  readonly skippedTools: readonly SkippedTool[];
  /** Of these, what is left out since there are too many: the model is told. */
  readonly leftOutTools: readonly SkippedTool[];
  /** How often servers of tools had announced a change when these were read. */
  readonly toolChanges: number;
  readonly workspaceDirectory: string;
  readonly agentDirectory: string;
  /** What it has learned before, as it is told in its instructions. */
  readonly memory?: string | undefined;
  /** Absent where the runtime knows of none. */
  readonly environment?: SessionEnvironment | undefined;
}

/** A wake as its tools and hooks see it. */
export interface HookedWake {
  /** As the log stands now. */
  state(): SessionState;
  readonly agent: PreparedAgent;
  /** Of the step that comes, or came last. */
  readonly context?: ContextReport | undefined;
  /** Stores events under the right of the wake. Not after `ended` has resolved. */
  append(drafts: readonly SessionEventDraft[]): Promise<void>;
  /** The same, decided by the log as it is where they are stored: asked again where another process wrote first. */
  appendDecided(draftsFor: (state: SessionState) => readonly SessionEventDraft[]): Promise<void>;
  readonly signal: AbortSignal;
}
