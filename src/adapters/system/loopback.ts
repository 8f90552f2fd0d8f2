/** Addresses that no machine but this one reaches, and how an address is written in a URL. */
import { isIP } from 'node:net';

export function isLoopbackAddress(address: string): boolean {
  return address === '::1' || (isIP(address) === 4 && address.startsWith('127.'));
}

/**
 * Whether a host of a URL is this machine itself, as it is named: nothing that is sent there goes over a wire. `URL` has
 * brought other ways to write the addresses into these.
 */
export function isLoopbackName(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'));
}

/**
 * Whether a Host header, which old clients leave out, names this machine itself. A page of the web that makes a name of
 * its own lead to this machine is known by that name.
 */
export function isLoopbackHost(host: string | null | undefined): boolean {
  const url = `http://${host ?? 'localhost'}`;
  return URL.canParse(url) && isLoopbackName(new URL(url).hostname);
}

/** As URLs and Host headers write it. */
export function authorityOf(host: string, port: number): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}
