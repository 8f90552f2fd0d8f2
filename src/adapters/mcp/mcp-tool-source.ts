/**
 * Tools from MCP servers, over the standard streams of a program or over streamable HTTP.
 *
 * Each server of an agent has one connection, which concurrent wakes share and the next wake finds open. The program of
 * a server runs in a process tree of its own: gone when the source is closed, and after a crash when the next host
 * reconciles. The SDK is an optional peer, loaded with the first server.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '../../actors/clock/clock.ts';
import { createSystemClock } from '../../actors/clock/system-clock.ts';
import type { ProcessTree } from '../../actors/task/process-tree.ts';
import type { OutputFileStore } from '../../actors/turn/output-store.ts';
import type { Tool, ToolContext } from '../../actors/turn/tool.ts';
import type { ToolServerNews, ToolServerRequest, ToolSource } from '../../actors/turn/tool-source.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { DEFAULT_KILL_GRACE_MS } from '../../machines/task/task-settings.ts';
import { untilAborted } from '../system/waiting.ts';
import { resultForModel, wordsOf } from './call-result.ts';
import type { ServerTool } from './listed-tools.ts';
import { loadMcpSdk } from './load-sdk.ts';
import type { McpSdk } from './load-sdk.ts';
import { McpConnection } from './mcp-connection.ts';
import type { LinkEvents, ReadyLink, UseOptions } from './mcp-connection.ts';
import { McpLink } from './mcp-link.ts';
import { askForResources } from './resource-tools.ts';
import { callFailed, serverUnavailable } from './server-errors.ts';
import type { ServerLabel } from './server-errors.ts';
import { settingsOf } from './server-settings.ts';
import type { Environment, ServerSettings } from './server-settings.ts';

const DEFAULT_IDLE_MS = 300_000;

export interface McpToolSourceOptions {
  readonly processTree: ProcessTree;
  readonly clock?: Clock | undefined;
  /**
   * Where references are looked up, and what programs inherit a few variables from. Default: the environment of this
   * process.
   */
  readonly environment?: (() => Environment) | undefined;
  /** Keeps images, sounds and files that tools answer with. Without it they are left out, and said to be. */
  readonly files?: OutputFileStore | undefined;
  /** Hears of what no caller waits for. What it throws is dropped. */
  readonly onNews?: ((news: ToolServerNews) => void) | undefined;
  /** How servers see us. */
  readonly clientInfo: { readonly name: string; readonly version: string };
  /** How long an unused connection is kept, in milliseconds. Default 300,000. */
  readonly idleMs?: number | undefined;
  /** Between SIGTERM and SIGKILL for the program of a server, in milliseconds. Default 2000. */
  readonly killGraceMs?: number | undefined;
}

export function createMcpToolSource(options: McpToolSourceOptions): ToolSource {
  return new McpToolSource(options);
}

type Input = Readonly<Record<string, unknown>>;
type Target = Omit<ToolServerRequest, 'signal' | 'tools' | 'resources'>;

class McpToolSource implements ToolSource {
  readonly #options: McpToolSourceOptions;
  readonly #clock: Clock;
  readonly #connections = new Map<string, McpConnection>();
  /** Connections that are closing, until nothing of them is left. */
  readonly #resting = new Set<McpConnection>();
  #sdk: Promise<McpSdk> | undefined;
  #closedBecause: string | undefined;
  #changes = 0;

  constructor(options: McpToolSourceOptions) {
    this.#options = options;
    this.#clock = options.clock ?? createSystemClock();
  }

  get changes(): number {
    return this.#changes;
  }

  async toolsOf({ signal, tools: wanted, resources = false, ...target }: ToolServerRequest): Promise<readonly Tool[]> {
    const label = labelOf(target);
    signal.throwIfAborted();
    const { tools } = await this.#use(target, { signal, isRepeatable: true }, ({ tools: list }) =>
      untilAborted(list.current(), signal),
    ).catch((error: unknown) => {
      signal.throwIfAborted();
      throw RuntimeError.is(error) && LASTING_CODES.has(error.code)
        ? error
        : serverUnavailable(label, messageOf(error), error);
    });
    const missing = (wanted ?? []).filter((name) => !tools.some(({ serverName }) => serverName === name));
    if (missing.length > 0)
      this.#tell(
        label,
        'left_out',
        `it has no tool ${missing.map((name) => `"${name}"`).join(', ')}, which the agent file names`,
      );
    if (resources && !tools.some(({ resourceTool }) => resourceTool !== undefined))
      this.#tell(label, 'left_out', 'it has no resources, which the agent file names');
    return tools
      .filter(({ serverName, resourceTool }) =>
        resourceTool === undefined ? wanted === undefined || wanted.includes(serverName) : resources,
      )
      .map((tool) => this.#toolOf(tool, target) as Tool);
  }

  async close(reason = 'the source of tools is closed'): Promise<void> {
    this.#closedBecause ??= reason;
    const because = this.#closedBecause;
    const all = [...this.#connections.values(), ...this.#resting];
    const ends = await Promise.allSettled(all.map((connection) => connection.close(because)));
    const failure = ends.find((end) => end.status === 'rejected');
    if (failure !== undefined) throw failure.reason as Error;
    this.#connections.clear();
    this.#resting.clear();
  }

  #toolOf({ serverName, resourceTool, definition }: ServerTool, target: Target): Tool<Input> {
    const label = labelOf(target);
    const run = async (input: Input, { signal, onProgress, session, callId }: ToolContext): Promise<unknown> => {
      const { result, redaction } = await this.#use(
        target,
        { signal, isRepeatable: resourceTool !== undefined },
        async ({ link }, { timeoutMs, redaction: secrets }) => {
          const request = { signal, timeoutMs, onProgress: guarded(onProgress) };
          const answer =
            resourceTool === undefined
              ? link.call(serverName, input, request)
              : askForResources(link, { tool: resourceTool, input }, request);
          return { result: await answer, redaction: secrets };
        },
      );
      if (result.isError === true)
        throw callFailed(label, wordsOf(result, redaction) || `The tool ${serverName} failed and did not say why.`);
      const { files } = this.#options;
      return resultForModel(result, {
        redaction,
        keep: files && ((file) => files.keepBytes({ ...file, session, callId })),
      });
    };
    return { definition, run };
  }

  /** The references are looked up for each use: what a link was opened with need not be what is there now. */
  async #use<Result>(
    target: Target,
    options: UseOptions,
    work: (ready: ReadyLink, settings: ServerSettings) => Promise<Result>,
  ): Promise<Result> {
    const label = labelOf(target);
    if (this.#closedBecause !== undefined) throw serverUnavailable(label, this.#closedBecause);
    const settings = this.#settingsOf(target);
    return this.#connectionTo(target, settings).use((ready) => work(ready, settings), options);
  }

  #settingsOf(target: Target): ServerSettings {
    const { environment = () => process.env } = this.#options;
    const { agentDirectory, environment: session } = target;
    try {
      return settingsOf(target.server, { agentDirectory, environment: environment(), session });
    } catch (error) {
      throw serverUnavailable(labelOf(target), messageOf(error), error);
    }
  }

  #connectionTo(target: Target, settings: ServerSettings): McpConnection {
    const key = keyOf(target, settings);
    const known = this.#connections.get(key);
    if (known !== undefined) return known;
    const label = labelOf(target);
    let isConnectedAnew = false;
    const connection: McpConnection = new McpConnection({
      label,
      clock: this.#clock,
      startTimeoutMs: settings.startTimeoutMs,
      idleMs: this.#options.idleMs ?? DEFAULT_IDLE_MS,
      open: (events, timeoutMs) => this.#open({ ...events, label, settings }, timeoutMs),
      list: {
        server: target.name,
        settings,
        timeoutMs: settings.startTimeoutMs,
        onLeftOut: (line) => this.#tell(label, 'left_out', line),
      },
      onNews: (kind, message) => {
        if (kind === 'tools_changed' || (kind === 'connected' && isConnectedAnew)) this.#changes += 1;
        isConnectedAnew ||= kind === 'connected';
        this.#tell(label, kind, message);
      },
      onIdle: () => this.#release(key, connection),
    });
    this.#connections.set(key, connection);
    return connection;
  }

  async #open(
    events: LinkEvents & { readonly label: ServerLabel; readonly settings: ServerSettings },
    timeoutMs: number,
  ): Promise<McpLink> {
    const { processTree, clientInfo, killGraceMs = DEFAULT_KILL_GRACE_MS } = this.#options;
    this.#sdk ??= loadMcpSdk().catch((error: unknown) => {
      this.#sdk = undefined;
      throw error;
    });
    const noise = new NoiseLimit((message) => this.#tell(events.label, 'noise', message));
    const sdk = await this.#sdk;
    return McpLink.open(
      {
        ...events,
        sdk,
        clientInfo,
        processTree,
        killGraceMs,
        clock: this.#clock,
        onNoise: (message) => noise.add(message),
      },
      timeoutMs,
    );
  }

  /** The next use gets a new one; this one is remembered until everything of it has ended. */
  #release(key: string, connection: McpConnection): void {
    if (this.#connections.get(key) === connection) this.#connections.delete(key);
    this.#resting.add(connection);
    queueMicrotask(() => {
      connection.close('no wake used it').then(
        () => this.#resting.delete(connection),
        () => undefined,
      );
    });
  }

  #tell({ agentId, server }: ServerLabel, kind: ToolServerNews['kind'], message: string): void {
    try {
      this.#options.onNews?.({ agentId, server, kind, message });
    } catch {
      // A listener must not hurt a caller that waits for a server.
    }
  }
}

/** Codes that say more than that the server cannot be used. */
const LASTING_CODES: ReadonlySet<string> = new Set(['TOOL_SERVER_UNAVAILABLE', 'MCP_SDK_MISSING']);

/** What a server says beside the protocol: the first of it is told, and then how much there is. */
class NoiseLimit {
  readonly #tell: (message: string) => void;
  #count = 0;
  #nextTold = 1;

  constructor(tell: (message: string) => void) {
    this.#tell = tell;
  }

  add(message: string): void {
    this.#count += 1;
    if (this.#count < this.#nextTold) return;
    this.#tell(this.#count === 1 ? message : `${message} (${this.#count} of the kind so far)`);
    this.#nextTold *= 10;
  }
}

function labelOf({ agentId, name }: Target): ServerLabel {
  return { agentId, server: name };
}

/**
 * One connection for what is the same in every respect, the values behind references included: a token that was renewed
 * is another. So are sessions with other secrets, and those that are shut in with other folders: what one of them
 * leaves with a server another could be told.
 */
function keyOf({ agentId, name, server, agentDirectory, environment }: Target, settings: ServerSettings): string {
  const { redaction: _, ...values } = settings;
  const secrets = environment?.secrets.names.map(({ reference }) => reference) ?? [];
  const sandbox = environment?.sandbox === undefined ? null : [environment.mounts, environment.definition.network];
  return createHash('sha256')
    .update(JSON.stringify([agentId, name, agentDirectory, server, values, secrets, sandbox]))
    .digest('hex');
}

/** A function of the caller, called from within the SDK. */
function guarded(onProgress: ToolContext['onProgress']): ToolContext['onProgress'] {
  return (
    onProgress &&
    ((progress) => {
      try {
        onProgress(progress);
      } catch {
        // The call goes on all the same.
      }
    })
  );
}
