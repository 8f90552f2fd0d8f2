/**
 * The messages between us and an agent over its standard streams: bounded, in order, and only such as the SDK can deal
 * with. Updates of the session do not go through the SDK, which would hand them on later than the answers that come
 * after them.
 */
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk';
import type { Readable, Writable } from 'node:stream';
import { beginningOf } from '../../machines/cut-text.ts';
import { LineReader } from '../../machines/run/line-reader.ts';
import type { Line } from '../../machines/run/line-reader.ts';
import type { SecretRedaction } from '../../machines/vault/secret-redaction.ts';

/** For one message. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** What the agent has not read yet. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
/** Lines that are no messages; a program that has more of them speaks another language. */
const MAX_NOISE_LINES = 10_000;
/** What the agent may ask of us at once. */
export const MAX_REQUESTS_AT_ONCE = 100;
const MAX_REQUEST_ID_CHARACTERS = 200;
/** Of a line that cannot be read. */
const SAMPLE_CHARACTERS = 200;

const TOO_MANY_REQUESTS = -32_603;

export interface AgentMessagesOptions {
  readonly redaction: SecretRedaction;
  /** A message came, whatever it says. */
  readonly onSign: () => void;
  /** What a `session/update` holds. */
  readonly onUpdate: (params: unknown) => void;
  /** One cannot talk with it any longer. */
  readonly onBroken: (message: string) => void;
}

type RequestId = string | number;

interface Envelope {
  readonly method?: unknown;
  readonly id?: unknown;
  readonly params?: unknown;
}

export class AgentMessages {
  readonly stream: Stream;
  readonly #options: AgentMessagesOptions;
  readonly #stdin: Writable;
  readonly #lines = new LineReader(MAX_LINE_BYTES);
  /** Ours that are not answered yet. */
  readonly #asked = new Set<RequestId>();
  /** The agent's that are not answered yet. */
  readonly #open = new Set<RequestId>();
  #controller: ReadableStreamDefaultController<AnyMessage> | undefined;
  #hasMessages = false;
  #noiseCount = 0;
  #lastNoise = '';

  constructor(
    { stdin, stdout }: { readonly stdin: Writable; readonly stdout: Readable },
    options: AgentMessagesOptions,
  ) {
    this.#options = options;
    this.#stdin = stdin;
    const readable = new ReadableStream<AnyMessage>({
      start: (controller) => void (this.#controller = controller),
      cancel: () => this.#close(),
    });
    this.stream = { readable, writable: new WritableStream<AnyMessage>({ write: (message) => this.#write(message) }) };
    stdout.on('data', (chunk: Buffer) => this.#take(this.#lines.add(chunk)));
    stdout.once('end', () => this.#take(this.#lines.end()));
  }

  /** What else came, as half a sentence; undefined when nothing did. */
  get noise(): string | undefined {
    if (this.#noiseCount === 0) return undefined;
    const sample = beginningOf(this.#options.redaction.text(this.#lastNoise), SAMPLE_CHARACTERS);
    return `${this.#noiseCount} lines of its output are no messages that can be understood, the last is: ${sample}`;
  }

  /** Whether something came, and none of it was a message. */
  get isNotUnderstood(): boolean {
    return this.#noiseCount > 0 && !this.#hasMessages;
  }

  #take(lines: readonly Line[]): void {
    for (const line of lines) {
      if (this.#controller === undefined) return;
      if (line.kind === 'line') this.#readLine(line.text);
      else this.#break(`a line of its output is longer than ${MAX_LINE_BYTES} bytes`);
    }
  }

  #readLine(line: string): void {
    const message = envelopeIn(line);
    if (message === undefined || !this.#isTaken(message)) return this.#countNoise(line);
    this.#hasMessages = true;
    this.#options.onSign();
  }

  /** False for a message that is no request, no answer and no notice. */
  #isTaken(message: Envelope): boolean {
    const { method, id, params } = message;
    if (method === undefined) return this.#takeAnswer(message);
    if (typeof method !== 'string') return false;
    if ('id' in message) return isRequestId(id) && this.#takeRequest(id, message);
    if (method === 'session/update') this.#options.onUpdate(params);
    // Others are news of kinds that we did not ask for.
    else if (method === '$/cancel_request') this.#enqueue(message);
    return true;
  }

  #takeAnswer(message: Envelope): boolean {
    const { id } = message;
    if (!isRequestId(id) || !this.#asked.delete(id)) return false;
    this.#enqueue(message);
    return true;
  }

  #takeRequest(id: RequestId, message: Envelope): boolean {
    if (this.#open.has(id)) return false;
    if (this.#open.size >= MAX_REQUESTS_AT_ONCE) {
      this.#send({
        jsonrpc: '2.0',
        id,
        error: {
          code: TOO_MANY_REQUESTS,
          message: `There are ${MAX_REQUESTS_AT_ONCE} requests that are not answered yet: wait for them.`,
        },
      });
      return true;
    }
    this.#open.add(id);
    this.#enqueue(message);
    return true;
  }

  #enqueue(message: Envelope): void {
    // The SDK checks each message itself.
    this.#controller?.enqueue(message as AnyMessage);
  }

  #write(message: AnyMessage): void {
    if ('method' in message) {
      if ('id' in message && isRequestId(message.id)) this.#asked.add(message.id);
    } else if (isRequestId(message.id)) this.#open.delete(message.id);
    this.#send(message);
  }

  #send(message: unknown): void {
    if (!this.#stdin.writable) return;
    this.#stdin.write(`${JSON.stringify(message)}\n`);
    if (this.#stdin.writableLength > MAX_UNREAD_BYTES)
      this.#break(`it has left more than ${MAX_UNREAD_BYTES} bytes unread`);
  }

  #countNoise(line: string): void {
    this.#noiseCount += 1;
    this.#lastNoise = line.slice(0, SAMPLE_CHARACTERS * 2 + this.#options.redaction.longest);
    if (this.#noiseCount > MAX_NOISE_LINES) this.#break(this.noise ?? '');
  }

  #break(message: string): void {
    this.#close();
    this.#options.onBroken(message);
  }

  #close(): void {
    this.#controller = undefined;
  }
}

/** Undefined for what is no message of JSON-RPC 2.0; a batch is none. */
function envelopeIn(line: string): Envelope | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0'
      ? (value as Envelope)
      : undefined;
  } catch {
    return undefined;
  }
}

function isRequestId(id: unknown): id is RequestId {
  return typeof id === 'number'
    ? Number.isFinite(id)
    : typeof id === 'string' && id.length <= MAX_REQUEST_ID_CHARACTERS;
}
