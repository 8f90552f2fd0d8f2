/** A real MCP server over streamable HTTP, on loopback, whose every request a test may see, spoil or answer itself. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { EventStore } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

export interface Heard {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  /** The JSON-RPC method, when the body is a message. */
  readonly rpc: string | undefined;
  readonly body: string;
}

export interface HttpMcpServer {
  readonly url: string;
  readonly heard: Heard[];
  /** Answers in place of the server: returns true when it did. */
  intercept: (heard: Heard, response: ServerResponse) => boolean;
  /** How a tool call is answered. */
  onCall: (name: string, args: Record<string, unknown>, extra: CallExtra) => unknown;
  /** Forgets every session, as a server that was started again has. */
  forgetSessions(): void;
  /** Cuts the connection of every response that is open. */
  dropStreams(): void;
  readonly openSessions: number;
  close(): Promise<void>;
}

export interface CallExtra {
  readonly signal: AbortSignal;
  /** Reports progress of the call to the client. */
  progress(step: number): Promise<void>;
}

export interface HttpServerOptions {
  /** Whether it remembers its events, so that a stream can be resumed. */
  readonly isResumable?: boolean | undefined;
  /** Whether it answers with plain JSON instead of streams. */
  readonly isPlain?: boolean | undefined;
  readonly retryMs?: number | undefined;
}

export async function httpMcpServer({
  isResumable = false,
  isPlain = false,
  retryMs = 1,
}: HttpServerOptions = {}): Promise<HttpMcpServer> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const open = new Set<ServerResponse>();
  const events = isResumable ? memoryOfEvents() : undefined;
  const newSession = async (): Promise<StreamableHTTPServerTransport> => {
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      enableJsonResponse: isPlain,
      ...(events === undefined ? {} : { eventStore: events, retryInterval: retryMs }),
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    const server = new Server(
      { name: 'http-fixture', version: '1.0.0' },
      { capabilities: { tools: { listChanged: true } } },
    );
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: ['echo', 'wait'].map((name) => ({ name, inputSchema: { type: 'object' as const } })),
    }));
    server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, _meta, sendNotification }) => {
      const progress = (step: number): Promise<void> =>
        sendNotification({
          method: 'notifications/progress',
          params: { progressToken: _meta?.progressToken ?? '', progress: step },
        });
      return (await setup.onCall(params.name, params.arguments ?? {}, { signal, progress })) as { content: [] };
    });
    await server.connect(transport);
    return transport;
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await textOf(request);
    const heard: Heard = { method: request.method ?? '', headers: request.headers, rpc: rpcOf(body), body };
    setup.heard.push(heard);
    open.add(response);
    response.once('close', () => open.delete(response));
    if (setup.intercept(heard, response)) return;
    const id = request.headers['mcp-session-id'];
    const transport = id === undefined ? await newSession() : sessions.get(String(id));
    if (transport === undefined) return void response.writeHead(404).end('no such session');
    await transport.handleRequest(request, response, body === '' ? undefined : JSON.parse(body));
  };
  const http = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const setup: HttpMcpServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    heard: [],
    intercept: () => false,
    onCall: (_name, args) => ({ content: [{ type: 'text', text: String(args['text']) }] }),
    forgetSessions: () => sessions.clear(),
    dropStreams: () => {
      for (const response of open) response.destroy();
    },
    get openSessions() {
      return sessions.size;
    },
    close: async () => {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
  return setup;
}

function memoryOfEvents(): EventStore {
  const events: { readonly id: string; readonly stream: string; readonly message: JSONRPCMessage }[] = [];
  return {
    storeEvent: async (stream, message) => {
      events.push({ id: `e${events.length}`, stream, message });
      return `e${events.length - 1}`;
    },
    replayEventsAfter: async (lastId, { send }) => {
      const index = events.findIndex(({ id }) => id === lastId);
      const stream = events[index]?.stream ?? '';
      for (const event of events.slice(index + 1)) {
        // An empty message only carries an id.
        if (event.stream === stream && Object.keys(event.message).length > 0) await send(event.id, event.message);
      }
      return stream;
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function rpcOf(body: string): string | undefined {
  return body === '' ? undefined : (JSON.parse(body) as { readonly method?: string }).method;
}
