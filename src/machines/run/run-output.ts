/** What a run of a backend yields, and the events it streams while it goes: plain data, the same for every backend. */
import { z } from 'zod';
import { runFailure } from './run-failure.ts';
import type { RunFailure } from './run-failure.ts';

export const runUsage = z.object({
  inputTokens: z.number().int().nonnegative().optional(),
  outputTokens: z.number().int().nonnegative().optional(),
  cachedInputTokens: z.number().int().nonnegative().optional(),
  /** In the currency the provider bills in. */
  cost: z.number().nonnegative().optional(),
  /** The provider told no tokens: these are counted by what was read and said. */
  isEstimate: z.boolean().optional(),
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

/** Checked once, where a result comes in: what cannot be written as JSON could not be stored either. */
const toolInput = z.unknown().refine(isJson, 'expected a JSON value');

const runPayload = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('reasoning'), text: z.string() }),
  z.object({ type: z.literal('tool_call'), callId: z.string(), name: z.string(), input: toolInput }),
  z.object({ type: z.literal('directive'), directive: z.unknown() }),
]);

/** What a backend has to resolve with. */
export const agentRunResult = z.object({
  payloads: z.array(runPayload),
  usage: runUsage.optional(),
  meta: z
    .object({
      error: runFailure.optional(),
      sessionId: z.string().optional(),
      compacted: z.boolean().optional(),
      fallbackProvider: z.string().optional(),
      fallbackModel: z.string().optional(),
      modelSteps: z.number().int().nonnegative().optional(),
    })
    .optional(),
});

/** Absent counts as an input without anything in it. */
function isJson(value: unknown): boolean {
  try {
    return value === undefined || JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}

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
