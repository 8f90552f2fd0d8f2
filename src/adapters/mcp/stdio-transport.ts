/**
 * Messages to and from a program, one JSON text per line: the transport of the SDK over a process whose whole tree we
 * own.
 *
 * Whatever the program does, it ends in `onclose`, once: it may exit, close its output, stop reading, or say what is
 * unreadable. What it says beside the protocol is reported and skipped.
 */
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { TextTail } from '../../actors/run/text-tail.ts';
import { beginningOf } from '../../machines/cut-text.ts';
import { messageOf } from '../../machines/errors.ts';
import { LineReader } from '../../machines/run/line-reader.ts';
import type { Line } from '../../machines/run/line-reader.ts';
import { within } from '../system/waiting.ts';
import type { McpSdk } from './load-sdk.ts';
import type { ServerProcess } from './server-process.ts';
import type { SecretRedaction } from '../../machines/vault/secret-redaction.ts';

/** For one message of a server. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** What a server has not read yet. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
/** After the end of the program, how long its last words may take to arrive: a grandchild may hold its output open. */
const LAST_WORDS_MS = 250;
/** A server that is closed sees the end of its input first, and may end by itself. */
const LINGER_MS = 500;
/** Of a line that cannot be understood. */
const SAMPLE_CHARACTERS = 200;
/** Of what a server said last beside the protocol. */
const ERROR_OUTPUT_CHARACTERS = 4_000;

/**
 * The code in an error response that stands for a message beyond the limit. The protocol leaves it to implementations.
 */
export const TOO_LARGE_CODE = -32_077;

export interface StdioTransportOptions {
  readonly start: () => Promise<ServerProcess>;
  readonly messageSchema: McpSdk['JSONRPCMessageSchema'];
  readonly redaction: SecretRedaction;
  readonly onNoise: (message: string) => void;
}

export class StdioTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  readonly #options: StdioTransportOptions;
  readonly #lines = new LineReader(MAX_MESSAGE_BYTES);
  readonly #stderr: TextTail;
  #process: ServerProcess | undefined;
  /** Settles when the program runs, or cannot be started. */
  #starting: Promise<unknown> | undefined;
  #endedBecause: string | undefined;
  /** Settles when the process tree is gone. */
  #ended: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: StdioTransportOptions) {
    this.#options = options;
    this.#stderr = new TextTail(options.redaction, { maxCharacters: ERROR_OUTPUT_CHARACTERS });
  }

  /** Why it is closed, with what the program said last; undefined while it is open. */
  get endedBecause(): string | undefined {
    if (this.#endedBecause === undefined) return undefined;
    const tail = this.#stderr.toString();
    return tail === '' ? this.#endedBecause : `${this.#endedBecause}; its error output ends with: ${tail}`;
  }

  /** What the program said on its error output, at the end. Redacted. */
  get errorOutput(): string {
    return this.#stderr.toString();
  }

  async start(): Promise<void> {
    const starting = this.#options.start();
    this.#starting = starting.catch(() => undefined);
    const process = await starting;
    this.#process = process;
    const { stdin, stdout, stderr, exited } = process;
    this.#stderr.follow(stderr);
    stdin.on('error', (error) => this.#finish(`it does not take input any more (${messageOf(error)})`));
    stdout.on('data', (chunk: Buffer) => this.#read(chunk));
    stdout.on('error', (error) => this.#finish(`its output cannot be read (${messageOf(error)})`));
    const outputEnded = new Promise<void>((resolve) => stdout.once('close', resolve));
    stdout.once('end', () => this.#outputEnded(exited));
    void exited.then(async (how) => {
      await within(outputEnded, LAST_WORDS_MS, { keepsAlive: false });
      this.#finish(how);
    });
    if (!this.#isClosed) return;
    this.#endProcess(0);
    throw new Error('it was closed while it was started');
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#process?.stdin;
    if (stdin === undefined || this.#isClosed) throw new Error('the server is not running');
    if (stdin.writableLength > MAX_UNREAD_BYTES)
      throw new Error(`the server has not read ${stdin.writableLength} bytes; nothing more is sent`);
    await new Promise<void>((resolve, reject) => {
      stdin.write(`${JSON.stringify(message)}\n`, (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
  }

  /** Never rejects; who wants to know whether everything is gone asks `gone`. */
  async close(): Promise<void> {
    this.#finish('it was closed', LINGER_MS);
    await this.#starting;
    await this.#ended?.catch(() => undefined);
  }

  /**
   * Resolves when the process tree is proven gone. @throws BackgroundTaskError category `process`; a later call tries
   * again
   */
  async gone(): Promise<void> {
    await this.close();
    try {
      await this.#ended;
    } catch (error) {
      this.#ended = undefined;
      this.#endProcess(0);
      throw error;
    }
  }

  #read(chunk: Buffer): void {
    for (const line of this.#lines.add(chunk)) if (!this.#isClosed) this.#readLine(line);
  }

  #readLine(line: Line): void {
    if (line.kind === 'overflow') return;
    if (line.kind === 'too_long') return this.#refuseLine(line);
    const message = this.#parse(line.text);
    if (message === undefined)
      this.#options.onNoise(
        `its output has a line that is no message: ${beginningOf(this.#options.redaction.text(line.text), SAMPLE_CHARACTERS)}`,
      );
    else this.#deliver(message);
  }

  /** The SDK hands on a notification in a turn of its own: an answer that came after it must not overtake it. */
  #deliver(message: JSONRPCMessage): void {
    if ('method' in message) this.onmessage?.(message);
    else queueMicrotask(() => this.onmessage?.(message));
  }

  #parse(text: string): JSONRPCMessage | undefined {
    try {
      const parsed = this.#options.messageSchema.safeParse(JSON.parse(text));
      return parsed.success ? parsed.data : undefined;
    } catch {
      return undefined;
    }
  }

  /** The caller that waits for the message must not wait for ever. */
  #refuseLine(line: Extract<Line, { kind: 'too_long' }>): void {
    const id = answeredRequest(line);
    this.#options.onNoise(`a message of ${line.bytes} bytes was dropped; at most ${MAX_MESSAGE_BYTES} are taken`);
    if (id === undefined) this.#finish(`it sent a message of ${line.bytes} bytes`);
    else
      this.#deliver({
        jsonrpc: '2.0',
        id,
        error: { code: TOO_LARGE_CODE, message: 'too large', data: { bytes: line.bytes } },
      });
  }

  /** The program may be about to end; how it ended says more than that its output did. */
  #outputEnded(exited: Promise<string>): void {
    void within(exited, LAST_WORDS_MS, { keepsAlive: false }).then((how) =>
      this.#finish(how ?? 'it closed its output'),
    );
  }

  /** The first cause wins. */
  #finish(because: string, lingerMs = 0): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#endedBecause = because;
    this.#endProcess(lingerMs);
    this.onclose?.();
  }

  #endProcess(lingerMs: number): void {
    const process = this.#process;
    if (process === undefined) return;
    process.stdin.end();
    this.#ended ??= process.end({ lingerMs });
    this.#ended.catch(() => undefined);
  }
}

/** The number of the request that a message answers, as the ends of the message tell; undefined when they do not. */
export function answeredRequest({ head, tail }: { readonly head: string; readonly tail: string }): number | undefined {
  const found =
    /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(?<id>\d{1,15})\s*,/.exec(head) ??
    /[,{]\s*"id"\s*:\s*(?<id>\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail);
  const id = found?.groups?.['id'];
  return id === undefined ? undefined : Number(id);
}
