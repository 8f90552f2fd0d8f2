/** From requests of Node's HTTP servers, and of Express and Connect, to those of the Web, and back. */
import type { IncomingMessage, ServerResponse } from 'node:http';

export type WebHandler = (request: Request) => Promise<Response>;
export type NodeListener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

export interface WebListenerOptions {
  /** Answers what no client sends that means well: a path or headers that no URL and no page has. */
  readonly malformed?: () => Response;
  /** Hears what the handler threw, or its body. */
  readonly onTrouble?: (error: unknown) => void;
  /** Where Node leaves that to it (`checkContinue`): a client that waits is told to go on where its body is read. */
  readonly continues?: boolean;
  /** A client that reads nothing for so long of what waits for it has gone. */
  readonly stallMs?: number;
}

const STALL_MS = 60_000;

export function webListener(handler: WebHandler, options: WebListenerOptions = {}): NodeListener {
  return (incoming, outgoing) => {
    answer(handler, { incoming, outgoing }, options).catch((error: unknown) => {
      options.onTrouble?.(error);
      // An answer that has begun cannot say any more that it failed: cut off, it says so.
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(500, { connection: 'close' }).end();
    });
  };
}

interface Exchange {
  readonly incoming: Incoming;
  readonly outgoing: ServerResponse;
}

async function answer(
  handler: WebHandler,
  { incoming, outgoing }: Exchange,
  { malformed = () => new Response(null, { status: 400 }), continues = false, stallMs = STALL_MS }: WebListenerOptions,
): Promise<void> {
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  const body = new IncomingBody(incoming, continues && waits(incoming) ? () => outgoing.writeContinue() : undefined);
  const request = requestOf(incoming, body, gone.signal);
  const response = request === undefined ? malformed() : await handler(request);
  // A body that was not asked for may come or not: what follows on this connection could be either.
  if (body.isAwaited) outgoing.shouldKeepAlive = false;
  outgoing.statusCode = response.status;
  response.headers.forEach((value, name) => {
    if (name !== 'set-cookie') outgoing.setHeader(name, value);
  });
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) outgoing.setHeader('set-cookie', cookies);
  outgoing.flushHeaders();
  if (response.body !== null) await send(response.body, { incoming, outgoing }, stallMs);
  outgoing.end();
  await body.discardRest();
}

function waits({ httpVersion, headers }: IncomingMessage): boolean {
  return httpVersion === '1.1' && headers.expect !== undefined;
}

async function send(
  body: ReadableStream<Uint8Array>,
  { incoming, outgoing }: Exchange,
  stallMs: number,
): Promise<void> {
  const reader = body.getReader();
  const leave = (): void => void reader.cancel().catch(() => undefined);
  if (outgoing.destroyed || incoming.method === 'HEAD') return leave();
  outgoing.once('close', leave);
  outgoing.on('timeout', () => outgoing.destroy());
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read())
      if (!outgoing.write(read.value)) await drained(outgoing, stallMs);
  } catch (error) {
    // A reader that leaves early is no trouble.
    if (!outgoing.destroyed) throw error;
  }
}

/** Paths that a URL shortens: what stands before the server would have checked another path than the one it gets. */
const LEADS_ELSEWHERE = /^\/\/|\\|\/(?:\.|%2e){1,2}(?:\/|$)/i;

/** What Express and parsers of bodies add to a request. */
type Incoming = IncomingMessage & { readonly originalUrl?: string; readonly body?: unknown };

function requestOf(incoming: Incoming, body: IncomingBody, signal: AbortSignal): Request | undefined {
  const { method = 'GET', headers, originalUrl, url = '/' } = incoming;
  const target = originalUrl ?? url;
  if (LEADS_ELSEWHERE.test(target.split('?', 1)[0] ?? '') || namesTwoHosts(incoming)) return undefined;
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

/** What stands before the server may have checked the other one. */
function namesTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length > 1;
}

/** Or closed. One that stalls is destroyed, which closes it. */
function drained(outgoing: ServerResponse, stallMs: number): Promise<void> {
  const before = outgoing.socket?.timeout ?? 0;
  outgoing.setTimeout(stallMs);
  return new Promise((resolve) => {
    const settle = (): void => {
      outgoing.off('drain', settle);
      outgoing.off('close', settle);
      if (!outgoing.destroyed) outgoing.setTimeout(before);
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
  #goOn: (() => void) | undefined;
  #chunks: AsyncIterator<Uint8Array> | undefined;

  /** @param goOn tells a client that waits to send it */
  constructor(incoming: Incoming, goOn: (() => void) | undefined) {
    this.#incoming = incoming;
    this.#isTaken = incoming.readableDidRead;
    this.#goOn = goOn;
  }

  /** The client waits to be told to send it. */
  get isAwaited(): boolean {
    return this.#goOn !== undefined;
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
    const goOn = (): void => {
      this.#goOn?.();
      this.#goOn = undefined;
    };
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          goOn();
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
