/**
 * The conversations of sessions that were awake here lately: the next wake reads what is new of the log, not all that a
 * model could be told again. A builder that goes on gives the same messages as one that is loaded, since it is a pure
 * function of the events, as far back as both go.
 */
import type { SessionState } from '../../machines/session/session-state.ts';
import type { TranscriptBuilder } from '../../machines/turn/transcript.ts';
import { MAX_READ_EVENTS } from '../session/event-store.ts';
import type { EventStore } from '../session/event-store.ts';

/** Of all together, some four characters each. */
const MAX_TOKENS = 4_000_000;
/** What an empty one counts for: so there are at most four thousand. */
const LEAST_TOKENS = 1_000;

export interface KeptConversation {
  readonly builder: TranscriptBuilder;
  /** Of the event at the builder's head. */
  readonly lastId: string;
  /** Tokens for which it was loaded: a model that can be given more is given more. */
  readonly maxTokens: number;
}

export class KeptConversations {
  /** The one kept last at the end. */
  readonly #kept = new Map<string, KeptConversation & { readonly tokens: number }>();
  #tokens = 0;

  /** @param length of it, in tokens */
  keep(sessionId: string, conversation: KeptConversation, length: number): void {
    this.#forget(sessionId);
    const tokens = length + LEAST_TOKENS;
    if (tokens > MAX_TOKENS) return;
    this.#kept.set(sessionId, { ...conversation, tokens });
    this.#tokens += tokens;
    for (const oldest of this.#kept.keys()) {
      if (this.#tokens <= MAX_TOKENS) return;
      this.#forget(oldest);
    }
  }

  #forget(sessionId: string): void {
    this.#tokens -= this.#kept.get(sessionId)?.tokens ?? 0;
    this.#kept.delete(sessionId);
  }

  /**
   * The builder up to the head of `state`, which is the caller's alone from then on. Undefined when none is kept, when
   * the log is another one, or when so much is new that reading all costs no more.
   */
  async take(
    store: Pick<EventStore, 'read'>,
    { sessionId, head }: SessionState,
    maxTokens: number,
  ): Promise<TranscriptBuilder | undefined> {
    const kept = this.#kept.get(sessionId);
    this.#forget(sessionId);
    if (kept === undefined || kept.maxTokens < maxTokens) return undefined;
    const { builder } = kept;
    const missing = head - builder.head;
    if (missing < 0 || missing >= MAX_READ_EVENTS) return undefined;
    const [last, ...events] = await store.read(sessionId, { from: builder.head, limit: missing + 1 });
    if (last?.id !== kept.lastId) return undefined;
    for (const event of events) builder.ingest(event);
    return builder;
  }
}
