/**
 * The messages of the stream of Claude Code (`--output-format stream-json`), as far as they are relied upon. Everything
 * else in them, and every other kind of message, is let through unread.
 */
import { z } from 'zod';

/** What says how much is taken where it makes sense, and for unsaid where it does not: it must not cost an answer. */
const count = z.number().nonnegative().transform(Math.round).optional().catch(undefined);
const amount = z.number().nonnegative().optional().catch(undefined);
const optionalText = z.string().optional().catch(undefined);

/** Set on what a subagent of the program said and did. */
const parent = z
  .string()
  .nullish()
  .catch(undefined)
  .transform((id) => id ?? undefined);

const contentBlock = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('thinking'), thinking: z.string() }),
  z.object({
    type: z.literal('tool_use'),
    id: z.string().min(1).max(500),
    name: z.string(),
    input: z.unknown().optional(),
  }),
  z.object({
    type: z.literal('tool_result'),
    tool_use_id: z.string(),
    content: z.unknown().optional(),
    is_error: z.boolean().nullish(),
  }),
]);

export type ClaudeBlock = z.output<typeof contentBlock>;

const content = z.union([z.string(), z.array(z.unknown())]);

/** The blocks that matter; images, redacted thoughts and what is yet to be invented are passed over. */
export function blocksOf(given: z.output<typeof content>): readonly ClaudeBlock[] {
  if (typeof given === 'string') return [];
  return given.flatMap((block) => {
    const parsed = contentBlock.safeParse(block);
    return parsed.success ? [parsed.data] : [];
  });
}

export const systemMessage = z.object({
  subtype: z.string(),
  session_id: optionalText,
  /** For `permission_denied`. */
  tool_use_id: optionalText,
  /** For `model_refusal_no_fallback`. */
  content: optionalText,
  /** For `status`. */
  status: optionalText,
});

export const assistantMessage = z.object({
  message: z.object({ model: optionalText, content }),
  parent_tool_use_id: parent,
  /** A code: what is said here is an error of the provider, in words of the program. */
  error: optionalText,
});

export const userMessage = z.object({ message: z.object({ content }), parent_tool_use_id: parent });

export const streamEvent = z.object({
  event: z.object({
    type: z.string(),
    index: z.number().optional(),
    content_block: z.object({ type: z.string() }).optional(),
    delta: z
      .object({ type: z.string().optional(), text: z.string().optional(), thinking: z.string().optional() })
      .optional(),
  }),
  parent_tool_use_id: parent,
});

const usage = z.object({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
});

const modelUsage = z.object({
  inputTokens: count,
  outputTokens: count,
  thinkingTokens: count,
  cacheReadInputTokens: count,
  cacheCreationInputTokens: count,
  costUSD: amount,
});

export const resultMessage = z.object({
  subtype: z.string(),
  is_error: z.boolean().catch(false),
  result: optionalText,
  errors: z.array(z.string()).optional().catch(undefined),
  session_id: optionalText,
  num_turns: count,
  stop_reason: z.string().optional().catch(undefined),
  terminal_reason: optionalText,
  startup_failure_reason: optionalText,
  api_error_status: z.number().optional().catch(undefined),
  total_cost_usd: amount,
  usage: usage.optional().catch(undefined),
  modelUsage: z.record(z.string(), modelUsage).optional().catch(undefined),
  /** Since 2.1: of this turn alone, its subagents among it, whatever the session has taken before. */
  model_usage_since_last_result: z.record(z.string(), modelUsage).optional().catch(undefined),
  /** The messages of the user that this turn has answered, by the ids that were given to them. */
  user_message_uuids: z.array(z.string()).optional().catch(undefined),
});

export type ClaudeResult = z.output<typeof resultMessage>;

export const controlRequest = z.object({
  request_id: z.string().min(1),
  request: z.looseObject({ subtype: z.string() }),
});

export const permissionRequest = z.object({
  tool_name: z.string(),
  tool_use_id: z.string().min(1).max(500).optional().catch(undefined),
  input: z.record(z.string(), z.unknown()).catch({}),
});

export const controlCancelRequest = z.object({ request_id: z.string() });

export const controlResponse = z.object({
  response: z.object({ subtype: z.string(), request_id: z.string(), error: optionalText }),
});

export const rateLimitEvent = z.object({
  /** `resetsAt` in seconds since the epoch. */
  rate_limit_info: z.object({ status: z.string(), resetsAt: z.number().optional().catch(undefined) }),
});

export const toolProgress = z.object({ tool_use_id: z.string() });
