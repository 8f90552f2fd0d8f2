/**
 * The connection of one agent to one MCP server, shared by its wakes: opened when a wake needs it, opened again when it
 * was lost, closed when no wake has used it for long. Its lifecycle is the chart `mcpConnectionMachine`.
 */
import { ChartedLife } from '../../actors/charted-life.ts';
import type { Clock, TimerHandle } from '../../actors/clock/clock.ts';
import { mcpConnectionLifecycle } from '../../machines/turn/mcp-connection-machine.ts';
import type { McpConnectionEvent, McpConnectionState } from '../../machines/turn/mcp-connection-machine.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { untilAborted } from '../system/waiting.ts';
import type { McpLink } from './mcp-link.ts';
import { StartTimeout } from './mcp-link.ts';
import { HopelessAttempt, SessionExpired, serverUnavailable } from './server-errors.ts';
import type { ServerLabel } from './server-errors.ts';
import { ToolList } from './tool-list.ts';
import type { ToolListOptions } from './tool-list.ts';

/** Attempts and short lives in a row before the server is left alone for a while. */
const MAX_FAILURES = 4;
const COOL_DOWN_MS = 30_000;
/** Before the attempt after the first failure; three times as long after each that follows. */
const FIRST_BACK_OFF_MS = 200;
const BACK_OFF_FACTOR = 3;
/** A connection that lasted so long has not failed when it ends. */
const LASTING_MS = 30_000;

export interface LinkEvents {
  readonly signal: AbortSignal;
  readonly onLost: (why: string) => void;
  readonly onToolsChanged: () => void;
}

export interface McpConnectionOptions {
  readonly label: ServerLabel;
  readonly clock: Clock;
  readonly startTimeoutMs: number;
  readonly idleMs: number;
  /** Makes one attempt. @throws HopelessAttempt, StartTimeout, or an error that says what went wrong */
  readonly open: (events: LinkEvents, timeoutMs: number) => Promise<McpLink>;
  readonly list: Omit<ToolListOptions, 'link'>;
  readonly onNews: (kind: 'connected' | 'lost' | 'rested' | 'tools_changed', message: string) => void;
  /** Called when no wake has used it for `idleMs`, before it is closed. */
  readonly onIdle: () => void;
}

/** What is there while it is ready, and while its last users finish after that. */
export interface ReadyLink {
  readonly link: McpLink;
  readonly tools: ToolList;
  readonly sinceMs: number;
  users: number;
}

export interface UseOptions {
  readonly signal: AbortSignal;
  /** Whether the work may be done once more on another link when its own is lost. */
  readonly isRepeatable: boolean;
}

export class McpConnection {
  readonly #options: McpConnectionOptions;
  readonly #life: ChartedLife<McpConnectionState, McpConnectionEvent>;
  #ready: ReadyLink | undefined;
  #establishing: Promise<ReadyLink> | undefined;
  /** Lost, but in use: what runs on them comes to its own end. */
  readonly #draining = new Set<ReadyLink>();
  /** Ends of links that are on their way out, and what could not be ended. */
  readonly #endings = new Set<Promise<void>>();
  readonly #unended = new Set<McpLink>();
  readonly #stop = new AbortController();
  #users = 0;
  #idleTimer: TimerHandle | undefined;
  #coolTimer: TimerHandle | undefined;
  #coolUntilMs = 0;
  #failures = 0;
  #lastFailure: unknown;

  constructor(options: McpConnectionOptions) {
    this.#options = options;
    const { agentId, server } = options.label;
    this.#life = new ChartedLife({ lifecycle: mcpConnectionLifecycle, id: `mcp_${agentId}_${server}` });
  }

  get state(): McpConnectionState {
    return this.#life.value;
  }

  /**
   * Does `work` on a live link, opening one if need be; the connection is kept meanwhile. Work whose session the server
   * no longer knows is done once more in a new one.
   * @throws RuntimeError TOOL_SERVER_UNAVAILABLE, the signal's reason, or what `work` threw
   */
  async use<Result>(work: (ready: ReadyLink) => Promise<Result>, options: UseOptions): Promise<Result> {
    this.#users += 1;
    this.#options.clock.clearTimeout(this.#idleTimer);
    try {
      return await this.#work(work, options);
    } finally {
      this.#users -= 1;
      if (this.#users === 0 && !this.#stop.signal.aborted)
        this.#idleTimer = this.#options.clock.setTimeout(() => this.#rest(), this.#options.idleMs);
    }
  }

  /**
   * Ends it for good. @throws BackgroundTaskError category `process` when processes are left; a later call tries again
   */
  async close(reason: string): Promise<void> {
    const { clock } = this.#options;
    clock.clearTimeout(this.#idleTimer);
    clock.clearTimeout(this.#coolTimer);
    this.#stop.abort(serverUnavailable(this.#options.label, reason));
    this.#life.move('CLOSE');
    await this.#establishing?.catch(() => undefined);
    const open = this.#ready === undefined ? [...this.#draining] : [this.#ready, ...this.#draining];
    this.#ready = undefined;
    this.#draining.clear();
    for (const { link } of open) void this.#end(link);
    await Promise.all(this.#endings);
    // What was not ended when it was tried first is tried again, so that the closing caller hears of it.
    for (const left of this.#unended) {
      await left.close();
      this.#unended.delete(left);
    }
  }

  async #work<Result>(
    work: (ready: ReadyLink) => Promise<Result>,
    { signal, isRepeatable }: UseOptions,
  ): Promise<Result> {
    for (let isFirst = true; ; isFirst = false) {
      const ready = await this.#whenReady(signal);
      ready.users += 1;
      try {
        return await work(ready);
      } catch (error) {
        const isExpired = error instanceof SessionExpired;
        const isLost = isExpired || (RuntimeError.is(error) && error.code === 'TOOL_SERVER_LOST');
        if (isLost) this.#lost(ready, isExpired ? 'it no longer knows the session' : messageOf(error));
        if (isFirst && (isExpired || (isLost && isRepeatable))) continue;
        throw isExpired ? serverUnavailable(this.#options.label, `it forgets its sessions: ${error.message}`) : error;
      } finally {
        ready.users -= 1;
        if (ready.users === 0 && this.#draining.delete(ready)) void this.#end(ready.link);
      }
    }
  }

  async #whenReady(signal: AbortSignal): Promise<ReadyLink> {
    signal.throwIfAborted();
    if (this.#stop.signal.aborted) throw this.#stop.signal.reason as Error;
    if (this.#ready !== undefined) return this.#ready;
    this.#establishing ??= this.#establish().finally(() => {
      this.#establishing = undefined;
    });
    return untilAborted(this.#establishing, signal);
  }

  async #establish(): Promise<ReadyLink> {
    const { clock, label, startTimeoutMs } = this.#options;
    if (this.#life.matches({ disconnected: 'cooling' }))
      throw serverUnavailable(label, this.#coolingWords(), this.#lastFailure);
    const deadlineMs = clock.steadyNow() + startTimeoutMs;
    for (;;) {
      await this.#backOff();
      this.#life.move('CONNECT');
      try {
        return await this.#attempt(Math.max(1, Math.ceil(deadlineMs - clock.steadyNow())));
      } catch (error) {
        if (this.#stop.signal.aborted) throw this.#stop.signal.reason as Error;
        this.#failed(error, deadlineMs);
      }
    }
  }

  /** Returns when another attempt is worth it. @throws RuntimeError TOOL_SERVER_UNAVAILABLE */
  #failed(error: unknown, deadlineMs: number): void {
    const { label, clock } = this.#options;
    this.#lastFailure = error;
    if (error instanceof HopelessAttempt || RuntimeError.is(error)) {
      this.#failures = 0;
      this.#life.move('GIVE_UP');
      throw RuntimeError.is(error) && error.code === 'MCP_SDK_MISSING'
        ? error
        : serverUnavailable(label, messageOf(error), error);
    }
    this.#failures += 1;
    const isLate = error instanceof StartTimeout || clock.steadyNow() + this.#backOffMs() >= deadlineMs;
    if (this.#failures < MAX_FAILURES && !isLate) return;
    const count = this.#failures;
    this.#cool();
    throw serverUnavailable(label, `${messageOf(error)}${count > 1 ? ` (after ${count} attempts)` : ''}`, error);
  }

  async #attempt(timeoutMs: number): Promise<ReadyLink> {
    const attempt: { ready?: ReadyLink; lost?: string } = {};
    const events: LinkEvents = {
      signal: this.#stop.signal,
      onLost: (why) => {
        attempt.lost = why;
        if (attempt.ready !== undefined) this.#lost(attempt.ready, why);
      },
      onToolsChanged: () => {
        if (attempt.ready?.tools.changed() === true)
          this.#options.onNews('tools_changed', 'it says that its tools have changed');
      },
    };
    const link = await this.#options.open(events, timeoutMs);
    if (this.#stop.signal.aborted || attempt.lost !== undefined) {
      await this.#end(link);
      throw new Error(attempt.lost ?? 'it is being closed');
    }
    const ready: ReadyLink = {
      link,
      tools: new ToolList({ ...this.#options.list, link }),
      sinceMs: this.#options.clock.steadyNow(),
      users: 0,
    };
    attempt.ready = ready;
    this.#ready = ready;
    this.#life.move('CONNECTED');
    this.#options.onNews('connected', 'connected');
    return ready;
  }

  async #backOff(): Promise<void> {
    if (this.#failures === 0) return;
    this.#life.move('BACK_OFF');
    const { clock } = this.#options;
    const stop = this.#stop.signal;
    await new Promise<void>((resolve, reject) => {
      const onStop = (): void => {
        clock.clearTimeout(timer);
        reject(stop.reason as Error);
      };
      const timer = clock.setTimeout(() => {
        stop.removeEventListener('abort', onStop);
        resolve();
      }, this.#backOffMs());
      stop.addEventListener('abort', onStop, { once: true });
    });
  }

  #backOffMs(): number {
    return FIRST_BACK_OFF_MS * BACK_OFF_FACTOR ** (this.#failures - 1);
  }

  /** Whatever noticed it first; once for each link. */
  #lost(ready: ReadyLink, why: string): void {
    if (this.#ready !== ready) return;
    const { clock, onNews } = this.#options;
    this.#ready = undefined;
    this.#lastFailure = new Error(why);
    this.#failures = clock.steadyNow() - ready.sinceMs >= LASTING_MS ? 0 : this.#failures + 1;
    this.#life.move('LOSE');
    if (this.#failures >= MAX_FAILURES) this.#cool();
    if (ready.users > 0) this.#draining.add(ready);
    else void this.#end(ready.link);
    onNews('lost', why);
  }

  #cool(): void {
    const { clock } = this.#options;
    this.#life.move('EXHAUST');
    this.#failures = 0;
    this.#coolUntilMs = clock.steadyNow() + COOL_DOWN_MS;
    this.#coolTimer = clock.setTimeout(() => this.#life.move('COOLED'), COOL_DOWN_MS);
  }

  #coolingWords(): string {
    const leftSeconds = Math.ceil((this.#coolUntilMs - this.#options.clock.steadyNow()) / 1_000);
    return `it failed too often and is left alone for another ${leftSeconds} s; the last failure: ${messageOf(this.#lastFailure)}`;
  }

  #rest(): void {
    if (this.#users > 0) return;
    if (this.#life.matches({ disconnected: 'cooling' })) {
      // The next caller must still hear of it.
      this.#idleTimer = this.#options.clock.setTimeout(() => this.#rest(), COOL_DOWN_MS);
      return;
    }
    this.#options.onIdle();
    const link = this.#ready?.link;
    if (link === undefined) return;
    this.#ready = undefined;
    this.#life.move('REST');
    void this.#end(link);
    this.#options.onNews('rested', 'no wake used it for a while; the next use starts it again');
  }

  /** Never rejects: who closes the connection hears of what is left. */
  #end(link: McpLink): Promise<void> {
    const ending = link
      .close()
      .catch(() => {
        this.#unended.add(link);
      })
      .finally(() => {
        this.#endings.delete(ending);
      });
    this.#endings.add(ending);
    return ending;
  }
}
