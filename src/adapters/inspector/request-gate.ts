/**
 * What every request has to pass before anything is done for it: where it was sent to, who made the browser send it,
 * and how it is written.
 */
import type { IncomingMessage } from 'node:http';
import { Refusal } from './refusal.ts';

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST']);

/** Made by ourselves, or by a person who typed the address. */
const TRUSTED_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

export const OPEN_IT = 'Open the address that the program printed, in the address bar.';

/** The parameter that signs a browser in. */
export const TOKEN = 'token';
const SIGN_IN = new RegExp(`^/[^/?#]+/\\?${TOKEN}=`);

export interface Target {
  /** As it was sent, still encoded. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** @param hosts what the Host header may say @throws Refusal 400, 403, 405, 421 */
export function admit(request: IncomingMessage, hosts: ReadonlySet<string>): Target {
  checkHost(request, hosts);
  if (!isOpenedElsewhere(request)) checkSender(request);
  if (!METHODS.has(request.method ?? '')) throw methodRefused(request.method, [...METHODS]);
  if (request.method !== 'POST' && hasBody(request))
    throw new Refusal(400, 'INSPECTOR_BODY_UNEXPECTED', `expected no body with ${request.method ?? 'the request'}`, {
      hint: 'Leave it out.',
    });
  return targetOf(request.url ?? '');
}

export function methodRefused(method: string | undefined, allowed: readonly string[]): Refusal {
  return new Refusal(
    405,
    'INSPECTOR_METHOD_REFUSED',
    `expected ${allowed.join(' or ')}, received ${(method ?? '').slice(0, 20)}`,
    { hint: 'The Allow header names the methods.', headers: { allow: allowed.join(', ') } },
  );
}

/** A page of another site whose name was made to lead here, which is DNS rebinding, sends that name. */
function checkHost({ headers, rawHeaders, httpVersion }: IncomingMessage, hosts: ReadonlySet<string>): void {
  const given = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length;
  if (given > 1)
    throw new Refusal(400, 'INSPECTOR_HOST_AMBIGUOUS', `expected one Host header, received ${given}`, {
      hint: 'Send one.',
    });
  const host = headers.host?.toLowerCase();
  if (host === undefined || !hosts.has(host)) {
    throw new Refusal(
      421,
      'INSPECTOR_HOST_REFUSED',
      `this inspector does not answer for the host that the request names (HTTP/${httpVersion})`,
      { hint: OPEN_IT },
    );
  }
}

/**
 * Whether a file, or a page elsewhere, has led a person here to sign in: a whole page for a tab, with a token, which
 * its holder could use anyway.
 */
export function isOpenedElsewhere({ headers, method, url = '' }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    headers['sec-fetch-site'] === 'cross-site' &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document' &&
    headers.origin === undefined &&
    SIGN_IN.test(url)
  );
}

function checkSender({ headers, method }: IncomingMessage): void {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && (typeof site !== 'string' || !TRUSTED_SITES.has(site)))
    throw foreign('another site made the browser send this request');
  // One would outlive this program and stand between the browser and the next that has this port.
  if (headers['service-worker'] !== undefined) throw foreign('the inspector has no service worker');
  const { origin } = headers;
  if (origin === undefined && method === 'POST') throw foreign('expected an Origin header, received none');
  // The host was checked before, so this is one of our own origins, and the one that was called.
  if (origin !== undefined && origin !== `http://${headers.host?.toLowerCase() ?? ''}`)
    throw foreign('the request comes from another origin');
}

function foreign(message: string): Refusal {
  return new Refusal(403, 'INSPECTOR_ORIGIN_REFUSED', message, { hint: OPEN_IT });
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** Only a path with a query: whole addresses and authorities are for proxies. */
function targetOf(url: string): Target {
  if (!url.startsWith('/') || url.startsWith('//') || url.includes('#'))
    throw new Refusal(400, 'INSPECTOR_TARGET_INVALID', 'expected a path that begins with one slash', { hint: OPEN_IT });
  const mark = url.indexOf('?');
  return mark === -1
    ? { path: url, query: new URLSearchParams() }
    : { path: url.slice(0, mark), query: new URLSearchParams(url.slice(mark + 1)) };
}

/** The one value of each allowed parameter. @throws Refusal 400 for one that is not known, or twice there */
export function parametersOf(query: URLSearchParams, allowed: readonly string[]): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [name, value] of query) {
    if (!allowed.includes(name) || Object.hasOwn(found, name)) {
      throw new Refusal(
        400,
        'INSPECTOR_QUERY_INVALID',
        `expected ${allowed.length === 0 ? 'no parameters' : `each of ${allowed.join(', ')} at most once`}, received another`,
        { hint: 'Check the address.' },
      );
    }
    found[name] = value;
  }
  return found;
}

/** @throws Refusal 400 */
export function numberOf(
  name: string,
  text: string,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new Refusal(400, 'INSPECTOR_QUERY_INVALID', `${name}: expected a whole number from ${min} to ${max}`, {
    hint: 'Check the address.',
  });
}

/** @throws Refusal 400 for escapes that say no text */
export function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Refusal(400, 'INSPECTOR_TARGET_INVALID', 'expected a path whose escapes are UTF-8', { hint: OPEN_IT });
  }
}
