/**
 * The messages of the app server of Codex, as far as they are relied upon. They are JSON-RPC without its version. The
 * rest is let through unread.
 */
import * as z from 'zod';
import { jsonLine } from './json-lines.ts';

const count = z.number().nonnegative().transform(Math.round).optional().catch(undefined);
const text = z.string().nullish().catch(undefined);

export const rpcMessage = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z
    .looseObject({ message: z.string().catch('it did not say why'), code: z.number().optional().catch(undefined) })
    .optional(),
});

export type RpcMessage = z.output<typeof rpcMessage>;
export type RpcId = NonNullable<RpcMessage['id']>;

export const threadAnswer = z.object({ thread: z.object({ id: z.string().min(1) }) });

export const turnAnswer = z.object({ turn: z.object({ id: z.string().min(1) }) });

export const turnError = z.looseObject({ message: z.string(), codexErrorInfo: z.unknown().optional() });

export type TurnError = z.output<typeof turnError>;

export const turnStarted = z.object({ threadId: z.string(), turn: z.object({ id: z.string() }) });

export const turnCompleted = z.object({
  threadId: z.string(),
  turn: z.object({ id: z.string(), status: z.string(), error: turnError.nullish().catch(undefined) }),
});

export const errorNews = z.object({ error: turnError });

export const tokenUsage = z.object({
  turnId: z.string(),
  tokenUsage: z.object({
    last: z.object({
      inputTokens: count,
      cachedInputTokens: count,
      cacheWriteInputTokens: count,
      outputTokens: count,
      reasoningOutputTokens: count,
    }),
  }),
});

export const textDelta = z.object({ threadId: z.string(), itemId: z.string(), delta: z.string() });

export const summaryPart = z.object({ threadId: z.string(), itemId: z.string(), summaryIndex: z.number() });

export const planNews = z.object({ explanation: z.unknown().optional(), plan: z.array(z.unknown()) });

export const terminalNews = z.object({ threadId: z.string(), itemId: z.string(), stdin: z.string() });

/** What every item has, and what the tools among them have. */
export const itemNews = z.object({
  threadId: z.string(),
  item: z.looseObject({
    id: z.string().min(1).max(400),
    type: z.string(),
    status: text,
    text,
    summary: z.array(z.string()).optional().catch(undefined),
    command: text,
    cwd: text,
    aggregatedOutput: text,
    exitCode: z.number().nullish().catch(undefined),
    changes: z
      .array(
        z.looseObject({
          path: z.string(),
          kind: z.looseObject({ type: z.string(), move_path: text }).optional().catch(undefined),
        }),
      )
      .optional()
      .catch(undefined),
    server: text,
    tool: text,
    arguments: z.unknown().optional(),
    result: z.unknown().optional(),
    error: z.object({ message: z.string() }).nullish().catch(undefined),
    contentItems: z.unknown().optional(),
    prompt: text,
    receiverThreadIds: z.unknown().optional(),
    agentsStates: z.unknown().optional(),
    query: text,
    path: text,
  }),
});

export type CodexItem = z.output<typeof itemNews>['item'];

export const approvalParams = z.looseObject({
  threadId: z.string(),
  itemId: z.string().min(1).max(400),
  kind: text,
  command: text,
  cwd: text,
  reason: text,
  grantRoot: text,
  networkApprovalContext: z.unknown().optional(),
});

export const elicitation = z.looseObject({
  threadId: z.string(),
  serverName: z.string(),
  _meta: z.looseObject({ codex_approval_kind: text, tool_name: text, tool_params: z.unknown().optional() }).nullish(),
});

export const resolved = z.object({ requestId: z.union([z.string(), z.number()]) });

export function requestLine(id: RpcId, method: string, params: unknown): string {
  return jsonLine({ id, method, params });
}

export function noticeLine(method: string): string {
  return jsonLine({ method });
}

export function resultLine(id: RpcId, result: unknown): string {
  return jsonLine({ id, result });
}

/** The asking program must not wait for ever. */
export function refusalLine(id: RpcId, message: string): string {
  return jsonLine({ id, error: { code: -32_601, message } });
}

/** A text as the user of a turn says it. */
export function inputOf(said: string): readonly unknown[] {
  return [{ type: 'text', text: said, text_elements: [] }];
}
