/** One model step of a wake: what is decided and done in it is stored as it comes, and what came of it in the end, all at once. */
import type { AnyActorRef } from 'xstate';
import type { Candidate } from '../../machines/run/candidate.ts';
import type { AgentRunEvent } from '../../machines/run/run-output.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { ProviderMessage } from '../../machines/turn/provider-message.ts';
import { stepEvents } from '../../machines/turn/step-events.ts';
import type { StepEvents } from '../../machines/turn/step-events.ts';
import { modelsOf } from '../../machines/agent/agent-definition.ts';
import type { Allowance } from '../../machines/session/event-schemas.ts';
import type { RunFailure } from '../../machines/run/run-failure.ts';
import type { AgentRuntime, MessageIntake, RunResumption } from '../run/agent-runtime.ts';
import type { RunDecisionRecord } from '../run/run-options.ts';
import type { SessionIdentity } from '../session/event-store.ts';
import { BackendCalls } from './backend-calls.ts';
import type { CallGate } from './call-gate.ts';
import { LiveMessages } from './live-messages.ts';
import { intakeOf } from './message-intake.ts';
import { runModel } from './model-run.ts';
import type { FinishedRun } from './model-run.ts';
import { estimatedUsage, reserveOf, tellsTokens } from './wake-budget.ts';
import { inputTokensOf, shrunkMessages } from './wake-context.ts';
import type { AssembledStep, PreparedAgent } from './wake-context.ts';
import type { WakeOptions, WakePorts } from './wake-ports.ts';

export interface ModelStepOptions {
  readonly ports: WakePorts;
  readonly options: WakeOptions;
  readonly identity: SessionIdentity;
  readonly agent: PreparedAgent;
  readonly step: AssembledStep;
  readonly gate: CallGate;
  /** What is left of the budgets. */
  readonly remaining: Allowance;
  readonly state: () => SessionState;
  readonly refresh: () => Promise<SessionState>;
  readonly append: (drafts: readonly SessionEventDraft[]) => Promise<void>;
  readonly signal: AbortSignal;
  /** Whether somebody outside, or a limit of time, has cut the step short. */
  readonly wasInterrupted: () => boolean;
  /** The wake's actor. */
  readonly parent: AnyActorRef | undefined;
}

export interface TakenStep extends Pick<StepEvents, 'calls' | 'text'> {
  readonly error: RunFailure | undefined;
  readonly wasInterrupted: boolean;
}

export class ModelStep {
  readonly #options: ModelStepOptions;
  readonly #spanId: string;
  readonly #calls: BackendCalls;
  readonly #messages: LiveMessages;
  /** Whether whoever runs now runs tools of its own. */
  #runsTools = false;
  #hasSpan = false;
  #hasReserve = false;
  /** What kept a decision from being stored: that is no failure of the model. */
  #trouble: { readonly error: unknown } | undefined;

  constructor(options: ModelStepOptions) {
    this.#options = options;
    const { ports, step, identity, agent } = options;
    this.#spanId = step.params.runId;
    this.#calls = new BackendCalls({
      ...options,
      spanId: this.#spanId,
      tools: ports.tools,
      workspaceDirectory: agent.workspaceDirectory,
      watch: (listener) => ports.store.watch(identity.sessionId, listener),
      newCallId: () => this.#newCallId(),
      clock: ports.clock,
    });
    this.#messages = new LiveMessages({ state: options.state, refresh: options.refresh, textOf: (seq) => this.#textOf(seq), known: step.consumed, runId: this.#spanId, onTrouble: (error) => ports.onListenerError(error, 'listener') });
  }

  async take(): Promise<TakenStep> {
    const { step, ports, refresh, append } = this.#options;
    const run = await this.#run();
    if (this.#trouble !== undefined) throw this.#trouble.error;
    await this.#calls.settle();
    // Nobody could be asked: there is a step all the same, and it failed.
    if (!this.#hasSpan) await append([this.#spanDraft(undefined)]);
    const { result, modelSteps, streamedText } = run;
    const { error } = result.meta ?? {};
    const isCounted = this.#hasReserve && error === undefined && !tellsTokens(run.usage);
    const usage = isCounted ? { ...estimatedUsage(step, result, ports.prices), ...run.usage } : run.usage;
    await refresh();
    const wasInterrupted = this.#options.wasInterrupted();
    const consumed = [...step.consumed, ...this.#messages.taken];
    const finished = stepEvents({ spanId: this.#spanId, payloads: result.payloads, usage, error, modelSteps, consumed, newCallId: () => this.#newCallId(), wasInterrupted, streamedText, bound: this.#bound(run) });
    await append(finished.drafts);
    return { calls: finished.calls, text: finished.text, error, wasInterrupted };
  }

  /** Without dashes: 40 characters are the most that every provider takes. */
  #newCallId(): string {
    return `call_${this.#options.ports.ids.next().replaceAll('-', '')}`;
  }

  async #run(): Promise<FinishedRun> {
    const { ports, options, agent, step, signal, parent } = this.#options;
    const { provider: _provider, model: _model, ...request } = step.params;
    const unwatch = ports.store.watch(this.#options.identity.sessionId, () => this.#messages.look());
    try {
      return await runModel({
        ports,
        request: { ...request, requestPermission: (asked) => this.#calls.requestPermission(asked) },
        models: modelsOf(agent.definition),
        signal,
        force: options.force,
        parent,
        onRunEvent: (event) => this.#hear(event),
        onDecision: (decision) => this.#stored(() => this.#decided(decision)),
        compact: () => this.#compact(),
        resumption: (candidate, runtime) => this.#resumption(candidate, runtime),
      });
    } finally {
      unwatch();
      await this.#messages.close();
    }
  }

  async #textOf(seq: number): Promise<string | undefined> {
    const { ports, identity } = this.#options;
    const [event] = await ports.store.read(identity.sessionId, { from: seq, limit: 1 });
    return event?.type === 'user.message' && event.data.attachments === undefined ? event.data.text : undefined;
  }

  async #compact(): Promise<readonly ProviderMessage[] | undefined> {
    const shrunk = shrunkMessages(this.#options.step);
    if (shrunk === undefined) return undefined;
    const { messages, omittedMessages, shortenedMessages, tokens } = shrunk;
    await this.#stored(() => this.#options.append([{ type: 'run.context_reduced', data: { spanId: this.#spanId, contextTokens: tokens, omittedMessages, shortenedMessages } }]));
    return messages;
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
    if (this.#runsTools) this.#calls.take(event);
    this.#options.options.onRunEvent?.(event);
  }

  /** Stored before the run acts on it. */
  async #decided(decision: RunDecisionRecord): Promise<void> {
    const { append } = this.#options;
    switch (decision.type) {
      case 'selected': {
        this.#runsTools = decision.backend.runs === 'turn';
        this.#messages.serve(this.#intakeOf(decision.backend, decision.candidate.provider) === 'running' ? decision.backend : undefined);
        if (!this.#hasSpan) return append([this.#spanDraft(decision)]);
        const { attempt, candidate, backend, because, skipped } = decision;
        return append([{ type: 'run.candidate_selected', data: { spanId: this.#spanId, attempt, candidate, backend: backend.id, because, ...(skipped.length === 0 ? {} : { skipped: [...skipped] }) } }]);
      }
      case 'failed': {
        const { attempt, candidate, error, next, because, waitMs } = decision;
        // The last word on a step that fails is its end.
        if (next === 'give_up' && attempt === 1) return;
        return append([{ type: 'run.attempt_failed', data: { spanId: this.#spanId, attempt, candidate, error, next, because, ...(waitMs === undefined ? {} : { waitMs }) } }]);
      }
      case 'waiting': {
        const { because, waitMs, skipped } = decision;
        if (!this.#hasSpan) await append([this.#spanDraft(undefined)]);
        return append([{ type: 'run.waiting', data: { spanId: this.#spanId, because, waitMs, skipped: [...skipped] } }]);
      }
    }
  }

  #spanDraft(selected: Extract<RunDecisionRecord, { readonly type: 'selected' }> | undefined): SessionEventDraft {
    const { step, remaining, ports, agent } = this.#options;
    const { params, context } = step;
    const reserved = reserveOf(step, remaining, ports.prices);
    this.#hasSpan = true;
    this.#hasReserve = reserved !== undefined;
    const { provider, model, profile } = selected?.candidate ?? { ...params, profile: undefined };
    const intake = this.#intakeOf(selected?.backend ?? agent.runtime, provider);
    const isChoice = selected !== undefined && (profile !== undefined || selected.skipped.length > 0 || modelsOf(agent.definition).length > 1);
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

  #intakeOf(runtime: AgentRuntime, provider: string): MessageIntake {
    return intakeOf(runtime, provider, this.#options.ports.runConfig);
  }

  /** The session that this backend has for the conversation, if it has seen all of it but what came in since. */
  #resumption({ provider, profile }: Candidate, runtime: AgentRuntime): RunResumption | undefined {
    const { backendSession } = this.#options.state();
    if (backendSession === undefined || !backendSession.isCurrent) return undefined;
    if (backendSession.backend !== runtime.id || backendSession.provider !== provider || backendSession.profile !== profile) return undefined;
    const { messages = [] } = this.#options.step.params;
    return { sessionId: backendSession.sessionId, generation: backendSession.generation, newMessages: saidSince(messages) };
  }

  #bound({ result, candidate, runtime }: FinishedRun): Extract<SessionEventDraft, { readonly type: 'backend.session_bound' }> | undefined {
    const { sessionId, reseeded } = result.meta ?? {};
    if (sessionId === undefined || candidate === undefined || runtime === undefined) return undefined;
    const { backendSession } = this.#options.state();
    const { provider, profile } = candidate;
    const goesOn = backendSession?.isCurrent === true && backendSession.backend === runtime.id && backendSession.provider === provider && reseeded === undefined;
    const because = reseeded ?? (backendSession === undefined || goesOn ? undefined : 'The session of the backend had not seen all of the conversation, so a new one was given it.');
    const generation = goesOn ? backendSession.generation : (backendSession?.generation ?? 0) + 1;
    return { type: 'backend.session_bound', data: { spanId: this.#spanId, backend: runtime.id, provider, sessionId, generation, ...(profile === undefined ? {} : { profile }), ...(because === undefined ? {} : { reseeded: because }) } };
  }
}

/** What came in after the last thing that a model said, or a tool. */
function saidSince(messages: readonly ProviderMessage[]): readonly ProviderMessage[] {
  const last = messages.findLastIndex(({ role }) => role !== 'user');
  return messages.slice(last + 1);
}
