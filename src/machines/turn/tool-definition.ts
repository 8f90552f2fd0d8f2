/** What the runtime and a model know about a tool. */
import type { z } from 'zod';

export interface ToolDefinition<Input = unknown> {
  readonly name: string;
  /** For the model: what it does, when to use it. */
  readonly description: string;
  readonly inputSchema: z.ZodType<Input>;
  readonly ownership: 'managed' | 'mcp' | 'custom';
  /** `always_ask` needs a human; where none can be asked the call is refused. */
  readonly permissionPolicy: 'always_allow' | 'always_ask';
  /** Whether running it changes nothing anywhere. */
  readonly readOnly: boolean;
  /** Whether it can destroy what was there. */
  readonly destructive: boolean;
  /** What a stop does to a running call. */
  readonly interruptBehavior: 'cancel' | 'finish';
}

/** A tool as a backend gets it. */
export interface ToolDescriptor {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}
