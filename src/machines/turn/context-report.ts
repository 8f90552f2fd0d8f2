/** What a model's context is spent on, as numbers and in words. */
import type { ProviderMessage } from './provider-message.ts';
import type { ToolDescriptor } from './tool-definition.ts';
import { conversationCosts } from './conversation-costs.ts';
import { estimateTokens, estimateTools } from './token-estimate.ts';
import type { MessageCosts } from './token-estimate.ts';

export interface ContextParts {
  /** The system text. */
  readonly instructions: string;
  readonly tools: readonly ToolDescriptor[];
  /** As a model is given them. */
  readonly messages: readonly ProviderMessage[];
  /** Of these messages, where that is known. */
  readonly costs?: MessageCosts | undefined;
  /** Tokens that the model can take, its answer included. */
  readonly maxTokens: number;
  /** Tokens that are kept for the answer. */
  readonly reservedForOutput: number;
  /** Messages that were left out, since they did not fit. Default 0. */
  readonly omittedMessages?: number | undefined;
  /** Messages that the model is given only in part. Default 0. */
  readonly shortenedMessages?: number | undefined;
}

/** All in tokens, by estimate, but for the last three. */
export interface ContextReport {
  readonly maxTokens: number;
  readonly instructions: number;
  readonly tools: number;
  /** Without what they refer to. */
  readonly messages: number;
  /** Images and files that messages and results refer to. */
  readonly attachments: number;
  readonly reserved: number;
  /** The sum of the five. */
  readonly total: number;
  /** 0 when the total is too large. */
  readonly free: number;
  readonly omittedMessages: number;
  readonly shortenedMessages: number;
  /** Everything in the log up to this event is there as a summary only. */
  readonly compactedThroughSeq?: number | undefined;
}

export function contextReport({
  instructions,
  tools,
  messages,
  costs = conversationCosts(messages),
  maxTokens,
  reservedForOutput,
  omittedMessages = 0,
  shortenedMessages = 0,
}: ContextParts): ContextReport {
  const { words, attachments, summarizesThroughSeq } = costs;
  const spent = {
    instructions: estimateTokens(instructions),
    tools: estimateTools(tools),
    messages: words,
    attachments,
    reserved: reservedForOutput,
  };
  const total = spent.instructions + spent.tools + spent.messages + spent.attachments + spent.reserved;
  return {
    maxTokens,
    ...spent,
    total,
    free: Math.max(0, maxTokens - total),
    omittedMessages,
    shortenedMessages,
    ...(summarizesThroughSeq === undefined ? {} : { compactedThroughSeq: summarizesThroughSeq }),
  };
}

/** Tokens that are left for messages beside everything else; 0 when nothing is. */
export function tokensForMessages({
  instructions,
  tools,
  maxTokens,
  reservedForOutput,
}: Omit<ContextParts, 'messages' | 'costs' | 'omittedMessages' | 'shortenedMessages'>): number {
  return Math.max(0, maxTokens - reservedForOutput - estimateTokens(instructions) - estimateTools(tools));
}

export function describeContext({
  maxTokens,
  total,
  free,
  omittedMessages,
  shortenedMessages,
  compactedThroughSeq,
  ...spent
}: ContextReport): string {
  const parts = (['instructions', 'tools', 'messages', 'attachments'] as const)
    .map((part) => `${part} ${grouped(spent[part])}`)
    .join(', ');
  const share = maxTokens > 0 ? ` (${Math.round((100 * total) / maxTokens)} %)` : '';
  const room = total > maxTokens ? `${grouped(total - maxTokens)} too many` : `${grouped(free)} free`;
  return [
    `About ${grouped(total)} of ${grouped(maxTokens)} tokens${share}: ${parts}, kept for the answer ${grouped(spent.reserved)}; ${room}.`,
    ...(omittedMessages > 0
      ? [
          omittedMessages === 1
            ? 'One earlier message is left out.'
            : `${grouped(omittedMessages)} earlier messages are left out.`,
        ]
      : []),
    ...(shortenedMessages > 0
      ? [
          shortenedMessages === 1
            ? 'One message is shortened.'
            : `${grouped(shortenedMessages)} messages are shortened.`,
        ]
      : []),
    ...(compactedThroughSeq === undefined
      ? []
      : [`A summary stands for everything up to event ${compactedThroughSeq}.`]),
  ].join(' ');
}

function grouped(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}
