/** What a browser is answered that has just signed in: it leaves the address with the token for the page itself. */
import { createHash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { begin } from './respond.ts';
import type { Exchange } from './respond.ts';

/** What is after # in the address stays. */
const SCRIPT = `location.replace('./' + location.hash)`;
const GO_ON = `<!doctype html><meta charset="utf-8"><title>Wakechart inspector</title><script>${SCRIPT}</script>`;
const GO_ON_POLICY = `default-src 'none'; script-src 'sha256-${createHash('sha256').update(SCRIPT).digest('base64')}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

/** A redirect. @param path of the page */
export function leadOn(exchange: Exchange, path: string, headers: OutgoingHttpHeaders): void {
  begin(exchange, 303, { location: path, 'content-length': 0, ...headers });
  exchange.response.end();
}

/**
 * The same for one that a file or a page elsewhere has sent here. Its redirects would count as sent by them, without
 * the cookie: so a page of ours asks instead.
 */
export function leadOnFromElsewhere(exchange: Exchange, headers: OutgoingHttpHeaders): void {
  begin(exchange, 200, {
    'content-type': 'text/html; charset=utf-8',
    'content-length': Buffer.byteLength(GO_ON),
    'content-security-policy': GO_ON_POLICY,
    ...headers,
  });
  exchange.response.end(GO_ON);
}
