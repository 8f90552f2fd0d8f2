/** The server side of the MCP SDK, loaded when a server is started: it is an optional peer. */
import { RuntimeError, messageOf } from '../../machines/errors.ts';

const PACKAGE = '@modelcontextprotocol/sdk';

export interface McpServerSdk {
  readonly Server: typeof import('@modelcontextprotocol/sdk/server/index.js').Server;
  readonly StdioServerTransport: typeof import('@modelcontextprotocol/sdk/server/stdio.js').StdioServerTransport;
  readonly InMemoryTaskMessageQueue: typeof import('@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js').InMemoryTaskMessageQueue;
  readonly types: typeof import('@modelcontextprotocol/sdk/types.js');
}

/** @throws RuntimeError MCP_SDK_MISSING saying what to install */
export async function loadMcpServerSdk(): Promise<McpServerSdk> {
  try {
    const [{ Server }, { StdioServerTransport }, { InMemoryTaskMessageQueue }, types] = await Promise.all([
      import('@modelcontextprotocol/sdk/server/index.js'),
      import('@modelcontextprotocol/sdk/server/stdio.js'),
      import('@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js'),
      import('@modelcontextprotocol/sdk/types.js'),
    ]);
    return { Server, StdioServerTransport, InMemoryTaskMessageQueue, types };
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
