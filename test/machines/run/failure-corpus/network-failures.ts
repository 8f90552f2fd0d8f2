/** Failures of real sockets, of real requests and of real programs: nothing here is written by hand. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { failureCase } from './failure-case.ts';
import type { FailureCase } from './failure-case.ts';

type Provoked = Omit<FailureCase, 'error'> & { readonly provoke: () => Promise<unknown> };

export async function networkFailures(): Promise<readonly FailureCase[]> {
  return Promise.all(
    PROVOKED.map(async ({ provoke, name, kind, rule, retryAfterMs }) =>
      failureCase(name, await thrownBy(provoke), kind, rule, retryAfterMs),
    ),
  );
}

async function thrownBy(provoke: () => Promise<unknown>): Promise<unknown> {
  try {
    await provoke();
  } catch (error) {
    return error;
  }
  throw new Error('expected a failure, everything went well');
}

async function withServer(
  listener: RequestListener,
  use: (address: string, server: Server) => Promise<unknown>,
): Promise<unknown> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, server);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function closedPort(): Promise<string> {
  let address = '';
  await withServer(
    () => {},
    async (given) => {
      address = given;
    },
  );
  return address;
}

const MISSING_PROGRAM = './a-program-that-is-not-there';

const PROVOKED: readonly Provoked[] = [
  {
    name: 'a port at which nobody listens',
    kind: 'server_error',
    rule: 'code econnrefused',
    retryAfterMs: undefined,
    provoke: async () => fetch(await closedPort()),
  },
  {
    name: 'a name that nobody has',
    kind: 'server_error',
    rule: 'code enotfound',
    retryAfterMs: undefined,
    // A label of more than 63 characters is refused by the resolver itself, with or without a network.
    provoke: async () => fetch(`http://${'a'.repeat(64)}.invalid`),
  },
  {
    name: 'a connection that is reset',
    kind: 'server_error',
    rule: 'code econnreset',
    retryAfterMs: undefined,
    provoke: async () =>
      withServer(
        ({ socket }) => socket.resetAndDestroy(),
        async (address) => fetch(address),
      ),
  },
  {
    name: 'a connection that is closed before the answer',
    kind: 'server_error',
    rule: 'code und_err_socket',
    retryAfterMs: undefined,
    provoke: async () =>
      withServer(
        ({ socket }) => socket.destroy(),
        async (address) => fetch(address),
      ),
  },
  {
    name: 'an answer that breaks off',
    kind: 'server_error',
    rule: 'code und_err_socket',
    retryAfterMs: undefined,
    provoke: async () =>
      withServer(
        (_request, response) => {
          response.writeHead(200, { 'content-length': '1000' });
          response.write('half', () => response.destroy());
        },
        async (address) => (await fetch(address)).text(),
      ),
  },
  {
    name: 'a request that is aborted',
    kind: 'aborted',
    rule: 'abort AbortError',
    retryAfterMs: undefined,
    provoke: async () => {
      const stop = new AbortController();
      return withServer(
        () => stop.abort(),
        async (address) => fetch(address, { signal: stop.signal }),
      );
    },
  },
  {
    name: 'a request that takes too long',
    kind: 'timeout',
    rule: 'time limit TimeoutError',
    retryAfterMs: undefined,
    provoke: async () =>
      withServer(
        () => {},
        async (address) => fetch(address, { signal: AbortSignal.timeout(5) }),
      ),
  },
  {
    name: 'an address that is none',
    kind: 'format',
    rule: 'code err_invalid_url',
    retryAfterMs: undefined,
    provoke: async () => fetch('http://:0/'),
  },
  {
    name: 'a program that is not there',
    kind: 'format',
    rule: 'code enoent',
    retryAfterMs: undefined,
    provoke: async () => {
      const [error] = (await once(spawn(MISSING_PROGRAM), 'error')) as [Error];
      throw error;
    },
  },
];
