/** The server side of the MCP SDK, loaded when a server is started: it is an optional peer. */
import { RuntimeError, messageOf } from '../../machines/errors.ts';

const PACKAGE = '@modelcontextprotocol/sdk';

export interface McpServerSdk {
  readonly McpServer: typeof import('@modelcontextprotocol/sdk/server/mcp.js').McpServer;
  readonly StdioServerTransport: typeof import('@modelcontextprotocol/sdk/server/stdio.js').StdioServerTransport;
  readonly InMemoryTaskMessageQueue: typeof import('@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js').InMemoryTaskMessageQueue;
  readonly types: typeof import('@modelcontextprotocol/sdk/types.js');
}

/** @throws RuntimeError MCP_SDK_MISSING saying what to install */
export async function loadMcpServerSdk(): Promise<McpServerSdk> {
  try {
    // One after the other: bundlers let a package be missing where its import alone is awaited in a `try`.
    const { McpServer } = await import('@modelcontextprotocol/sdk/server/mcp.js');
    const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
    const { InMemoryTaskMessageQueue } =
      await import('@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js');
    const types = await import('@modelcontextprotocol/sdk/types.js');
    return { McpServer, StdioServerTransport, InMemoryTaskMessageQueue, types };
  } catch (error) {
    throw new RuntimeError(
      'MCP_SDK_MISSING',
      `serving MCP needs the package ${PACKAGE}, which could not be loaded: ${messageOf(error)}`,
      {
        category: 'not_found',
        hint: `Install it beside wakechart: npm install ${PACKAGE}@^1.32.2`,
        cause: error,
      },
    );
  }
}
