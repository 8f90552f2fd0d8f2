/**
 * What of the reasoning in a conversation a provider takes, and whether it may reason on. Only what a model itself has
 * said, unchanged, is given back to it, and never as the last of a message: each provider wants what came of it right
 * behind.
 *
 * Anthropic lets a model think in a turn that goes on only where the turn began with its own thoughts. A turn goes on
 * while its newest results stand in what came last, whatever was said beside them: a message that steers it, a note of
 * an interruption. What was called by another model over another interface, or with its thinking off, has no such
 * thoughts. Then the model is asked without thinking until the turn is over.
 */
import type { AssistantMessage, ProviderMessage, ReasoningPart } from '../../machines/turn/provider-message.ts';
import type { ProviderOptions } from './language-model.ts';
import { OPTIONS_NAMES } from './load-models.ts';
import type { HttpInterface } from './load-models.ts';

export interface Reader {
  readonly api: HttpInterface;
  readonly provider: string;
  readonly model: string;
}

/** What makes reasoning readable for the model that wrote it; undefined for any other, which would refuse it. */
export function reasoningOptions(
  { opaque }: ReasoningPart,
  { api, provider, model }: Reader,
): ProviderOptions | undefined {
  if (opaque === undefined || opaque.provider !== provider || opaque.model !== model) return undefined;
  const { data } = opaque;
  const name = OPTIONS_NAMES[api];
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return undefined;
  const own = Object.hasOwn(data, name) ? data[name] : undefined;
  return typeof own === 'object' && own !== null && !Array.isArray(own) ? { [name]: own } : undefined;
}

/** The conversation without reasoning that its reader would refuse. A message of which nothing is left goes. */
export function readableBy(messages: readonly ProviderMessage[], reader: Reader): readonly ProviderMessage[] {
  return messages.flatMap((message): ProviderMessage[] => {
    if (message.role !== 'assistant') return [message];
    const own = message.content.filter(
      (part) => part.type !== 'reasoning' || reasoningOptions(part, reader) !== undefined,
    );
    const content = own.slice(0, own.findLastIndex(({ type }) => type !== 'reasoning') + 1);
    return content.length === 0 ? [] : [{ role: 'assistant', content }];
  });
}

export function withoutReasoning(messages: readonly ProviderMessage[]): readonly ProviderMessage[] {
  return messages.map((message) =>
    message.role === 'assistant'
      ? { role: 'assistant', content: message.content.filter(({ type }) => type !== 'reasoning') }
      : message,
  );
}

/** Whether Anthropic lets the model think before it goes on. @param messages as the model can read them */
export function mayThink(messages: readonly ProviderMessage[]): boolean {
  const turn = turnInProgress(messages);
  return turn.every(
    ({ said, begins }, index) => said.content[0]?.type === 'reasoning' || !(begins || index === turn.length - 1),
  );
}

interface Saying {
  readonly said: AssistantMessage;
  /** The user has spoken right before it, and not only a tool. */
  readonly begins: boolean;
}

/**
 * What the assistant has said, oldest first, in the turn that the last results belong to; nothing when no results are
 * to be read.
 */
function turnInProgress(messages: readonly ProviderMessage[]): readonly Saying[] {
  const turn: Saying[] = [];
  let isAnswered = false;
  let hasSpoken = false;
  for (const message of messages) {
    if (message.role === 'assistant') {
      // What was said and had no results ended the turn, unless results of this very message follow.
      if (!isAnswered) turn.length = 0;
      turn.push({ said: message, begins: hasSpoken || turn.length === 0 });
      isAnswered = false;
      hasSpoken = false;
    } else if (message.role === 'tool') isAnswered = true;
    else hasSpoken = true;
  }
  return isAnswered ? turn : [];
}
