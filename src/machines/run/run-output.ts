/** What a run of a backend yields, and the events it streams while it goes: plain data, the same for every backend. */
import { z } from 'zod';
import type { RunFailure } from './run-failure.ts';

export const runUsage = z.object({
  inputTokens: z.number().int().nonnegative().optional(),
  outputTokens: z.number().int().nonnegative().optional(),
  cachedInputTokens: z.number().int().nonnegative().optional(),
  /** In the currency the provider bills in. */
  cost: z.number().nonnegative().optional(),
});

export type RunUsage = Readonly<z.output<typeof runUsage>>;

/** One piece of what the model said. */
export type RunPayload =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  /** A request to run a tool. `callId` is the backend's own; the wake gives every call an id that is unique in its session. */
  | { readonly type: 'tool_call'; readonly callId: string; readonly name: string; readonly input: unknown }
  /** A directive given as data instead of text; not validated yet. */
  | { readonly type: 'directive'; readonly directive: unknown };

/** Every run has one `start` first and exactly one of `end`, `error`, `aborted` last. */
export type AgentRunEventBody =
  | { readonly stream: 'lifecycle'; readonly data: { readonly phase: 'start'; readonly provider: string; readonly model: string } }
  | { readonly stream: 'lifecycle'; readonly data: { readonly phase: 'end'; readonly usage?: RunUsage | undefined } }
  | { readonly stream: 'lifecycle'; readonly data: { readonly phase: 'error'; readonly error: RunFailure } }
  | { readonly stream: 'lifecycle'; readonly data: { readonly phase: 'aborted'; readonly reason: string } }
  | { readonly stream: 'assistant'; readonly data: { readonly kind: 'text' | 'reasoning'; readonly text: string } }
  | {
      readonly stream: 'tool';
      readonly data: { readonly phase: 'requested'; readonly callId: string; readonly name: string; readonly input: unknown };
    };

export type AgentRunEvent = AgentRunEventBody & {
  readonly runId: string;
  /** Dense from 1 in each run. */
  readonly seq: number;
  /** ISO-8601, from the injected clock. */
  readonly ts: string;
};
