/** The end of the logs of the sessions that are at work, kept up to date by reading what is new and nothing else. */
import { EMPTY_TAIL, MAX_FEED_EVENTS, extendTail } from '../../machines/artifact/log-tail.ts';
import type { LogTail } from '../../machines/artifact/log-tail.ts';
import { MAX_READ_EVENTS } from '../session/event-store.ts';
import type { EventStore } from '../session/event-store.ts';

/** Sessions of which the end is kept in memory. */
const MAX_TAILS = 64;

/** Events that are read of a log that is new here: for the feed, and for the calls around it. */
const FIRST_EVENTS = 2 * MAX_FEED_EVENTS;

export class LogTails {
  readonly #store: Pick<EventStore, 'read'>;
  /** The one used last at the end. */
  readonly #tails = new Map<string, LogTail>();

  constructor(store: Pick<EventStore, 'read'>) {
    this.#store = store;
  }

  /** Up to the event `head`. */
  async upTo(sessionId: string, head: number): Promise<LogTail> {
    const known = this.#tails.get(sessionId);
    const tail = await this.#extended(
      sessionId,
      head,
      known !== undefined && known.throughSeq <= head ? known : EMPTY_TAIL,
    );
    this.#tails.delete(sessionId);
    this.#tails.set(sessionId, tail);
    const [oldest] = this.#tails.keys();
    if (this.#tails.size > MAX_TAILS && oldest !== undefined) this.#tails.delete(oldest);
    return tail;
  }

  async #extended(sessionId: string, head: number, known: LogTail): Promise<LogTail> {
    let tail = known;
    // After a long time away, what lies between is not worth reading.
    for (let from = Math.max(known.throughSeq + 1, head - FIRST_EVENTS + 1); from <= head;) {
      const events = await this.#store.read(sessionId, { from, limit: Math.min(MAX_READ_EVENTS, head - from + 1) });
      if (events.length === 0) return tail;
      tail = extendTail(tail, events);
      from = tail.throughSeq + 1;
    }
    return tail;
  }
}
