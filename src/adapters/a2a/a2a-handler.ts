/** A2A as a fetch-style handler: the card of an agent for everyone, its tasks for those whom `authorize` lets in. */
import type { AgentCard } from '@a2a-js/sdk';
import type { ProtocolRuntime } from '../../actors/protocol/protocol-runtime.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { AgentDefinition } from '../../machines/agent/agent-definition.ts';
import { A2aRequests, SIGNAL } from './a2a-requests.ts';
import { loadA2aSdk } from './load-sdk.ts';
import type { A2aSdk } from './load-sdk.ts';

export interface A2aOptions {
  readonly agentId: string;
  /** Where the handler is reached, without a path; the card names it. */
  readonly url: string;
  readonly version: string;
  /** Whether the request may be answered. */
  readonly authorize: (request: Request) => boolean | Promise<boolean>;
  readonly allowAnswers: boolean;
  readonly onTrouble: (error: unknown) => void;
}

export interface A2aHandler {
  handle(request: Request): Promise<Response>;
  /** Ends the streams that are open. */
  close(): void;
}

const CARD_PATH = '/.well-known/agent-card.json';
const RPC_PATH = '/a2a';
const LEGACY = '0.3';
const MAX_BODY_BYTES = 1_048_576;

/** @throws RuntimeError A2A_SDK_MISSING, AGENT_NOT_FOUND, AGENT_INVALID */
export async function createA2aHandler(runtime: ProtocolRuntime, options: A2aOptions): Promise<A2aHandler> {
  const sdk = await loadA2aSdk();
  return new Handler(runtime, { ...options, agent: await runtime.agents.get(options.agentId) }, sdk);
}

class Handler implements A2aHandler {
  readonly #options: A2aOptions & { readonly agent: AgentDefinition };
  readonly #sdk: A2aSdk;
  readonly #requests: A2aRequests;
  readonly #close = new AbortController();

  constructor(runtime: ProtocolRuntime, options: A2aOptions & { readonly agent: AgentDefinition }, sdk: A2aSdk) {
    this.#options = options;
    this.#sdk = sdk;
    this.#requests = new A2aRequests(
      runtime,
      {
        agentId: options.agentId,
        card: sdk.core.AgentCard.fromJSON(this.#card()),
        allowAnswers: options.allowAnswers,
        signal: this.#close.signal,
      },
      sdk,
    );
  }

  async handle(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    // One that names no version speaks the one before there were any.
    const version = request.headers.get(this.#sdk.core.A2A_VERSION_HEADER) ?? LEGACY;
    if (pathname === CARD_PATH)
      return request.method === 'GET' ? json(version === LEGACY ? this.#legacyCard() : this.#card()) : refused(405);
    if (pathname !== RPC_PATH) return refused(404);
    if (request.method !== 'POST') return refused(405);
    if (!(await this.#options.authorize(request))) return refused(401, { 'www-authenticate': 'Bearer' });
    if (!/^application\/json\b/.test(request.headers.get('content-type') ?? '')) return refused(415);
    const body = await readBody(request);
    return body === undefined ? refused(413) : this.#answer(body, version, request.signal);
  }

  close(): void {
    this.#close.abort();
  }

  async #answer(body: string, version: string, signal: AbortSignal): Promise<Response> {
    const isLegacy = version === LEGACY;
    const leave = new AbortController();
    const context = new this.#sdk.server.ServerCallContext({
      requestedVersion: version,
      state: new Map([[SIGNAL, AbortSignal.any([signal, leave.signal])]]),
    });
    const { LegacyJsonRpcTransportHandler, server } = this.#sdk;
    const answer = isLegacy
      ? await new LegacyJsonRpcTransportHandler(this.#requests).handle(body, context)
      : await new server.JsonRpcTransportHandler(this.#requests).handle(body, context);
    if (!(Symbol.asyncIterator in answer)) return json(answer);
    const idOfRequest = requestIdOf(body);
    const failed = (error: unknown): object => ({
      jsonrpc: '2.0',
      id: idOfRequest,
      error: isLegacy
        ? LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error)
        : server.JsonRpcTransportHandler.mapToJSONRPCError(error),
    });
    const { formatSSEEvent, SSE_HEADERS } = this.#sdk.core;
    const stream = eventStream(answer, { format: formatSSEEvent, failed, leave: () => leave.abort() });
    return new Response(stream, { headers: SSE_HEADERS });
  }

  #card(): AgentCardJson {
    const { agent, agentId, url, version } = this.#options;
    const [modes, description] = [['text/plain'], agent.description ?? `The agent ${agentId}.`];
    return {
      name: agent.name,
      description,
      version,
      supportedInterfaces: [
        { url: `${url}${RPC_PATH}`, protocolBinding: 'JSONRPC', protocolVersion: this.#sdk.core.A2A_PROTOCOL_VERSION },
        { url: `${url}${RPC_PATH}`, protocolBinding: 'JSONRPC', protocolVersion: LEGACY },
      ],
      capabilities: { streaming: true, pushNotifications: false },
      securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
      securityRequirements: [{ schemes: { bearer: { list: [] } } }],
      defaultInputModes: modes,
      defaultOutputModes: modes,
      skills: [{ id: agentId, name: agent.name, description, tags: ['agent'] }],
    };
  }

  #legacyCard(): object {
    const { supportedInterfaces: _, securityRequirements: __, ...card } = this.#card();
    return {
      ...card,
      protocolVersion: '0.3.0',
      url: `${this.#options.url}${RPC_PATH}`,
      preferredTransport: 'JSONRPC',
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      security: [{ bearer: [] }],
    };
  }
}

/** The card as its JSON has it. */
type AgentCardJson = Readonly<Record<keyof Pick<AgentCard, 'name' | 'description' | 'version'>, string>> &
  Readonly<Record<string, unknown>>;

interface EventStreamOptions {
  readonly format: (event: unknown) => string;
  readonly failed: (error: unknown) => object;
  /** The reader has gone. */
  readonly leave: () => void;
}

function eventStream(
  events: AsyncGenerator<unknown, void, undefined>,
  { format, failed, leave }: EventStreamOptions,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { value, done } = await events.next();
        if (done === true) controller.close();
        else controller.enqueue(encoder.encode(format(value)));
      } catch (error) {
        controller.enqueue(encoder.encode(format(failed(error))));
        controller.close();
      }
    },
    async cancel() {
      leave();
      await events.return();
    },
  });
}

function json(value: unknown): Response {
  return Response.json(value, { headers: { 'cache-control': 'no-store', vary: 'A2A-Version' } });
}

const WORDS: Readonly<Record<number, string>> = {
  401: 'expected the header "Authorization: Bearer TOKEN"',
  404: `there is ${CARD_PATH} and ${RPC_PATH}`,
  405: 'the card is read with GET, tasks are asked for with POST',
  413: `a request may have ${MAX_BODY_BYTES} bytes`,
  415: 'expected application/json',
};

function refused(status: number, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json({ error: WORDS[status] }, { status, headers });
}

/** Undefined for one that is too long. */
async function readBody(request: Request): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = (request.body as ReadableStream<Uint8Array> | null)?.getReader();
  for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
    size += read.value.byteLength;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(read.value);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function requestIdOf(body: string): unknown {
  try {
    return (JSON.parse(body) as { readonly id?: unknown }).id ?? null;
  } catch {
    return null;
  }
}

/** @throws RuntimeError A2A_TOKEN_INVALID for one that can be guessed */
export function requireToken(token: string): string {
  if (/^[\x21-\x7e]{16,200}$/.test(token)) return token;
  throw new RuntimeError('A2A_TOKEN_INVALID', 'expected a token of 16 to 200 printable characters without blanks', {
    category: 'validation',
    hint: 'Make one: node -p "crypto.randomUUID()"',
  });
}
