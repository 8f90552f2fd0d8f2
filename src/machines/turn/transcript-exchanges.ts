/**
 * The pieces that a conversation can be cut into without parting a call from its result or an answer from what it
 * answers.
 */
import { costsOf } from './conversation-costs.ts';
import type { ProviderMessage, TextPart, UserMessage } from './provider-message.ts';

/**
 * One step of a model with what it was told before, or what it is told and has not answered. From `start` up to before
 * `end`.
 */
export interface Exchange {
  readonly start: number;
  readonly end: number;
}

/**
 * All of them, oldest first. An exchange begins with a user message, or with an assistant message that follows upon a
 * step at once.
 */
export function exchangesOf(messages: readonly ProviderMessage[]): readonly Exchange[] {
  const { starts } = costsOf(messages);
  return starts.map((start, index) => ({ start, end: starts[index + 1] ?? messages.length }));
}

/**
 * Where the last exchange begins that a model has not answered yet: results that it has not seen belong to it with the
 * step that asked.
 */
export function lastExchangeStart(messages: readonly ProviderMessage[]): number {
  const { starts } = costsOf(messages);
  const last = starts.at(-1);
  if (last === undefined) return 0;
  const isUnread = messages[last - 1]?.role === 'tool' && messages.length - last === 1;
  return isUnread ? (starts.at(-2) ?? last) : last;
}

/** The summary that the conversation begins with, if it does. */
export function summaryOf(messages: readonly ProviderMessage[]): TextPart | undefined {
  return textsOf(messages[0]).find(({ summarizesThroughSeq }) => summarizesThroughSeq !== undefined);
}

/** The newest user message before `end` that says more than a summary. */
export function newestTold(messages: readonly ProviderMessage[], end = messages.length): UserMessage | undefined {
  for (let index = end - 1; index >= 0; index -= 1) {
    const message = messages[index];
    const says = textsOf(message).some(({ summarizesThroughSeq }) => summarizesThroughSeq === undefined);
    if (says && message?.role === 'user') return message;
  }
  return undefined;
}

function textsOf(message: ProviderMessage | undefined): readonly TextPart[] {
  return message?.role === 'user' ? message.content.filter((part) => part.type === 'text') : [];
}
