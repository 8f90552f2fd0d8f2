/**
 * Stands between the SDK's HTTP transport and the network: bounds what is read, ends what was given up, and keeps a
 * server that drops its streams from being asked without end. Redirects are the SDK's to judge: it follows none that
 * leaves the origin.
 */
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Clock } from '../../actors/clock/clock.ts';
import { pause } from '../system/waiting.ts';
import { brokenOffEvent, guardedBody, guardedEvents } from './guarded-stream.ts';

/** Of a response that is an error. */
const MAX_ERROR_BYTES = 16_384;
/** Streams in a row that brought no event, before no other is asked for. */
const MAX_BARREN_STREAMS = 4;
/** Attempts in a row to resume the answer to one request. */
const MAX_BARREN_RESUMPTIONS = 3;
const FIRST_PAUSE_MS = 250;

export interface HttpGuardOptions {
  readonly clock: Clock;
  /** For one message. */
  readonly limitBytes: number;
  readonly tooLarge: () => Error;
}

/** A request that has not been answered. */
interface OpenRequest {
  readonly stop: AbortController;
  lastEventId?: string | undefined;
  /** Streams in a row that brought nothing. */
  barren: number;
}

export class HttpGuard {
  readonly #options: HttpGuardOptions;
  readonly #open = new Map<number, OpenRequest>();
  #barrenStreams = 0;
  #streams = 0;

  constructor(options: HttpGuardOptions) {
    this.#options = options;
  }

  /** The server has answered: nothing about the request is kept any longer. */
  answered(requestId: unknown): void {
    this.#open.delete(Number(requestId));
  }

  readonly fetch: FetchLike = async (url, init = {}) => {
    if (init.signal?.aborted === true) return noStream();
    switch (init.method ?? 'GET') {
      case 'POST':
        return this.#post(url, init);
      case 'GET':
        return this.#get(url, init);
      default:
        return guarded(await fetch(url, init));
    }
  };

  async #post(url: string | URL, init: RequestInit): Promise<Response> {
    const { id, cancels } = readMessage(init.body);
    if (cancels !== undefined) return this.#postCancellation(url, init, cancels);
    if (id === undefined) return guarded(await fetch(url, init));
    const request: OpenRequest = this.#open.get(id) ?? { stop: new AbortController(), barren: 0 };
    this.#open.set(id, request);
    try {
      // A signal for the headers only: the body ends by other means, with an answer.
      const response = await fetch(url, { ...init, signal: anySignal(init.signal, request.stop.signal) });
      return this.#answering(response, { id, request });
    } catch (error) {
      this.#open.delete(id);
      throw error;
    }
  }

  /** The server is told first: after that no caller listens any more. */
  async #postCancellation(url: string | URL, init: RequestInit, cancels: number): Promise<Response> {
    try {
      return guarded(await fetch(url, init));
    } finally {
      this.#open.get(cancels)?.stop.abort('the request was given up');
      this.#open.delete(cancels);
    }
  }

  #answering(response: Response, { id, request }: { readonly id: number; readonly request: OpenRequest }): Response {
    const { body } = response;
    if (!response.ok || body === null) {
      this.#open.delete(id);
      return guarded(response);
    }
    const { limitBytes, tooLarge } = this.#options;
    if (!isEventStream(response)) return withBody(response, guardedBody(body, { limitBytes, error: tooLarge }));
    const onEvent = (lastEventId: string | undefined): void => {
      if (lastEventId === undefined || lastEventId === request.lastEventId) return;
      request.lastEventId = lastEventId;
      request.barren = 0;
    };
    return withBody(
      response,
      guardedEvents(body, {
        limitBytes,
        requestId: id,
        resumedFrom: request.lastEventId,
        stop: request.stop.signal,
        onEvent,
      }),
    );
  }

  async #get(url: string | URL, init: RequestInit): Promise<Response> {
    const lastEventId = new Headers(init.headers).get('last-event-id');
    const resumed = [...this.#open].find(([, { lastEventId: known }]) => known !== undefined && known === lastEventId);
    return resumed === undefined ? this.#listeningStream(url, init) : this.#resume(url, init, resumed);
  }

  /** The stream on which a server speaks by itself. Going without it costs nothing that is needed. */
  async #listeningStream(url: string | URL, init: RequestInit): Promise<Response> {
    if (this.#barrenStreams >= MAX_BARREN_STREAMS) return noStream();
    if (this.#streams > 0)
      await pause(FIRST_PAUSE_MS * 2 ** this.#barrenStreams, { clock: this.#options.clock, signal: init.signal });
    if (init.signal?.aborted === true) return noStream();
    this.#streams += 1;
    this.#barrenStreams += 1;
    const response = await fetch(url, init);
    if (!response.ok || response.body === null) return guarded(response);
    const onEvent = (): void => {
      this.#barrenStreams = 0;
    };
    return withBody(
      response,
      guardedEvents(response.body, {
        limitBytes: this.#options.limitBytes,
        requestId: undefined,
        resumedFrom: undefined,
        stop: undefined,
        onEvent,
      }),
    );
  }

  /** Goes on with the answer to a request where its stream broke off. */
  async #resume(
    url: string | URL,
    init: RequestInit,
    [id, request]: readonly [number, OpenRequest],
  ): Promise<Response> {
    request.barren += 1;
    if (request.barren > MAX_BARREN_RESUMPTIONS)
      return this.#givenUp(id, 'the stream broke off, and so did each attempt to resume it');
    try {
      const response = await fetch(url, { ...init, signal: anySignal(init.signal, request.stop.signal) });
      if (response.ok) return this.#answering(response, { id, request });
      if (request.barren < MAX_BARREN_RESUMPTIONS) return guarded(response);
      await response.body?.cancel();
      return this.#givenUp(id, `the stream broke off, and the server refuses to resume it (HTTP ${response.status})`);
    } catch (error) {
      if (init.signal?.aborted === true || request.barren < MAX_BARREN_RESUMPTIONS) throw error;
      return this.#givenUp(id, 'the stream broke off, and the server cannot be reached any more');
    }
  }

  #givenUp(id: number, message: string): Response {
    this.#open.delete(id);
    return new Response(brokenOffEvent(id, { kind: 'ended', message }), {
      headers: { 'content-type': 'text/event-stream' },
    });
  }
}

/** How a server says that it has no stream of its own; the SDK leaves it at that. */
function noStream(): Response {
  return new Response(null, { status: 405 });
}

function guarded(response: Response): Response {
  const { body, ok } = response;
  return ok || body === null
    ? response
    : withBody(response, guardedBody(body, { limitBytes: MAX_ERROR_BYTES, error: undefined }));
}

function withBody({ status, statusText, headers }: Response, body: ReadableStream<Uint8Array>): Response {
  return new Response(body, { status, statusText, headers });
}

function isEventStream({ headers }: Response): boolean {
  return /^\s*text\/event-stream\s*(?:;|$)/i.test(headers.get('content-type') ?? '');
}

function anySignal(one: AbortSignal | null | undefined, other: AbortSignal): AbortSignal {
  return one === null || one === undefined ? other : AbortSignal.any([one, other]);
}

/** The request that a body is, or the one that it cancels. */
function readMessage(body: unknown): { readonly id?: number; readonly cancels?: number } {
  if (typeof body !== 'string') return {};
  const message = JSON.parse(body) as {
    readonly id?: unknown;
    readonly method?: unknown;
    readonly params?: { readonly requestId?: unknown };
  };
  if (message.method === 'notifications/cancelled') return { cancels: Number(message.params?.requestId) };
  return typeof message.method === 'string' && typeof message.id === 'number' ? { id: message.id } : {};
}
