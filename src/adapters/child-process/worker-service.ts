/**
 * What a worker does once it is loaded: opens a runtime of sessions, runs the one job that it is given in it, and tells
 * the parent what happens.
 */
import { join } from 'node:path';
import type { SubagentJobHandle, SubagentJobResult, SubagentRunner } from '../../actors/subagent/subagent-runner.ts';
import type { NewAgent } from '../../actors/session/agent-catalog.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { ProviderTable } from '../../machines/run/provider-settings.ts';
import { boundedMetadata, excessOf, noteOf } from '../../machines/subagent/worker-bounds.ts';
import { readParentMessage } from '../../machines/subagent/worker-messages.ts';
import type {
  SubagentWorkerChildMessage,
  SubagentWorkerParentMessage,
  SubagentWorkerStartPayload,
  WorkerParentConfig,
} from '../../machines/subagent/worker-protocol.ts';
import { providerOf, withProvider } from '../../machines/subagent/worker-provider.ts';
import { ExchangeFolder } from './exchange-folder.ts';
import { MessageLink } from './message-link.ts';
import { jobRequestOf, newAgentOf } from './start-payload.ts';
import { WorkerRelay } from './worker-relay.ts';
import type { WorkerService, WorkerSurroundings } from './worker-life.ts';

/** Where sessions live, and what runs them. */
export interface WorkerRuntime {
  /** Runs jobs in this process. */
  readonly runner: SubagentRunner;
  /** Adds an agent to its catalog. */
  createAgent(agent: NewAgent): Promise<unknown>;
  close(reason: string): Promise<void>;
}

export interface WorkerRuntimeOptions {
  /** Absolute. */
  readonly home: string;
  /** The database in which sessions live; undefined: the home. */
  readonly store: WorkerParentConfig['store'];
  readonly providers: ProviderTable;
  readonly humans: 'reachable' | 'none';
  /** Of agents that name none. Undefined: `host`. */
  readonly environment: string | undefined;
  /** The module, absolute, that gives agents, tools and backends in code. */
  readonly config: string | undefined;
}

/** Brought by the composition root. */
export type OpenWorkerRuntime = (options: WorkerRuntimeOptions) => Promise<WorkerRuntime>;

/** The home of a worker that was given none: it goes with the exchange folder. */
const OWN_HOME = 'home';
const EXIT_AS_ASKED = 0;
const EXIT_TALK_BROKEN = 3;

export function createWorkerService(
  openRuntime: OpenWorkerRuntime,
): (surroundings: WorkerSurroundings) => WorkerService {
  return (surroundings) => new JobService(surroundings, openRuntime);
}

interface OpenRuntime {
  readonly options: WorkerRuntimeOptions;
  readonly runtime: Promise<WorkerRuntime>;
}

class JobService implements WorkerService {
  readonly #surroundings: WorkerSurroundings;
  readonly #openRuntime: OpenWorkerRuntime;
  readonly #link: MessageLink<SubagentWorkerParentMessage, SubagentWorkerChildMessage>;
  readonly #stop = new AbortController();
  #runtime: OpenRuntime | undefined;
  /** The one job, from its start on. */
  #job: Promise<SubagentJobHandle> | undefined;
  #ending: Promise<void> | undefined;

  constructor(surroundings: WorkerSurroundings, openRuntime: OpenWorkerRuntime) {
    this.#surroundings = surroundings;
    this.#openRuntime = openRuntime;
    this.#link = new MessageLink({
      folder: new ExchangeFolder(surroundings.folder, 'child'),
      read: readParentMessage,
      transmit: surroundings.transmit,
      onMessage: (message) => this.#take(message),
      onInvalid: (complaint) => process.stderr.write(`An invalid message of the parent was dropped: ${complaint}\n`),
      onBroken: ({ complaint }) =>
        void this.#finish(
          { type: 'error', category: 'crash', code: 'SUBAGENT_WORKER_PROTOCOL', message: noteOf(complaint) },
          EXIT_TALK_BROKEN,
        ),
    });
  }

  take(value: unknown): void {
    this.#link.take(value);
  }

  end(reason: string): void {
    this.#stop.abort(new Error(reason));
    void this.#finish({ type: 'cancelled', reason: noteOf(reason) }, EXIT_AS_ASKED);
  }

  #take(message: SubagentWorkerParentMessage): void {
    switch (message.type) {
      case 'prepare':
        void this.#prepare(message.parentConfig);
        return;
      case 'keys':
        // For whatever asks for them in this process: a command of the agent is started with an allow-list.
        Object.assign(process.env, message.variables);
        return;
      case 'start':
        void this.#run(message);
        return;
      case 'send':
        void this.#followUp(message);
        return;
      case 'permission_decision':
        void this.#answer(message);
        return;
      case 'cancel':
        this.#stop.abort(new Error(message.reason ?? 'cancelled'));
        // Without a job there is nothing to wait for.
        if (this.#job === undefined) this.end(message.reason ?? 'cancelled');
    }
  }

  async #prepare(config: WorkerParentConfig): Promise<void> {
    try {
      await this.#runtimeFor(runtimeOptions(this.#surroundings.folder, config, config.providers ?? {}));
      rehearse();
      await this.#surroundings.guarded;
      await this.#tell({ type: 'warm' });
    } catch (error) {
      this.#runtime = undefined;
      await this.#tell({ type: 'warm', error: noteOf(messageOf(error)) });
    }
  }

  async #run(start: SubagentWorkerStartPayload): Promise<void> {
    if (this.#job !== undefined) return;
    try {
      this.#job = this.#start(start);
      const { result } = await this.#job;
      await this.#finish(resultMessage(await result), EXIT_AS_ASKED);
    } catch (error) {
      const wasStopped = this.#stop.signal.aborted;
      await this.#finish(
        wasStopped ? { type: 'cancelled', reason: noteOf(messageOf(this.#stop.signal.reason)) } : errorMessage(error),
        EXIT_AS_ASKED,
      );
    }
  }

  async #start(start: SubagentWorkerStartPayload): Promise<SubagentJobHandle> {
    const { jobId, parentConfig, providerProfile } = start;
    const { signal } = this.#stop;
    const config = parentConfig ?? {};
    const providers =
      providerProfile === undefined || providerProfile === null
        ? (config.providers ?? {})
        : withProvider(config.providers ?? {}, providerOf(providerProfile));
    const runtime = await this.#runtimeFor(runtimeOptions(this.#surroundings.folder, config, providers));
    const agent = newAgentOf(start);
    if (agent !== undefined) await runtime.createAgent(agent);
    await this.#surroundings.guarded;
    signal.throwIfAborted();
    const relay = new WorkerRelay({
      tell: (message) => this.#tell(message),
      refuse: (requestId, why) => void this.#refuse(requestId, why),
    });
    const request = jobRequestOf(start);
    await this.#tell({ type: 'accepted', jobId });
    const handle = await runtime.runner.start({ jobId, request, emit: relay.emit, signal });
    signal.addEventListener(
      'abort',
      () => void Promise.resolve(handle.cancel(messageOf(signal.reason))).catch(() => undefined),
      { once: true },
    );
    return { ...handle, result: handle.result.finally(() => relay.flush()) };
  }

  async #followUp({ prompt, id }: Extract<SubagentWorkerParentMessage, { type: 'send' }>): Promise<void> {
    let refusal: string | undefined;
    try {
      const handle = await this.#handle();
      if (handle.send === undefined) throw new Error('its runner takes no follow-ups');
      await handle.send(prompt);
    } catch (error) {
      refusal = noteOf(messageOf(error));
      process.stderr.write(`A follow-up was not taken: ${refusal}\n`);
    }
    if (id !== undefined) await this.#tell({ type: 'sent', id, ...(refusal === undefined ? {} : { error: refusal }) });
  }

  async #answer({
    requestId,
    allowed,
  }: Extract<SubagentWorkerParentMessage, { type: 'permission_decision' }>): Promise<void> {
    try {
      await (await this.#handle()).answerPermission?.(requestId, allowed);
    } catch (error) {
      process.stderr.write(`The answer to ${requestId} was not taken: ${messageOf(error)}\n`);
    }
  }

  /** No person can judge what cannot be shown whole. */
  async #refuse(requestId: string, why: string): Promise<void> {
    process.stderr.write(
      `A request for permission was denied without being asked, since its arguments are too large to be shown: ${why}\n`,
    );
    await this.#answer({ type: 'permission_decision', requestId, allowed: false });
  }

  #handle(): Promise<SubagentJobHandle> {
    return this.#job ?? Promise.reject(new Error('there is no job yet'));
  }

  /** The one that is open, if it was opened with the same. */
  async #runtimeFor(options: WorkerRuntimeOptions): Promise<WorkerRuntime> {
    const open = this.#runtime;
    if (open !== undefined && JSON.stringify(open.options) === JSON.stringify(options)) return open.runtime;
    this.#runtime = { options, runtime: this.#reopen(open, options) };
    return this.#runtime.runtime;
  }

  async #reopen(open: OpenRuntime | undefined, options: WorkerRuntimeOptions): Promise<WorkerRuntime> {
    const before = await open?.runtime.catch(() => undefined);
    await before?.close('it is opened with other providers');
    return this.#openRuntime(options);
  }

  /** Tells how it ended, closes what is open, and ends the process. Once. */
  #finish(message: SubagentWorkerChildMessage, code: number): Promise<void> {
    this.#ending ??= this.#close(message, code);
    return this.#ending;
  }

  async #close(message: SubagentWorkerChildMessage, code: number): Promise<void> {
    // Before anything that could fail or hang: a result must not be lost to how its worker ends.
    await this.#link.send(message).catch((error: unknown) => this.#tellLess(error));
    this.#stop.abort(new Error('the job has ended'));
    try {
      await (await this.#runtime?.runtime)?.close('the job has ended');
    } catch (error) {
      process.stderr.write(`The worker could not close what it had open: ${messageOf(error)}\n`);
    }
    this.#surroundings.exit(code);
  }

  /** The outcome cannot be sent as it is. */
  async #tellLess(error: unknown): Promise<void> {
    await this.#tell(errorMessage(error));
  }

  /** No caller is there to hear it when it fails. */
  async #tell(message: SubagentWorkerChildMessage): Promise<void> {
    await this.#link.send(message).catch(() => undefined);
  }
}

/** Schemas are compiled when they are first used: not with a job waiting. */
function rehearse(): void {
  const reading = readParentMessage({
    type: 'start',
    jobId: 'rehearsal',
    request: { kind: 'agent', label: 'rehearsal', agentType: 'rehearsal', prompt: '', cwd: '/' },
  });
  if (reading.kind === 'message' && reading.message.type === 'start') jobRequestOf(reading.message);
}

function runtimeOptions(
  folder: string,
  { home = join(folder, OWN_HOME), store, humans = 'reachable', environment, config }: WorkerParentConfig,
  providers: ProviderTable,
): WorkerRuntimeOptions {
  return { home, store, humans, environment, providers, config };
}

function resultMessage({ output, metadata }: SubagentJobResult): SubagentWorkerChildMessage {
  return { type: 'result', output, ...(metadata === undefined ? {} : { metadata: { ...boundedMetadata(metadata) } }) };
}

function errorMessage(error: unknown): SubagentWorkerChildMessage {
  if (!RuntimeError.is(error)) return { type: 'error', message: noteOf(messageOf(error)), category: 'runner' };
  const { message, category, code, hint, details } = error;
  const isShort = excessOf(details) === undefined;
  return {
    type: 'error',
    message: noteOf(message),
    category,
    code,
    ...(hint === undefined ? {} : { hint: noteOf(hint) }),
    ...(details === undefined || !isShort ? {} : { details: { ...details } }),
  };
}
