/**
 * A server on loopback that speaks the three protocols, each under its own base address, and does for each model what a
 * test has said. It records what it is asked, and knows which connections are still open.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { anthropicProtocol } from './anthropic.ts';
import { openAiChatProtocol } from './openai-chat.ts';
import { openAiResponsesProtocol } from './openai-responses.ts';
import type { ApiName, ModelProtocol } from './protocol.ts';

const PROTOCOLS: Readonly<Record<ApiName, ModelProtocol>> = {
  anthropic: anthropicProtocol,
  openai: openAiResponsesProtocol,
  'openai-chat': openAiChatProtocol,
};

export interface RecordedRequest {
  readonly api: ApiName;
  readonly model: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** How its answer ended: whole, or with the connection. */
  readonly ended: Promise<'whole' | 'cut'>;
}

export interface Exchange {
  readonly protocol: ModelProtocol;
  readonly request: RecordedRequest;
  readonly response: ServerResponse;
}

/** What a model does when it is asked. What it leaves open stays open. */
export type Behavior = (exchange: Exchange) => Promise<void> | void;

export class ModelServer {
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #sockets = new Set<Socket>();
  readonly #behaviors = new Map<string, Behavior>();
  readonly #requests: RecordedRequest[] = [];
  readonly #listeners = new Set<() => void>();

  static async start(): Promise<ModelServer> {
    const server = new ModelServer();
    await server.#listen();
    return server;
  }

  get origin(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  baseUrl(api: ApiName): string {
    return this.origin + PROTOCOLS[api].prefix;
  }

  /** From now on, whenever this model is asked. Without it a model is not found. */
  when(model: string, behavior: Behavior): void {
    this.#behaviors.set(model, behavior);
  }

  get requests(): readonly RecordedRequest[] {
    return this.#requests;
  }

  /** The newest. */
  get request(): RecordedRequest {
    const request = this.#requests.at(-1);
    if (request === undefined) throw new Error('the model server was asked nothing');
    return request;
  }

  /** Resolves when it has been asked so often. */
  async asked(times: number): Promise<RecordedRequest> {
    while (this.#requests.length < times) await new Promise<void>((resolve) => this.#listeners.add(resolve));
    return this.request;
  }

  /** Requests whose answer goes on. */
  get openAnswers(): number {
    return this.#open;
  }

  /** Connections that were made to it so far. */
  get accepted(): number {
    return this.#accepted;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }

  #open = 0;
  #accepted = 0;

  async #listen(): Promise<void> {
    this.#server.on('connection', (socket) => {
      this.#accepted += 1;
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#open += 1;
    const ended = new Promise<'whole' | 'cut'>((resolve) => {
      response.once('close', () => {
        this.#open -= 1;
        resolve(response.writableFinished ? 'whole' : 'cut');
      });
    });
    const protocol = Object.values(PROTOCOLS).find(({ prefix, path }) => message.url === prefix + path);
    const text = await textOf(message);
    if (protocol === undefined) return void response.writeHead(404).end(`nothing lies at ${message.url}`);
    const body = JSON.parse(text) as Record<string, unknown>;
    const request: RecordedRequest = {
      api: protocol.api,
      model: String(body['model']),
      headers: message.headers,
      text,
      body,
      ended,
    };
    this.#requests.push(request);
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
    await (this.#behaviors.get(request.model) ?? unknownModel)({ protocol, request, response });
  }
}

const unknownModel: Behavior = ({ protocol, request, response }) => {
  const type = protocol.api === 'anthropic' ? 'not_found_error' : 'invalid_request_error';
  response
    .writeHead(404, { 'content-type': 'application/json' })
    .end(protocol.errorBody({ type, code: 'model_not_found', message: `model: ${request.model}` }));
};

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
