/** What browsers ask before pages of other origins may call. Unless origins are named, none may. */
import type { HandlerSettings } from './handler-options.ts';

type Cors = HandlerSettings['cors'];

const HEADERS = 'authorization, content-type, idempotency-key, last-event-id';
const EXPOSED = 'link, retry-after, x-vercel-ai-ui-message-stream';
const KEPT_SECONDS = '600';

/** A browser asks without credentials, so it is answered before anyone is authorized. */
export function preflight(request: Request, cors: Cors): Response | undefined {
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

export function withCors(request: Request, response: Response, cors: Cors): Response {
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
