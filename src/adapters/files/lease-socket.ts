/**
 * The listening end of a lease: as long as it answers, its process lives. It never keeps the process alive, and its
 * name is gone when it is closed. When the process dies, the kernel closes it, which every connected process hears at
 * once.
 */
import { chmodSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { MessageReader, encodeMessage } from './lease-message.ts';
import type { LeaseAnswer } from './lease-message.ts';

export interface LeaseSocketOptions {
  /** The path to listen under; it must not be there yet. */
  readonly address: string;
  /** What is true at the moment. */
  readonly answer: () => LeaseAnswer;
  /** Another process says that it has taken over under a later epoch. */
  readonly onPassed: (by: number) => void;
  /** Another process, or another runtime of this one, wants to hear what the model says. */
  readonly onFollow?: OnFollow | undefined;
}

export type OnFollow = (connection: Socket, by: string) => void;

/** How much may wait for a process that asks and does not listen, in bytes. */
const MAX_UNREAD_BYTES = 65_536;

/** Only the owner may connect. */
const PRIVATE_SOCKET_MODE = 0o600;

export class LeaseSocket {
  readonly #options: LeaseSocketOptions;
  readonly #server: Server;
  readonly #connections = new Set<Socket>();
  readonly #askers = new Set<Socket>();
  #closing: Promise<void> | undefined;

  private constructor(options: LeaseSocketOptions) {
    this.#options = options;
    this.#server = createServer((connection) => this.#admit(connection));
  }

  /**
   * @throws the system's error: EADDRINUSE when the name is taken, EACCES when its folder is gone, ENOENT when the name
   * is
   */
  static async listen(options: LeaseSocketOptions): Promise<LeaseSocket> {
    const socket = new LeaseSocket(options);
    await socket.#listen();
    try {
      // In this turn of the event loop, as the bind was: no process is let in before.
      chmodSync(options.address, PRIVATE_SOCKET_MODE);
    } catch (error) {
      await socket.close();
      throw error;
    }
    return socket;
  }

  #listen(): Promise<void> {
    const server = this.#server;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      // Exclusive: workers of a cluster would otherwise share it.
      server.listen({ path: this.#options.address, exclusive: true }, () => {
        server.off('error', reject);
        // An accept that fails (too many open files) is tried again by the next asker.
        server.on('error', () => undefined);
        server.unref();
        resolve();
      });
    });
  }

  /** Tells every process that has asked what is true now. */
  announce(): void {
    for (const asker of this.#askers) this.#say(asker);
  }

  /** Takes the name away and closes all connections. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= new Promise((resolve) => {
      this.#server.close(() => {
        this.#server.removeAllListeners();
        resolve();
      });
      for (const connection of this.#connections) connection.destroy();
    });
    return this.#closing;
  }

  #admit(connection: Socket): void {
    const reader = new MessageReader();
    let follows = false;
    this.#connections.add(connection);
    connection.unref();
    connection.setEncoding('utf8');
    connection.on('error', () => undefined);
    connection.on('close', () => {
      this.#connections.delete(connection);
      this.#askers.delete(connection);
    });
    connection.on('data', (text: string) => {
      const messages = reader.read(text);
      if (messages === undefined) connection.destroy();
      for (const message of messages ?? []) {
        if (message.type === 'passed') this.#options.onPassed(message.by);
        if (message.type === 'follow' && !follows) {
          // Once: each time costs memory until the connection ends.
          follows = true;
          this.#options.onFollow?.(connection, message.by);
        }
        if (message.type !== 'ask') continue;
        this.#askers.add(connection);
        this.#say(connection);
      }
    });
  }

  #say(asker: Socket): void {
    if (asker.writableLength > MAX_UNREAD_BYTES) asker.destroy();
    if (asker.writable) asker.write(encodeMessage(this.#options.answer()));
  }
}
