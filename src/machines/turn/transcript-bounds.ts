/** Keeps what a model is given within a size. The oldest turns are left out first; a call and its result always stay together. */
import type { ProviderMessage } from './provider-message.ts';

export interface TranscriptBounds {
  /** Characters of the messages as JSON. */
  readonly maxCharacters: number;
}

/**
 * The newest part of `messages` that fits, beginning with a user message that says what is missing. The last exchange is always
 * kept, even when it alone is too large: what the model has to answer cannot be left out.
 */
export function boundTranscript(messages: readonly ProviderMessage[], { maxCharacters }: TranscriptBounds): readonly ProviderMessage[] {
  const start = firstThatFits(messages, maxCharacters);
  if (start === 0) return messages;
  const kept = messages.slice(start);
  const note = { type: 'text', text: `${start} earlier messages are left out here; the log of the session keeps them.` } as const;
  const [first, ...rest] = kept;
  return first?.role === 'user' ? [{ role: 'user', content: [note, ...first.content] }, ...rest] : [{ role: 'user', content: [note] }, ...kept];
}

/** Where the newest part within the size begins: at a user message if there is one, else at an assistant message. */
function firstThatFits(messages: readonly ProviderMessage[], maxCharacters: number): number {
  let characters = 0;
  let startAtUser = messages.length;
  let startOfExchange = messages.length;
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const message = messages[index];
    if (message === undefined) break;
    characters += JSON.stringify(message.content).length;
    const keepsSomething = startOfExchange < messages.length;
    if (characters > maxCharacters && keepsSomething) return startAtUser < messages.length ? startAtUser : startOfExchange;
    // A tool message needs the assistant message before it, so it is no place to begin.
    if (message.role !== 'tool') startOfExchange = index;
    if (message.role === 'user') startAtUser = index;
  }
  return 0;
}
