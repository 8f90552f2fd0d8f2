/** The conversation of a wake: loaded with the first step, and kept up to date with whatever is folded from then on. */
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { TranscriptBuilder } from '../../machines/turn/transcript.ts';
import type { KeptConversations } from './kept-conversations.ts';
import type { KnownEvents } from './known-events.ts';
import { loadTranscript } from './session-transcript.ts';

export interface ConversationSource {
  readonly kept: KeptConversations;
  /** As folded so far. */
  readonly state: () => SessionState;
  /** Tokens that a model may be given. */
  readonly maxTokens: number;
}

export class WakeConversation {
  readonly #known: KnownEvents;
  #builder: TranscriptBuilder | undefined;
  /** Id of the event that was folded last. */
  #lastId: string | undefined;
  #maxTokens = 0;

  constructor(known: KnownEvents) {
    this.#known = known;
  }

  /** Takes an event that has been folded. */
  ingest(event: SessionEvent): void {
    this.#known.ingest(event);
    this.#lastId = event.id;
    this.#builder?.ingest(event);
  }

  /** As far as it is folded; read from the log, unless that has been done. */
  async load({ kept, state, maxTokens }: ConversationSource): Promise<TranscriptBuilder> {
    this.#maxTokens = maxTokens;
    for (;;) {
      if (this.#builder !== undefined) return this.#builder;
      const builder =
        (await kept.take(this.#known, state(), maxTokens)) ??
        (await loadTranscript(this.#known, state(), { maxTokens }));
      // What was folded meanwhile has reached no builder.
      if (builder.head === state().head) this.#builder = builder;
    }
  }

  /** Leaves it to the next wake of the session, without what is far too old for a model to be told. */
  leave(kept: KeptConversations, sessionId: string): void {
    const [builder, lastId] = [this.#builder, this.#lastId];
    this.#builder = undefined;
    if (builder === undefined || lastId === undefined) return;
    kept.keep(sessionId, { builder, lastId, maxTokens: this.#maxTokens }, builder.dropOldest(this.#maxTokens));
  }
}
