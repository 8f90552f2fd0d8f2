/**
 * A network that cannot be trusted, between a client and a PostgreSQL server: a proxy on loopback which can be told to
 * lose things.
 */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export interface UnreliableProxy {
  /** The same database, by way of it. */
  readonly url: string;
  /** Drops all connections there are. New ones are taken. */
  cut(): void;
  /** Whether new connections are dropped as soon as they are made. */
  refuse(isRefusing: boolean): void;
  /** From now on nothing is passed on, either way, and nobody is told: a cable that was pulled. */
  fallSilent(): void;
  /** Lets the nth request from now reach the server, and drops its connection when the answer comes, before any of it is passed on. A request is what
   *  the client sends between two answers, whatever connection it is on; signing in is made of requests too. */
  loseAnswerOf(nth: number): void;
  /** How many requests have been passed on. */
  readonly requests: number;
  stop(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

export async function unreliableProxy({ to }: { readonly to: string }): Promise<UnreliableProxy> {
  const target = new URL(to);
  const pairs = new Set<Pair>();
  const state = { isRefusing: false, isSilent: false, requests: 0, loses: 0 };
  const listener = createServer((client) => {
    client.on('error', () => client.destroy());
    if (state.isRefusing) client.destroy();
    else
      join(
        { client, server: connect(Number(target.port === '' ? '5432' : target.port), target.hostname) },
        pairs,
        state,
      );
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const url = new URL(to);
  url.hostname = '127.0.0.1';
  url.port = `${(listener.address() as AddressInfo).port}`;
  const cut = (): void => pairs.forEach((pair) => drop(pair));
  return {
    url: url.href,
    cut,
    fallSilent: () => void (state.isSilent = true),
    refuse: (isRefusing) => void (state.isRefusing = isRefusing),
    loseAnswerOf: (nth) => void (state.loses = state.requests + nth),
    get requests() {
      return state.requests;
    },
    async stop() {
      cut();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

function join(pair: Pair, pairs: Set<Pair>, state: { requests: number; loses: number; isSilent: boolean }): void {
  const { client, server } = pair;
  pairs.add(pair);
  let isAnswered = true;
  let isLosing = false;
  client.on('data', (request) => {
    if (state.isSilent) return;
    if (isAnswered) state.requests += 1;
    if (isAnswered && state.requests === state.loses) isLosing = true;
    isAnswered = false;
    server.write(request);
  });
  server.on('data', (answer) => {
    if (state.isSilent) return;
    isAnswered = true;
    if (isLosing) drop(pair);
    else client.write(answer);
  });
  for (const socket of [client, server]) {
    socket.on('error', () => drop(pair));
    socket.on('close', () => {
      drop(pair);
      pairs.delete(pair);
    });
  }
}

function drop({ client, server }: Pair): void {
  client.destroy();
  server.destroy();
}
