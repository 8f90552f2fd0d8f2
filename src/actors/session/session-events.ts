/**
 * A session's events as an async iterator: what is stored, then what comes, each once and in order. It holds a place in
 * the log, not a queue: a slow reader costs nothing, and a missed notification is made good by the next read.
 */
import type { SessionEvent } from '../../machines/session/session-event.ts';
import { EndableIterator } from '../streams/endable-iterator.ts';
import type { EventStore } from './event-store.ts';

export interface SessionEventsOptions {
  /** First sequence number wanted. Default 1. */
  readonly from?: number | undefined;
  /** Goes on with what comes, until it is returned, aborted, or the runtime shuts down. Default false. */
  readonly follow?: boolean | undefined;
  /** Ends after this many events. */
  readonly limit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Told when an iterator begins to hold something and when it has released it. */
export interface Lifetime {
  started(events: SessionEvents): void;
  ended(events: SessionEvents): void;
}

export class SessionEvents extends EndableIterator<SessionEvent> {
  readonly #store: Pick<EventStore, 'read' | 'watch'>;
  readonly #sessionId: string;
  readonly #follow: boolean;
  readonly #signal: AbortSignal | undefined;
  readonly #lifetime: Lifetime;
  #from: number;
  #left: number;
  #page: readonly SessionEvent[] = [];
  #position = 0;
  #hasChanged = false;
  #unwatch: (() => void) | undefined;
  #hasStarted = false;

  constructor(
    store: Pick<EventStore, 'read' | 'watch'>,
    sessionId: string,
    options: SessionEventsOptions,
    lifetime: Lifetime,
  ) {
    super();
    this.#store = store;
    this.#sessionId = sessionId;
    this.#from = Math.max(1, options.from ?? 1);
    this.#left = options.limit ?? Infinity;
    this.#follow = options.follow ?? false;
    this.#signal = options.signal;
    this.#lifetime = lifetime;
  }

  protected override release(): void {
    this.#unwatch?.();
    this.#lifetime.ended(this);
  }

  protected override async take(): Promise<SessionEvent | undefined> {
    this.#start();
    for (;;) {
      if (this.#left <= 0) this.end();
      if (this.hasEnded) return undefined;
      const event = this.#page[this.#position];
      if (event !== undefined) {
        this.#position += 1;
        this.#left -= 1;
        return event;
      }
      if (await this.#readPage()) continue;
      if (!this.#follow) this.end();
      else if (!this.#hasChanged) await this.pause();
    }
  }

  /** Holds nothing before the caller asks for the first event: an iterator that is never used costs nothing. */
  #start(): void {
    if (this.#hasStarted || this.hasEnded) return;
    this.#hasStarted = true;
    this.#lifetime.started(this);
    this.endWith(this.#signal);
    // Watching begins before the first read, so that nothing falls between the two.
    if (!this.hasEnded && this.#follow) this.#unwatch = this.#store.watch(this.#sessionId, () => this.#changed());
  }

  async #readPage(): Promise<boolean> {
    this.#hasChanged = false;
    this.#page = await this.#store.read(this.#sessionId, { from: this.#from });
    this.#position = 0;
    this.#from = (this.#page.at(-1)?.seq ?? this.#from - 1) + 1;
    return this.#page.length > 0;
  }

  #changed(): void {
    this.#hasChanged = true;
    this.nudge();
  }
}
