/**
 * A wire to a PostgreSQL server that is listened to: which statements go over it, and how often the client waits for an
 * answer.
 */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

export interface CountedWire {
  /** The same database, by way of it. */
  readonly url: string;
  /**
   * What was executed since the last `clear`, in order: the words of each statement, whatever connection it went over.
   */
  readonly statements: readonly string[];
  /** Answers that were waited for since: each ends with the server saying that it is ready for more. */
  readonly roundTrips: number;
  clear(): void;
  stop(): Promise<void>;
}

/** Begins of messages: https://www.postgresql.org/docs/current/protocol-message-formats.html */
const HEADER_BYTES = 5;

export async function countedWire({ to }: { readonly to: string }): Promise<CountedWire> {
  const target = new URL(to);
  const state = { statements: [] as string[], roundTrips: 0 };
  const open = new Set<{ destroy(): unknown }>();
  const listener = createServer((client) => {
    const server = connect(Number(target.port === '' ? '5432' : target.port), target.hostname);
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      open.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => [client, server].forEach((each) => each.destroy()));
    }
    const heard = new Statements(
      (text) => state.statements.push(text),
      () => (state.roundTrips += 1),
    );
    client.on('data', (bytes) => {
      heard.take(bytes);
      server.write(bytes);
    });
    server.on('data', (bytes) => client.write(bytes));
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const url = new URL(to);
  url.hostname = '127.0.0.1';
  url.port = `${(listener.address() as AddressInfo).port}`;
  return {
    url: url.href,
    get statements() {
      return [...state.statements];
    },
    get roundTrips() {
      return state.roundTrips;
    },
    clear: () => void Object.assign(state, { statements: [], roundTrips: 0 }),
    async stop() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

/** What one client says. */
class Statements {
  readonly #onExecute: (text: string) => void;
  readonly #onSync: () => void;
  readonly #prepared = new Map<string, string>();
  #bound = '';
  #rest = Buffer.alloc(0);
  #hasBegun = false;

  constructor(onExecute: (text: string) => void, onSync: () => void) {
    this.#onExecute = onExecute;
    this.#onSync = onSync;
  }

  take(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    for (;;) {
      // The first message has no type.
      const header = this.#hasBegun ? HEADER_BYTES : HEADER_BYTES - 1;
      if (this.#rest.length < header) return;
      const length = this.#rest.readInt32BE(header - 4) + header - 4;
      if (this.#rest.length < length) return;
      if (this.#hasBegun)
        this.#hear(String.fromCharCode(this.#rest[0] ?? 0), this.#rest.subarray(HEADER_BYTES, length));
      this.#hasBegun = true;
      this.#rest = this.#rest.subarray(length);
    }
  }

  #hear(type: string, body: Buffer): void {
    const words = body.toString('latin1').split('\0');
    const [first = '', second = ''] = words;
    if (type === 'P') this.#prepared.set(first, second);
    if (type === 'B') this.#bound = this.#prepared.get(second) ?? '';
    if (type === 'E') this.#onExecute(this.#bound);
    if (type === 'Q') this.#onExecute(first);
    if (type === 'S' || type === 'Q') this.#onSync();
  }
}
