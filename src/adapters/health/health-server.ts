/** A port for scrapers and probes: small requests, small answers. */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { serveWeb } from '../system/web-server.ts';
import type { ListenOptions, WebServer } from '../system/web-server.ts';
import type { WebHandler } from '../system/web-listener.ts';

/** Connections at once: a scraper and a few probes. */
const MAX_CONNECTIONS = 64;
const REQUEST_MS = 5_000;

/** @throws RuntimeError HEALTH_PORT_TAKEN, HEALTH_CANNOT_LISTEN */
export function serveHealth({
  handler,
  host,
  port,
}: ListenOptions & { readonly handler: WebHandler }): Promise<WebServer> {
  return serveWeb({
    ...{ host, port, requestMs: REQUEST_MS, maxConnections: MAX_CONNECTIONS, hosts: 'own' },
    handler: () => handler,
    cannotListen: (cause, isTaken) =>
      isTaken
        ? new RuntimeError('HEALTH_PORT_TAKEN', `port ${port} of ${host} is taken by another program`, {
            category: 'conflict',
            hint: 'Choose another port, or 0 for a free one.',
            cause,
          })
        : new RuntimeError('HEALTH_CANNOT_LISTEN', `cannot listen on port ${port} of ${host}: ${messageOf(cause)}`, {
            category: 'validation',
            hint: 'Choose an address of this machine, and a port that this user may open.',
            cause,
          }),
  });
}
