/**
 * The port to tools that live outside the runtime, such as those of MCP servers: connected for a wake, kept for the
 * next.
 */
import type { McpServer } from '../../machines/agent/mcp-server.ts';
import type { SessionEnvironment } from '../environment/session-environment.ts';
import type { Tool } from './tool.ts';

export interface ToolServerRequest {
  readonly agentId: string;
  /** Absolute: the folder of the agent file. */
  readonly agentDirectory: string;
  /** What the agent file calls it. */
  readonly name: string;
  readonly server: McpServer;
  /**
   * The tools that are wanted, by the names that the server gives them. Default: all. Those it does not have are news,
   * not errors.
   */
  readonly tools?: readonly string[] | undefined;
  /** Whether two tools are wanted besides, `list_resources` and `read_resource`, where the server has resources. */
  readonly resources?: boolean | undefined;
  /**
   * Of the session that wants them: a program of the server's runs in its sandbox, and headers may hold its secrets.
   */
  readonly environment?: SessionEnvironment | undefined;
  /** Ends the wait. What others wait for too goes on. */
  readonly signal: AbortSignal;
}

export interface ToolSource {
  /**
   * How often a server has said that its tools have changed, or was connected to anew: a wake that goes on asks again.
   * Default: never.
   */
  readonly changes?: number | undefined;
  /**
   * The tools that the server has now, connecting to it if need be. Their names are `<server>__<tool>`, made of what
   * models accept. A tool may be called as long as the source is open: it connects again if it has to.
   * @throws RuntimeError TOOL_SERVER_UNAVAILABLE saying why; the wake goes on without its tools and the log says so
   * @throws RuntimeError MCP_SDK_MISSING when the package that speaks to such servers is not installed
   */
  toolsOf(request: ToolServerRequest): Promise<readonly Tool[]>;
  /**
   * Ends every connection and proves the processes behind them gone. Idempotent. Calls that run fail.
   * @throws BackgroundTaskError category `process` naming the processes that could not be ended; a later call tries
   * again
   */
  close(reason?: string): Promise<void>;
}

/**
 * Something that happened to a server of tools which no call waits for: plain data, for people. No secrets are in it.
 */
export interface ToolServerNews {
  readonly agentId: string;
  /** What the agent file calls it. */
  readonly server: string;
  /**
   * `connected`, `lost` (it ended, or cannot be reached any more), `rested` (it was not used for long), `tools_changed`
   * (it says so), `left_out` (a tool cannot be offered), `noise` (it said what cannot be understood).
   */
  readonly kind: 'connected' | 'lost' | 'rested' | 'tools_changed' | 'left_out' | 'noise';
  readonly message: string;
}
