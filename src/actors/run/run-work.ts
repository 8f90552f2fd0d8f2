/** The work of one run, part by part, as the run chart asks for it. */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { attemptKey, candidateText } from '../../machines/run/candidate.ts';
import type { Candidate } from '../../machines/run/candidate.ts';
import { orderCandidates, restingText } from '../../machines/run/candidate-order.ts';
import type { OrderedCandidate } from '../../machines/run/candidate-order.ts';
import { DEFAULT_RUN_LIMITS, decideAfterFailure, outWith } from '../../machines/run/run-decision.ts';
import type { RunLimits, RunVerdict } from '../../machines/run/run-decision.ts';
import type { RunAttempt } from '../../machines/run/run-attempt.ts';
import type { RunFailure } from '../../machines/run/run-failure.ts';
import type { AttemptAnswer, SelectAnswer } from '../../machines/run/run-machine.ts';
import type { RunUsage } from '../../machines/run/run-output.ts';
import type { ProviderMessage } from '../../machines/turn/provider-message.ts';
import { pause } from '../clock/waiting.ts';
import { settledOrStopped } from '../turn/settled-or-stopped.ts';
import type { AgentRunParams, AgentRunResult, AgentRuntime, RunCredential, RunResumption } from './agent-runtime.ts';
import { CandidateAccess, localFailure } from './candidate-access.ts';
import { RunEvents } from './run-events.ts';
import type { ExecuteAgentRunOptions, RunRequest, SkippedCandidate } from './run-options.ts';
import { runSafely } from './start-agent-run.ts';
import { sumOfUsage } from './sum-of-usage.ts';
import { WatchedAttempt } from './watched-attempt.ts';

interface Chosen extends OrderedCandidate {
  readonly runtime: AgentRuntime;
}

/** What the backend did in an attempt. */
interface AttemptFacts {
  /** Tools of its own have run, or may have. */
  readonly hadEffects: boolean;
  readonly wasResumed: boolean;
}

interface AttemptEnd {
  readonly result: AgentRunResult;
  readonly facts: AttemptFacts;
  readonly said: string;
}

export class RunWork {
  readonly #options: ExecuteAgentRunOptions;
  readonly #events: RunEvents;
  readonly #access: CandidateAccess;
  readonly #limits: RunLimits;
  readonly #abort = new AbortController();
  #request: RunRequest;
  #chosen: Chosen | undefined;
  /** Those that this run does not try again. */
  readonly #spent = new Set<string>();
  readonly #attempts: RunAttempt[] = [];
  readonly #failures = new Map<string, number>();
  #backOffs = 0;
  #waitedMs = 0;
  #nextWaitMs = 0;
  #hasCompacted = false;
  /** The request with less to read, once it was asked for: undefined where nothing can be left out. */
  #smaller: { readonly messages: readonly ProviderMessage[] | undefined } | undefined;
  /** Why the backend's session is not to be gone on with. */
  #anew: string | undefined;
  #modelSteps = 0;
  #usage: RunUsage | undefined;
  #firstModel: string | undefined;
  #hasStarted = false;
  #last: AgentRunResult | undefined;

  constructor(options: ExecuteAgentRunOptions) {
    this.#options = options;
    this.#request = options.request;
    this.#limits = { ...DEFAULT_RUN_LIMITS, ...options.limits };
    this.#events = new RunEvents({ runId: options.request.runId, clock: options.clock, onEvent: options.onEvent });
    this.#access = new CandidateAccess(options);
  }

  interrupt(reason: unknown): void {
    this.#abort.abort(reason);
  }

  /** Picks the first candidate that may be tried. */
  async select(): Promise<SelectAnswer> {
    const all = await this.#order();
    // What was waited for comes first, even if another was used a longer time ago.
    const ordered = [...all.filter((next) => this.#isAgain(next)), ...all.filter((next) => !this.#isAgain(next))];
    const skipped: SkippedCandidate[] = [];
    for (const next of ordered) {
      if (this.#spent.has(attemptKey(next.candidate))) continue;
      if (!this.#canPay(next.candidate)) {
        skipped.push({
          candidate: next.candidate,
          because: `${candidateText(next.candidate)} costs more than the budget leaves`,
        });
        continue;
      }
      const refusal = await this.#access.ask(next, this.#isAgain(next));
      if (refusal === undefined) {
        await this.#choose(next, skipped);
        return 'chosen';
      }
      skipped.push({ candidate: next.candidate, because: restingText(next.candidate, refusal) });
      this.#access.noteRefusal(refusal);
    }
    return this.#noneLeft(skipped, ordered);
  }

  /** One attempt of the chosen candidate, and what follows from it. */
  async attempt(): Promise<AttemptAnswer> {
    const { candidate, runtime, because } = this.#current();
    const attempt = this.#attempts.length + 1;
    this.#announceStart(candidate);
    this.#events.emit({ stream: 'attempt', data: { phase: 'started', attempt, candidate, because } });
    const { result, facts, said } = await this.#run(candidate, runtime);
    const error =
      this.#abort.signal.aborted && result.meta?.error !== undefined
        ? { ...result.meta.error, kind: 'aborted' as const }
        : result.meta?.error;
    this.#modelSteps += result.meta?.modelSteps ?? (error === undefined ? 1 : 0);
    const { usageOf = ({ result: { usage } }) => usage } = this.#options;
    this.#usage = sumOfUsage(this.#usage, usageOf({ candidate, result, said, before: this.#usage }));
    this.#last = { ...result, meta: { ...result.meta, ...(error === undefined ? {} : { error }) } };
    await this.#access.report(candidate, error, runtime);
    if (error === undefined) {
      this.#attempts.push({ candidate, because });
      return 'answered';
    }
    return this.#afterFailure(candidate, error, facts);
  }

  /** The candidate is out of this run, and what cannot be used with it. */
  async moveOn(): Promise<void> {
    const { candidate } = this.#current();
    this.#spent.add(attemptKey(candidate));
    const { next, error } = this.#attempts.at(-1) ?? {};
    const out = next === undefined || error === undefined ? 'account' : outWith(next, error);
    if (out === 'account') return;
    const isOut = (other: Candidate): boolean =>
      out === 'model' ? isSameModel(other, candidate) : other.provider === candidate.provider;
    for (const other of await this.#order()) if (isOut(other.candidate)) this.#spent.add(attemptKey(other.candidate));
  }

  async wait(): Promise<void> {
    const waitMs = this.#nextWaitMs;
    this.#backOffs += 1;
    this.#waitedMs += waitMs;
    const { clock } = this.#options;
    const { signal } = this.#abort;
    if (waitMs > 0 && !signal.aborted) await pause({ clock, timeoutMs: waitMs, signal });
  }

  async compact(): Promise<void> {
    const { messages } = this.#smaller ?? {};
    if (messages === undefined)
      throw new RuntimeError('RUN_CRASHED', 'there is nothing that could be left out, and it was to be', {
        category: 'crash',
      });
    this.#hasCompacted = true;
    const { prompt: _, ...request } = this.#request;
    this.#request = { ...request, messages };
    this.#anew = 'The session of the backend holds what was too much to read.';
  }

  /** The result, once the chart has settled, and its last event. @param defect what broke, if the chart says so */
  async finish(defect: unknown): Promise<AgentRunResult> {
    await this.#access.release();
    const result = this.#resultOf(defect);
    const { error } = result.meta ?? {};
    const candidate = this.#chosen?.candidate ?? this.#options.models[0];
    if (candidate !== undefined) this.#announceStart(candidate);
    if (error === undefined)
      this.#events.emit({
        stream: 'lifecycle',
        data: { phase: 'end', ...(result.usage === undefined ? {} : { usage: result.usage }) },
      });
    else if (error.kind === 'aborted')
      this.#events.emit({ stream: 'lifecycle', data: { phase: 'aborted', reason: error.message } });
    else this.#events.emit({ stream: 'lifecycle', data: { phase: 'error', error } });
    return result;
  }

  #resultOf(defect: unknown): AgentRunResult {
    const base = this.#last ?? { payloads: [] };
    const stopped: RunFailure | undefined = this.#abort.signal.aborted
      ? { kind: 'aborted', message: messageOf(this.#abort.signal.reason) }
      : undefined;
    const error =
      defect === undefined
        ? (base.meta?.error ?? (this.#last === undefined ? (stopped ?? NOTHING_TRIED) : undefined))
        : localFailure(defect);
    const { candidate } = this.#chosen ?? {};
    const isFallback =
      candidate !== undefined && this.#firstModel !== undefined && this.#firstModel !== modelKey(candidate);
    return {
      payloads: error === undefined || error.kind === 'aborted' ? base.payloads : [],
      ...(this.#usage === undefined ? {} : { usage: this.#usage }),
      meta: {
        ...base.meta,
        error: stopped !== undefined && error !== undefined && error.kind !== 'aborted' ? stopped : error,
        modelSteps: this.#modelSteps,
        attempts: [...this.#attempts],
        ...(this.#hasCompacted ? { compacted: true } : {}),
        ...(isFallback ? { fallbackProvider: candidate.provider, fallbackModel: candidate.model } : {}),
      },
    };
  }

  async #order(): Promise<OrderedCandidate[]> {
    const ordered = orderCandidates({ models: this.#options.models, ...(await this.#access.look()) });
    const [first] = ordered;
    if (first !== undefined) this.#firstModel ??= modelKey(first.candidate);
    return ordered;
  }

  /** Whether this is the one that was waited for. */
  #isAgain({ candidate }: OrderedCandidate): boolean {
    const last = this.#attempts.at(-1);
    return last?.next === 'back_off' && attemptKey(last.candidate) === attemptKey(candidate);
  }

  async #choose(next: OrderedCandidate, skipped: readonly SkippedCandidate[]): Promise<void> {
    const { registry, request, onDecision } = this.#options;
    const { backend, provider } = next.candidate;
    const runtime = registry.resolve(provider, backend === undefined ? request.config : { ...request.config, backend });
    const last = this.#attempts.at(-1);
    const because =
      last === undefined
        ? `${next.because}.`
        : `${next.because}, after ${candidateText(last.candidate)} failed (${last.error?.kind ?? 'unknown'}).`;
    this.#chosen = { ...next, runtime, because };
    await onDecision?.({
      type: 'selected',
      attempt: this.#attempts.length + 1,
      candidate: next.candidate,
      backend: runtime,
      because,
      skipped,
    });
  }

  /** Every candidate has failed or rests. Where one recovers soon, that is waited for. */
  async #noneLeft(skipped: readonly SkippedCandidate[], ordered: readonly OrderedCandidate[]): Promise<SelectAnswer> {
    const last = this.#last?.meta?.error;
    const recovers = this.#access.soonest();
    if (recovers === undefined) {
      if (last === undefined && skipped.length > 0)
        this.#last = failedBeforeStart({ kind: 'unknown', message: noneText(skipped) });
      return 'none';
    }
    const waitMs = Math.max(0, recovers.atMs - this.#options.clock.now());
    if (this.#backOffs < this.#limits.maxBackOffs && this.#waitedMs + waitMs <= this.#limits.maxWaitMs) {
      this.#nextWaitMs = waitMs;
      await this.#options.onDecision?.({
        type: 'waiting',
        because: 'Every candidate rests, and the first of them recovers soon.',
        waitMs,
        skipped,
      });
      return 'wait';
    }
    const error: RunFailure = {
      kind: last?.kind ?? recovers.kind,
      message: noneText(skipped, last),
      retryAfterMs: waitMs,
      isRest: true,
    };
    this.#fail(this.#untilAnyRecovers(error, ordered));
    return 'none';
  }

  #fail(error: RunFailure): void {
    this.#last = { ...(this.#last ?? { payloads: [] }), meta: { ...this.#last?.meta, error } };
  }

  /**
   * The failure of one candidate is no reason to leave another alone for as long: the one that recovers first can be
   * tried then.
   */
  #untilAnyRecovers(error: RunFailure, ordered: readonly OrderedCandidate[]): RunFailure {
    const { retryAfterMs } = error;
    if (retryAfterMs === undefined) return error;
    const nowMs = this.#options.clock.now();
    const waits = ordered
      .flatMap(({ candidate }) => this.#access.recoversAt(candidate) ?? [])
      .map((atMs) => Math.max(0, atMs - nowMs));
    // One candidate rests no longer than a day, whatever it asks for; that is no reason to ask it sooner.
    return ordered.length < 2 ? error : { ...error, retryAfterMs: Math.min(retryAfterMs, ...waits) };
  }

  async #run(candidate: Candidate, runtime: AgentRuntime): Promise<AttemptEnd> {
    const { signal } = this.#abort;
    const { clock, force, resumption } = this.#options;
    const stop = { signal, force, clock };
    const aborted = (by: string): RunFailure => ({
      kind: 'aborted',
      message: `${messageOf(signal.reason)} (${by} did not stop in time)`,
    });
    const credential = await settledOrStopped(this.#access.credential(candidate, signal), {
      ...stop,
      givenUp: () => ({ kind: 'failed' as const, failure: aborted('the keeper of the account') }),
    });
    if (credential.kind === 'failed')
      return {
        result: failedBeforeStart(credential.failure),
        facts: { hadEffects: false, wasResumed: false },
        said: '',
      };
    const offered = resumption?.(candidate, runtime, this.#anew);
    const resume = this.#anew === undefined ? offered : undefined;
    const watched = new WatchedAttempt(this.#request, {
      runsTools: runtime.runs === 'turn',
      emit: (event) => this.#events.emit(event),
    });
    const run = runSafely(runtime, {
      ...this.#paramsFor(candidate, credential.value, resume),
      ...watched.params,
      abortSignal: signal,
    });
    const result = await settledOrStopped(run, { ...stop, givenUp: () => failedBeforeStart(aborted('the backend')) });
    const { hadEffects, said } = watched.end();
    return { result, facts: { hadEffects, wasResumed: resume !== undefined }, said };
  }

  #paramsFor(
    candidate: Candidate,
    credential: RunCredential | undefined,
    resume: RunResumption | undefined,
  ): AgentRunParams {
    const { provider, model } = candidate;
    const { modelStepsTaken, budget } = this.#request;
    const maxOutputTokens = this.#options.outputBound?.(candidate, this.#usage);
    const maxCost = this.#options.costBound?.(this.#usage);
    const bounds = {
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
      ...(maxCost === undefined ? {} : { maxCost }),
    };
    const whose = {
      provider,
      model,
      modelStepsTaken: modelStepsTaken + this.#modelSteps,
      ...(credential === undefined ? {} : { credential }),
      ...(resume === undefined ? {} : { resume }),
    };
    return {
      ...this.#request,
      ...whose,
      ...(Object.keys(bounds).length === 0 ? {} : { budget: { ...budget, ...bounds } }),
    };
  }

  /** Whether the budget leaves anything for an attempt of it. */
  #canPay(candidate: Candidate): boolean {
    return this.#options.outputBound?.(candidate, this.#usage) !== 0;
  }

  async #afterFailure(candidate: Candidate, error: RunFailure, facts: AttemptFacts): Promise<AttemptAnswer> {
    const { because } = this.#current();
    const attempt = this.#attempts.length + 1;
    const ordered = await this.#order();
    // Before it is decided: what cannot be made smaller is for another model.
    if (error.kind === 'context_overflow') this.#smaller ??= { messages: await this.#options.compact?.() };
    const verdict = this.#judge(candidate, error, facts, ordered);
    this.#attempts.push({ candidate, error, next: verdict.next, because });
    if (verdict.next === 'give_up') this.#fail(this.#untilAnyRecovers(error, ordered));
    this.#noteSession(error, facts);
    this.#nextWaitMs = verdict.waitMs ?? 0;
    this.#events.emit({ stream: 'attempt', data: { phase: 'failed', attempt, error, ...verdict } });
    await this.#options.onDecision?.({ type: 'failed', attempt, candidate, error, ...verdict });
    return verdict.next;
  }

  /**
   * A session that was gone on with holds an unknown part of what has failed: to say the same to it again could say it
   * twice.
   */
  #noteSession({ kind }: RunFailure, { wasResumed }: AttemptFacts): void {
    if (kind === 'session_expired') this.#anew = 'The session of the backend was gone.';
    else if (wasResumed && kind !== 'coordination')
      this.#anew ??= 'What the session of the backend holds of an attempt that failed is not known.';
  }

  #judge(
    candidate: Candidate,
    failure: RunFailure,
    facts: AttemptFacts,
    ordered: readonly OrderedCandidate[],
  ): RunVerdict {
    const key = `${attemptKey(candidate)} ${failure.kind}`;
    const sameFailures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, sameFailures);
    const others = ordered.filter(
      (other) =>
        !this.#spent.has(attemptKey(other.candidate)) &&
        attemptKey(other.candidate) !== attemptKey(candidate) &&
        this.#canPay(other.candidate),
    );
    return decideAfterFailure({
      failure,
      ...facts,
      attempts: this.#attempts.length + 1,
      backOffs: this.#backOffs,
      waitedMs: this.#waitedMs,
      sameFailures,
      hasOtherProfile: others.some((other) => isSameModel(other.candidate, candidate)),
      hasOtherModel: others.some((other) => !isSameModel(other.candidate, candidate)),
      hasOtherProvider: others.some((other) => other.candidate.provider !== candidate.provider),
      canPayAgain: this.#canPay(candidate),
      canCompact: !this.#hasCompacted && this.#smaller?.messages !== undefined,
      limits: this.#limits,
      random: (this.#options.random ?? Math.random)(),
    });
  }

  #announceStart({ provider, model }: Candidate): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    this.#events.emit({ stream: 'lifecycle', data: { phase: 'start', provider, model } });
  }

  #current(): Chosen {
    if (this.#chosen !== undefined) return this.#chosen;
    throw new RuntimeError('RUN_NOT_SELECTED', 'an attempt was to be made before a candidate was chosen', {
      category: 'crash',
    });
  }
}

const NOTHING_TRIED: RunFailure = { kind: 'unknown', message: 'no candidate could be tried' };

function noneText(skipped: readonly SkippedCandidate[], last?: RunFailure): string {
  return `no candidate can be tried: ${[...(last === undefined ? [] : [last.message]), ...skipped.map(({ because }) => because)].join('; ')}`;
}

function failedBeforeStart(error: RunFailure): AgentRunResult {
  return { payloads: [], meta: { error, modelSteps: 0 } };
}

function modelKey({ provider, model }: Candidate): string {
  return JSON.stringify([provider, model]);
}

function isSameModel(one: Candidate, other: Candidate): boolean {
  return modelKey(one) === modelKey(other) && one.backend === other.backend;
}
