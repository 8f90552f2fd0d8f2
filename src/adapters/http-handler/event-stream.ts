/** Server-sent events from an iterator: no faster than the client reads, and over as soon as the client is gone. */
import type { Clock, TimerHandle } from '../../actors/clock/clock.ts';
import { STRICT } from './refusal.ts';

export interface StreamParts {
  /** Ends when `signal` aborts. */
  readonly open: (signal: AbortSignal) => AsyncIterable<string>;
  readonly request: Request;
  readonly clock: Clock;
  readonly heartbeatMs: number;
  readonly maxMs: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called once, when nothing of it runs any more. */
  readonly onEnd: () => void;
  readonly onError: (error: unknown) => void;
  /** What is sent last where it failed. */
  readonly failed?: (error: unknown) => string;
}

export interface ServerSentEvent {
  readonly id?: number;
  readonly event?: string;
  readonly data: unknown;
}

/** JSON has no line breaks, so data is one line. */
export function sseText({ id, event, data }: ServerSentEvent): string {
  const head = [...(id === undefined ? [] : [`id: ${id}\n`]), ...(event === undefined ? [] : [`event: ${event}\n`])];
  return `${head.join('')}data: ${JSON.stringify(data)}\n\n`;
}

const HEARTBEAT = ':\n\n';

export function eventStream(parts: StreamParts): Response {
  return new Response(new SentEvents(parts).stream, {
    headers: {
      ...STRICT,
      'content-type': 'text/event-stream; charset=utf-8',
      // Proxies and compression that collect what they pass on would keep it from the client.
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      ...parts.headers,
    },
  });
}

class SentEvents {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #parts: StreamParts;
  readonly #encoder = new TextEncoder();
  readonly #gone = new AbortController();
  readonly #leave = (): void => this.#end();
  readonly #events: AsyncIterator<string, unknown>;
  #heartbeat: TimerHandle | undefined;
  #lastMoment: TimerHandle | undefined;
  #hasEnded = false;

  constructor(parts: StreamParts) {
    this.#parts = parts;
    this.#events = parts.open(this.#gone.signal)[Symbol.asyncIterator]();
    const { signal } = parts.request;
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          // So that the client hears at once that it is connected.
          this.#send(controller, HEARTBEAT);
          if (signal.aborted) return this.#end();
          signal.addEventListener('abort', this.#leave, { once: true });
          this.#lastMoment = parts.clock.setTimeout(() => this.#close(controller), parts.maxMs);
        },
        pull: (controller) => this.#pull(controller),
        cancel: () => this.#end(),
      },
      { highWaterMark: 1 },
    );
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.#beat(controller);
    try {
      const { done, value } = await this.#events.next();
      if (this.#gone.signal.aborted || done === true) return this.#close(controller);
      this.#send(controller, value);
    } catch (error) {
      if (!this.#gone.signal.aborted) {
        this.#parts.onError(error);
        if (this.#parts.failed !== undefined) this.#send(controller, this.#parts.failed(error));
      }
      this.#close(controller);
    } finally {
      this.#still();
    }
  }

  #send(controller: ReadableStreamDefaultController<Uint8Array>, text: string): void {
    controller.enqueue(this.#encoder.encode(text));
  }

  /** Until the next event comes, and only where the client has read what came before. */
  #beat(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#heartbeat = this.#parts.clock.setTimeout(() => {
      if (this.#hasEnded) return;
      if ((controller.desiredSize ?? 0) > 0) this.#send(controller, HEARTBEAT);
      this.#beat(controller);
    }, this.#parts.heartbeatMs);
  }

  #still(): void {
    this.#parts.clock.clearTimeout(this.#heartbeat);
    this.#heartbeat = undefined;
  }

  #close(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#end();
    try {
      controller.close();
    } catch {
      // The client was gone first.
    }
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#still();
    this.#parts.clock.clearTimeout(this.#lastMoment);
    this.#parts.request.signal.removeEventListener('abort', this.#leave);
    this.#gone.abort();
    // A generator that waits ends by its signal; one that has not begun, by this.
    void this.#events.return?.().then(undefined, () => undefined);
    this.#parts.onEnd();
  }
}
