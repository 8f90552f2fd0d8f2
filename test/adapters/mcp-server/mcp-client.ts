/** A client made with the MCP SDK, connected to a server in this process over pipes. */
import { PassThrough } from 'node:stream';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { CallToolResult, ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { serveMcp } from '../../../src/adapters/mcp-server/mcp-server.ts';
import type { McpServerOptions, McpService } from '../../../src/adapters/mcp-server/mcp-server.ts';
import type { ProtocolStage } from '../../support/protocol-stage.ts';

export interface ConnectedClient {
  readonly client: Client;
  readonly service: McpService;
  /** What the tool answers, as a program reads it. */
  call(name: string, input?: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** The client goes without a word. */
  leave(): void;
}

export interface ClientOptions extends Partial<McpServerOptions> {
  /** How a person answers a form. Absent: the client shows none. */
  readonly person?: ((message: string) => ElicitResult | Promise<ElicitResult>) | undefined;
}

const connected: { readonly client: Client; readonly service: McpService }[] = [];

export async function disconnectAll(): Promise<void> {
  for (const { client, service } of connected.splice(0)) {
    await client.close();
    await service.close();
  }
}

export async function connect(stage: ProtocolStage, options: ClientOptions = {}): Promise<ConnectedClient> {
  const { person, ...given } = options;
  const [input, output] = [new PassThrough(), new PassThrough()];
  const service = await serveMcp(stage.runtime, {
    version: '0.0.0',
    cwd: stage.home,
    allowAnswers: false,
    allowCommands: false,
    onTrouble: () => undefined,
    ...given,
    input,
    output,
  });
  const client = new Client(
    { name: 'test', version: '0' },
    { capabilities: person === undefined ? {} : { elicitation: { form: {} } } },
  );
  if (person !== undefined) client.setRequestHandler(ElicitRequestSchema, ({ params }) => person(params.message));
  // A transport of the SDK over any two streams.
  await client.connect(new StdioServerTransport(output, input));
  connected.push({ client, service });
  return {
    client,
    service,
    leave: () => void input.end(),
    async call(name, args = {}) {
      const result = (await client.callTool({ name, arguments: args })) as CallToolResult;
      return result.structuredContent ?? {};
    },
  };
}
