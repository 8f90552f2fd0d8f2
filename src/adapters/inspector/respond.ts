/** Writes responses: every one of them has the headers that keep a browser strict. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { ToldError } from './refusal.ts';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "require-trusted-types-for 'script'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** No header among them lets another origin read anything. */
const STRICT: OutgoingHttpHeaders = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** Below whichever place. */
const API = /^\/[^/?]+\/api\//;

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export function begin({ response }: Exchange, status: number, headers: OutgoingHttpHeaders): void {
  response.writeHead(status, { ...STRICT, ...headers });
}

/** A whole response. To HEAD, all of it but the body. */
function sendBody(exchange: Exchange, status: number, body: string | Uint8Array, headers: OutgoingHttpHeaders): void {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  begin(exchange, status, { ...headers, 'content-length': bytes.length });
  exchange.response.end(exchange.request.method === 'HEAD' ? undefined : bytes);
}

export function sendJson(exchange: Exchange, status: number, value: unknown, headers: OutgoingHttpHeaders = {}): void {
  sendBody(exchange, status, JSON.stringify(value), { ...headers, 'content-type': 'application/json; charset=utf-8' });
}

/**
 * A response that the browser may keep, and asks about each time; 304 where it has this one. @param tag without quotes
 */
export async function sendTagged(
  exchange: Exchange,
  tag: string,
  body: () => Promise<string | Uint8Array>,
  headers: OutgoingHttpHeaders,
): Promise<void> {
  const kept = { ...headers, etag: `"${tag}"`, 'cache-control': 'private, no-cache' };
  if (names(exchange.request.headers['if-none-match'], tag)) {
    begin(exchange, 304, kept);
    exchange.response.end();
    return;
  }
  sendBody(exchange, 200, await body(), kept);
}

/** Whether an If-None-Match header names the tag. */
function names(header: string | undefined, tag: string): boolean {
  return (
    header !== undefined && header.split(',').some((each) => ['*', `"${tag}"`, `W/"${tag}"`].includes(each.trim()))
  );
}

/** JSON for programs, a line of text for people who opened a page. */
export function sendError(exchange: Exchange, { status, headers, body }: ToldError): void {
  const { url = '', headers: asked } = exchange.request;
  if (API.test(url) || (asked.accept ?? '').includes('application/json'))
    return sendJson(exchange, status, body, headers);
  sendBody(exchange, status, `${body.message} [${body.code}]\n${body.hint}\n`, {
    ...headers,
    'content-type': 'text/plain; charset=utf-8',
  });
}

/** @param accepted the header Accept-Encoding */
export function takesGzip(accepted: string | string[] | undefined): boolean {
  return String(accepted ?? '')
    .split(',')
    .some((each) => /^\s*(?:gzip|x-gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*$)[\d.]+\s*)?$/i.test(each));
}
