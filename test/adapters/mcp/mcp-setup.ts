/** A source of MCP tools with everything real around it, and words for tests about it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../../src/actors/clock/clock.ts';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import type { Tool, ToolContext } from '../../../src/actors/turn/tool.ts';
import type { ToolServerNews, ToolServerRequest, ToolSource } from '../../../src/actors/turn/tool-source.ts';
import { createOutputFiles } from '../../../src/adapters/file-tools/output-files.ts';
import { createMcpToolSource } from '../../../src/adapters/mcp/mcp-tool-source.ts';
import { createProcessTree } from '../../../src/adapters/process-tree/process-tree.ts';
import { mcpServer } from '../../../src/machines/agent/mcp-server.ts';
import type { McpServer, McpServerInput } from '../../../src/machines/agent/mcp-server.ts';
import { temporaryHome } from '../../support/temporary-home.ts';

export const fixture = (name: string): string => fileURLToPath(new URL(`../../fixtures/mcp/${name}`, import.meta.url));

/** The file of a published server. */
export const published = (path: string): string =>
  fileURLToPath(new URL(`../../../node_modules/@modelcontextprotocol/${path}`, import.meta.url));

export interface McpSetup {
  readonly source: ToolSource;
  /** A temporary folder: the agent's, the workspace, and the home. */
  readonly directory: string;
  /** What the source told, as `kind: message`. */
  readonly news: string[];
  /** Resolves once the source has told something of the kind that has these words in it. */
  heard(kind: ToolServerNews['kind'], words?: string): Promise<string>;
  tools(server: McpServerInput, more?: Partial<ToolServerRequest>): Promise<readonly Tool[]>;
  /** Calls the tool that the server `s` names so. */
  call(server: McpServerInput, tool: string, input?: object, context?: Partial<ToolContext>): Promise<unknown>;
  /** The fixture server with flags, its starts counted. */
  fixtureServer(...flags: string[]): Extract<McpServerInput, { command: string }>;
  /** The pids of the fixture servers that were started, in order. */
  starts(): number[];
  close(): Promise<void>;
}

export interface McpSetupOptions {
  readonly clock?: Clock | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
  readonly idleMs?: number | undefined;
}

const SESSION = { sessionId: 'session-1', agentId: 'agent-1' };

export async function mcpSetup({
  clock = createSystemClock(),
  environment = {},
  idleMs,
}: McpSetupOptions = {}): Promise<McpSetup> {
  const home = await temporaryHome();
  const news: string[] = [];
  const listeners = new Set<() => void>();
  // What ends processes measures real time, whatever the source does.
  const processTree = createProcessTree({ clock: createSystemClock(), directory: join(home.path, 'processes') });
  const startsFile = join(home.path, 'starts');
  const source = createMcpToolSource({
    clock,
    processTree,
    environment: () => ({ ...process.env, ...environment }),
    onNews: ({ kind, message }) => {
      news.push(`${kind}: ${message}`);
      for (const listener of listeners) listener();
    },
    files: createOutputFiles({ workspaceDirectory: () => Promise.resolve(home.path) }),
    clientInfo: { name: 'wakechart-tests', version: '0.0.0' },
    killGraceMs: 300,
    idleMs,
  });
  const tools = (server: McpServerInput, more: Partial<ToolServerRequest> = {}): Promise<readonly Tool[]> => {
    const parsed: McpServer = mcpServer.parse(server);
    return source.toolsOf({
      agentId: 'agent-1',
      agentDirectory: home.path,
      name: 's',
      server: parsed,
      signal: new AbortController().signal,
      ...more,
    });
  };
  return {
    source,
    directory: home.path,
    news,
    tools,
    heard: (kind, words = '') =>
      new Promise((resolve) => {
        const check = (): void => {
          const found = news.find((line) => line.startsWith(`${kind}:`) && line.includes(words));
          if (found === undefined) return;
          listeners.delete(check);
          resolve(found);
        };
        listeners.add(check);
        check();
      }),
    call: async (server, name, input = {}, context = {}) => {
      const tool = (await tools(server)).find(({ definition }) => definition.name === `s__${name}`);
      return runTool(tool, input, { workspaceDirectory: home.path, ...context });
    },
    fixtureServer: (...flags) => ({
      command: process.execPath,
      args: [fixture('stdio-server.mjs'), ...flags],
      env: { STARTS: startsFile },
    }),
    starts: () => (existsSync(startsFile) ? readFileSync(startsFile, 'utf8').trim().split('\n').map(Number) : []),
    close: async () => {
      await source.close();
      await home.remove();
    },
  };
}

/** Runs a tool as a wake does: with input that its definition has read. */
export async function runTool(
  tool: Tool | undefined,
  input: object = {},
  context: Partial<ToolContext> = {},
): Promise<unknown> {
  if (tool?.run === undefined) throw new Error('there is no such tool');
  const read: unknown = tool.definition.inputSchema.parse(input);
  return tool.run(read, {
    session: SESSION,
    callId: 'call-1',
    workspaceDirectory: '/',
    signal: new AbortController().signal,
    ...context,
  });
}

export const namesOf = (tools: readonly Tool[]): string[] => tools.map(({ definition }) => definition.name);
