/**
 * One live connection to an MCP server: the client of the SDK on a route. It lives once; who needs another opens
 * another.
 */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import * as z from 'zod';
import type { Clock, TimerHandle } from '../../actors/clock/clock.ts';
import type { ToolProgress } from '../../actors/turn/tool.ts';
import { MAX_MCP_TIMEOUT_MS } from '../../machines/agent/mcp-server.ts';
import { beginningOf } from '../../machines/cut-text.ts';
import type { CallResult } from './call-result.ts';
import { callResultSchema } from './call-result.ts';
import type { FailureContext } from './link-failures.ts';
import { brokenOffFailure, isLateMessage, openFailure, requestFailure } from './link-failures.ts';
import type { Route, RouteOptions } from './link-routes.ts';
import { routeTo } from './link-routes.ts';
import { callFailed, callTimedOut } from './server-errors.ts';

// How long a request may take: so long without a sign of life, and so long altogether.

interface DeadlineOptions {
  readonly clock: Clock;
  /** Since the start or the last `extend`, in milliseconds. */
  readonly limitMs: number;
  /** Since the start, in milliseconds. */
  readonly totalMs: number;
  /** Called once, with the limit that was reached. */
  readonly onReached: (limitMs: number) => void;
}

export class Deadline {
  readonly #options: DeadlineOptions;
  readonly #startedMs: number;
  #timer: TimerHandle | undefined;
  #isOver = false;

  constructor(options: DeadlineOptions) {
    this.#options = options;
    this.#startedMs = options.clock.steadyNow();
    this.extend();
  }

  /** Begins the limit anew. */
  extend(): void {
    if (this.#isOver) return;
    const { clock, limitMs, totalMs } = this.#options;
    const leftMs = this.#startedMs + totalMs - clock.steadyNow();
    clock.clearTimeout(this.#timer);
    this.#timer = clock.setTimeout(
      () => this.#reach(leftMs < limitMs ? totalMs : limitMs),
      Math.max(0, Math.min(limitMs, leftMs)),
    );
  }

  /** No limit is reached any more. */
  end(): void {
    this.#isOver = true;
    this.#options.clock.clearTimeout(this.#timer);
  }

  #reach(limitMs: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.onReached(limitMs);
  }
}

/** Our own clock watches every request; the timers of the SDK, which cannot be switched off, must not come first. */
const NEVER_MS = 2 ** 31 - 1;
/** Of what a server says beside its answers. */
const MAX_WORDS = 1_000;

export interface McpLinkOptions extends RouteOptions {
  readonly clientInfo: { readonly name: string; readonly version: string };
  /** Called once, when it ends by itself after it was open. */
  readonly onLost: (why: string) => void;
  readonly onToolsChanged: () => void;
}

export interface LinkRequest {
  readonly signal: AbortSignal;
  /** Without a sign of life, in milliseconds. */
  readonly timeoutMs: number;
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
}

const toolsPage = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

export type ToolsPage = z.output<typeof toolsPage>;

/** An attempt that took too long: another would not be faster. */
export class StartTimeout extends Error {
  override readonly name = 'StartTimeout';
}

interface Question {
  readonly method: 'tools/list' | 'tools/call' | 'resources/list' | 'resources/templates/list' | 'resources/read';
  readonly params: Readonly<Record<string, unknown>>;
  /** For errors. */
  readonly what: string;
}

export class McpLink {
  readonly #options: McpLinkOptions;
  readonly #route: Route;
  readonly #client: Client;
  readonly #failure: FailureContext;
  #isClosing = false;

  private constructor(options: McpLinkOptions, route: Route) {
    const { sdk, clientInfo, onToolsChanged, onNoise, settings, label } = options;
    this.#options = options;
    this.#route = route;
    this.#failure = { label, route, redaction: settings.redaction };
    // No capability is declared: requests to sample, to ask the user or to list roots are answered "method not found".
    this.#client = new sdk.Client(clientInfo, { capabilities: {} });
    this.#client.setNotificationHandler(sdk.ToolListChangedNotificationSchema, onToolsChanged);
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has fields for its listeners, and no events.
    this.#client.onerror = (error): void => {
      if (!this.#isClosing && !isLateMessage(error))
        onNoise(beginningOf(settings.redaction.text(error.message), MAX_WORDS));
    };
  }

  /**
   * Opens it: resolves after the handshake. What an attempt that fails has started is gone when it rejects.
   * @throws HopelessAttempt, StartTimeout, or an error that says what went wrong
   */
  static async open(options: McpLinkOptions, timeoutMs: number): Promise<McpLink> {
    const link = new McpLink(options, await routeTo(options));
    try {
      await link.#handshake(timeoutMs);
      return link;
    } catch (error) {
      link.#isClosing = true;
      const isSlow = error instanceof StartTimeout;
      const why = openFailure(error, link.#failure);
      await link.#route.close().catch(() => undefined);
      throw isSlow ? new StartTimeout(why.message) : why;
    }
  }

  /** Whether the server offers tools at all. */
  get hasTools(): boolean {
    return this.#client.getServerCapabilities()?.tools !== undefined;
  }

  get hasResources(): boolean {
    return this.#client.getServerCapabilities()?.resources !== undefined;
  }

  /** Whether the server says when its tools change, on a line that loses nothing. */
  get announcesTools(): boolean {
    return this.#options.settings.kind === 'stdio' && this.#client.getServerCapabilities()?.tools?.listChanged === true;
  }

  /** One page of the tools. @throws as `call` */
  listTools(cursor: string | undefined, request: LinkRequest): Promise<ToolsPage> {
    return this.ask(
      { method: 'tools/list', params: cursor === undefined ? {} : { cursor }, what: 'what tools it has' },
      toolsPage,
      request,
    );
  }

  /**
   * @throws RuntimeError TOOL_CALL_TIMEOUT, TOOL_CALL_FAILED, TOOL_SERVER_LOST or TOOL_RESULT_TOO_LARGE;
   * SessionExpired; the signal's reason
   */
  call(name: string, input: Readonly<Record<string, unknown>>, request: LinkRequest): Promise<CallResult> {
    return this.ask(
      { method: 'tools/call', params: { name, arguments: input }, what: `a call of ${name}` },
      callResultSchema,
      request,
    );
  }

  /** @throws as `call` */
  async ask<Schema extends z.ZodType>(
    question: Question,
    schema: Schema,
    request: LinkRequest,
  ): Promise<z.output<Schema>> {
    const { label } = this.#options;
    const answer = await this.#send(question, request);
    const failure = brokenOffFailure(answer['_meta'], label);
    if (failure !== undefined) throw failure;
    const parsed = schema.safeParse(answer);
    if (parsed.success) return parsed.data;
    throw callFailed(label, `MCP server "${label.server}" answered ${question.what} in a form that is not understood`);
  }

  /**
   * Ends it, and what runs on it. @throws BackgroundTaskError category `process` when processes are left; a later call
   * tries again
   */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#route.close();
    await this.#client.close();
  }

  async #handshake(timeoutMs: number): Promise<void> {
    const { signal, clock } = this.#options;
    const client = this.#client;
    let forward: (() => void) | undefined;
    let deadline: Deadline | undefined;
    const stopped = new Promise<never>((_resolve, reject) => {
      forward = (): void => reject(signal.reason as Error);
      signal.addEventListener('abort', forward, { once: true });
      deadline = new Deadline({
        clock,
        limitMs: timeoutMs,
        totalMs: timeoutMs,
        onReached: () => reject(new StartTimeout(`it was not ready within ${timeoutMs} ms`)),
      });
    });
    try {
      signal.throwIfAborted();
      // The start of a process cannot be given up half-way; its caller can stop waiting.
      await Promise.race([client.connect(this.#route.transport, { timeout: NEVER_MS }), stopped]);
    } finally {
      deadline?.end();
      if (forward !== undefined) signal.removeEventListener('abort', forward);
    }
    if (client.transport === undefined)
      throw new Error(this.#route.endedBecause() ?? 'the connection ended with the handshake');
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has fields for its listeners, and no events.
    client.onclose = (): void => {
      if (!this.#isClosing) this.#options.onLost(this.#route.endedBecause() ?? 'the connection was closed');
    };
  }

  async #send(
    { method, params, what }: Question,
    { signal, timeoutMs, onProgress }: LinkRequest,
  ): Promise<Readonly<Record<string, unknown>>> {
    signal.throwIfAborted();
    const { clock, label } = this.#options;
    const stop = new AbortController();
    let timeout: Error | undefined;
    const onReached = (limitMs: number): void => {
      timeout = callTimedOut(label, { what, limitMs });
      stop.abort('it took too long');
    };
    const deadline = new Deadline({ clock, limitMs: timeoutMs, totalMs: MAX_MCP_TIMEOUT_MS, onReached });
    const onAbort = (): void => stop.abort('it was stopped');
    signal.addEventListener('abort', onAbort, { once: true });
    const onprogress = (progress: SdkProgress): void => {
      deadline.extend();
      onProgress?.(this.#progressOf(progress));
    };
    try {
      return await this.#client.request({ method, params: { ...params } }, z.looseObject({}), {
        signal: stop.signal,
        timeout: NEVER_MS,
        onprogress,
      });
    } catch (error) {
      if (timeout !== undefined) throw timeout;
      signal.throwIfAborted();
      throw requestFailure(error, this.#failure);
    } finally {
      deadline.end();
      signal.removeEventListener('abort', onAbort);
    }
  }

  #progressOf({ message, progress, total }: SdkProgress): ToolProgress {
    const { redaction } = this.#options.settings;
    return {
      ...(message === undefined ? {} : { message: beginningOf(redaction.text(message), MAX_WORDS) }),
      done: progress,
      ...(total === undefined ? {} : { total }),
    };
  }
}

interface SdkProgress {
  readonly message?: string | undefined;
  readonly progress: number;
  readonly total?: number | undefined;
}
