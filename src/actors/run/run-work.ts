/**
 * The work of one run, part by part, as the run chart asks for it. What the run has come to is handed from part to part
 * by the chart; here are the ports that all parts work with.
 */
import { messageOf } from '../../machines/errors.ts';
import { attemptKey, candidateText } from '../../machines/run/candidate.ts';
import type { Candidate } from '../../machines/run/candidate.ts';
import { orderCandidates, restingText } from '../../machines/run/candidate-order.ts';
import type { OrderedCandidate } from '../../machines/run/candidate-order.ts';
import { DEFAULT_RUN_LIMITS, decideAfterFailure, outWith } from '../../machines/run/run-decision.ts';
import type { RunLimits, RunVerdict } from '../../machines/run/run-decision.ts';
import type { RunAttempt } from '../../machines/run/run-attempt.ts';
import type { RunFailure } from '../../machines/run/run-failure.ts';
import type {
  AttemptAnswer,
  AttemptInput,
  PartInput,
  RunChoice,
  RunCourse,
  RunEnd,
  SelectAnswer,
  WaitInput,
} from '../../machines/run/run-machine.ts';
import type { RunUsage } from '../../machines/run/run-output.ts';
import { pause } from '../clock/waiting.ts';
import { settledOrStopped } from '../turn/settled-or-stopped.ts';
import type { AgentRunParams, AgentRunResult, AgentRuntime, RunCredential, RunResumption } from './agent-runtime.ts';
import { CandidateAccess, localFailure } from './candidate-access.ts';
import { RunEvents } from './run-events.ts';
import type { ExecuteAgentRunOptions, RunRequest, SkippedCandidate } from './run-options.ts';
import { runSafely } from './start-agent-run.ts';
import { sumOfUsage } from './sum-of-usage.ts';
import { WatchedAttempt } from './watched-attempt.ts';

type Course = RunCourse<AgentRunResult>;
type Given = PartInput<AgentRunResult>;

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

  constructor(options: ExecuteAgentRunOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_RUN_LIMITS, ...options.limits };
    this.#events = new RunEvents({ runId: options.request.runId, clock: options.clock, onEvent: options.onEvent });
    this.#access = new CandidateAccess(options);
  }

  interrupt(reason: unknown): void {
    this.#abort.abort(reason);
  }

  /** Picks the first candidate that may be tried. */
  async select({ course: before }: Given): Promise<SelectAnswer<AgentRunResult>> {
    const all = await this.#order();
    const [first] = all;
    const course: Course = {
      ...before,
      firstModel: before.firstModel ?? (first === undefined ? undefined : modelKey(first.candidate)),
    };
    const isAgain = (next: OrderedCandidate): boolean => isWaitedFor(next, course);
    // What was waited for comes first, even if another was used a longer time ago.
    const ordered = [...all.filter(isAgain), ...all.filter((next) => !isAgain(next))];
    const skipped: SkippedCandidate[] = [];
    for (const next of ordered) {
      if (course.spent.includes(attemptKey(next.candidate))) continue;
      if (!this.#canPay(next.candidate, course)) {
        skipped.push({
          candidate: next.candidate,
          because: `${candidateText(next.candidate)} costs more than the budget leaves`,
        });
        continue;
      }
      const refusal = await this.#access.ask(next, isAgain(next));
      if (refusal === undefined) return this.#choose(next, skipped, course);
      skipped.push({ candidate: next.candidate, because: restingText(next.candidate, refusal) });
      this.#access.noteRefusal(refusal);
    }
    return this.#noneLeft(skipped, ordered, course);
  }

  /** One attempt of the chosen candidate, and what follows from it. */
  async attempt(given: AttemptInput<AgentRunResult>): Promise<AttemptAnswer<AgentRunResult>> {
    const { course: before, choice } = given;
    const { candidate, because } = choice;
    const runtime = this.#runtimeOf(candidate);
    const attempt = before.attempts.length + 1;
    this.#announceStart(candidate);
    this.#events.emit({ stream: 'attempt', data: { phase: 'started', attempt, candidate, because } });
    const end = await this.#run(candidate, runtime, before);
    const { error, ...ended } = this.#ended(before, end);
    let { course } = ended;
    try {
      course = { ...course, usage: this.#usageWith(before, candidate, end) };
      await this.#access.report(candidate, error, runtime);
      if (error === undefined)
        return { next: 'answered', course: { ...course, attempts: [...course.attempts, { candidate, because }] } };
      const decided = await this.#decide(course, choice, error, end.facts);
      course = decided.course;
      const failed = { attempt, error, ...decided.verdict };
      this.#events.emit({ stream: 'attempt', data: { phase: 'failed', ...failed } });
      await this.#options.onDecision?.({ type: 'failed', candidate, ...failed });
      return { next: decided.verdict.next, course, waitMs: decided.verdict.waitMs };
    } catch (defect) {
      // What the attempt used is counted all the same.
      return { next: 'give_up', course, defect: { error: defect } };
    }
  }

  /** The course with what the attempt answered, and its failure. */
  #ended(before: Course, { result }: AttemptEnd): { readonly course: Course; readonly error: RunFailure | undefined } {
    const error =
      this.#abort.signal.aborted && result.meta?.error !== undefined
        ? { ...result.meta.error, kind: 'aborted' as const }
        : result.meta?.error;
    const course: Course = {
      ...before,
      modelSteps: before.modelSteps + (result.meta?.modelSteps ?? (error === undefined ? 1 : 0)),
      last: { ...result, meta: { ...result.meta, ...(error === undefined ? {} : { error }) } },
    };
    return { course, error };
  }

  #usageWith({ usage }: Course, candidate: Candidate, { result, said }: AttemptEnd): RunUsage | undefined {
    const { usageOf = ({ result: { usage: told } }) => told } = this.#options;
    return sumOfUsage(usage, usageOf({ candidate, result, said, before: usage }));
  }

  #runtimeOf({ provider, backend }: Candidate): AgentRuntime {
    const { registry, request } = this.#options;
    return registry.resolve(provider, backend === undefined ? request.config : { ...request.config, backend });
  }

  /** The candidate is out of this run, and what cannot be used with it. */
  async moveOn({ course }: Given): Promise<Course> {
    const { candidate, next, error } = course.attempts.at(-1) ?? {};
    if (candidate === undefined) return course;
    const spent = new Set([...course.spent, attemptKey(candidate)]);
    const out = next === undefined || error === undefined ? 'account' : outWith(next, error);
    const isOut = (other: Candidate): boolean =>
      out === 'model' ? isSameModel(other, candidate) : other.provider === candidate.provider;
    if (out !== 'account')
      for (const other of await this.#order()) if (isOut(other.candidate)) spent.add(attemptKey(other.candidate));
    return { ...course, spent: [...spent] };
  }

  async wait({ course, waitMs }: WaitInput<AgentRunResult>): Promise<Course> {
    const { clock } = this.#options;
    const { signal } = this.#abort;
    if (waitMs > 0 && !signal.aborted) await pause({ clock, timeoutMs: waitMs, signal });
    return { ...course, backOffs: course.backOffs + 1, waitedMs: course.waitedMs + waitMs };
  }

  async compact({ course }: Given): Promise<Course> {
    return { ...course, hasCompacted: true, anew: 'The session of the backend holds what was too much to read.' };
  }

  /** The result, once the chart has settled, and its last event. */
  async finish({ course, choice, defect }: RunEnd<AgentRunResult>): Promise<AgentRunResult> {
    await this.#access.release();
    const result = this.#resultOf(course, choice?.candidate, defect);
    const { error } = result.meta ?? {};
    const candidate = choice?.candidate ?? this.#options.models[0];
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

  #resultOf(course: Course, candidate: Candidate | undefined, defect: RunEnd['defect']): AgentRunResult {
    const { last, usage, modelSteps, attempts, hasCompacted, firstModel } = course;
    const base = last ?? { payloads: [] };
    const stopped: RunFailure | undefined = this.#abort.signal.aborted
      ? { kind: 'aborted', message: messageOf(this.#abort.signal.reason) }
      : undefined;
    const error =
      defect === undefined
        ? (base.meta?.error ?? (last === undefined ? (stopped ?? NOTHING_TRIED) : undefined))
        : localFailure(defect.error);
    const isFallback = candidate !== undefined && firstModel !== undefined && firstModel !== modelKey(candidate);
    return {
      payloads: error === undefined || error.kind === 'aborted' ? base.payloads : [],
      ...(usage === undefined ? {} : { usage }),
      meta: {
        ...base.meta,
        error: stopped !== undefined && error !== undefined && error.kind !== 'aborted' ? stopped : error,
        modelSteps,
        attempts,
        ...(hasCompacted ? { compacted: true } : {}),
        ...(isFallback ? { fallbackProvider: candidate.provider, fallbackModel: candidate.model } : {}),
      },
    };
  }

  async #order(): Promise<OrderedCandidate[]> {
    return orderCandidates({ models: this.#options.models, ...(await this.#access.check()) });
  }

  async #choose(
    next: OrderedCandidate,
    skipped: readonly SkippedCandidate[],
    course: Course,
  ): Promise<SelectAnswer<AgentRunResult>> {
    const { candidate } = next;
    const runtime = this.#runtimeOf(candidate);
    const last = course.attempts.at(-1);
    const because =
      last === undefined
        ? `${next.because}.`
        : `${next.because}, after ${candidateText(last.candidate)} failed (${last.error?.kind ?? 'unknown'}).`;
    const attempt = course.attempts.length + 1;
    const choice = { candidate, because };
    try {
      await this.#options.onDecision?.({ type: 'selected', attempt, candidate, backend: runtime, because, skipped });
    } catch (error) {
      // The end of the run is told of the candidate that was chosen.
      return { next: 'none', course, choice, defect: { error } };
    }
    return { next: 'chosen', course, choice };
  }

  /** Every candidate has failed or rests. Where one recovers soon, that is waited for. */
  async #noneLeft(
    skipped: readonly SkippedCandidate[],
    ordered: readonly OrderedCandidate[],
    course: Course,
  ): Promise<SelectAnswer<AgentRunResult>> {
    const last = course.last?.meta?.error;
    const recovers = this.#access.soonest();
    if (recovers === undefined) {
      const isUntried = last === undefined && skipped.length > 0;
      const failed = isUntried ? { last: failedBeforeStart({ kind: 'unknown', message: noneText(skipped) }) } : {};
      return { next: 'none', course: { ...course, ...failed } };
    }
    const waitMs = Math.max(0, recovers.atMs - this.#options.clock.now());
    if (course.backOffs < this.#limits.maxBackOffs && course.waitedMs + waitMs <= this.#limits.maxWaitMs) {
      await this.#options.onDecision?.({
        type: 'waiting',
        because: 'Every candidate rests, and the first of them recovers soon.',
        waitMs,
        skipped,
      });
      return { next: 'wait', course, waitMs };
    }
    const error: RunFailure = {
      kind: last?.kind ?? recovers.kind,
      message: noneText(skipped, last),
      retryAfterMs: waitMs,
      isRest: true,
    };
    return { next: 'none', course: failedWith(course, this.#untilAnyRecovers(error, ordered)) };
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

  async #run(candidate: Candidate, runtime: AgentRuntime, course: Course): Promise<AttemptEnd> {
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
    const offered = resumption?.(candidate, runtime, course.anew);
    const resume = course.anew === undefined ? offered : undefined;
    const request = this.#requestFor(course);
    const watched = new WatchedAttempt(request, {
      runsTools: runtime.runs === 'turn',
      emit: (event) => this.#events.emit(event),
    });
    const run = runSafely(runtime, {
      ...this.#paramsFor(candidate, { request, course, credential: credential.value, resume }),
      ...watched.params,
      abortSignal: signal,
    });
    const result = await settledOrStopped(run, { ...stop, givenUp: () => failedBeforeStart(aborted('the backend')) });
    const { hadEffects, said } = watched.end();
    return { result, facts: { hadEffects, wasResumed: resume !== undefined }, said };
  }

  /** What is asked, with less to read once that was too much. */
  #requestFor({ hasCompacted, smaller }: Course): RunRequest {
    const { request } = this.#options;
    if (!hasCompacted || smaller?.messages === undefined) return request;
    const { prompt: _, ...rest } = request;
    return { ...rest, messages: smaller.messages };
  }

  #paramsFor(
    candidate: Candidate,
    {
      request,
      course,
      credential,
      resume,
    }: {
      readonly request: RunRequest;
      readonly course: Course;
      readonly credential: RunCredential | undefined;
      readonly resume: RunResumption | undefined;
    },
  ): AgentRunParams {
    const { provider, model } = candidate;
    const { modelStepsTaken, budget } = request;
    const maxOutputTokens = this.#options.outputBound?.(candidate, course.usage);
    const maxCost = this.#options.costBound?.(course.usage);
    const bounds = {
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
      ...(maxCost === undefined ? {} : { maxCost }),
    };
    const whose = {
      provider,
      model,
      modelStepsTaken: modelStepsTaken + course.modelSteps,
      ...(credential === undefined ? {} : { credential }),
      ...(resume === undefined ? {} : { resume }),
    };
    return {
      ...request,
      ...whose,
      ...(Object.keys(bounds).length === 0 ? {} : { budget: { ...budget, ...bounds } }),
    };
  }

  /** Whether the budget leaves anything for an attempt of it. */
  #canPay(candidate: Candidate, { usage }: Course): boolean {
    return this.#options.outputBound?.(candidate, usage) !== 0;
  }

  async #decide(
    before: Course,
    { candidate, because }: RunChoice,
    error: RunFailure,
    facts: AttemptFacts,
  ): Promise<{ readonly verdict: RunVerdict; readonly course: Course }> {
    const ordered = await this.#order();
    // Before it is decided: what cannot be made smaller is for another model.
    const smaller =
      before.smaller ?? (error.kind === 'context_overflow' ? { messages: await this.#options.compact?.() } : undefined);
    const asked: Course = { ...before, smaller };
    const verdict = this.#judge(candidate, error, { facts, ordered, course: asked });
    const attempts = [...asked.attempts, { candidate, error, next: verdict.next, because }];
    const failed = verdict.next === 'give_up' ? failedWith(asked, this.#untilAnyRecovers(error, ordered)) : asked;
    return { verdict, course: { ...failed, attempts, anew: anewAfter(error, facts, asked.anew) } };
  }

  #judge(
    candidate: Candidate,
    failure: RunFailure,
    {
      facts,
      ordered,
      course,
    }: { readonly facts: AttemptFacts; readonly ordered: readonly OrderedCandidate[]; readonly course: Course },
  ): RunVerdict {
    const key = attemptKey(candidate);
    const isSame = (attempt: RunAttempt): boolean =>
      attemptKey(attempt.candidate) === key && attempt.error?.kind === failure.kind;
    const others = ordered.filter(
      (other) =>
        !course.spent.includes(attemptKey(other.candidate)) &&
        attemptKey(other.candidate) !== key &&
        this.#canPay(other.candidate, course),
    );
    return decideAfterFailure({
      failure,
      ...facts,
      attempts: course.attempts.length + 1,
      backOffs: course.backOffs,
      waitedMs: course.waitedMs,
      sameFailures: course.attempts.filter(isSame).length + 1,
      hasOtherProfile: others.some((other) => isSameModel(other.candidate, candidate)),
      hasOtherModel: others.some((other) => !isSameModel(other.candidate, candidate)),
      hasOtherProvider: others.some((other) => other.candidate.provider !== candidate.provider),
      canPayAgain: this.#canPay(candidate, course),
      canCompact: !course.hasCompacted && course.smaller?.messages !== undefined,
      limits: this.#limits,
      random: (this.#options.random ?? Math.random)(),
    });
  }

  #announceStart({ provider, model }: Candidate): void {
    this.#events.begin({ provider, model });
  }
}

/** Whether this is the one that was waited for. */
function isWaitedFor({ candidate }: OrderedCandidate, { attempts }: Course): boolean {
  const last = attempts.at(-1);
  return last?.next === 'back_off' && attemptKey(last.candidate) === attemptKey(candidate);
}

function failedWith(course: Course, error: RunFailure): Course {
  const { last } = course;
  return { ...course, last: { ...(last ?? { payloads: [] }), meta: { ...last?.meta, error } } };
}

/**
 * Why the backend's session is not gone on with: one in which an attempt has failed holds an unknown part of it, and to
 * say the same to it again could say it twice.
 */
function anewAfter({ kind }: RunFailure, { wasResumed }: AttemptFacts, anew: string | undefined): string | undefined {
  if (kind === 'session_expired') return 'The session of the backend was gone.';
  return wasResumed && kind !== 'coordination'
    ? (anew ?? 'What the session of the backend holds of an attempt that failed is not known.')
    : anew;
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
