/** Serves a fetch-style handler on this machine alone. */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { serveWeb } from '../system/web-server.ts';
import type { WebServer, WebServerOptions } from '../system/web-server.ts';

const LOOPBACK = '127.0.0.1';
const MAX_CONNECTIONS = 256;
const REQUEST_MS = 60_000;

export interface A2aListenerOptions {
  /** 0: a free one. */
  readonly port: number;
  readonly onTrouble: (error: unknown) => void;
}

/** @throws RuntimeError A2A_CANNOT_LISTEN, and what `handler` throws */
export function listenA2a(
  handler: WebServerOptions['handler'],
  { port, onTrouble }: A2aListenerOptions,
): Promise<WebServer> {
  return serveWeb({
    ...{ host: LOOPBACK, port, requestMs: REQUEST_MS, maxConnections: MAX_CONNECTIONS, hosts: 'own' },
    ...{ handler, onTrouble },
    cannotListen: (cause) =>
      new RuntimeError('A2A_CANNOT_LISTEN', `cannot listen on ${LOOPBACK}:${port}: ${messageOf(cause)}`, {
        category: 'conflict',
        hint: 'Choose another port with --port, or leave it out for a free one.',
        cause,
      }),
  });
}
