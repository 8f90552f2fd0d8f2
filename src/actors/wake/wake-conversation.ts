/** The conversation of a wake: loaded with the first step, and kept up to date with whatever is folded from then on. */
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { TranscriptBuilder } from '../../machines/turn/transcript.ts';
import type { EventStore, ReadOptions } from '../session/event-store.ts';
import { MAX_READ_EVENTS } from '../session/event-store.ts';
import type { KeptConversations } from './kept-conversations.ts';
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

/** A wake that writes more than this reads again what it needs. */
const MAX_KNOWN = 1_000;

/**
 * The newest events of a session as far as its wake knows them, so that what has been read or written is not read
 * again.
 */
export class KnownEvents implements Pick<EventStore, 'read'> {
  readonly #store: Pick<EventStore, 'read'>;
  #events: SessionEvent[];

  /** @param events up to the state that the wake begins with, without a gap */
  constructor(store: Pick<EventStore, 'read'>, events: readonly SessionEvent[] = []) {
    this.#store = store;
    this.#events = [...events];
  }

  /** Takes an event that has been folded: in order, and without a gap from the state that the wake began with. */
  ingest(event: SessionEvent): void {
    const last = this.#events.at(-1);
    if (last !== undefined && event.seq <= last.seq) return;
    if ((last !== undefined && event.seq !== last.seq + 1) || this.#events.length >= MAX_KNOWN) this.#events = [];
    this.#events.push(event);
  }

  /** What is asked for beyond the last that is known is asked of the store. */
  async read(sessionId: string, options: ReadOptions = {}): Promise<readonly SessionEvent[]> {
    const { from = 1, limit = MAX_READ_EVENTS } = options;
    const [first, last] = [this.#events[0], this.#events.at(-1)];
    const isKnown = first !== undefined && last !== undefined && from >= first.seq && from + limit - 1 <= last.seq;
    return isKnown
      ? this.#events.slice(from - first.seq, from - first.seq + limit)
      : this.#store.read(sessionId, options);
  }
}
