/** The handler as what Node's `createServer` and Express take. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpHandler } from './handler.ts';
import { errorResponse, Refusal } from './refusal.ts';

/**
 * A listener for Node's HTTP servers, and for Express and Connect. The path is that of the whole request, wherever it
 * is mounted: `basePath` says what stands before the routes.
 */
export function toNodeListener(handler: HttpHandler): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  return (incoming, outgoing) => {
    answer(handler, incoming, outgoing).catch(() => outgoing.destroy());
  };
}

async function answer(handler: HttpHandler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  const body = new IncomingBody(incoming);
  const request = requestOf(incoming, body, gone.signal);
  const response = request === undefined ? errorResponse(malformed()) : await handler(request);
  outgoing.statusCode = response.status;
  response.headers.forEach((value, name) => {
    if (name !== 'set-cookie') outgoing.setHeader(name, value);
  });
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) outgoing.setHeader('set-cookie', cookies);
  outgoing.flushHeaders();
  if (response.body !== null) await send(response.body, outgoing);
  outgoing.end();
  await body.discardRest();
}

async function send(body: ReadableStream<Uint8Array>, outgoing: ServerResponse): Promise<void> {
  const reader = body.getReader();
  const leave = (): void => void reader.cancel().catch(() => undefined);
  if (outgoing.destroyed) return leave();
  outgoing.once('close', leave);
  for (let read = await reader.read(); !read.done; read = await reader.read())
    if (!outgoing.write(read.value)) await drained(outgoing);
}

/** Paths that a URL shortens: what stands before the server would have checked another path than the one it gets. */
const LEADS_ELSEWHERE = /^\/\/|\\|\/(?:\.|%2e){1,2}(?:\/|$)/i;

/** What Express and parsers of bodies add to a request. */
type Incoming = IncomingMessage & { readonly originalUrl?: string; readonly body?: unknown };

/** Undefined for what no client sends that means well: a path with bytes that no URL has. */
function requestOf(incoming: Incoming, body: IncomingBody, signal: AbortSignal): Request | undefined {
  const { method = 'GET', headers, originalUrl, url = '/' } = incoming;
  const target = originalUrl ?? url;
  if (LEADS_ELSEWHERE.test(target.split('?', 1)[0] ?? '')) return undefined;
  const isBare = method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
  try {
    // The name of the host says nothing here, and comes from the client.
    const request = new Request(new URL(target, 'http://localhost'), {
      method,
      headers: Object.entries(headers).flatMap(([name, value]) =>
        value === undefined || name.startsWith(':') ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
      ),
      signal,
      ...(isBare ? {} : { body: body.content(), duplex: 'half' }),
    });
    // The handler says that there is nothing left to read.
    if (incoming.readableDidRead && incoming.body === undefined) void request.text();
    return request;
  } catch {
    return undefined;
  }
}

function malformed(): Refusal {
  return new Refusal('API_REQUEST_INVALID', 'expected a path and headers as HTTP has them', {
    category: 'validation',
    hint: 'Check the URL.',
  });
}

/** Or closed. */
function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      outgoing.off('drain', settle);
      outgoing.off('close', settle);
      resolve();
    };
    outgoing.once('drain', settle);
    outgoing.once('close', settle);
  });
}

/**
 * A client that still sends does not read an answer on a connection that is closed: what is left of its body is thrown
 * away for so long and so far, then the connection is cut off.
 */
const LINGER_MS = 500;
const LINGER_BYTES = 64 * 1024 * 1024;

class IncomingBody {
  readonly #incoming: Incoming;
  readonly #isTaken: boolean;
  #chunks: AsyncIterator<Uint8Array> | undefined;

  constructor(incoming: Incoming) {
    this.#incoming = incoming;
    this.#isTaken = incoming.readableDidRead;
  }

  /** Of a request that a parser has read, what it made of it. Empty where it kept nothing. */
  content(): ReadableStream | string | Uint8Array<ArrayBuffer> {
    const { body } = this.#incoming;
    if (!this.#isTaken) return this.#stream();
    if (typeof body === 'string') return body;
    return body instanceof Uint8Array ? new Uint8Array(body) : (JSON.stringify(body) ?? '');
  }

  /** Cancelled by its reader it only stops: an iterator that is returned would end the connection. */
  #stream(): ReadableStream<Uint8Array> {
    const chunks: AsyncIterator<Uint8Array> = this.#incoming[Symbol.asyncIterator]();
    this.#chunks = chunks;
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const read = await chunks.next();
          if (read.done === true) controller.close();
          else controller.enqueue(read.value);
        },
      },
      { highWaterMark: 0 },
    );
  }

  async discardRest(): Promise<void> {
    const chunks = this.#chunks;
    const { readableEnded, destroyed, socket } = this.#incoming;
    if (chunks === undefined || readableEnded || destroyed) return;
    const cutOff = (): void => socket.destroySoon();
    const timer = setTimeout(cutOff, LINGER_MS);
    let bytes = 0;
    try {
      for (let read = await chunks.next(); read.done !== true; read = await chunks.next()) {
        bytes += read.value.byteLength;
        if (bytes > LINGER_BYTES) return cutOff();
      }
    } catch {
      // The client was gone first.
    } finally {
      clearTimeout(timer);
    }
  }
}
