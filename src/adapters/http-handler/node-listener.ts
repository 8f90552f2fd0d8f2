/** The handler as what Node's `createServer` and Express take. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { webListener } from '../system/web-listener.ts';
import type { HttpHandler } from './handler.ts';
import { errorResponse, Refusal } from './refusal.ts';

/**
 * A listener for Node's HTTP servers, and for Express and Connect. The path is that of the whole request, wherever it
 * is mounted: `basePath` says what stands before the routes.
 */
export function toNodeListener(handler: HttpHandler): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  return webListener(handler, { malformed });
}

export function malformed(): Response {
  return errorResponse(
    new Refusal('API_REQUEST_INVALID', 'expected a path and headers as HTTP has them', {
      category: 'validation',
      hint: 'Check the URL.',
    }),
  );
}
