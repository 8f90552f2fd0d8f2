/** The two ways to an MCP server, as one: a program of our own, or an address. */
import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Clock } from '../../actors/clock/clock.ts';
import type { ProcessTree } from '../../actors/task/process-tree.ts';
import { within } from '../system/waiting.ts';
import { HttpGuard } from './http-guard.ts';
import type { HttpTransportClass, McpSdk } from './load-sdk.ts';
import { loadHttpTransport } from './load-sdk.ts';
import type { ServerLabel } from './server-errors.ts';
import { messageTooLarge } from './server-errors.ts';
import { startServerProcess } from './server-process.ts';
import type { HttpSettings, ServerSettings, StdioSettings } from './server-settings.ts';
import { MAX_MESSAGE_BYTES, StdioTransport } from './stdio-transport.ts';

// The SDK's streamable HTTP transport, behind our guard, with the session ended on the server when it is closed.

/** A server that does not answer the end of a session is not waited for. */
const FAREWELL_MS = 2_000;

/** A guard gives up before the SDK does, and says so; see HttpGuard. */
const RECONNECTION = {
  initialReconnectionDelay: 250,
  maxReconnectionDelay: 5_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 6,
};

interface HttpTransportOptions {
  readonly settings: HttpSettings;
  readonly clock: Clock;
  readonly limitBytes: number;
  readonly tooLarge: () => Error;
}

interface HttpLink {
  readonly transport: StreamableHTTPClientTransport;
  /** Tells the server that the session is over, if it takes that, and closes. Never rejects. */
  farewell(): Promise<void>;
}

function createHttpLink(
  Transport: HttpTransportClass,
  { settings, clock, limitBytes, tooLarge }: HttpTransportOptions,
): HttpLink {
  const guard = new HttpGuard({ clock, limitBytes, tooLarge });
  const transport = new Transport(settings.url, {
    requestInit: { headers: settings.headers },
    fetch: guard.fetch,
    redirectPolicy: 'same-origin',
    reconnectionOptions: RECONNECTION,
  });
  // The client of the SDK calls what was there before it.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has fields for its listeners, and no events.
  transport.onmessage = (message): void => {
    if ('id' in message && !('method' in message)) guard.answered(message.id);
  };
  const farewell = async (): Promise<void> => {
    await within(
      transport.terminateSession().catch(() => undefined),
      FAREWELL_MS,
      { clock },
    );
    await transport.close();
  };
  return { transport, farewell };
}

export interface RouteOptions {
  readonly sdk: McpSdk;
  readonly settings: ServerSettings;
  readonly label: ServerLabel;
  readonly clock: Clock;
  readonly processTree: ProcessTree;
  /** Between SIGTERM and SIGKILL, in milliseconds. */
  readonly killGraceMs: number;
  /** Ends the attempt to start it. */
  readonly signal: AbortSignal;
  readonly onNoise: (message: string) => void;
}

export interface Route {
  readonly transport: Transport;
  /** Why it has ended, once it has. Redacted. */
  endedBecause(): string | undefined;
  /**
   * What there is to say about it when an attempt fails: where it leads, what the program said. Redacted; may be empty.
   */
  remark(): string;
  /**
   * Ends it as gently as it goes. @throws BackgroundTaskError category `process` when processes are left; a later call
   * tries again
   */
  close(): Promise<void>;
}

/** Nothing is started or reached before the transport is. @throws RuntimeError MCP_SDK_MISSING */
export async function routeTo(options: RouteOptions): Promise<Route> {
  const { settings } = options;
  return settings.kind === 'stdio' ? stdioRoute(options, settings) : httpRoute(options, settings);
}

function stdioRoute(
  { sdk, label, processTree, killGraceMs, signal, onNoise }: RouteOptions,
  settings: StdioSettings,
): Route {
  const taskId = `mcp:${label.agentId}:${label.server}`;
  const transport = new StdioTransport({
    start: () => startServerProcess({ settings, processTree, taskId, killGraceMs, signal }),
    messageSchema: sdk.JSONRPCMessageSchema,
    redaction: settings.redaction,
    onNoise,
  });
  const remark = (): string => {
    const said = transport.errorOutput;
    return said === '' ? '' : `its error output ends with: ${said}`;
  };
  return { transport, endedBecause: () => transport.endedBecause, remark, close: () => transport.gone() };
}

async function httpRoute({ label, clock }: RouteOptions, settings: HttpSettings): Promise<Route> {
  const { url } = settings;
  const Transport = await loadHttpTransport();
  const limitBytes = MAX_MESSAGE_BYTES;
  const tooLarge = (): Error => messageTooLarge(label, { bytes: limitBytes, limitBytes });
  const { transport, ...link } = createHttpLink(Transport, { settings, clock, limitBytes, tooLarge });
  let closing: Promise<void> | undefined;
  return {
    transport,
    endedBecause: () => undefined,
    // A query may hold a key.
    remark: () => `at ${url.origin}${url.pathname}`,
    close: () => (closing ??= link.farewell()),
  };
}
