/** The handler: who asks, what for, and may it; then the route, or an error as JSON. */
import { realPathOrItself } from '../system/real-path.ts';
import { Access } from './access.ts';
import { checkedOptions } from './handler-options.ts';
import type { HandlerSettings, HttpHandlerOptions, ServedRuntime } from './handler-options.ts';
import { OpenLimit, RateLimit, readJson } from './limits.ts';
import { Refusal, errorResponse, isTold } from './refusal.ts';
import type { Route } from './route.ts';
import { routes } from './routes.ts';

/** Pages of logs that are read for one subject at the same time: each takes a few times its bytes of memory. */
const MAX_READS = 8;

/** Takes a request of the Web's and answers it: for Hono, Next, Express and Node alike. It never rejects. */
export type HttpHandler = (request: Request) => Promise<Response>;

/**
 * A handler over the sessions of a runtime. It stores what is sent; a worker, in this process or another one, wakes.
 * @throws RuntimeError API_OPTIONS_INVALID
 */
export function createHttpHandler(runtime: ServedRuntime, options: HttpHandlerOptions): HttpHandler {
  const settings = checkedOptions(options);
  const { home } = runtime.inspection;
  const homes = home === undefined ? [] : [...new Set([home, realPathOrItself(home)])];
  const limits: Limits = {
    rate: new RateLimit(settings),
    streams: new OpenLimit(settings.maxStreams, 'streams'),
    reads: new OpenLimit(MAX_READS, 'reads of logs'),
  };
  return async (request) => {
    const early = preflight(request, settings.cors);
    if (early !== undefined) return early;
    const response = await answered(request, { runtime, settings, homes, ...limits }).catch((error: unknown) => {
      if (!isTold(error)) settings.onError(error, request);
      return errorResponse(error);
    });
    return withCors(request, withoutBody(request, response), settings.cors);
  };
}

interface Limits {
  readonly rate: RateLimit;
  readonly streams: OpenLimit;
  readonly reads: OpenLimit;
}

interface Served extends Limits {
  readonly runtime: ServedRuntime;
  readonly settings: HandlerSettings;
  readonly homes: readonly string[];
}

async function answered(
  request: Request,
  { runtime, settings, homes, rate, streams, reads }: Served,
): Promise<Response> {
  const access = await Access.of(request, settings.authorize, homes);
  if (access instanceof Response) return access;
  rate.take(access.subject);
  const url = new URL(request.url);
  const { route, sessionId } = routeOf(request.method, url.pathname, settings.basePath);
  return route.handle({
    ...{ request, runtime, settings, streams, reads, access, sessionId },
    query: queryOf(url),
    body: request.method === 'POST' ? await readJson(request, settings.maxBodyBytes) : undefined,
  });
}

/** @throws Refusal API_ROUTE_NOT_FOUND, API_METHOD_NOT_ALLOWED */
function routeOf(
  method: string,
  path: string,
  basePath: string,
): { readonly route: Route; readonly sessionId: string } {
  const fitting = path.startsWith(`${basePath}/`)
    ? routes.flatMap((route) => {
        const match = patternOf(route.path).exec(path.slice(basePath.length));
        return match === null ? [] : { route, sessionId: match.groups?.['sessionId'] ?? '' };
      })
    : [];
  const [first] = fitting;
  if (first === undefined)
    throw new Refusal('API_ROUTE_NOT_FOUND', 'there is nothing under this path', {
      category: 'not_found',
      hint: `The routes are listed in ${basePath}/openapi.json.`,
    });
  const wanted = method === 'HEAD' ? 'GET' : method;
  const found = fitting.find(({ route }) => route.method === wanted);
  if (found !== undefined) return found;
  const methods = fitting.flatMap(({ route }) => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]));
  throw new Refusal('API_METHOD_NOT_ALLOWED', `expected ${methods.join(', ')}`, {
    category: 'validation',
    hint: `The routes are listed in ${basePath}/openapi.json.`,
    headers: { allow: [...methods, 'OPTIONS'].join(', ') },
  });
}

/** An id has no sign that is written otherwise in a URL. */
function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', String.raw`\.`).replace('{sessionId}', '(?<sessionId>[^/]+)')}$`);
}

/** @throws Refusal API_REQUEST_INVALID for a name that comes twice */
function queryOf({ searchParams }: URL): unknown {
  const names = [...new Set(searchParams.keys())];
  return Object.fromEntries(
    names.map((name) => {
      const values = searchParams.getAll(name);
      if (values.length > 1)
        throw new Refusal('API_REQUEST_INVALID', `expected ${name.slice(0, 50)} once in the query`, {
          category: 'validation',
          hint: 'Leave the others out.',
        });
      return [name, values[0]];
    }),
  );
}

/** To HEAD, all of it but the body; a stream is not opened for nothing. */
function withoutBody(request: Request, response: Response): Response {
  if (request.method !== 'HEAD') return response;
  void response.body?.cancel().then(undefined, () => undefined);
  return new Response(null, { status: response.status, headers: response.headers });
}

// What browsers ask before pages of other origins may call. Unless origins are named, none may.

type Cors = HandlerSettings['cors'];

const HEADERS = 'authorization, content-type, idempotency-key, last-event-id';
const EXPOSED = 'link, retry-after, x-vercel-ai-ui-message-stream';
const KEPT_SECONDS = '600';

/** A browser asks without credentials, so it is answered before anyone is authorized. */
function preflight(request: Request, cors: Cors): Response | undefined {
  if (request.method !== 'OPTIONS') return undefined;
  const isAsking = request.headers.has('origin') && request.headers.has('access-control-request-method');
  if (!isAsking || !isOpen(request, cors))
    return new Response(null, { status: 204, headers: { allow: 'GET, HEAD, POST, OPTIONS', vary: 'Origin' } });
  return withCors(
    request,
    new Response(null, {
      status: 204,
      headers: {
        'access-control-allow-methods': 'GET, POST',
        'access-control-allow-headers': HEADERS,
        'access-control-max-age': KEPT_SECONDS,
      },
    }),
    cors,
  );
}

function withCors(request: Request, response: Response, cors: Cors): Response {
  if (cors === undefined) return response;
  // A response of the program's own may not be changed.
  const answer = new Response(response.body, response);
  answer.headers.append('vary', 'Origin');
  if (!isOpen(request, cors)) return answer;
  answer.headers.set('access-control-allow-origin', request.headers.get('origin') ?? '');
  answer.headers.set('access-control-expose-headers', EXPOSED);
  return answer;
}

function isOpen(request: Request, cors: Cors): boolean {
  const origin = request.headers.get('origin');
  return origin !== null && cors !== undefined && cors.origins.includes(origin);
}
