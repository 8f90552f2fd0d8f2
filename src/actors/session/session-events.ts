/**
 * A session's events as an async iterator: what is stored, then what comes, each once and in order. It holds a place in
 * the log, not a queue: a slow reader costs nothing, and a missed notification is made good by the next read.
 */
import type { SessionEvent } from '../../machines/session/session-event.ts';
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

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

export class SessionEvents implements AsyncIterableIterator<SessionEvent, undefined> {
  readonly #store: Pick<EventStore, 'read' | 'watch'>;
  readonly #sessionId: string;
  readonly #follow: boolean;
  readonly #signal: AbortSignal | undefined;
  readonly #lifetime: Lifetime;
  readonly #end = (): void => this.end();
  #from: number;
  #left: number;
  #page: readonly SessionEvent[] = [];
  #position = 0;
  #turn: Promise<unknown> = Promise.resolve();
  #hasChanged = false;
  #wakeUp: (() => void) | undefined;
  #unwatch: (() => void) | undefined;
  #hasStarted = false;
  #hasEnded = false;

  constructor(
    store: Pick<EventStore, 'read' | 'watch'>,
    sessionId: string,
    options: SessionEventsOptions,
    lifetime: Lifetime,
  ) {
    this.#store = store;
    this.#sessionId = sessionId;
    this.#from = Math.max(1, options.from ?? 1);
    this.#left = options.limit ?? Infinity;
    this.#follow = options.follow ?? false;
    this.#signal = options.signal;
    this.#lifetime = lifetime;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<SessionEvent, undefined>> {
    // One at a time: two calls in a row get two events.
    const result = this.#turn.then(() => this.#take());
    this.#turn = result.catch(() => undefined);
    return result;
  }

  return(): Promise<IteratorReturnResult<undefined>> {
    this.end();
    return Promise.resolve(DONE);
  }

  /** Ends it from outside; a `next` that waits resolves as done. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#signal?.removeEventListener('abort', this.#end);
    this.#unwatch?.();
    this.#wakeUp?.();
    this.#lifetime.ended(this);
  }

  /** Holds nothing before the caller asks for the first event: an iterator that is never used costs nothing. */
  #start(): void {
    if (this.#hasStarted || this.#hasEnded) return;
    this.#hasStarted = true;
    this.#lifetime.started(this);
    this.#signal?.addEventListener('abort', this.#end, { once: true });
    if (this.#signal?.aborted === true) this.end();
    // Watching begins before the first read, so that nothing falls between the two.
    else if (this.#follow) this.#unwatch = this.#store.watch(this.#sessionId, () => this.#nudge());
  }

  async #take(): Promise<IteratorResult<SessionEvent, undefined>> {
    try {
      this.#start();
      for (;;) {
        if (this.#left <= 0) this.end();
        if (this.#hasEnded) return DONE;
        const event = this.#page[this.#position];
        if (event !== undefined) {
          this.#position += 1;
          this.#left -= 1;
          return { done: false, value: event };
        }
        if (await this.#readPage()) continue;
        if (!this.#follow) this.end();
        else await this.#change();
      }
    } catch (error) {
      // The store may have been closed under a read; a caller that was told that it is over need not hear of it.
      if (this.#hasEnded) return DONE;
      this.end();
      throw error;
    }
  }

  async #readPage(): Promise<boolean> {
    this.#hasChanged = false;
    this.#page = await this.#store.read(this.#sessionId, { from: this.#from });
    this.#position = 0;
    this.#from = (this.#page.at(-1)?.seq ?? this.#from - 1) + 1;
    return this.#page.length > 0;
  }

  async #change(): Promise<void> {
    if (this.#hasChanged || this.#hasEnded) return;
    await new Promise<void>((resolve) => {
      this.#wakeUp = resolve;
    });
    this.#wakeUp = undefined;
  }

  #nudge(): void {
    this.#hasChanged = true;
    this.#wakeUp?.();
  }
}
