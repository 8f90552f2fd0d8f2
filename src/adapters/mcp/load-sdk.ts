/** The MCP SDK, loaded with the first server: it is an optional peer, and most runtimes never need it. */
import { RuntimeError, messageOf } from '../../machines/errors.ts';

const PACKAGE = '@modelcontextprotocol/sdk';

export interface McpSdk {
  readonly Client: typeof import('@modelcontextprotocol/sdk/client/index.js').Client;
  readonly JSONRPCMessageSchema: typeof import('@modelcontextprotocol/sdk/types.js').JSONRPCMessageSchema;
  readonly ToolListChangedNotificationSchema: typeof import('@modelcontextprotocol/sdk/types.js').ToolListChangedNotificationSchema;
}

export type HttpTransportClass =
  typeof import('@modelcontextprotocol/sdk/client/streamableHttp.js').StreamableHTTPClientTransport;

/** @throws RuntimeError MCP_SDK_MISSING saying what to install */
export async function loadMcpSdk(): Promise<McpSdk> {
  try {
    // One after the other: bundlers let a package be missing where its import alone is awaited in a `try`.
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { JSONRPCMessageSchema, ToolListChangedNotificationSchema } =
      await import('@modelcontextprotocol/sdk/types.js');
    return { Client, JSONRPCMessageSchema, ToolListChangedNotificationSchema };
  } catch (error) {
    throw sdkMissing(error);
  }
}

/** @throws RuntimeError MCP_SDK_MISSING saying what to install */
export async function loadHttpTransport(): Promise<HttpTransportClass> {
  try {
    return (await import('@modelcontextprotocol/sdk/client/streamableHttp.js')).StreamableHTTPClientTransport;
  } catch (error) {
    throw sdkMissing(error);
  }
}

function sdkMissing(cause: unknown): RuntimeError {
  return new RuntimeError(
    'MCP_SDK_MISSING',
    `MCP servers need the package ${PACKAGE}, which could not be loaded: ${messageOf(cause)}`,
    {
      category: 'not_found',
      hint: `Install it beside wakechart: npm install ${PACKAGE}@^1.32.2`,
      cause,
    },
  );
}
