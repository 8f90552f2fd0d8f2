/**
 * Runs each subagent job in a process of its own. What such a job may not do to its parent: block it, crash it, outlive
 * it.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { SubagentJobHandle, SubagentJobStart, SubagentRunner } from '../../actors/subagent/subagent-runner.ts';
import { messageOf, RuntimeError } from '../../machines/errors.ts';
import { sessionOf } from '../../machines/subagent/subagent-request.ts';
import type { SubagentWorkerStartPayload, WorkerParentConfig } from '../../machines/subagent/worker-protocol.ts';
import { workerParentMessage } from '../../machines/subagent/worker-protocol.ts';
import { keyVariables, providerIn, providerOf, withProvider } from '../../machines/subagent/worker-provider.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import { JobLog } from './job-log.ts';
import { JobTranscript } from './job-transcript.ts';
import type { CheckedRunnerOptions, ChildProcessSubagentRunnerOptions } from './runner-options.ts';
import { checkedRunnerOptions } from './runner-options.ts';
import { TalkingWorker } from './talking-worker.ts';
import { TranscriptReader } from './transcript-reader.ts';
import { WarmPool } from './warm-pool.ts';
import type { WorkerEnvironment, WorkerKeys } from './worker-environment.ts';
import { workerEnvironment, workerKeys } from './worker-environment.ts';
import { cancelled, runnerClosed } from './worker-failures.ts';
import { WorkerJob } from './worker-job.ts';
import { startWorkerProcess } from './worker-process.ts';

// Where the transcript of a job lies: names that come from outside lead to a file below the folder of transcripts, and
// to no other one's.

const SAFE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,119}$/;
const KEPT_CHARACTERS = 60;
const HASH_CHARACTERS = 16;

interface TranscriptPlace {
  readonly logsDir: string;
  readonly parentSessionId: string;
  readonly jobId: string;
}

export function transcriptPath({ logsDir, parentSessionId, jobId }: TranscriptPlace): string {
  return join(logsDir, safeName(parentSessionId), 'subagents', `${safeName(jobId)}.jsonl`);
}

/**
 * The name itself where it is harmless on every file system; else what is harmless of it, and a hash that tells it from
 * others.
 */
function safeName(name: string): string {
  if (SAFE_NAME.test(name) && !name.endsWith('.')) return name;
  const readable = name.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, KEPT_CHARACTERS);
  return `_${readable}-${createHash('sha256').update(name).digest('hex').slice(0, HASH_CHARACTERS)}`;
}

export class ChildProcessSubagentRunner implements SubagentRunner {
  readonly #options: CheckedRunnerOptions;
  readonly #environment: WorkerEnvironment;
  readonly #pool: WarmPool;
  readonly #jobs = new Set<WorkerJob>();
  readonly #starting = new Set<Promise<unknown>>();
  #isClosed = false;

  /** @throws RuntimeError SUBAGENT_RUNNER_OPTIONS_INVALID, PROVIDER_PROFILE_INVALID, SUBAGENT_WORKER_MISSING */
  constructor(options: ChildProcessSubagentRunnerOptions) {
    this.#options = checkedRunnerOptions(options);
    this.#environment = workerEnvironment({ host: process.env, env: this.#options.env });
    const { warmWorkers, killGraceMs } = this.#options;
    this.#pool = new WarmPool({
      size: warmWorkers,
      killGraceMs,
      parentConfig: this.#parentConfig(),
      fork: () => this.#fork('a warm subagent worker'),
    });
  }

  /** Workers that are loaded and wait for a job. */
  get warmWorkers(): number {
    return this.#pool.warmCount;
  }

  /**
   * Resolves when the worker has a process; that it could do nothing with its job is told by `result`.
   * @throws RuntimeError SUBAGENT_START_INVALID, PROVIDER_PROFILE_INVALID, before anything is started;
   * BackgroundTaskError category `storage` or `process` when it cannot be, SUBAGENT_RUNNER_CLOSED, SUBAGENT_CANCELLED
   */
  async start(start: SubagentJobStart): Promise<SubagentJobHandle> {
    if (this.#isClosed) throw runnerClosed();
    const starting = this.#start(start);
    this.#starting.add(starting);
    try {
      return await starting;
    } finally {
      this.#starting.delete(starting);
    }
  }

  /**
   * Cancels what runs, ends the workers that wait, and takes nothing more. Idempotent. @throws BackgroundTaskError
   * category `process`
   */
  async close(reason = 'the subagent runner is closing'): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#starting);
    const ends = await Promise.allSettled([...[...this.#jobs].map((job) => job.cancel(reason)), this.#pool.close()]);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  async #start({ jobId, request, emit, signal }: SubagentJobStart): Promise<SubagentJobHandle> {
    const payload = this.#payload({ jobId, request });
    const { variables: keys, redaction } = await this.#keysFor(request);
    if (signal.aborted) throw cancelled(messageOf(signal.reason));
    const { logsDir, clock, killGraceMs, readyTimeoutMs, limits } = this.#options;
    const path =
      logsDir === undefined ? undefined : transcriptPath({ logsDir, parentSessionId: request.parentSessionId, jobId });
    const transcript =
      path === undefined
        ? undefined
        : await JobTranscript.open({ path, root: logsDir, clock, redaction, maxBytes: limits.transcriptBytes });
    const worker = await this.#worker(jobId).catch(async (error: unknown) => {
      await transcript?.close();
      throw error;
    });
    const log = new JobLog({ transcript, redaction });
    log.entry('start', {
      text: request.prompt,
      jobId,
      agentType: request.agentType,
      cwd: request.cwd,
      pid: worker.process.pid,
    });
    const job = new WorkerJob({
      jobId,
      emit,
      worker,
      start: payload,
      keys,
      log,
      redaction,
      clock,
      killGraceMs,
      readyTimeoutMs,
    });
    this.#keep(job, signal);
    const reader = path === undefined ? undefined : new TranscriptReader({ jobId, path });
    return {
      jobId,
      pid: worker.process.pid,
      ...(path === undefined ? {} : { logPath: path, transcriptPath: path }),
      result: job.result,
      cancel: (reason) => job.cancel(reason),
      send: (prompt) => job.send(prompt),
      answerPermission: (requestId, allowed) => job.answerPermission(requestId, allowed),
      ...(reader === undefined ? {} : { readLog: (cursor) => reader.page(cursor) }),
    };
  }

  #keep(job: WorkerJob, signal: AbortSignal): void {
    const cancel = (): void => {
      // That it could not be ended is told by its result.
      job.cancel(messageOf(signal.reason)).catch(() => undefined);
    };
    this.#jobs.add(job);
    signal.addEventListener('abort', cancel, { once: true });
    void job.result
      .catch(() => undefined)
      .then(() => {
        this.#jobs.delete(job);
        signal.removeEventListener('abort', cancel);
      });
    if (signal.aborted) cancel();
  }

  async #worker(jobId: string): Promise<TalkingWorker> {
    return this.#pool.take() ?? this.#fork(jobId);
  }

  async #fork(taskId: string): Promise<TalkingWorker> {
    const { workerPath, execArgv, processTree, clock } = this.#options;
    return new TalkingWorker(
      await startWorkerProcess({
        workerPath,
        execArgv,
        environment: this.#environment.variables,
        processTree,
        clock,
        taskId,
      }),
    );
  }

  #payload({ jobId, request }: Pick<SubagentJobStart, 'jobId' | 'request'>): SubagentWorkerStartPayload {
    const { agentDefinition, parentContext, logsDir } = this.#options;
    const { providerProfile } = request;
    const payload = {
      type: 'start',
      jobId,
      request,
      parentConfig: this.#parentConfig(),
      ...(agentDefinition === undefined ? {} : { agentDefinition }),
      ...(parentContext === undefined ? {} : { parentContext }),
      ...(providerProfile === undefined ? {} : { providerProfile }),
      ...(logsDir === undefined ? {} : { logsDir }),
    };
    const parsed = parseOrThrow(workerParentMessage, plainJson(payload), {
      what: 'start of the subagent worker',
      code: 'SUBAGENT_START_INVALID',
    });
    if (parsed.type !== 'start')
      throw new RuntimeError('SUBAGENT_START_INVALID', `expected a start, received ${parsed.type}`, {
        category: 'validation',
      });
    return parsed;
  }

  #parentConfig(): WorkerParentConfig {
    const { home, store, providers, humans, environment, config } = this.#options;
    return {
      ...(home === undefined ? {} : { home }),
      ...(store === undefined ? {} : { store }),
      ...(Object.keys(providers).length === 0 ? {} : { providers }),
      ...(humans === undefined ? {} : { humans }),
      ...(environment === undefined ? {} : { environment }),
      ...(config === undefined ? {} : { config }),
    };
  }

  /** Those that the models of this job may need, and no others. */
  async #keysFor(request: SubagentJobStart['request']): Promise<WorkerKeys> {
    const { providers, keysFor } = this.#options;
    const { agentType, providerProfile, model } = request;
    const profile = providerProfile === undefined ? undefined : providerOf(providerProfile);
    const table = profile === undefined ? providers : withProvider(providers, profile);
    const usual =
      keysFor === undefined
        ? keyVariables(Object.keys(providers), table)
        : await keysFor({ agentType, sessionId: sessionOf(request) });
    const asked = keyVariables([...(profile === undefined ? [] : [profile.name]), ...providerIn(model)], table);
    return workerKeys({ host: process.env, environment: this.#environment, names: [...new Set([...usual, ...asked])] });
  }
}

/** As the channel will bring it. @throws RuntimeError SUBAGENT_START_INVALID for what no JSON can hold */
function plainJson(value: object): unknown {
  try {
    return JSON.parse(JSON.stringify(value)) as unknown;
  } catch (cause) {
    throw new RuntimeError(
      'SUBAGENT_START_INVALID',
      `the start of the subagent worker cannot be sent: ${messageOf(cause)}`,
      { category: 'validation', hint: 'Pass plain data: no cycles and no big integers.', cause },
    );
  }
}
