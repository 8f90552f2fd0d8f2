/** The settled pieces of a conversation and the messages that they make together. */
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

  /** @param open what is not settled yet, after the entries */
  messages(entries: readonly TranscriptEntry[], open: readonly TranscriptEntry[]): readonly ProviderMessage[] {
    return this.#with(entries, open).#messages;
  }

  /** The same messages, each with the place in the log through which it is settled. */
  rows(entries: readonly TranscriptEntry[], open: readonly TranscriptEntry[]): readonly TranscriptRow[] {
    const copy = this.#with(entries, open);
    return copy.#messages.map((message, index) => ({ message, settledSeq: copy.#settled[index] }));
  }

  /** The entries are others than they were. */
  forget(): void {
    [this.#messages, this.#settled, this.#told, this.#isShared, this.#count] = [[], [], undefined, false, 0];
  }

  #with(entries: readonly TranscriptEntry[], open: readonly TranscriptEntry[]): TranscriptRows {
    for (; this.#count < entries.length; this.#count += 1) {
      const entry = entries[this.#count];
      if (entry !== undefined) this.#add(entry, entry.seq);
    }
    this.#isShared = true;
    const copy = new TranscriptRows();
    [copy.#messages, copy.#settled] = [[...this.#messages], [...this.#settled]];
    [copy.#told, copy.#isShared] = [this.#told, true];
    for (const entry of open) copy.#add(entry, undefined);
    return copy;
  }

  #add(entry: TranscriptEntry, settledSeq: number | undefined): void {
    if (entry.kind === 'told') return this.#tell(entry.parts, settledSeq);
    if (this.#messages.length === 0) this.#tell([OPENING], settledSeq);
    this.#told = undefined;
    this.#put(this.#messages.length, entry.said, settledSeq);
    if (entry.results !== undefined) this.#put(this.#messages.length, entry.results, settledSeq);
  }

  #tell(parts: readonly UserPart[], settledSeq: number | undefined): void {
    if (parts.length === 0) return;
    const at = this.#messages.length - (this.#told === undefined ? 0 : 1);
    const told = this.#told !== undefined && !this.#isShared ? this.#told : [...(this.#told ?? [])];
    told.push(...parts);
    [this.#told, this.#isShared] = [told, false];
    this.#put(at, { role: 'user', content: told }, settledSeq);
  }

  #put(at: number, message: ProviderMessage, settledSeq: number | undefined): void {
    [this.#messages[at], this.#settled[at]] = [message, settledSeq];
  }
}
