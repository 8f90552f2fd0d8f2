/** The port to whatever can run an agent: a backend. One run is one model step, or one whole turn for backends that run their own tools. */
import type { RunFailure } from '../../machines/run/run-failure.ts';
import type { AgentRunEvent, RunPayload, RunUsage } from '../../machines/run/run-output.ts';
import type { ProviderMessage } from '../../machines/turn/provider-message.ts';
import type { ToolDescriptor } from '../../machines/turn/tool-definition.ts';

/** Which backend serves which provider. */
export interface AgentRunConfig {
  /** Id of the backend for every run; it must be registered. */
  readonly backend?: string | undefined;
  /** By provider name. A provider that is not listed is served by the backend of its own name. */
  readonly providers?: Readonly<Record<string, { readonly backend: string }>> | undefined;
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
  readonly budget?: { readonly maxOutputTokens?: number | undefined } | undefined;
}

/** Either one prompt or a whole conversation. */
export type AgentRunParams = AgentRunBase &
  (
    | { readonly prompt: string; readonly messages?: undefined }
    | { readonly messages: readonly ProviderMessage[]; readonly prompt?: undefined }
  );

export interface AgentRunMeta {
  /** Why it failed; `aborted` when it was stopped. */
  readonly error?: RunFailure | undefined;
  /** The backend's own session. */
  readonly sessionId?: string | undefined;
  readonly compacted?: boolean | undefined;
  readonly fallbackProvider?: string | undefined;
  readonly fallbackModel?: string | undefined;
  /** How many model steps it took; 1 when absent and nothing failed, 0 when absent and something did. */
  readonly modelSteps?: number | undefined;
}

export interface AgentRunResult {
  readonly payloads: readonly RunPayload[];
  readonly usage?: RunUsage | undefined;
  readonly meta?: AgentRunMeta | undefined;
}

export interface AgentRuntime {
  readonly id: string;
  /** A failure of the model or of the provider is a result with `meta.error`; a rejection is a defect of the backend. */
  run(params: AgentRunParams): Promise<AgentRunResult>;
  /** Asks an active run to stop. One that is not active is none of its business. */
  abort(runId: string): Promise<void>;
  isRunActive(runId: string): boolean;
  /** Gives an active run another message to read. False when it cannot take it. */
  queueMessage?(runId: string, message: string): Promise<boolean>;
}
