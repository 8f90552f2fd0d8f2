/** Listens, lets in who may, and ends everything at once when it is closed. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { RuntimeError } from '../../machines/errors.ts';
import { allowedHosts, authorityOf, checkOptions, hostOf } from './inspector-options.ts';
import type { CheckedInspectorOptions } from './inspector-options.ts';
import type { InspectorOptions, InspectorServer } from './inspector.ts';
import { Refusal, tell } from './refusal.ts';
import { admit, parametersOf } from './request-gate.ts';
import type { Target } from './request-gate.ts';
import { begin, sendError } from './respond.ts';
import type { Exchange } from './respond.ts';
import { Routes } from './routes.ts';
import { SignIn } from './sign-in.ts';

/** How often Node looks for requests that take too long, at most. */
const LOOK_MS = 1_000;
const IDLE_MS = 5_000;
const TOKEN = 'token';

export async function listen(given: InspectorOptions): Promise<InspectorServer> {
  const options = checkOptions(given);
  const server = createServer({ requestTimeout: options.limits.requestMs, headersTimeout: options.limits.requestMs, keepAliveTimeout: IDLE_MS, connectionsCheckingInterval: Math.min(LOOK_MS, options.limits.requestMs) });
  const { maxConnections, stallMs } = options.limits;
  server.maxConnections = maxConnections;
  // A socket on which nothing moves for so long is destroyed, whoever of both it is that waits.
  server.timeout = stallMs;
  const port = await listening(server, options);
  const gate = new Gate(options, port);
  server.on('request', (request, response) => void gate.receive({ request, response }));
  server.on('connect', refuseTunnel);
  server.on('error', (error) => gate.report(error));
  const origin = `http://${authorityOf(hostOf(options), port)}`;
  const close = closer(server);
  return { origin, signInAddress: () => `${origin}/?${TOKEN}=${gate.signIn.newToken()}`, close, [Symbol.asyncDispose]: close };
}

async function listening(server: Server, { host, port }: CheckedInspectorOptions): Promise<number> {
  server.listen({ host, port, exclusive: true });
  try {
    await once(server, 'listening');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') throw new RuntimeError('INSPECTOR_PORT_TAKEN', `port ${port} of ${host} is taken by another program`, { category: 'conflict', hint: 'Choose another, or leave it out for a free one.', cause });
    throw new RuntimeError('INSPECTOR_CANNOT_LISTEN', `cannot listen on port ${port} of ${host} (${code ?? 'no reason was given'})`, { category: 'permission', hint: 'Choose a port above 1023, and an address of this machine.', cause });
  }
  return (server.address() as AddressInfo).port;
}

function closer(server: Server): () => Promise<void> {
  let closing: Promise<void> | undefined;
  return () => {
    closing ??= new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
    return closing;
  };
}

/** Node hands these over as bare sockets. */
function refuseTunnel(_request: IncomingMessage, socket: Duplex): void {
  socket.on('error', () => socket.destroy());
  socket.end('HTTP/1.1 405 Method Not Allowed\r\nAllow: GET, HEAD, POST\r\nConnection: close\r\nContent-Length: 0\r\n\r\n', () => socket.destroy());
}

class Gate {
  readonly signIn: SignIn;
  readonly #routes: Routes;
  readonly #hosts: ReadonlySet<string>;
  readonly #onProblem: (error: unknown) => void;

  constructor(options: CheckedInspectorOptions, port: number) {
    this.signIn = new SignIn(port);
    this.#routes = new Routes(options);
    this.#hosts = allowedHosts(options, port);
    this.#onProblem = options.onProblem;
  }

  /** Never rejects. */
  async receive(exchange: Exchange): Promise<void> {
    const { request, response } = exchange;
    // Both say why when they break, to nobody who could do anything about it.
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    try {
      const target = admit(request, this.#hosts);
      if (!this.#isSignedInBy(exchange, target)) await this.#routes.answer(exchange, target);
    } catch (error) {
      this.#fail(exchange, error);
    }
  }

  /** Exchanges the token of an address for a cookie. @returns whether that was all @throws Refusal 401 for a browser that has not signed in */
  #isSignedInBy(exchange: Exchange, { path, query }: Target): boolean {
    const { method, headers } = exchange.request;
    const isKnown = this.signIn.knows(headers.cookie);
    if (path !== '/' || !query.has(TOKEN)) {
      if (isKnown) return false;
      throw new Refusal(401, 'INSPECTOR_SIGN_IN', 'this browser has not signed in', { hint: 'Open the address that the program printed.' });
    }
    const { token = '' } = parametersOf(query, [TOKEN]);
    // Looking whether an address leads somewhere must not use it up.
    const cookie = method === 'GET' ? this.signIn.exchange(token) : undefined;
    if (cookie === undefined && !isKnown) throw new Refusal(401, 'INSPECTOR_TOKEN_REFUSED', 'this address is not good, or was used before', { hint: 'Each address that the program prints is good once. Ask it for another.' });
    begin(exchange, 303, { location: '/', 'content-length': 0, ...(cookie === undefined ? {} : { 'set-cookie': cookie }) });
    exchange.response.end();
    return true;
  }

  #fail(exchange: Exchange, error: unknown): void {
    const { response } = exchange;
    const told = tell(error);
    if (told.isOurs) this.report(error);
    // A response that has begun cannot say any more that it failed: cut off, it says so.
    if (response.headersSent) response.destroy();
    else if (!response.destroyed) sendError(exchange, told);
  }

  /** Never throws. */
  report(error: unknown): void {
    try {
      this.#onProblem(error);
    } catch {
      // Nobody is left to tell.
    }
  }
}
