/**
 * The pieces that a conversation can be cut into without parting a call from its result or an answer from what it
 * answers.
 */
import type { ProviderMessage, TextPart, UserMessage } from './provider-message.ts';

/**
 * One step of a model with what it was told before, or what it is told and has not answered. From `start` up to before
 * `end`.
 */
export interface Exchange {
  readonly start: number;
  readonly end: number;
}

/** One step asks several times for those of the same messages. */
const KNOWN = new WeakMap<readonly ProviderMessage[], readonly Exchange[]>();

/**
 * All of them, oldest first. An exchange begins with a user message, or with an assistant message that follows upon a
 * step at once.
 */
export function exchangesOf(messages: readonly ProviderMessage[]): readonly Exchange[] {
  const known = KNOWN.get(messages) ?? partedInto(messages);
  KNOWN.set(messages, known);
  return known;
}

function partedInto(messages: readonly ProviderMessage[]): readonly Exchange[] {
  const starts = messages.flatMap(({ role }, index) => {
    if (role === 'tool') return [];
    return role === 'user' || messages[index - 1]?.role !== 'user' ? [index] : [];
  });
  return starts.map((start, index) => ({ start, end: starts[index + 1] ?? messages.length }));
}

/**
 * Where the last exchange begins that a model has not answered yet: results that it has not seen belong to it with the
 * step that asked.
 */
export function lastExchangeStart(messages: readonly ProviderMessage[]): number {
  const exchanges = exchangesOf(messages);
  const last = exchanges.at(-1);
  if (last === undefined) return 0;
  const isUnread = messages[last.start - 1]?.role === 'tool' && last.end - last.start === 1;
  return isUnread ? (exchanges.at(-2)?.start ?? last.start) : last.start;
}

/** The summary that the conversation begins with, if it does. */
export function summaryOf(messages: readonly ProviderMessage[]): TextPart | undefined {
  return textsOf(messages[0]).find(({ summarizesThroughSeq }) => summarizesThroughSeq !== undefined);
}

/** The newest user message among these that says more than a summary. */
export function newestTold(messages: readonly ProviderMessage[]): UserMessage | undefined {
  return messages.findLast((message): message is UserMessage =>
    textsOf(message).some(({ summarizesThroughSeq }) => summarizesThroughSeq === undefined),
  );
}

function textsOf(message: ProviderMessage | undefined): readonly TextPart[] {
  return message?.role === 'user' ? message.content.filter((part) => part.type === 'text') : [];
}
