/** The settled pieces of a conversation and the messages that they make together. */
import type { AssistantMessage, ProviderMessage, ToolMessage, UserMessage } from './provider-message.ts';
import { OPENING } from './transcript-text.ts';

type UserPart = UserMessage['content'][number];

/** What was told to a model at once, or one turn of it. `seq`: the last event of the log that it holds, never lower than the one before. */
export type TranscriptEntry =
  | { readonly kind: 'told'; readonly seq: number; readonly parts: readonly UserPart[] }
  | { readonly kind: 'turn'; readonly seq: number; readonly said: AssistantMessage; readonly results?: ToolMessage | undefined };

export interface TranscriptRow {
  readonly message: ProviderMessage;
  /** The last event that it holds; absent while it may still change. What is summarized through it takes away this row and those before. */
  readonly settledSeq?: number | undefined;
}

/**
 * The entries as messages: beginning with a user message, and what is told at one place joined to one, since some providers refuse two
 * in a row.
 * @param open what is not settled yet, after the entries
 */
export function rowsOf(entries: readonly TranscriptEntry[], open: readonly TranscriptEntry[]): readonly TranscriptRow[] {
  const rows = new Rows();
  for (const entry of entries) rows.add(entry, entry.seq);
  for (const entry of open) rows.add(entry, undefined);
  return rows.list;
}

class Rows {
  readonly list: TranscriptRow[] = [];
  /** The content of the last row, while that is a user message. */
  #told: UserPart[] | undefined;

  add(entry: TranscriptEntry, settledSeq: number | undefined): void {
    if (entry.kind === 'told') return this.#tell(entry.parts, settledSeq);
    if (this.list.length === 0) this.#tell([OPENING], settledSeq);
    this.#told = undefined;
    this.list.push({ message: entry.said, settledSeq });
    if (entry.results !== undefined) this.list.push({ message: entry.results, settledSeq });
  }

  #tell(parts: readonly UserPart[], settledSeq: number | undefined): void {
    if (parts.length === 0) return;
    if (this.#told === undefined) this.list.push({ message: { role: 'user', content: (this.#told = []) }, settledSeq });
    this.#told.push(...parts);
    this.list[this.list.length - 1] = { message: { role: 'user', content: this.#told }, settledSeq };
  }
}
