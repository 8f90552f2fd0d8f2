/** The conversation of a wake: loaded with the first step, and kept up to date with whatever is folded from then on. */
import { RuntimeError } from '../../machines/errors.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { TranscriptBuilder } from '../../machines/turn/transcript.ts';
import type { EventStore } from '../session/event-store.ts';
import type { KeptConversations } from './kept-conversations.ts';
import { loadTranscript } from './session-transcript.ts';

export interface ConversationSource {
  readonly store: Pick<EventStore, 'read'>;
  readonly kept: KeptConversations;
  /** As folded so far. */
  readonly state: () => SessionState;
  /** Tokens that a model may be given. */
  readonly maxTokens: number;
}

export class WakeConversation {
  #builder: TranscriptBuilder | undefined;
  /** Id of the event that was folded last. */
  #lastId: string | undefined;

  /** Takes an event that has been folded. */
  ingest(event: SessionEvent): void {
    this.#lastId = event.id;
    this.#builder?.ingest(event);
  }

  /** Loads it, unless that has been done. */
  async load({ store, kept, state, maxTokens }: ConversationSource): Promise<void> {
    while (this.#builder === undefined) {
      const builder = (await kept.take(store, state())) ?? (await loadTranscript(store, state(), { maxTokens }));
      // What was folded meanwhile has reached no builder.
      if (builder.head === state().head) this.#builder = builder;
    }
  }

  get transcript(): TranscriptBuilder {
    if (this.#builder !== undefined) return this.#builder;
    throw new RuntimeError('WAKE_NOT_ASSEMBLED', 'the conversation was to be read before it was loaded', { category: 'crash' });
  }

  /** Leaves it to the next wake of the session. `tokens`: how long it was when a model was told of it; undefined when none was. */
  leave(kept: KeptConversations, sessionId: string, tokens: number | undefined): void {
    const [builder, lastId] = [this.#builder, this.#lastId];
    this.#builder = undefined;
    if (builder !== undefined && lastId !== undefined && tokens !== undefined) kept.keep(sessionId, { builder, lastId }, tokens);
  }
}
