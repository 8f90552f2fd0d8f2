/** A port for scrapers and probes: small requests, small answers, and nothing that a client could hold up. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { systemCodeOf } from '../system/error-codes.ts';
import { authorityOf, isLoopbackAddress, isLoopbackName } from '../system/loopback.ts';

/** Connections at once: a scraper and a few probes. */
const MAX_CONNECTIONS = 64;
const REQUEST_LIMIT_MS = 5_000;
const KEEP_ALIVE_MS = 5_000;

export interface HealthServerOptions {
  readonly handler: (request: Request) => Promise<Response>;
  /** An address of this machine. Beyond loopback every machine that reaches it can ask. */
  readonly host: string;
  /** 0 for a free one. */
  readonly port: number;
}

export interface HealthServer {
  /** `http://127.0.0.1:9464` */
  readonly origin: string;
  /** Ends every connection and frees the port. Idempotent. */
  close(): Promise<void>;
}

/** @throws RuntimeError HEALTH_PORT_TAKEN, HEALTH_CANNOT_LISTEN */
export async function serveHealth({ handler, host, port }: HealthServerOptions): Promise<HealthServer> {
  const server = createServer({
    requestTimeout: REQUEST_LIMIT_MS,
    headersTimeout: REQUEST_LIMIT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: REQUEST_LIMIT_MS,
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on('request', (request, response) => void answer(request, response, handler));
  const origin = `http://${authorityOf(host, await listening(server, host, port))}`;
  let closing: Promise<unknown> | undefined;
  const close = async (): Promise<void> => {
    closing ??= once(server.close(), 'close');
    server.closeAllConnections();
    await closing;
  };
  return { origin, close };
}

async function listening(server: Server, host: string, port: number): Promise<number> {
  server.listen({ host, port });
  try {
    await once(server, 'listening');
  } catch (cause) {
    if (systemCodeOf(cause) === 'EADDRINUSE')
      throw new RuntimeError('HEALTH_PORT_TAKEN', `port ${port} of ${host} is taken by another program`, {
        category: 'conflict',
        hint: 'Choose another port, or 0 for a free one.',
        cause,
      });
    throw new RuntimeError('HEALTH_CANNOT_LISTEN', `cannot listen on port ${port} of ${host}: ${messageOf(cause)}`, {
      category: 'validation',
      hint: 'Choose an address of this machine, and a port that this user may open.',
      cause,
    });
  }
  return (server.address() as AddressInfo).port;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  handler: HealthServerOptions['handler'],
): Promise<void> {
  request.resume();
  try {
    const url = new URL(request.url ?? '/', `http://${request.headers.host ?? 'localhost'}`);
    const answered = isMeant(request, url)
      ? await handler(new Request(url, { method: request.method ?? 'GET' }))
      : MISDIRECTED();
    const body = await answered.text();
    response.writeHead(answered.status, {
      ...Object.fromEntries(answered.headers),
      'content-length': Buffer.byteLength(body),
    });
    response.end(request.method === 'HEAD' ? undefined : body);
  } catch {
    // What no program asks that means well: a host or a method that is none.
    response.writeHead(400).end();
  }
}

/** A page of the web that makes a name of its own lead to this machine is refused by that name. */
function isMeant({ socket }: IncomingMessage, { hostname }: URL): boolean {
  return !isLoopbackAddress(socket.localAddress?.replace(/^::ffff:/, '') ?? '') || isLoopbackName(hostname);
}

const MISDIRECTED = (): Response => new Response('expected the name of this machine as host\n', { status: 421 });
