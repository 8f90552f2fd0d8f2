/** Listens, lets in who may, and ends everything at once when it is closed. */
import { createHash } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { createServer } from 'node:http';
import type { Duplex } from 'node:stream';
import { RuntimeError } from '../../machines/errors.ts';
import { systemCodeOf } from '../system/error-codes.ts';
import { authorityOf } from '../system/loopback.ts';
import { boundConnections, closerOf, listening } from '../system/web-server.ts';
import type { WebServerOptions } from '../system/web-server.ts';
import type { CheckedInspectorOptions, InspectorOptions } from './inspector-options.ts';
import { allowedHosts, checkOptions, hostOf, placedHostOf } from './inspector-options.ts';
import type { Place } from './place.ts';
import { newPlace, within } from './place.ts';
import { Refusal, tell } from './refusal.ts';
import type { Target } from './request-gate.ts';
import { admit, isOpenedElsewhere, OPEN_IT, parametersOf, TOKEN } from './request-gate.ts';
import type { Exchange } from './respond.ts';
import { begin, sendError } from './respond.ts';
import { Routes } from './routes.ts';
import { SignIn, TOKEN_MINUTES } from './sign-in.ts';

// What a browser is answered that has just signed in: it leaves the address with the token for the page itself.

/** What is after # in the address stays. */
const SCRIPT = `location.replace('./' + location.hash)`;
const GO_ON = `<!doctype html><meta charset="utf-8"><title>Wakechart inspector</title><script>${SCRIPT}</script>`;
const GO_ON_POLICY = `default-src 'none'; script-src 'sha256-${createHash('sha256').update(SCRIPT).digest('base64')}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

/** A redirect. @param path of the page */
function leadOn(exchange: Exchange, path: string, headers: OutgoingHttpHeaders): void {
  begin(exchange, 303, { location: path, 'content-length': 0, ...headers });
  exchange.response.end();
}

/**
 * The same for one that a file or a page elsewhere has sent here. Its redirects would count as sent by them, without
 * the cookie: so a page of ours asks instead.
 */
function leadOnFromElsewhere(exchange: Exchange, headers: OutgoingHttpHeaders): void {
  begin(exchange, 200, {
    'content-type': 'text/html; charset=utf-8',
    'content-length': Buffer.byteLength(GO_ON),
    'content-security-policy': GO_ON_POLICY,
    ...headers,
  });
  exchange.response.end(GO_ON);
}

export interface InspectorServer extends AsyncDisposable {
  /**
   * Where it listens: `http://127.0.0.1:4321`. Nothing lies there: everything is below a path that only `signInAddress`
   * tells.
   */
  readonly origin: string;
  /**
   * A new address that signs one browser in, once, within ten minutes:
   * `http://wc-<random>.localhost:4321/<random>/?token=…`. Name and path are those of this inspector alone, so that
   * what it gives a browser goes to no other program. Browsers know what `*.localhost` is; for one that does not, put
   * 127.0.0.1 in its place. At most 16 unused ones are good: the oldest is forgotten.
   */
  signInAddress(): string;
  /** Ends every connection and stream at once and frees the port. Idempotent. */
  close(): Promise<void>;
}

/** How often Node searches for requests that take too long, at most. */
const CHECK_MS = 1_000;
const IDLE_MS = 5_000;
/** The head of a request is short: a client that takes longer only holds a connection. */
const HEAD_MS = 3_000;

/** @param place default: one of its own, which is what keeps others out */
export async function listen(given: InspectorOptions, place: Place = newPlace()): Promise<InspectorServer> {
  const options = checkOptions(given);
  const server = createServer({
    requestTimeout: options.limits.requestMs,
    headersTimeout: Math.min(HEAD_MS, options.limits.requestMs),
    keepAliveTimeout: IDLE_MS,
    connectionsCheckingInterval: Math.min(CHECK_MS, options.limits.requestMs),
  });
  const { maxConnections, stallMs } = options.limits;
  boundConnections(server, maxConnections);
  // A socket on which nothing moves for so long is destroyed, whichever side waits.
  server.timeout = stallMs;
  const port = await listening(server, options, cannotListen(options));
  const gate = new Gate(options, place, port);
  server.on('request', (request, response) => void gate.receive({ request, response }));
  server.on('connect', refuseTunnel);
  server.on('error', (error) => gate.report(error));
  server.on('close', () => gate.routes.ahead.close());
  const origin = `http://${authorityOf(hostOf(options), port)}`;
  const placed = `http://${authorityOf(placedHostOf(options, place), port)}${place.path}`;
  const close = closerOf(server);
  return {
    origin,
    signInAddress: () => `${placed}?${TOKEN}=${gate.signIn.newToken()}`,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function cannotListen({ host, port }: CheckedInspectorOptions): WebServerOptions['cannotListen'] {
  return (cause, isTaken) =>
    isTaken
      ? new RuntimeError('INSPECTOR_PORT_TAKEN', `port ${port} of ${host} is taken by another program`, {
          category: 'conflict',
          hint: 'Choose another, or leave it out for a free one.',
          cause,
        })
      : new RuntimeError(
          'INSPECTOR_CANNOT_LISTEN',
          `cannot listen on port ${port} of ${host} (${systemCodeOf(cause) ?? 'no reason was given'})`,
          { category: 'permission', hint: 'Choose a port above 1023, and an address of this machine.', cause },
        );
}

/** Node hands these over as bare sockets. */
function refuseTunnel(_request: IncomingMessage, socket: Duplex): void {
  socket.on('error', () => socket.destroy());
  socket.end(
    'HTTP/1.1 405 Method Not Allowed\r\nAllow: GET, HEAD, POST\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
    () => socket.destroy(),
  );
}

class Gate {
  readonly signIn: SignIn;
  readonly #place: Place;
  readonly routes: Routes;
  readonly #hosts: ReadonlySet<string>;
  readonly #onProblem: (error: unknown) => void;

  constructor(options: CheckedInspectorOptions, place: Place, port: number) {
    this.signIn = new SignIn(port, place);
    this.#place = place;
    this.routes = new Routes(options);
    this.#hosts = allowedHosts(options, place, port);
    this.#onProblem = options.onProblem;
  }

  /** Never rejects. */
  async receive(exchange: Exchange): Promise<void> {
    const { request, response } = exchange;
    // Both say why when they break, and no listener could do anything about it.
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    try {
      const target = this.#placed(admit(request, this.#hosts));
      if (!this.#isSignedInBy(exchange, target)) await this.routes.answer(exchange, target);
    } catch (error) {
      this.#fail(exchange, error);
    }
  }

  /**
   * The same within the place. @throws Refusal 404 for what is not, for every client: it does not say who has signed in
   */
  #placed({ path, query }: Target): Target {
    const inside = within(this.#place, path);
    if (inside === undefined)
      throw new Refusal(404, 'INSPECTOR_NOT_FOUND', 'there is nothing at this address', { hint: OPEN_IT });
    return { path: inside, query };
  }

  /**
   * Exchanges the token of an address for a cookie. @returns whether that was all @throws Refusal 401 for a browser
   * that has not signed in
   */
  #isSignedInBy(exchange: Exchange, { path, query }: Target): boolean {
    const { method, headers } = exchange.request;
    const isKnown = this.signIn.knows(headers.cookie);
    if (path !== '/' || !query.has(TOKEN)) {
      if (isKnown) return false;
      throw new Refusal(401, 'INSPECTOR_SIGN_IN', 'this browser has not signed in', {
        hint: 'Open the address that the program printed.',
      });
    }
    const { token = '' } = parametersOf(query, [TOKEN]);
    // Checking whether an address leads somewhere must not use it up.
    const cookie = method === 'GET' ? this.signIn.exchange(token) : undefined;
    if (cookie === undefined && !isKnown)
      throw new Refusal(401, 'INSPECTOR_TOKEN_REFUSED', 'this address is not good, was used before, or is too old', {
        hint: `Each address that the program prints is good once, for ${TOKEN_MINUTES} minutes. Ask it for another.`,
      });
    // What another program left in the browser at this origin goes, should there have been one.
    const given = cookie === undefined ? {} : { 'set-cookie': cookie, 'clear-site-data': '"storage"' };
    if (isOpenedElsewhere(exchange.request)) leadOnFromElsewhere(exchange, given);
    else leadOn(exchange, this.#place.path, given);
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
      // No client is left to tell.
    }
  }
}
