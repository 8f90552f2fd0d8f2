/** The port to a managed tool: what it is, and how one call of it runs. */
import type { SessionIdentity } from '../session/event-store.ts';
import type { ToolDefinition } from '../../machines/turn/tool-definition.ts';

export interface ToolContext {
  readonly session: SessionIdentity;
  readonly callId: string;
  /** Absolute; it exists. */
  readonly workspaceDirectory: string;
  /** Aborted when the wake stops. The tool must have stopped before its promise settles. */
  readonly signal: AbortSignal;
}

export interface Tool<Input = unknown> {
  readonly definition: ToolDefinition<Input>;
  /**
   * How long a call may take to stop once its signal has aborted, in milliseconds. One that takes longer is answered `cancelled` and
   * left behind. Default 5000.
   */
  readonly stopGraceMs?: number | undefined;
  /** For a tool that is a question: what to ask somebody outside, whose answer is the result. Such a tool is never run. */
  question?(input: Input): { readonly question: string; readonly choices?: string[] | undefined };
  /** Runs one call with validated input. The result is a JSON value for the model; what it throws is told to the model. */
  run(input: Input, context: ToolContext): Promise<unknown>;
}
