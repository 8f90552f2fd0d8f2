/** The handler as what Node's `createServer` and Express take. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { HttpHandler } from './handler.ts';
import { errorResponse, Refusal } from './refusal.ts';

/**
 * A listener for Node's HTTP servers, and for Express and Connect. The path is that of the whole request, wherever it
 * is mounted: `basePath` says what stands before the routes.
 */
export function toNodeListener(handler: HttpHandler): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  return (incoming, outgoing) => {
    answer(handler, incoming, outgoing).catch(() => outgoing.destroy());
  };
}

async function answer(handler: HttpHandler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  const request = requestOf(incoming, gone.signal);
  const response = request === undefined ? errorResponse(malformed()) : await handler(request);
  outgoing.statusCode = response.status;
  response.headers.forEach((value, name) => {
    if (name !== 'set-cookie') outgoing.setHeader(name, value);
  });
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) outgoing.setHeader('set-cookie', cookies);
  outgoing.flushHeaders();
  const reader = response.body?.getReader();
  if (reader === undefined) return void outgoing.end();
  const leave = (): void => void reader.cancel().catch(() => undefined);
  if (outgoing.destroyed) return leave();
  outgoing.once('close', leave);
  for (let read = await reader.read(); !read.done; read = await reader.read())
    if (!outgoing.write(read.value)) await drained(outgoing);
  outgoing.end();
}

/** Paths that a URL shortens: what stands before the server would have checked another path than the one it gets. */
const LEADS_ELSEWHERE = /^\/\/|\\|\/(?:\.|%2e){1,2}(?:\/|$)/i;

/** Undefined for what no client sends that means well: a path with bytes that no URL has. */
function requestOf(incoming: IncomingMessage & { originalUrl?: string }, signal: AbortSignal): Request | undefined {
  const { method = 'GET', headers, originalUrl, url = '/' } = incoming;
  const target = originalUrl ?? url;
  if (LEADS_ELSEWHERE.test(target.split('?', 1)[0] ?? '')) return undefined;
  const isBare = method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
  try {
    // The name of the host says nothing here, and comes from the client.
    return new Request(new URL(target, 'http://localhost'), {
      method,
      headers: Object.entries(headers).flatMap(([name, value]) =>
        value === undefined || name.startsWith(':') ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
      ),
      signal,
      ...(isBare ? {} : { body: Readable.toWeb(incoming), duplex: 'half' }),
    });
  } catch {
    return undefined;
  }
}

function malformed(): Refusal {
  return new Refusal('API_REQUEST_INVALID', 'expected a path and headers as HTTP has them', {
    category: 'validation',
    hint: 'Check the URL.',
  });
}

/** Or closed. */
function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      outgoing.off('drain', settle);
      outgoing.off('close', settle);
      resolve();
    };
    outgoing.once('drain', settle);
    outgoing.once('close', settle);
  });
}
