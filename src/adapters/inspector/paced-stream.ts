/** Writes a long response no faster than its client reads, and knows when the client is gone. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Writable } from 'node:stream';

/** How long one stream may keep the event loop for itself. */
const LONGEST_TURN_MS = 4;

export class PacedStream {
  readonly #stream: Writable;
  readonly #gone = new AbortController();
  #turnedAt = performance.now();

  /** @param stream what is written to: the response itself, or what leads to it */
  constructor(response: ServerResponse, stream: Writable = response) {
    this.#stream = stream;
    response.once('close', () => this.#gone.abort());
    if (response.destroyed) this.#gone.abort();
  }

  /** Aborted as soon as the client is gone. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Resolves once more may be written. Now and then, other work has a turn before. */
  async write(text: string): Promise<void> {
    if (this.gone.aborted) return;
    if (!this.#stream.write(text)) await once(this.#stream, 'drain', { signal: this.gone }).catch(() => undefined);
    // The kernel may take everything at once: then neither of these waits has left the event loop to other work.
    if (performance.now() - this.#turnedAt < LONGEST_TURN_MS) return;
    await nextTurn();
    this.#turnedAt = performance.now();
  }

  end(): void {
    if (!this.gone.aborted) this.#stream.end();
  }

  /** Each page of `pages`, until the client is gone: a source that never answers is not waited for then. */
  async *until<Page>(pages: AsyncIterable<Page>): AsyncGenerator<Page> {
    const iterator = pages[Symbol.asyncIterator]();
    let leave = (): void => undefined;
    const isOver = new Promise<undefined>((resolve) => {
      leave = () => resolve(undefined);
    });
    this.gone.addEventListener('abort', leave);
    if (this.gone.aborted) leave();
    try {
      for (;;) {
        const next = await Promise.race([iterator.next(), isOver]);
        if (next === undefined || this.gone.aborted || next.done === true) return;
        yield next.value;
      }
    } finally {
      this.gone.removeEventListener('abort', leave);
      // Its own affairs are in order by then or never; either way no caller waits for them.
      void Promise.resolve(iterator.return?.()).catch(() => undefined);
    }
  }
}
