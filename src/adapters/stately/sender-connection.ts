/** One connection to another inspector. What it says is not listened to, but that it is there. */
import { lookup } from 'node:dns';
import type { LookupAddress, LookupOptions } from 'node:dns';
import { WebSocket } from 'ws';
import type { Clock, TimerHandle } from '../../actors/clock/clock.ts';
import { messageOf } from '../../machines/errors.ts';
import { isLoopbackAddress } from '../system/loopback.ts';
import { RECORDING_HEADER, encodedBoot } from './recording-header.ts';

const HANDSHAKE_MS = 10_000;
/** It has to answer a ping within the time to the next one. */
const PING_MS = 30_000;
/** How long it may take to say good-bye. */
const CLOSE_MS = 1_000;
const MAX_INCOMING_BYTES = 65_536;
const NORMAL = 1_000;

export interface SenderConnectionParts {
  /** Of the recording that is sent. */
  readonly boot: string;
  readonly clock: Clock;
  readonly onOpen: () => void;
  /** Called once, also when it never opened; not after `close`. */
  readonly onLost: (because: string) => void;
}

export class SenderConnection {
  readonly #socket: WebSocket;
  readonly #parts: SenderConnectionParts;
  #because = 'the connection was closed by the other side';
  #isClosing = false;
  #hasAnswered = true;
  #ping: TimerHandle | undefined;

  constructor(address: URL, parts: SenderConnectionParts) {
    this.#parts = parts;
    const isPlain = address.protocol === 'ws:';
    this.#socket = new WebSocket(address, {
      perMessageDeflate: false,
      handshakeTimeout: HANDSHAKE_MS,
      maxPayload: MAX_INCOMING_BYTES,
      headers: { [RECORDING_HEADER]: encodedBoot(parts.boot) },
      followRedirects: false,
      ...(isPlain ? { lookup: loopbackOnly } : {}),
    });
    this.#socket.on('open', () => {
      this.#awaitPing();
      parts.onOpen();
    });
    this.#socket.on('pong', () => {
      this.#hasAnswered = true;
    });
    this.#socket.on('error', (error) => {
      this.#because = messageOf(error);
    });
    this.#socket.on('close', () => {
      parts.clock.clearTimeout(this.#ping);
      if (!this.#isClosing) parts.onLost(this.#because);
    });
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  /** Resolves when all were passed on. @throws when the connection is lost before */
  async send(texts: readonly string[]): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const passedOn = (error?: Error | null): void =>
        error === undefined || error === null ? resolve() : reject(error);
      for (const [index, text] of texts.entries()) {
        if (index === texts.length - 1) this.#socket.send(text, passedOn);
        else this.#socket.send(text, ignore);
      }
    });
    // Writing to a quick receiver settles within one turn: others want theirs.
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }

  fail(error: unknown): void {
    if (!this.isOpen) return;
    this.#because = messageOf(error);
    this.#socket.terminate();
  }

  async close(): Promise<void> {
    if (this.#socket.readyState === WebSocket.CLOSED) return;
    const closed = new Promise<void>((resolve) => {
      this.#socket.once('close', () => resolve());
    });
    if (!this.#isClosing) {
      this.#isClosing = true;
      this.#socket.close(NORMAL);
      const timer = this.#parts.clock.setTimeout(() => this.#socket.terminate(), CLOSE_MS);
      this.#socket.once('close', () => this.#parts.clock.clearTimeout(timer));
    }
    await closed;
  }

  #awaitPing(): void {
    this.#ping = this.#parts.clock.setTimeout(() => {
      if (!this.#hasAnswered) {
        this.#because = `it has not answered for ${PING_MS / 1_000} seconds`;
        this.#socket.terminate();
        return;
      }
      this.#hasAnswered = false;
      this.#socket.ping();
      this.#awaitPing();
    }, PING_MS);
  }
}

function ignore(): void {
  // The last one of the same slice says what happened.
}

type Found = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void;

/** What a name of this machine leads to has to be this machine, whatever its name service says. */
function loopbackOnly(hostname: string, options: LookupOptions, found: Found): void {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const local = (error === null ? addresses : []).filter(({ address }) => isLoopbackAddress(address));
    const [first] = local;
    if (first === undefined) found(error ?? new Error(`${hostname} does not lead to this machine`), []);
    else if (options.all === true) found(null, local);
    else found(null, first.address, first.family);
  });
}
