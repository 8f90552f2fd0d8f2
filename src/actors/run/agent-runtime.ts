/**
 * The port to whatever can run an agent: a backend. One run is one model step, or one whole turn for backends that run
 * their own tools.
 */
import type { MessageIntake } from '../../machines/session/event-parts.ts';
import type { ProviderSettings } from '../../machines/run/provider-settings.ts';
import type { RunAttempt } from '../../machines/run/run-attempt.ts';
import type { RunFailure } from '../../machines/run/run-failure.ts';
import type { AgentRunEvent, RunPayload, RunUsage } from '../../machines/run/run-output.ts';
import type { ProviderMessage } from '../../machines/turn/provider-message.ts';
import type { ToolDescriptor } from '../../machines/turn/tool-definition.ts';

/** Which backend serves which provider. */
export interface AgentRunConfig {
  /** Id of the backend for every run; it must be registered. */
  readonly backend?: string | undefined;
  /**
   * By provider name, before the known ones. A provider that is in neither is served by the backend of its own name.
   */
  readonly providers?: Readonly<Record<string, ProviderSettings>> | undefined;
}

/** What opens the account of a provider, for one attempt. Never written anywhere. */
export interface RunCredential {
  readonly profileId: string;
  /** A key or token. Absent for programs that have their own login. */
  readonly secret?: string | undefined;
  /** For programs: what tells them which account it is. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
}

/** A tool that the backend itself wants to run. */
export interface RunPermissionRequest {
  /** The backend's own id of the call, the same as in its tool events. */
  readonly callId: string;
  /** As the backend names it. */
  readonly name: string;
  /** JSON. */
  readonly input: unknown;
  /** What it comes to, where the backend can tell: judged by the rules for our own tools of that kind. */
  readonly means?: RunToolMeaning | undefined;
  /**
   * Takes secrets out of what is shown and logged about `means`, which holds them as they are: what is judged is what
   * runs. Absent: there are none.
   */
  readonly conceal?: ((text: string) => string) | undefined;
  /** Aborts when the backend waits for the answer no longer: it has withdrawn the question, or its run has ended. */
  readonly signal?: AbortSignal | undefined;
}

/** Paths are absolute, or start in `cwd`; without `cwd` in the workspace. */
export type RunToolMeaning =
  | {
      readonly kind: 'command';
      readonly command: string;
      readonly cwd?: string | undefined;
      /** Its shell keeps what earlier commands did, such as the folder they went to. Default false. */
      readonly keepsShell?: boolean | undefined;
    }
  | {
      readonly kind: 'read';
      readonly path: string;
      readonly cwd?: string | undefined;
      /** It may reach whatever lies below the folder, as a search does. Default false. */
      readonly reachesBelow?: boolean | undefined;
    }
  | {
      readonly kind: 'write';
      readonly path: string;
      readonly cwd?: string | undefined;
      /** It changes a part of a file: rules that allow `edit` allow it too. Default false. */
      readonly edits?: boolean | undefined;
    }
  /**
   * It does what our tool of that kind does, but to what is not told for sure. No rule about commands or paths allows
   * it.
   */
  | {
      readonly kind: 'unclear';
      readonly as: 'command' | 'read' | 'write';
      /** All places that it names. */
      readonly paths: readonly string[];
      readonly cwd?: undefined;
    };

export type RunPermissionAnswer =
  | { readonly decision: 'allow' }
  | { readonly decision: 'deny'; readonly message: string };

/** The backend's own session, which has seen the conversation so far. */
export interface RunResumption {
  readonly sessionId: string;
  /** Counts the sessions that the backend has had for this conversation, from 1. */
  readonly generation: number;
  /** What came since, the last part of `messages`. */
  readonly newMessages: readonly ProviderMessage[];
}

interface AgentRunBase {
  readonly runId: string;
  readonly sessionId: string;
  /** A name for the conversation that outlives the session, for backends that keep their own. */
  readonly sessionKey?: string | undefined;
  /** What the model is told before the conversation. */
  readonly instructions?: string | undefined;
  readonly provider: string;
  readonly model: string;
  readonly config: AgentRunConfig;
  /** Absolute. Where the agent works. */
  readonly workspaceDir: string;
  /** Absolute. Where the agent's file lies; relative paths in it start here. */
  readonly agentDir: string;
  /** Model steps that the session's log holds so far: the position of a script. */
  readonly modelStepsTaken: number;
  readonly tools?: readonly ToolDescriptor[] | undefined;
  readonly onEvent?: ((event: AgentRunEvent) => void) | undefined;
  readonly abortSignal?: AbortSignal | undefined;
  /** `maxCost`: what is left to be spent, in US dollars, for backends whose turns can be held to that. */
  readonly budget?:
    | { readonly maxOutputTokens?: number | undefined; readonly maxCost?: number | undefined }
    | undefined;
  /** Absent: whatever the backend finds by itself. */
  readonly credential?: RunCredential | undefined;
  /** For backends that keep sessions of their own. Absent: begin one, and give it the whole of `messages`. */
  readonly resume?: RunResumption | undefined;
  /**
   * For backends that run tools of their own. Absent: nothing that needs permission runs. Resolves with a denial when
   * the run is aborted.
   */
  readonly requestPermission?: ((request: RunPermissionRequest) => Promise<RunPermissionAnswer>) | undefined;
  /**
   * Whether permissions bind what the backend does: then it asks before each tool. Absent or false: it may leave what
   * runs to a sandbox of its own.
   */
  readonly permissionsBind?: boolean | undefined;
}

/** Either one prompt or a whole conversation. */
export type AgentRunParams = AgentRunBase &
  (
    | { readonly prompt: string; readonly messages?: undefined }
    | { readonly messages: readonly ProviderMessage[]; readonly prompt?: undefined }
  );

interface AgentRunMeta {
  /** Why it failed; `aborted` when it was stopped. */
  readonly error?: RunFailure | undefined;
  /** The backend's own session, which can be resumed from here. */
  readonly sessionId?: string | undefined;
  /** Why the session that was to be resumed was not, and the conversation was given to a new one. */
  readonly reseeded?: string | undefined;
  readonly compacted?: boolean | undefined;
  readonly fallbackProvider?: string | undefined;
  readonly fallbackModel?: string | undefined;
  /** What was tried, in order, the last one included; by `executeAgentRun`. */
  readonly attempts?: readonly RunAttempt[] | undefined;
  /** How many model steps it took; 1 when absent and nothing failed, 0 when absent and something did. */
  readonly modelSteps?: number | undefined;
}

export interface AgentRunResult {
  readonly payloads: readonly RunPayload[];
  readonly usage?: RunUsage | undefined;
  readonly meta?: AgentRunMeta | undefined;
}

/**
 * How a message reaches a run that is active. `next_step`: a run is one model step, and the next one reads it.
 * `running`: by `queueMessage`. `next_turn`: not before the run has ended.
 */
export type { MessageIntake };

export interface AgentRuntime {
  readonly id: string;
  /**
   * `step`: a run is one model step, and asks for tools in its payloads; the wake runs them. `turn`: the backend runs
   * tools of its own until the model has answered. Default `step`.
   */
  readonly runs?: 'step' | 'turn' | undefined;
  /** Its failures are written, not had, as those of a script: no candidate rests for them. */
  readonly isPlayed?: boolean | undefined;
  /**
   * Where that depends on the provider, a function of it. Default: `next_step` for steps; for turns `running` when it
   * has `queueMessage`, else `next_turn`.
   */
  readonly messageIntake?: MessageIntake | ((provider: string, config: AgentRunConfig) => MessageIntake) | undefined;
  /**
   * False where what runs tools of its own asks no person: an agent whose permissions would bind it is not run there.
   * `where_bound`: it asks where it is told that permissions bind it. Default: it asks.
   */
  readonly asksPermission?: ((provider: string, config: AgentRunConfig) => boolean | 'where_bound') | undefined;
  /**
   * A failure of the model or of the provider is a result with `meta.error`; a rejection is a defect of the backend.
   * The run is active from this call on until its promise settles, and what its listener throws does not reach it.
   * While it is active, another with the same id fails with the kind `coordination`, tells that to its own listener
   * only, and does not touch the first; after that the id is free again.
   */
  run(params: AgentRunParams): Promise<AgentRunResult>;
  /**
   * Asks an active run to stop; it soon resolves with the kind `aborted` and what it has said. One that is not active
   * is none of its business.
   */
  abort(runId: string): Promise<void>;
  isRunActive(runId: string): boolean;
  /** Gives an active run another message to read. False when it cannot take it, as when it is not active. */
  queueMessage?(runId: string, message: string): Promise<boolean>;
}

/** The conversation of a run, whichever way it was given. */
export function messagesOf({ messages, prompt }: AgentRunParams): readonly ProviderMessage[] {
  return messages ?? [{ role: 'user', content: [{ type: 'text', text: prompt }] }];
}
