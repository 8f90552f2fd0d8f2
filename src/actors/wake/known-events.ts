/**
 * The newest events of a session as far as its wake knows them, so that what has been read or written is not read
 * again.
 */
import type { SessionEvent } from '../../machines/session/session-event.ts';
import { MAX_READ_EVENTS } from '../session/event-store.ts';
import type { EventStore, ReadOptions } from '../session/event-store.ts';

/** A wake that writes more than this reads again what it needs. */
const MAX_KNOWN = 1_000;

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
