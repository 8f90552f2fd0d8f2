/**
 * The conversations of sessions that were awake here lately: the next wake reads what is new of the log, not all that a model could be told again.
 * A builder that goes on gives the same messages as one that is loaded, since it is a pure function of the events.
 */
import type { SessionState } from '../../machines/session/session-state.ts';
import type { TranscriptBuilder } from '../../machines/turn/transcript.ts';
import { MAX_READ_EVENTS } from '../session/event-store.ts';
import type { EventStore } from '../session/event-store.ts';

/** Together with the bound of one: some 30 MB at most. */
const MAX_CONVERSATIONS = 64;
/** In tokens, some four characters each. A longer one is read again: its wake costs more than the reading. */
const MAX_TOKENS = 32_000;

export interface KeptConversation {
  readonly builder: TranscriptBuilder;
  /** Of the event at the builder's head. */
  readonly lastId: string;
}

export class KeptConversations {
  /** The one kept last at the end. */
  readonly #kept = new Map<string, KeptConversation>();

  /** `tokens`: how long it was when a model was told of it last. */
  keep(sessionId: string, conversation: KeptConversation, tokens: number): void {
    this.#kept.delete(sessionId);
    if (tokens > MAX_TOKENS) return;
    this.#kept.set(sessionId, conversation);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_CONVERSATIONS && oldest !== undefined) this.#kept.delete(oldest);
  }

  /**
   * The builder up to the head of `state`, which is the caller's alone from then on. Undefined when none is kept, when the log is another one,
   * or when so much is new that reading all costs no more.
   */
  async take(store: Pick<EventStore, 'read'>, { sessionId, head }: SessionState): Promise<TranscriptBuilder | undefined> {
    const kept = this.#kept.get(sessionId);
    this.#kept.delete(sessionId);
    if (kept === undefined) return undefined;
    const { builder } = kept;
    const missing = head - builder.head;
    if (missing < 0 || missing >= MAX_READ_EVENTS) return undefined;
    const [last, ...events] = await store.read(sessionId, { from: builder.head, limit: missing + 1 });
    if (last?.id !== kept.lastId) return undefined;
    for (const event of events) builder.ingest(event);
    return builder;
  }
}
