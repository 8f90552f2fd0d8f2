/** Serves a fetch-style handler on this machine alone. */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { RuntimeError } from '../../machines/errors.ts';
import { isLoopbackHost } from '../system/loopback.ts';

const LOOPBACK = '127.0.0.1';

const MALFORMED = 400;
/** A page of the web has made a name of its own lead to this machine. */
const MISDIRECTED = 421;

export interface A2aListener {
  /** Such as http://127.0.0.1:41241. */
  readonly url: string;
  close(): Promise<void>;
}

export interface A2aListenerOptions {
  /** 0: a free one. */
  readonly port: number;
  readonly onTrouble: (error: unknown) => void;
}

/**
 * @param make gives the handler, once it is known where it is reached. @throws RuntimeError A2A_CANNOT_LISTEN, and what
 * `make` throws
 */
export async function listenA2a(
  make: (url: string) => Promise<(request: Request) => Promise<Response>>,
  { port, onTrouble }: A2aListenerOptions,
): Promise<A2aListener> {
  const server = createServer();
  await listening(server, port);
  // Listening on a port of TCP, so it has one.
  const url = `http://${LOOPBACK}:${(server.address() as AddressInfo).port}`;
  try {
    const handle = await make(url);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      answer(handle, url, { request, response }).catch((error: unknown) => {
        onTrouble(error);
        if (!response.headersSent) response.writeHead(500);
        response.end();
      });
    });
  } catch (error) {
    server.close();
    throw error;
  }
  return {
    url,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

async function answer(
  handle: (request: Request) => Promise<Response>,
  url: string,
  { request, response }: Exchange,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const asked = isLoopbackHost(request.headers.host) ? requestOf(request, url, gone.signal) : MISDIRECTED;
  if (typeof asked === 'number') {
    response.writeHead(asked, { connection: 'close' }).end();
    return;
  }
  const answered = await handle(asked);
  response.writeHead(answered.status, Object.fromEntries(answered.headers));
  if (answered.body === null) {
    response.end();
    return;
  }
  // A reader that leaves early is no trouble.
  await pipeline(Readable.fromWeb(answered.body), response).catch((error: unknown) => {
    if (!gone.signal.aborted) throw error;
  });
}

/** What no client sends that means well, a path or a method that is none, is MALFORMED. */
function requestOf(request: IncomingMessage, url: string, signal: AbortSignal): Request | typeof MALFORMED {
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD';
  try {
    return new Request(new URL(request.url ?? '/', url), {
      method: request.method ?? 'GET',
      headers: Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
        value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
      ),
      signal,
      // The streams of Node and of the Web are the same at run time; their types differ.
      ...(hasBody ? { body: Readable.toWeb(request) as ReadableStream<Uint8Array>, duplex: 'half' } : {}),
    });
  } catch {
    return MALFORMED;
  }
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new RuntimeError('A2A_CANNOT_LISTEN', `cannot listen on ${LOOPBACK}:${port}: ${error.message}`, {
          category: 'conflict',
          hint: 'Choose another port with --port, or leave it out for a free one.',
          cause: error,
        }),
      ),
    );
    server.listen(port, LOOPBACK, resolve);
  });
}
