/** A port of this machine for a handler of requests of the Web, and nothing that one client could hold up for others. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { RuntimeError } from '../../machines/errors.ts';
import { systemCodeOf } from './error-codes.ts';
import { authorityOf, isLoopbackAddress, isLoopbackHost } from './loopback.ts';
import { webListener } from './web-listener.ts';
import type { WebHandler, WebListenerOptions } from './web-listener.ts';

/** The head of a request is short: a client that takes longer only holds a connection. */
const HEAD_MS = 5_000;

/** Proxies keep idle connections for a minute: one that the server closed first would take a request along. */
const KEEP_ALIVE_MS = 65_000;

/** How long requests under way may take when the server closes. */
const DRAIN_MS = 5_000;

export interface ListenOptions {
  /** An address of this machine. Beyond loopback every machine that reaches it can ask. */
  readonly host: string;
  /** 0 for a free one. */
  readonly port: number;
}

export interface WebServerOptions extends ListenOptions, Omit<WebListenerOptions, 'continues' | 'stallMs'> {
  /** Gives what answers, once it is known where it is reached, such as `http://127.0.0.1:9464`. */
  readonly handler: (origin: string) => WebHandler | Promise<WebHandler>;
  /** How long a client may take to send a request. */
  readonly requestMs: number;
  readonly maxConnections: number;
  /** `own`: on loopback, only requests that name this machine as their host are answered. */
  readonly hosts: 'own' | 'any';
  readonly cannotListen: (cause: unknown, isTaken: boolean) => RuntimeError;
}

export interface WebServer {
  /** `http://127.0.0.1:9464` */
  readonly origin: string;
  /** Takes no more requests, has those under way answered, ends streams of events, and frees the port. Idempotent. */
  close(): Promise<void>;
}

/** @throws what `cannotListen` makes, and what `handler` throws */
export async function serveWeb(options: WebServerOptions): Promise<WebServer> {
  const { host, requestMs } = options;
  const server = createServer({
    requestTimeout: requestMs,
    headersTimeout: Math.min(HEAD_MS, requestMs),
    connectionsCheckingInterval: HEAD_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
  });
  boundConnections(server, options.maxConnections);
  const origin = `http://${authorityOf(host, await listening(server, options, options.cannotListen))}`;
  const close = drainOf(server);
  const handler = await Promise.resolve(options.handler(origin)).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const listener = webListener(handler, { ...options, continues: true });
  server.on('request', (incoming, outgoing) =>
    options.hosts === 'any' || isMeant(incoming) ? listener(incoming, outgoing) : misdirected(outgoing),
  );
  server.on('checkContinue', (incoming, outgoing) => void server.emit('request', incoming, outgoing));
  server.on('error', options.onTrouble ?? (() => undefined));
  return { origin, close };
}

/** A page of the web that makes a name of its own lead to this machine is refused by that name. */
function isMeant({ socket, headers }: IncomingMessage): boolean {
  return !isLoopbackAddress(socket.localAddress?.replace(/^::ffff:/, '') ?? '') || isLoopbackHost(headers.host);
}

function misdirected(outgoing: ServerResponse): void {
  outgoing.writeHead(421, { connection: 'close' }).end('expected the name of this machine as host\n');
}

/** @returns the port @throws what `cannotListen` makes */
export async function listening(
  server: Server,
  { host, port }: ListenOptions,
  cannotListen: WebServerOptions['cannotListen'],
): Promise<number> {
  server.listen({ host, port, exclusive: true });
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw cannotListen(cause, systemCodeOf(cause) === 'EADDRINUSE');
  }
  return (server.address() as AddressInfo).port;
}

/** A stream of events would go on for ever, and its client goes on elsewhere from where it was. */
function drainOf(server: Server): () => Promise<void> {
  const underWay = new Set<ServerResponse>();
  let draining: Promise<void> | undefined;
  server.on('request', (_, response) => {
    underWay.add(response);
    response.once('close', () => {
      underWay.delete(response);
      if (draining !== undefined) server.closeIdleConnections();
    });
  });
  return () => {
    draining ??= new Promise((resolve) => {
      const limit = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
      server.close(() => {
        clearTimeout(limit);
        resolve();
      });
      for (const response of underWay) if (isOfEvents(response)) response.socket?.destroy();
    });
    return draining;
  };
}

function isOfEvents(response: ServerResponse): boolean {
  return String(response.getHeader('content-type')).startsWith('text/event-stream');
}

/** Ends every connection and frees the port. Idempotent. */
export function closerOf(server: Server): () => Promise<void> {
  let closing: Promise<void> | undefined;
  return () => {
    closing ??= new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
    return closing;
  };
}

/**
 * How many may be connected at once. At the limit, the connection that has waited longest without a request under way is
 * closed, so that a stranger with many silent ones locks no client out; where all have one, the new one.
 */
export function boundConnections(server: Server, limit: number): void {
  const open = new Set<Socket>();
  /** Those without a request under way, in the order of their last one. */
  const silent = new Set<Socket>();
  server.on('connection', (socket) => {
    if (open.size >= limit) {
      const [oldest] = silent;
      forget(oldest ?? socket);
      if (oldest === undefined) return;
    }
    open.add(socket);
    silent.add(socket);
    socket.once('close', () => forget(socket));
  });
  server.on('request', ({ socket }, response) => {
    silent.delete(socket);
    response.once('close', () => void (open.has(socket) && silent.add(socket)));
  });

  function forget(socket: Socket): void {
    open.delete(socket);
    silent.delete(socket);
    socket.destroy();
  }
}
