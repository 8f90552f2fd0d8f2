/** The settled pieces of a conversation and the messages that they make together. */
import { ConversationCosts } from './conversation-costs.ts';
import type { AssistantMessage, ProviderMessage, ToolMessage, UserMessage } from './provider-message.ts';
import { OPENING } from './transcript-text.ts';

type UserPart = UserMessage['content'][number];

/**
 * What was told to a model at once, or one turn of it. `seq`: the last event of the log that it holds, never lower than
 * the one before.
 */
export type TranscriptEntry =
  | { readonly kind: 'told'; readonly seq: number; readonly parts: readonly UserPart[] }
  | {
      readonly kind: 'turn';
      readonly seq: number;
      readonly said: AssistantMessage;
      readonly results?: ToolMessage | undefined;
    };

export interface TranscriptRow {
  readonly message: ProviderMessage;
  /**
   * The last event that it holds; absent while it may still change. What is summarized through it takes away this row
   * and those before.
   */
  readonly settledSeq?: number | undefined;
}

/**
 * The entries as messages: beginning with a user message, and what is told at one place joined to one, since some
 * providers refuse two in a row. Entries are added at their end, so what was made of the settled ones is kept, and a
 * step costs what is new.
 */
export class TranscriptRows {
  #messages: ProviderMessage[] = [];
  /** Of each message, through which event it is settled. */
  #settled: (number | undefined)[] = [];
  /** The content of the last message, while that is a user message. */
  #told: UserPart[] | undefined;
  /** The messages have been given away: what a step was given stays as it was. */
  #isShared = false;
  /** How many of the entries are in the messages. */
  #count = 0;
  /** What is known of the messages that were given last. */
  readonly #costs = new ConversationCosts();
  /** How many of the first messages are still as they were given last. */
  #unchanged = 0;

  /** @param open what is not settled yet, after the entries */
  messages(entries: readonly TranscriptEntry[], open: readonly TranscriptEntry[]): readonly ProviderMessage[] {
    const copy = this.#with(entries, open);
    this.#costs.become(copy.#messages, Math.min(this.#unchanged, copy.#unchanged));
    this.#unchanged = copy.#unchanged;
    return copy.#messages;
  }

  /** The same messages, each with the place in the log through which it is settled. */
  rows(entries: readonly TranscriptEntry[], open: readonly TranscriptEntry[]): readonly TranscriptRow[] {
    const copy = this.#with(entries, open);
    return copy.#messages.map((message, index) => ({
      message,
      settledSeq: index < copy.#unchanged ? this.#settled[index] : undefined,
    }));
  }

  /** The entries are others than they were. */
  forget(): void {
    [this.#messages, this.#settled, this.#told, this.#isShared] = [[], [], undefined, false];
    [this.#count, this.#unchanged] = [0, 0];
  }

  #with(entries: readonly TranscriptEntry[], open: readonly TranscriptEntry[]): TranscriptRows {
    for (; this.#count < entries.length; this.#count += 1) {
      const entry = entries[this.#count];
      if (entry === undefined) continue;
      const last = this.#messages.at(-1);
      this.#add(entry);
      if (this.#messages.at(-1) !== last) this.#settled[this.#messages.length - 1] = entry.seq;
      for (let at = this.#messages.length - 1; at > 0 && this.#settled[at - 1] === undefined; at -= 1)
        this.#settled[at - 1] = entry.seq;
    }
    this.#isShared = true;
    const copy = new TranscriptRows();
    [copy.#messages, copy.#told, copy.#isShared] = [[...this.#messages], this.#told, true];
    copy.#unchanged = copy.#messages.length;
    for (const entry of open) copy.#add(entry);
    return copy;
  }

  #add(entry: TranscriptEntry): void {
    if (entry.kind === 'told') return this.#tell(entry.parts);
    if (this.#messages.length === 0) this.#tell([OPENING]);
    this.#told = undefined;
    this.#put(this.#messages.length, entry.said);
    if (entry.results !== undefined) this.#put(this.#messages.length, entry.results);
  }

  #tell(parts: readonly UserPart[]): void {
    if (parts.length === 0) return;
    const at = this.#messages.length - (this.#told === undefined ? 0 : 1);
    const told = this.#told !== undefined && !this.#isShared ? this.#told : [...(this.#told ?? [])];
    told.push(...parts);
    [this.#told, this.#isShared] = [told, false];
    this.#put(at, { role: 'user', content: told });
  }

  #put(at: number, message: ProviderMessage): void {
    this.#messages[at] = message;
    this.#unchanged = Math.min(this.#unchanged, at);
  }
}
