/** `wakechart serve http`: the sessions of a home over HTTP, for those who have the token. */
import { createHealthHandler } from '../../adapters/health/health-handler.ts';
import { createHttpHandler } from '../../adapters/http-handler/handler.ts';
import { malformed } from '../../adapters/http-handler/node-listener.ts';
import { authorityOf, isLoopbackAddress, isLoopbackHost, isLoopbackName } from '../../adapters/system/loopback.ts';
import { UnusableFile, readOwnText } from '../../adapters/system/own-files.ts';
import { serveWeb } from '../../adapters/system/web-server.ts';
import type { WebServer } from '../../adapters/system/web-server.ts';
import type { WebHandler } from '../../adapters/system/web-listener.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { CommandContext } from '../context.ts';
import { nextCommand } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { showUntilInterrupted } from '../inspect/shown-inspector.ts';
import { withRuntime } from '../open/runtime.ts';
import { printable } from '../terminal/text.ts';
import { usageError } from '../usage.ts';
import type { ListenAddress } from '../worker/listening.ts';
import { bears } from './bearer-token.ts';

const MAX_TOKEN_FILE_BYTES = 4_096;
const MIN_TOKEN_CHARACTERS = 16;

const MAX_CONNECTIONS = 4_096;
const REQUEST_MS = 60_000;

/** Holds the token where no file is named. */
const TOKEN_VARIABLE = 'WAKECHART_HTTP_TOKEN';

export interface ServeHttpOptions {
  readonly tokenFile: string | undefined;
  readonly listen: ListenAddress;
  readonly basePath: string | undefined;
}

/** @throws RuntimeError SERVE_CANNOT_LISTEN, SERVE_TOKEN_INVALID, API_OPTIONS_INVALID */
export async function serveHttp(
  context: CommandContext,
  { tokenFile, listen: at, basePath }: ServeHttpOptions,
): Promise<number> {
  const token = tokenFile === undefined ? variableToken() : fileToken(tokenFile);
  const onTrouble = (error: unknown): void =>
    void context.err.push(`${context.err.styles.yellow('note:')} ${printable(messageOf(error))}\n`);
  return withRuntime(context, async (runtime) => {
    const sessions = createHttpHandler(runtime, {
      // A client that has the token works for the owner of the home, and sees all of its sessions.
      authorize: (request) => (bears(request, token) ? { subject: 'token', sees: 'all' } : undefined),
      ...(basePath === undefined ? {} : { basePath }),
      onError: onTrouble,
    });
    const handler = withHealth({ sessions, health: createHealthHandler(runtime), token, host: at.host });
    const server = await listen(handler, at, onTrouble);
    try {
      const address = `${server.origin}${basePath ?? ''}`;
      await (context.json ? context.out.record({ type: 'listening', address }) : context.out.line(address));
      await showUntilInterrupted(context, {
        introduction: 'Serves',
        tell: () => context.out.line(address),
        notes: [`It wakes no session; a worker does: ${nextCommand(context, 'worker')}`],
        isInputTaken: true,
      });
    } finally {
      await server.close();
    }
    return EXIT_SUCCESS;
  });
}

/** @throws RuntimeError SERVE_TOKEN_INVALID */
function variableToken(): string {
  const token = process.env[TOKEN_VARIABLE];
  return checkedToken(
    token,
    token === undefined ? `there is no --token-file, and no $${TOKEN_VARIABLE}` : `$${TOKEN_VARIABLE} is no token`,
  );
}

/** @throws RuntimeError SERVE_TOKEN_INVALID */
function fileToken(file: string): string {
  const text = readToken(file);
  return checkedToken(
    text?.split(/\r?\n/, 1)[0]?.trim(),
    text === undefined ? `there is no file ${file}` : `the first line of ${file} is no token`,
  );
}

function checkedToken(token: string | undefined, what: string): string {
  if (token !== undefined && /^[\x21-\x7e]+$/.test(token) && token.length >= MIN_TOKEN_CHARACTERS) return token;
  throw new RuntimeError(
    'SERVE_TOKEN_INVALID',
    `expected a token of at least ${MIN_TOKEN_CHARACTERS} printable characters for clients to send; ${what}`,
    {
      category: 'validation',
      hint: 'Make one: (umask 077; openssl rand -hex 32 > token), and name it: --token-file token',
    },
  );
}

function readToken(file: string): string | undefined {
  try {
    return readOwnText(file, { maxBytes: MAX_TOKEN_FILE_BYTES, keptFrom: 'readers' })?.text;
  } catch (error) {
    if (error instanceof UnusableFile)
      throw usageError(`${file} ${error.message}`, `Make it yours alone: chmod 600 ${file}`);
    throw error;
  }
}

/** A proxy before it may pass on another host than its own: who asks is known by the token. */
function listen(handler: WebHandler, at: ListenAddress, onTrouble: (error: unknown) => void): Promise<WebServer> {
  return serveWeb({
    ...{ ...at, requestMs: REQUEST_MS, maxConnections: MAX_CONNECTIONS, hosts: 'any' },
    ...{ handler: () => handler, malformed, onTrouble },
    cannotListen: (cause) =>
      new RuntimeError(
        'SERVE_CANNOT_LISTEN',
        `cannot listen on ${authorityOf(at.host, at.port)}: ${messageOf(cause)}`,
        { category: 'process', hint: 'Choose another --listen, or leave it out for a free port.', cause },
      ),
  });
}

// Health beside the sessions that are served: probes bear no token, and are told no more than they need.

type Handler = (request: Request) => Promise<Response>;

interface HealthBeside {
  readonly sessions: Handler;
  readonly health: Handler;
  readonly token: string;
  /** Where it listens. */
  readonly host: string;
}

/**
 * Why it is not ready, and what scrapers read, such as what was spent, is for those who have the token. On loopback a
 * probe names this machine as its host.
 */
export function withHealth({ sessions, health, token, host }: HealthBeside): Handler {
  const isLocal = isLoopbackAddress(host) || isLoopbackName(host);
  return async (request) => {
    const { pathname } = new URL(request.url);
    const isProbe = pathname === '/healthz' || pathname === '/readyz';
    if (!isProbe && pathname !== '/metrics') return sessions(request);
    if (bears(request, token)) return health(request);
    if (!isProbe) return sessions(request);
    if (isLocal && !isLoopbackHost(request.headers.get('host')))
      return new Response('expected the name of this machine as host\n', { status: 421 });
    return withoutReasons(await health(request));
  };
}

async function withoutReasons(answered: Response): Promise<Response> {
  const { reasons: _reasons, ...rest } = (await answered.json()) as Readonly<Record<string, unknown>>;
  return new Response(`${JSON.stringify(rest)}\n`, { status: answered.status, headers: answered.headers });
}
