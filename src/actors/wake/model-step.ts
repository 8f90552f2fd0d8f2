/**
 * One model step of a wake: what is decided and done in it is stored as it comes, and what came of it in the end, all
 * at once.
 */
import type { AnyActorRef } from 'xstate';
import { isBackendSessionId, reasonForNewSession } from '../../machines/run/backend-session-id.ts';
import type { Candidate } from '../../machines/run/candidate.ts';
import type { RunAttempt } from '../../machines/run/run-attempt.ts';
import type { AgentRunEvent } from '../../machines/run/run-output.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { ProviderMessage } from '../../machines/turn/provider-message.ts';
import { stepEvents } from '../../machines/turn/step-events.ts';
import type { StepEvents } from '../../machines/turn/step-events.ts';
import { NAME_THE_TOOLS } from '../../machines/turn/tool-limit.ts';
import { unsaidPayloads } from '../../machines/turn/unsaid-payloads.ts';
import { modelsOf } from '../../machines/agent/agent-definition.ts';
import type { Allowance } from '../../machines/session/event-parts.ts';
import type { RunFailure } from '../../machines/run/run-failure.ts';
import type {
  AgentRuntime,
  MessageIntake,
  RunPermissionAnswer,
  RunPermissionRequest,
  RunResumption,
} from '../run/agent-runtime.ts';
import type { RunDecisionRecord } from '../run/run-options.ts';
import type { LiveStep } from '../words/live-words.ts';
import { forwardAbort } from '../concurrency/forward-abort.ts';
import type { PreparedAgent } from '../turn/tool.ts';
import { redactedListener } from '../vault/live-redaction.ts';
import { SECRET_IN_INPUT, holdsSecret, withoutSecrets } from '../vault/calls-with-secrets.ts';
import { AttemptBudget } from './attempt-budget.ts';
import { BackendCalls } from './backend-calls.ts';
import type { CallGate } from './call-gate.ts';
import { LiveMessages } from './live-messages.ts';
import { intakeOf } from './message-intake.ts';
import { runModel } from './model-run.ts';
import type { FinishedRun } from './model-run.ts';
import { inputTokensOf, shrunkMessages, toolShare } from './wake-context.ts';
import type { AssembledStep } from './wake-context.ts';
import { isOvertaken } from './wake-facts.ts';
import type { WakeJournal } from './wake-journal.ts';
import type { WakeOptions, WakePorts } from './wake-ports.ts';

export interface ModelStepOptions {
  readonly ports: WakePorts;
  readonly options: WakeOptions;
  readonly agent: PreparedAgent;
  readonly step: AssembledStep;
  readonly gate: CallGate;
  /** What is left of the budgets. */
  readonly remaining: Allowance;
  readonly journal: WakeJournal;
  readonly signal: AbortSignal;
  /** Whether a client, or a limit of time, has cut the step short. */
  readonly wasInterrupted: () => boolean;
  readonly permissionsBind: boolean;
  /** The wake's actor. */
  readonly parent: AnyActorRef | undefined;
}

export interface TakenStep extends Pick<StepEvents, 'calls' | 'text'> {
  readonly error: RunFailure | undefined;
  /** Of all candidates that were asked. */
  readonly attempts: readonly RunAttempt[];
  readonly wasInterrupted: boolean;
}

export class ModelStep {
  readonly #options: ModelStepOptions;
  readonly #spanId: string;
  readonly #calls: BackendCalls;
  readonly #messages: LiveMessages;
  /** Whether the runtime that runs now runs tools of its own. */
  #runsTools = false;
  readonly #budget: AttemptBudget;
  /** Hears what the run streams, without secrets. */
  readonly #onLive: ((event: AgentRunEvent) => void) | undefined;
  readonly #live: LiveStep | undefined;
  /** Stops the run when the log cannot be told any more what it does. */
  readonly #cut = new AbortController();
  /** Why the attempt does not go on with the backend's own session, though there is one. */
  #anew: string | undefined;
  /** What is left to be read where some of it is left out, once the run has asked for that. */
  #shrunk: ReturnType<typeof shrunkMessages>;
  /** What kept a decision from being stored: that is no failure of the model. */
  #trouble: { readonly error: unknown } | undefined;

  constructor(options: ModelStepOptions) {
    this.#options = options;
    const { ports, step, journal, agent, remaining, gate, signal } = options;
    const { clock, prices, onListenerError } = ports;
    this.#spanId = step.params.runId;
    this.#budget = new AttemptBudget({ step, remaining, prices });
    this.#live = ports.live?.step(journal.identity.sessionId, () => journal.state.head);
    this.#onLive = redactedListener(agent.environment?.secrets, bothOf(options.options.onRunEvent, this.#live));
    this.#calls = new BackendCalls({
      ...{ journal, gate, signal, clock },
      spanId: this.#spanId,
      tools: [...ports.tools, ...agent.tools.values()],
      workspaceDirectory: agent.workspaceDirectory,
      newCallId: () => this.#newCallId(),
      onTrouble: (error) => this.#cut.abort(error),
    });
    this.#messages = new LiveMessages({
      journal,
      textOf: (seq) => this.#textOf(seq),
      known: step.consumed,
      runId: this.#spanId,
      clock,
      onTrouble: (error) => onListenerError(error, 'listener'),
    });
  }

  async take(): Promise<TakenStep> {
    const { journal } = this.#options;
    const run = await this.#run().finally(() => this.#live?.end());
    if (this.#trouble !== undefined) throw this.#trouble.error;
    await this.#calls.settle();
    // No model could be asked: there is a step all the same, and it failed.
    if (!this.#hasSpan) await journal.append([this.#spanDraft(undefined)]);
    try {
      return await this.#finish(run, { onlyAtHead: true });
    } catch (error) {
      if (!isOvertaken(error)) throw error;
    }
    await journal.refresh();
    return this.#finish(run, {});
  }

  /** Stores what came of the run, by what the log is known to say: whether a client has interrupted it is in there. */
  async #finish(run: FinishedRun, options: { readonly onlyAtHead?: boolean }): Promise<TakenStep> {
    const { step } = this.#options;
    const { result, usage, modelSteps, streamedText } = run;
    const error = withToolShare(result.meta?.error, this.#options.agent);
    const wasInterrupted = this.#options.wasInterrupted();
    const consumed = [...step.consumed, ...this.#messages.taken];
    const finished = stepEvents({
      spanId: this.#spanId,
      payloads: unsaidPayloads(result.payloads, this.#calls.said),
      usage,
      error,
      modelSteps,
      consumed,
      newCallId: () => this.#newCallId(),
      wasInterrupted,
      streamedText,
      bound: this.#bound(run),
    });
    const { calls, refusals } = withoutSecrets(finished.calls, this.#options.agent.environment?.secrets);
    await this.#options.journal.append([...finished.drafts, ...refusals], options);
    return { calls, text: finished.text, error, attempts: result.meta?.attempts ?? [], wasInterrupted };
  }

  /** Without dashes: 40 characters are the most that every provider takes. */
  #newCallId(): string {
    return `call_${this.#options.ports.ids.next().replaceAll('-', '')}`;
  }

  async #run(): Promise<FinishedRun> {
    const { ports, options, agent, step, signal, parent, permissionsBind } = this.#options;
    const { provider: _provider, model: _model, ...request } = step.params;
    const release = forwardAbort(this.#cut, signal);
    try {
      return await runModel({
        ports,
        request: { ...request, permissionsBind, requestPermission: (asked) => this.#permission(asked) },
        models: modelsOf(agent.definition),
        signal: this.#cut.signal,
        force: options.force,
        parent,
        usageOf: (attempt) => this.#budget.usageOf(attempt),
        outputBound: (candidate, used) => this.#budget.outputBound(candidate, used),
        costBound: (used) => this.#budget.costBound(used),
        onRunEvent: (event) => this.#hear(event),
        onDecision: (decision) => this.#stored(() => this.#decided(decision)),
        compact: async () => this.#compact(),
        resumption: (candidate, runtime, anew) => this.#resumption(candidate, runtime, anew),
      });
    } finally {
      release();
      await this.#messages.close();
    }
  }

  /** What would run is not what the log says of it. */
  async #permission(asked: RunPermissionRequest): Promise<RunPermissionAnswer> {
    const secrets = this.#options.agent.environment?.secrets;
    return secrets !== undefined && holdsSecret(secrets, asked)
      ? { decision: 'deny', message: SECRET_IN_INPUT }
      : this.#calls.requestPermission(asked);
  }

  async #textOf(seq: number): Promise<string | undefined> {
    const { ports, journal } = this.#options;
    const [event] = await ports.store.read(journal.identity.sessionId, { from: seq, limit: 1 });
    return event?.type === 'user.message' && event.data.attachments === undefined ? event.data.text : undefined;
  }

  #compact(): readonly ProviderMessage[] | undefined {
    this.#shrunk = shrunkMessages(this.#options.step);
    return this.#shrunk?.messages;
  }

  #reduced(): SessionEventDraft[] {
    if (this.#shrunk === undefined) return [];
    const { omittedMessages, shortenedMessages, tokens } = this.#shrunk;
    return [
      {
        type: 'run.context_reduced',
        data: { spanId: this.#spanId, contextTokens: tokens, omittedMessages, shortenedMessages },
      },
    ];
  }

  async #stored(store: () => Promise<void>): Promise<void> {
    try {
      await store();
    } catch (error) {
      this.#trouble ??= { error };
      throw error;
    }
  }

  #hear(event: AgentRunEvent): void {
    if (this.#runsTools) this.#calls.take(this.#logged(event));
    if (event.stream === 'assistant' || event.stream === 'tool') this.#messages.heard();
    this.#onLive?.(event);
  }

  /** What a tool has put out is cut before it is logged, and half a secret cannot be recognized. */
  #logged(event: AgentRunEvent): AgentRunEvent {
    const secrets = this.#options.agent.environment?.secrets;
    return event.stream === 'tool' && secrets !== undefined ? secrets.json(event) : event;
  }

  /** Stored before the run acts on it. */
  async #decided(decision: RunDecisionRecord): Promise<void> {
    const { journal } = this.#options;
    switch (decision.type) {
      case 'selected': {
        this.#runsTools = decision.backend.runs === 'turn';
        const intake = this.#intakeOf(decision.backend, decision.candidate.provider);
        this.#messages.serve(intake === 'running' ? decision.backend : undefined);
        if (!this.#hasSpan) return journal.append([this.#spanDraft(decision)]);
        const { attempt, candidate, backend, because, skipped } = decision;
        return journal.append([
          {
            type: 'run.candidate_selected',
            data: {
              spanId: this.#spanId,
              attempt,
              candidate,
              backend: backend.id,
              because,
              ...(intake === 'next_step' ? {} : { intake }),
              ...(skipped.length === 0 ? {} : { skipped: [...skipped] }),
            },
          },
        ]);
      }
      case 'failed': {
        const { attempt, candidate, error, next, because, waitMs } = decision;
        // The last word on a step that fails is its end.
        if (next === 'give_up' && attempt === 1) return;
        const data = {
          spanId: this.#spanId,
          attempt,
          candidate,
          error,
          next,
          because,
          ...(waitMs === undefined ? {} : { waitMs }),
        };
        return journal.append([{ type: 'run.attempt_failed', data }, ...(next === 'compact' ? this.#reduced() : [])]);
      }
      case 'waiting': {
        const { because, waitMs, skipped } = decision;
        if (!this.#hasSpan) await journal.append([this.#spanDraft(undefined)]);
        return journal.append([
          { type: 'run.waiting', data: { spanId: this.#spanId, because, waitMs, skipped: [...skipped] } },
        ]);
      }
    }
  }

  #spanDraft(selected: Extract<RunDecisionRecord, { readonly type: 'selected' }> | undefined): SessionEventDraft {
    const { step, agent } = this.#options;
    const { params, context } = step;
    const { provider, model, profile } = selected?.candidate ?? { ...params, profile: undefined };
    const reserved = this.#budget.reserve({ provider, model });
    const intake = this.#intakeOf(selected?.backend ?? agent.runtime, provider);
    const isChoice =
      selected !== undefined &&
      (profile !== undefined || selected.skipped.length > 0 || modelsOf(agent.definition).length > 1);
    return {
      type: 'span.started',
      data: {
        spanId: this.#spanId,
        kind: 'model_step',
        backend: (selected?.backend ?? agent.runtime).id,
        provider,
        model,
        step: params.modelStepsTaken + 1,
        contextTokens: inputTokensOf(context),
        ...(profile === undefined ? {} : { profile }),
        ...(isChoice ? { because: selected.because } : {}),
        ...(selected === undefined || selected.skipped.length === 0 ? {} : { skipped: [...selected.skipped] }),
        ...(intake === 'next_step' ? {} : { intake }),
        ...(context.omittedMessages === 0 ? {} : { omittedMessages: context.omittedMessages }),
        ...(context.shortenedMessages === 0 ? {} : { shortenedMessages: context.shortenedMessages }),
        ...(reserved === undefined ? {} : { reserved }),
      },
    };
  }

  /** Whether the log says that the step has begun. */
  get #hasSpan(): boolean {
    return this.#options.journal.state.openSpanId === this.#spanId;
  }

  #intakeOf(runtime: AgentRuntime, provider: string): MessageIntake {
    return intakeOf(runtime, provider, this.#options.ports.runConfig);
  }

  /** The session that this backend has for the conversation, if it has seen all of it but what came in since. */
  #resumption(candidate: Candidate, runtime: AgentRuntime, anew: string | undefined): RunResumption | undefined {
    const { backendSession } = this.#options.journal.state;
    this.#anew = backendSession === undefined ? undefined : (whyNotHis(backendSession, candidate, runtime) ?? anew);
    if (backendSession === undefined || this.#anew !== undefined) return undefined;
    const { messages = [] } = this.#options.step.params;
    return {
      sessionId: backendSession.sessionId,
      generation: backendSession.generation,
      newMessages: saidSince(messages),
    };
  }

  #bound({
    result,
    candidate,
    runtime,
  }: FinishedRun): Extract<SessionEventDraft, { readonly type: 'backend.session_bound' }> | undefined {
    const { sessionId, reseeded } = result.meta ?? {};
    // One that the log does not take is not worth a turn that has been paid for.
    if (!isBackendSessionId(sessionId) || candidate === undefined || runtime === undefined) return undefined;
    const { backendSession } = this.#options.journal.state;
    const { provider, profile } = candidate;
    const goesOn = backendSession !== undefined && this.#anew === undefined && reseeded === undefined;
    const because = goesOn ? undefined : (reseeded ?? this.#anew);
    const generation = (backendSession?.generation ?? 0) + (goesOn ? 0 : 1);
    return {
      type: 'backend.session_bound',
      data: {
        spanId: this.#spanId,
        backend: runtime.id,
        provider,
        sessionId,
        generation,
        ...(profile === undefined ? {} : { profile }),
        ...(because === undefined ? {} : { reseeded: reasonForNewSession(because) }),
      },
    };
  }
}

function bothOf(
  listener: ((event: AgentRunEvent) => void) | undefined,
  live: LiveStep | undefined,
): ((event: AgentRunEvent) => void) | undefined {
  if (live === undefined) return listener;
  return (event) => {
    live.hear(event);
    listener?.(event);
  };
}

/** A provider that finds the context full does not say that the tools fill it. */
function withToolShare(error: RunFailure | undefined, agent: PreparedAgent): RunFailure | undefined {
  const words = error?.kind === 'context_overflow' ? toolShare(agent) : undefined;
  return error === undefined || words === undefined
    ? error
    : { ...error, message: `${error.message} (${words}. ${NAME_THE_TOOLS})` };
}

/** Why this candidate cannot go on with the session; undefined when it can. */
function whyNotHis(
  { backend, provider, profile, isCurrent }: NonNullable<SessionState['backendSession']>,
  candidate: Candidate,
  runtime: AgentRuntime,
): string | undefined {
  if (backend !== runtime.id || provider !== candidate.provider)
    return `The session before was one of ${provider} (${backend}).`;
  if (profile !== candidate.profile) return 'The session before belongs to another account.';
  return isCurrent
    ? undefined
    : 'The session of the backend had not seen all of the conversation, so a new one was given it.';
}

/** What came in after the last thing that a model said, or a tool. */
function saidSince(messages: readonly ProviderMessage[]): readonly ProviderMessage[] {
  const last = messages.findLastIndex(({ role }) => role !== 'user');
  return messages.slice(last + 1);
}
