/** What the runtime and a model know about a tool. */
import * as z from 'zod';
import type { ToolFamily } from './tool-family.ts';

/**
 * What running a tool can do. `writes_session`: adds to the log of its own session. `promotes`: changes what all
 * sessions of the agent share.
 */
export type ToolEffect =
  | 'reads_files'
  | 'writes_files'
  | 'runs_processes'
  | 'uses_network'
  | 'uses_secrets'
  | 'reads_sessions'
  | 'writes_session'
  | 'promotes'
  | 'asks_people'
  | 'delegates';

/** For a tool whose input another program checks. */
export const anyInput: z.ZodType = z.unknown();

export interface ToolDefinition<Input = unknown> {
  readonly name: string;
  /** For the model: what it does, when to use it. */
  readonly description: string;
  /** Checks what a model sent, before anything else happens. */
  readonly inputSchema: z.ZodType<Input>;
  /** What the model is shown of the input, where it is known as JSON Schema; derived from `inputSchema` when absent. */
  readonly inputJsonSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly outputSchema?: z.ZodType | undefined;
  readonly ownership: 'managed' | 'mcp' | 'custom';
  /** Of managed tools. */
  readonly family?: ToolFamily | undefined;
  /** `always_ask` needs a human; where none can be asked the call is refused. */
  readonly permissionPolicy: 'always_allow' | 'always_ask';
  /** What a call can do at most. */
  readonly effects?: readonly ToolEffect[] | undefined;
  /** Whether running it changes nothing anywhere. */
  readonly readOnly: boolean;
  /** Whether it can destroy what was there. */
  readonly destructive: boolean;
  /**
   * Whether running the same call twice does no more than running it once. A call that was cut off by a crash is then
   * run again by itself; otherwise its result is `unknown`. Default false.
   */
  readonly idempotent?: boolean | undefined;
  /**
   * What a stop does to a running call: it is told to stop at once, or it may come to its end first (30 seconds at
   * most).
   */
  readonly interruptBehavior: 'cancel' | 'finish';
}

/**
 * What all managed tools share that only read: each call is allowed, may be made again after a crash, and ends at once
 * when it is stopped.
 */
export const readsOnly = {
  ownership: 'managed',
  permissionPolicy: 'always_allow',
  readOnly: true,
  destructive: false,
  idempotent: true,
  interruptBehavior: 'cancel',
} as const satisfies Partial<ToolDefinition>;

/** A tool as a backend gets it. */
export interface ToolDescriptor {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}
