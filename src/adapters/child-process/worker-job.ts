/**
 * One job in one worker, as its parent sees it.
 *
 *   starting ──its start is sent──▶ running ──outcome · exit · silence──▶ ending ──proven gone──▶ ended
 *      └──────────── cancel ───────────┴──▶ stopping ──outcome · exit · no patience left──▲
 *
 * starting:  the worker is forked and has perhaps not said that it is ready; follow-ups wait.
 * running:   it has been given the job.
 * stopping:  it was asked to end; only a result that it gives all the same still counts.
 * ending:    how the job ended is known, or that the worker will not tell; its processes are being ended.
 * ended:     no process of it lives, its transcript is closed, its outcome was told. Once.
 */
import type { Clock, TimerHandle } from '../../actors/clock/clock.ts';
import type { SubagentJobResult, SubagentJobStart } from '../../actors/subagent/subagent-runner.ts';
import { beginningOf } from '../../machines/cut-text.ts';
import { messageOf } from '../../machines/errors.ts';
import type { SecretRedaction } from '../../machines/vault/secret-redaction.ts';
import { believedMetadata, disbelievedMetadata } from '../../machines/subagent/worker-bounds.ts';
import type {
  SubagentWorkerChildMessage,
  SubagentWorkerStartPayload,
} from '../../machines/subagent/worker-protocol.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import { FollowUps } from './follow-ups.ts';
import type { JobLog } from './job-log.ts';
import { JobRelay, MAX_OPEN_REQUESTS } from './job-relay.ts';
import type { JobReport } from './job-relay.ts';
import type { TalkingWorker, WorkerNews } from './talking-worker.ts';
import {
  brokenTalk,
  cancelled,
  crashed,
  notAsked,
  notReady,
  notRunning,
  reported,
  silenced,
  tooManyRequests,
} from './worker-failures.ts';

const SHOWN_COMPLAINT_CHARACTERS = 500;

export interface WorkerJobOptions extends Pick<SubagentJobStart, 'jobId' | 'emit'> {
  readonly worker: TalkingWorker;
  readonly start: SubagentWorkerStartPayload;
  /** Variables that it gets over the channel, with their values. */
  readonly keys: Readonly<Record<string, string>>;
  readonly log: JobLog;
  readonly redaction: SecretRedaction;
  readonly clock: Clock;
  readonly killGraceMs: number;
  readonly readyTimeoutMs: number;
}

type Outcome =
  | { readonly kind: 'result'; readonly output: string; readonly metadata: Readonly<Record<string, unknown>> }
  | { readonly kind: 'failed'; readonly error: BackgroundTaskError };

type Phase = 'starting' | 'running' | 'stopping' | 'ending' | 'ended';

export class WorkerJob {
  /** Settles when nothing of the job runs any more. */
  readonly result: Promise<SubagentJobResult>;
  readonly #options: WorkerJobOptions;
  readonly #relay: JobRelay;
  readonly #followUps: FollowUps;
  #phase: Phase = 'starting';
  #outcome: Outcome | undefined;
  #stopReason: string | undefined;
  /** Resolves the wait for whatever ends the job. */
  #goOn: () => void = () => undefined;
  readonly #isOver: Promise<void>;
  #patience: TimerHandle | undefined;
  /** Why it could not be proven that nothing runs any more. */
  #unproven: BackgroundTaskError | undefined;

  constructor(options: WorkerJobOptions) {
    this.#options = options;
    const onTooManyRequests = (): void => this.#conclude({ kind: 'failed', error: tooManyRequests(MAX_OPEN_REQUESTS) });
    this.#relay = new JobRelay({ ...options, onTooManyRequests });
    this.#followUps = new FollowUps({ jobId: options.jobId, worker: options.worker });
    this.#isOver = new Promise((resolve) => {
      this.#goOn = resolve;
    });
    this.result = this.#live();
    // A caller that wants to know awaits it; this process is not to fall over it.
    this.result.catch(() => undefined);
  }

  async send(prompt: string): Promise<void> {
    if (!this.#takesMessages()) throw notRunning(this.#options.jobId);
    this.#options.log.entry('send', { text: prompt });
    await this.#followUps.send(prompt);
  }

  async answerPermission(requestId: string, allowed: boolean): Promise<void> {
    const { jobId, worker, log } = this.#options;
    if (!this.#takesMessages()) throw notRunning(jobId);
    if (!this.#relay.answer(requestId)) throw notAsked(jobId, requestId);
    log.entry('permission_decision', { requestId, allowed });
    await worker.send({ type: 'permission_decision', requestId, allowed }).catch(() => {
      throw notRunning(jobId);
    });
  }

  /** Resolves when nothing of it runs any more. @throws BackgroundTaskError category `process` naming who is left */
  async cancel(reason = 'no reason was given'): Promise<void> {
    if (this.#takesMessages()) this.#stop(reason);
    else if (this.#phase === 'ended' && this.#unproven !== undefined) {
      await this.#options.worker.process.end({ graceMs: this.#options.killGraceMs });
      this.#unproven = undefined;
    }
    await this.result.catch(() => undefined);
    if (this.#unproven !== undefined) throw this.#unproven;
  }

  #takesMessages(): boolean {
    return this.#phase === 'starting' || this.#phase === 'running';
  }

  async #live(): Promise<SubagentJobResult> {
    const { worker, log, clock } = this.#options;
    log.follow(worker.process);
    worker.hear((news) => this.#hear(news));
    const starting = this.#start();
    void worker.process.exited.then(this.#goOn);
    void worker.process.disconnected.then(() => this.#loseTouch());
    await this.#isOver;
    if (this.#phase !== 'stopping') this.#phase = 'ending';
    clock.clearTimeout(this.#patience);
    try {
      await this.#end();
    } finally {
      this.#phase = 'ended';
      this.#followUps.end();
      await starting;
      await log.close();
    }
    return this.#told();
  }

  /** Waits for the worker to be there, for as long as it may take, and gives it the job. Never rejects. */
  async #start(): Promise<void> {
    const { worker, start, keys, clock, readyTimeoutMs, log } = this.#options;
    const timer = clock.setTimeout(() => {
      this.#conclude({ kind: 'failed', error: notReady(readyTimeoutMs, { stderr: log.lastErrors }) });
    }, readyTimeoutMs);
    await Promise.race([worker.ready, this.#isOver]);
    clock.clearTimeout(timer);
    if (this.#phase !== 'starting') return;
    this.#phase = 'running';
    try {
      if (Object.keys(keys).length > 0) await worker.send({ type: 'keys', variables: keys });
      await worker.send(start);
      this.#followUps.begin();
    } catch (error) {
      // A worker that is gone says more by how it went.
      if (worker.process.isConnected)
        this.#conclude({ kind: 'failed', error: BackgroundTaskError.from(error, 'process') });
    }
  }

  #stop(reason: string): void {
    const { worker, log, clock, killGraceMs } = this.#options;
    this.#phase = 'stopping';
    this.#stopReason = reason;
    log.system(`Asked to end: ${reason}`);
    worker.send({ type: 'cancel', reason }).catch(() => undefined);
    this.#patience = clock.setTimeout(this.#goOn, killGraceMs);
  }

  #hear(news: WorkerNews): void {
    if (this.#outcome !== undefined || this.#phase === 'ended') return;
    const { log } = this.#options;
    if (news.kind === 'message') this.#take(news.message);
    else if (news.kind === 'invalid')
      log.system(
        `An invalid message of the worker was dropped: ${beginningOf(news.complaint, SHOWN_COMPLAINT_CHARACTERS)}`,
      );
    else this.#conclude({ kind: 'failed', error: brokenTalk(news.broken) });
  }

  #take(message: SubagentWorkerChildMessage): void {
    if (isReport(message)) {
      this.#relay.take(message);
      return;
    }
    const { redaction } = this.#options;
    switch (message.type) {
      case 'ready':
      case 'warm':
        return;
      case 'sent':
        this.#followUps.confirmed(message.id, message.error);
        return;
      case 'result':
        this.#takeResult(message);
        return;
      case 'error':
        this.#conclude({
          kind: 'failed',
          error: this.#stopReason === undefined ? redacted(reported(message), redaction) : cancelled(this.#stopReason),
        });
        return;
      case 'cancelled':
        this.#conclude({
          kind: 'failed',
          error: cancelled(this.#stopReason ?? message.reason ?? 'the worker did not say why'),
        });
    }
  }

  #takeResult({ output, usage, metadata = {} }: Extract<SubagentWorkerChildMessage, { type: 'result' }>): void {
    const { redaction, log } = this.#options;
    const said = { ...metadata, ...(usage === undefined ? {} : { usage }) };
    const dropped = disbelievedMetadata(said);
    if (dropped.length > 0)
      log.system(
        `Metadata of the result that a worker does not decide was dropped: ${beginningOf(dropped.join(', '), SHOWN_COMPLAINT_CHARACTERS)}`,
      );
    this.#conclude({ kind: 'result', output: redaction.text(output), metadata: believedMetadata(said, redaction) });
  }

  /** The first outcome counts: nothing that is said after it is read. */
  #conclude(outcome: Outcome): void {
    this.#outcome ??= outcome;
    this.#options.worker.stopHearing();
    this.#goOn();
  }

  /** It can say nothing more: what it does is its last. */
  async #loseTouch(): Promise<void> {
    const { worker, killGraceMs, log } = this.#options;
    if (await worker.process.endedWithin(killGraceMs)) return;
    this.#conclude({
      kind: 'failed',
      error: this.#stopReason === undefined ? silenced({ stderr: log.lastErrors }) : cancelled(this.#stopReason),
    });
  }

  /** Ends what is left of it, and finds out how it ended if the worker has not said. */
  async #end(): Promise<void> {
    const { worker, killGraceMs, log } = this.#options;
    const process = worker.process;
    try {
      if (this.#outcome?.kind === 'result') {
        process.release();
        await process.endedWithin(killGraceMs);
      }
      const exit = await process.end({ graceMs: killGraceMs });
      // Its last words are read: an outcome may have been among them.
      this.#outcome ??= {
        kind: 'failed',
        error: this.#stopReason === undefined ? crashed(exit, { stderr: log.lastErrors }) : cancelled(this.#stopReason),
      };
    } catch (error) {
      this.#unproven = BackgroundTaskError.from(error, 'process');
      this.#outcome = { kind: 'failed', error: this.#unproven };
    }
    this.#relay.end();
    this.#note();
  }

  #note(): void {
    const { log } = this.#options;
    if (this.#outcome?.kind === 'failed')
      log.entry('error', { text: this.#outcome.error.message, ...this.#outcome.error.toJSON() });
    else if (this.#outcome !== undefined)
      log.entry('result', { text: this.#outcome.output, metadata: this.#outcome.metadata });
  }

  #told(): SubagentJobResult {
    const outcome = this.#outcome;
    if (outcome === undefined) throw notRunning(this.#options.jobId);
    if (outcome.kind === 'failed') throw outcome.error;
    const { trouble } = this.#options.log;
    const metadata = { ...outcome.metadata, ...(trouble === undefined ? {} : { transcriptTrouble: trouble }) };
    return {
      jobId: this.#options.jobId,
      output: outcome.output,
      ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    };
  }
}

/** What is said on the way, as against how the job ends and what belongs to the talk itself. */
const REPORTS = {
  ready: false,
  warm: false,
  sent: false,
  accepted: true,
  text_delta: true,
  tool_start: true,
  tool_end: true,
  permission_request: true,
  permission_resolved: true,
  activity: true,
  progress: true,
  result: false,
  error: false,
  cancelled: false,
} as const satisfies Record<SubagentWorkerChildMessage['type'], boolean>;

function isReport(message: SubagentWorkerChildMessage): message is JobReport {
  return REPORTS[message.type];
}

/** The same error without secrets in it. */
function redacted(error: BackgroundTaskError, redaction: SecretRedaction): BackgroundTaskError {
  const { category, code, hint, details } = error;
  const shown = redaction.json({ hint, details }) as Pick<BackgroundTaskError, 'hint' | 'details'>;
  return new BackgroundTaskError(category, redaction.text(messageOf(error)), { code, ...shown });
}
