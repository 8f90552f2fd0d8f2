/** What a run of a backend yields, and the events it streams while it goes: plain data, the same for every backend. */
import * as z from 'zod';
import type { Candidate } from './candidate.ts';
import { runAttempt } from './run-attempt.ts';
import type { RunDecision } from './run-attempt.ts';
import { runFailure } from './run-failure.ts';
import type { RunFailure } from './run-failure.ts';

export const runUsage = z.object({
  inputTokens: z.number().int().nonnegative().optional(),
  outputTokens: z.number().int().nonnegative().optional(),
  /** Of the input: read from the provider's cache. */
  cachedInputTokens: z.number().int().nonnegative().optional(),
  /** Of the input: written into the provider's cache. */
  cacheWriteTokens: z.number().int().nonnegative().optional(),
  /** Of the output: reasoning. */
  reasoningTokens: z.number().int().nonnegative().optional(),
  /** In the currency the provider bills in. */
  cost: z.number().nonnegative().optional(),
  /** The provider told no tokens: these are counted by what was read and said. */
  isEstimate: z.boolean().optional(),
});

export type RunUsage = Readonly<z.output<typeof runUsage>>;

/** What only the model that wrote it can read, and wants to be given back: a signature, encrypted reasoning. */
export const opaquePart = z.object({ provider: z.string(), model: z.string(), data: z.json() });

export type OpaquePart = Readonly<z.output<typeof opaquePart>>;

/** One piece of what the model said. */
export type RunPayload =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string; readonly opaque?: OpaquePart | undefined }
  /**
   * A request to run a tool. `callId` is the backend's own; the wake gives every call an id that is unique in its
   * session.
   */
  | { readonly type: 'tool_call'; readonly callId: string; readonly name: string; readonly input: unknown }
  /** A directive given as data instead of text; not validated yet. */
  | { readonly type: 'directive'; readonly directive: unknown };

/** Checked once, where a result comes in: what cannot be written as JSON could not be stored either. */
const toolInput = z.unknown().refine(isJson, 'expected a JSON value');

const runPayload = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('reasoning'), text: z.string(), opaque: opaquePart.optional() }),
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
      reseeded: z.string().optional(),
      attempts: z.array(runAttempt).optional(),
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

/** How a tool that the backend ran itself has ended. `unknown`: its program is gone, and has not told. */
export type BackendToolOutcome = 'completed' | 'failed' | 'denied' | 'cancelled' | 'unknown';

/**
 * Every run has one `start` first and exactly one of `end`, `error`, `aborted` last. Text comes in pieces as they
 * stream: joined, those of a kind are what the payloads say. A backend of turns tells each tool that it runs itself:
 * `requested`, perhaps `started`, then `ended`. `attempt` events come from `executeAgentRun` only: after one that
 * `failed`, what was streamed since it `started` counts for nothing.
 */
export type AgentRunEventBody =
  | {
      readonly stream: 'lifecycle';
      readonly data: { readonly phase: 'start'; readonly provider: string; readonly model: string };
    }
  | { readonly stream: 'lifecycle'; readonly data: { readonly phase: 'end'; readonly usage?: RunUsage | undefined } }
  | { readonly stream: 'lifecycle'; readonly data: { readonly phase: 'error'; readonly error: RunFailure } }
  | { readonly stream: 'lifecycle'; readonly data: { readonly phase: 'aborted'; readonly reason: string } }
  | { readonly stream: 'assistant'; readonly data: { readonly kind: 'text' | 'reasoning'; readonly text: string } }
  | {
      readonly stream: 'tool';
      readonly data: {
        readonly phase: 'requested';
        readonly callId: string;
        readonly name: string;
        readonly input: unknown;
      };
    }
  | { readonly stream: 'tool'; readonly data: { readonly phase: 'started'; readonly callId: string } }
  | {
      readonly stream: 'tool';
      readonly data: {
        readonly phase: 'ended';
        readonly callId: string;
        readonly outcome: BackendToolOutcome;
        readonly output: unknown;
      };
    }
  | {
      readonly stream: 'attempt';
      readonly data: {
        readonly phase: 'started';
        readonly attempt: number;
        readonly candidate: Candidate;
        readonly because: string;
      };
    }
  | {
      readonly stream: 'attempt';
      readonly data: {
        readonly phase: 'failed';
        readonly attempt: number;
        readonly error: RunFailure;
        readonly next: RunDecision;
        readonly because: string;
        readonly waitMs?: number | undefined;
      };
    };

export type AgentRunEvent = AgentRunEventBody & {
  readonly runId: string;
  /** Dense from 1 in each run. */
  readonly seq: number;
  /** ISO-8601, from the injected clock. */
  readonly ts: string;
};
