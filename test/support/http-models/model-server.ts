/**
 * A server on loopback that speaks the protocols, each under its own base address, and does for each model what a test
 * has said. It records what it is asked, and knows which connections are still open.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { anthropicProtocol } from './anthropic.ts';
import { geminiProtocol } from './gemini.ts';
import { openAiChatProtocol } from './openai-chat.ts';
import { openAiResponsesProtocol } from './openai-responses.ts';
import type { ApiName, ModelProtocol } from './protocol.ts';

const PROTOCOLS: Readonly<Record<ApiName, ModelProtocol>> = {
  anthropic: anthropicProtocol,
  openai: openAiResponsesProtocol,
  'openai-chat': openAiChatProtocol,
  gemini: geminiProtocol,
};

export interface RecordedRequest {
  readonly api: ApiName;
  readonly model: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly isStreamed: boolean;
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

/** What is asked besides answers of models: which models there are, how many tokens a text has. */
export interface SideRequest {
  readonly method: string;
  /** Without what follows the question mark. */
  readonly path: string;
  readonly text: string;
}

export type SideBehavior = (request: SideRequest, response: ServerResponse) => void;

export class ModelServer {
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #sockets = new Set<Socket>();
  readonly #behaviors = new Map<string, Behavior>();
  readonly #requests: RecordedRequest[] = [];
  readonly #sideRequests: SideRequest[] = [];
  #elsewhere: SideBehavior = ({ path }, response) => void response.writeHead(404).end(`nothing lies at ${path}`);
  #otherwise: Behavior = unknownModel;
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

  /** From now on, whenever any other model is asked. */
  whenOther(behavior: Behavior): void {
    this.#otherwise = behavior;
  }

  /** From now on, at every path that no protocol has. Without it nothing is there. */
  elsewhere(behavior: SideBehavior): void {
    this.#elsewhere = behavior;
  }

  get sideRequests(): readonly SideRequest[] {
    return this.#sideRequests;
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
    const path = message.url?.replace(/\?.*$/s, '') ?? '';
    const protocol = Object.values(PROTOCOLS).find(({ prefix, path: own }) => fits(path, prefix, own));
    const text = await textOf(message);
    if (protocol === undefined || message.method !== 'POST') {
      const request = { method: message.method ?? '', path, text };
      this.#sideRequests.push(request);
      return this.#elsewhere(request, response);
    }
    const body = JSON.parse(text) as Record<string, unknown>;
    const request: RecordedRequest = {
      api: protocol.api,
      model: modelIn(path, protocol) ?? String(body['model']),
      headers: message.headers,
      text,
      body,
      isStreamed: protocol.isStreamed?.(path) ?? true,
      ended,
    };
    this.#requests.push(request);
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
    await (this.#behaviors.get(request.model) ?? this.#otherwise)({ protocol, request, response });
  }
}

function fits(url: string, prefix: string, path: string | RegExp): boolean {
  if (!url.startsWith(prefix)) return false;
  const rest = url.slice(prefix.length);
  return typeof path === 'string' ? rest === path : path.test(rest);
}

function modelIn(url: string, { prefix, path }: ModelProtocol): string | undefined {
  return typeof path === 'string' ? undefined : path.exec(url.slice(prefix.length))?.groups?.['model'];
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
