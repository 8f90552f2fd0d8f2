/**
 * What is known of a conversation: what it costs up to each of its messages, and where its exchanges begin. A
 * conversation grows by its end and is asked about several times for each step, so what is known of its beginning is
 * kept, and a step costs what is new.
 */
import type { ProviderMessage } from './provider-message.ts';
import { messageCosts } from './token-estimate.ts';
import type { MessageCosts } from './token-estimate.ts';

export class ConversationCosts {
  #messages: readonly ProviderMessage[] = [];
  /** Of the first n messages, at n. */
  readonly #words: number[] = [0];
  readonly #attachments: number[] = [0];
  /** Messages that hold a summary. */
  readonly #summaries: number[] = [];
  /** Messages that begin an exchange. */
  readonly #starts: number[] = [];

  /**
   * Goes on to other messages.
   * @param unchanged how many of the first messages are those of before
   */
  become(messages: readonly ProviderMessage[], unchanged: number): void {
    this.#forgetFrom(Math.min(unchanged, this.#messages.length));
    for (let index = this.#words.length - 1; index < messages.length; index += 1) this.#add(messages, index);
    this.#messages = messages;
    KNOWN.set(messages, this);
  }

  isOf(messages: readonly ProviderMessage[]): boolean {
    return this.#messages === messages;
  }

  /** Of the messages from `start` up to before `end`. */
  between(start: number, end: number): MessageCosts {
    return {
      words: (this.#words[end] ?? 0) - (this.#words[start] ?? 0),
      attachments: (this.#attachments[end] ?? 0) - (this.#attachments[start] ?? 0),
      summarizesThroughSeq: this.#summaryIn(start, end),
    };
  }

  /** Where exchanges begin, oldest first. Read it at once: it goes on with the conversation. */
  get starts(): readonly number[] {
    return this.#starts;
  }

  #summaryIn(start: number, end: number): number | undefined {
    const at = this.#summaries.findLast((index) => index < end);
    const message = at === undefined || at < start ? undefined : this.#messages[at];
    return message === undefined ? undefined : messageCosts(message).summarizesThroughSeq;
  }

  #forgetFrom(count: number): void {
    this.#words.length = count + 1;
    this.#attachments.length = count + 1;
    for (const places of [this.#summaries, this.#starts]) while ((places.at(-1) ?? -1) >= count) places.pop();
  }

  #add(messages: readonly ProviderMessage[], index: number): void {
    const message = messages[index];
    if (message === undefined) return;
    const { words, attachments, summarizesThroughSeq } = messageCosts(message);
    this.#words.push((this.#words[index] ?? 0) + words);
    this.#attachments.push((this.#attachments[index] ?? 0) + attachments);
    if (summarizesThroughSeq !== undefined) this.#summaries.push(index);
    if (beginsExchange(messages, index)) this.#starts.push(index);
  }
}

/** With a user message, or with an assistant message that follows upon a step at once. */
function beginsExchange(messages: readonly ProviderMessage[], index: number): boolean {
  const role = messages[index]?.role;
  return role === 'user' || (role === 'assistant' && messages[index - 1]?.role !== 'user');
}

const KNOWN = new WeakMap<readonly ProviderMessage[], ConversationCosts>();

/** Of messages that are known already, or counted now. */
export function costsOf(messages: readonly ProviderMessage[]): ConversationCosts {
  const known = KNOWN.get(messages);
  if (known?.isOf(messages) === true) return known;
  const costs = new ConversationCosts();
  costs.become(messages, 0);
  return costs;
}

/** Of the messages from `start` up to before `end`, together. */
export function conversationCosts(
  messages: readonly ProviderMessage[],
  start = 0,
  end = messages.length,
): MessageCosts {
  return costsOf(messages).between(start, end);
}

/** Tokens of the messages from `start` up to before `end`: the sum of each. */
export function estimateMessages(messages: readonly ProviderMessage[], start = 0, end = messages.length): number {
  const { words, attachments } = conversationCosts(messages, start, end);
  return words + attachments;
}

/** Of one part of a conversation and the one after it. */
export function costsTogether(one: MessageCosts, next: MessageCosts): MessageCosts {
  return {
    words: one.words + next.words,
    attachments: one.attachments + next.attachments,
    summarizesThroughSeq: next.summarizesThroughSeq ?? one.summarizesThroughSeq,
  };
}
