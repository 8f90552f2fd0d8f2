/**
 * The work of one wake, part by part, as the wake chart asks for it. Between the parts everything that matters is in the log: another
 * process could go on from there.
 */
import type { AnyActorRef } from 'xstate';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { ErrorRecord } from '../../machines/errors.ts';
import { adviceFor } from '../../machines/run/run-failure.ts';
import type { RunFailure } from '../../machines/run/run-failure.ts';
import { DEFAULT_MAX_MODEL_STEPS_PER_WAKE } from '../../machines/session/limits.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import { refusalError, terminated } from '../../machines/session/session-rules.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { stepEvents } from '../../machines/turn/step-events.ts';
import type { ToolCallInput } from '../../machines/turn/tool-call-machine.ts';
import { TranscriptBuilder } from '../../machines/turn/transcript.ts';
import { commitEvents } from '../../machines/wake/wake-commit.ts';
import { decideNext, dueWakeIds, hasWork } from '../../machines/wake/wake-decision.ts';
import type { WakeEnd } from '../../machines/wake/wake-decision.ts';
import type { ClaimAnswer, CommitAnswer, FoldAnswer, StepAnswer } from '../../machines/wake/wake-machine.ts';
import type { WakeOutcome } from '../../machines/wake/wake-outcome.ts';
import { lostWakeEvents } from '../../machines/wake/wake-repair.ts';
import { isoTimeOf } from '../clock/iso-time.ts';
import type { AgentRunResult } from '../run/agent-runtime.ts';
import { startAgentRun } from '../run/start-agent-run.ts';
import { keepView } from '../session/event-store.ts';
import type { SessionIdentity, WakeRight } from '../session/event-store.ts';
import { SessionJournal } from '../session/session-journal.ts';
import { settledOrStopped } from '../turn/settled-or-stopped.ts';
import { assembleStep, prepareAgent } from './wake-context.ts';
import type { AssembledStep, PreparedAgent } from './wake-context.ts';
import { endSurvivors } from './end-survivors.ts';
import type { WakeOptions, WakePorts } from './wake-ports.ts';

export class WakeWork {
  readonly #ports: WakePorts;
  readonly #options: WakeOptions;
  readonly #wakeId: string;
  readonly #journal: SessionJournal;
  readonly #transcript = new TranscriptBuilder();
  readonly #abort = new AbortController();
  #right: WakeRight | undefined;
  #epoch: number | undefined;
  #agent: PreparedAgent | undefined;
  #step: AssembledStep | undefined;
  #calls: readonly ToolCallInput[] = [];
  #modelSteps = 0;
  #mustSpeak = false;
  #lastText: string | undefined;
  #failure: ErrorRecord | undefined;
  #end: WakeEnd | undefined;
  #summary = '';
  /** The error that the log cannot tell about. */
  error: unknown;

  constructor(identity: SessionIdentity, wakeId: string, ports: WakePorts, options: WakeOptions) {
    this.#wakeId = wakeId;
    this.#ports = ports;
    this.#options = options;
    this.#journal = new SessionJournal(identity, ports, (event) => this.#transcript.ingest(event));
  }

  /** Cuts the work in hand short. The first reason stays. */
  interrupt(reason: string): void {
    this.#abort.abort(reason);
  }

  /** Gets the right to write and says so in the log, with an end for whatever a dead wake left open. */
  async claim(): Promise<ClaimAnswer> {
    const { sessionId } = this.#journal.identity;
    this.#right = await this.#ports.store.acquireWakeRight(sessionId);
    let state = await this.#journal.refresh();
    let survivors: string | undefined;
    if (isStale(state)) {
      survivors = await this.#endSurvivors();
      // That takes its time, and the session may have been terminated meanwhile.
      state = await this.#journal.refresh();
    }
    if (state.status === 'terminated') throw refusalError(sessionId, 'wake.started', terminated(state));
    const now = this.#now();
    if (this.#abort.signal.aborted || (!isStale(state) && !hasWork(state, now))) return 'nothing_to_do';
    const due = dueWakeIds(state, now);
    const epoch = state.epoch + 1;
    await this.#journal.append(
      [
        ...lostWakeEvents(state, survivors),
        { type: 'wake.started', data: { wakeId: this.#wakeId, epoch, owner: this.#ports.owner, queuedWakeIds: due } },
        { type: 'session.status_changed', data: { to: 'running' } },
      ],
      { epoch },
    );
    this.#epoch = epoch;
    this.#mustSpeak = due.length > 0 || state.openToolCalls.length > 0;
    return 'claimed';
  }

  /** Reads what came since and decides. A message that arrived meanwhile is seen here, before the wake can end. */
  async fold(): Promise<FoldAnswer> {
    const state = await this.#journal.refresh();
    const decision = decideNext(state, {
      modelSteps: this.#modelSteps,
      maxModelSteps: this.#agent?.definition.budget.maxModelStepsPerWake ?? DEFAULT_MAX_MODEL_STEPS_PER_WAKE,
      mustSpeak: this.#mustSpeak,
      failure: this.#failure,
      abortReason: this.#abort.signal.aborted ? messageOf(this.#abort.signal.reason) : undefined,
    });
    if (decision.act === 'step') return 'step';
    this.#end = decision.end;
    return 'end';
  }

  async assemble(): Promise<void> {
    this.#agent ??= await this.#prepareAgent();
    this.#step = assembleStep({
      agent: this.#agent,
      state: this.#journal.state,
      messages: this.#transcript.messages(),
      runId: this.#ports.ids.next(),
      runConfig: this.#ports.runConfig,
    });
  }

  /** One model call: its span is stored before, what came of it after, all at once. */
  async step(): Promise<StepAnswer> {
    const { params, runtime, consumed } = this.#assembled();
    const spanId = params.runId;
    const { provider, model, modelStepsTaken } = params;
    await this.#append([{ type: 'span.started', data: { spanId, kind: 'model_step', backend: runtime.id, provider, model, step: modelStepsTaken + 1 } }]);
    const { signal } = this.#abort;
    const { onRunEvent } = this.#options;
    const run = startAgentRun(runtime, { ...params, abortSignal: signal, ...(onRunEvent === undefined ? {} : { onEvent: onRunEvent }) }, this.#ports);
    const { payloads, usage, meta = {} } = await settledOrStopped(run.result, { signal, clock: this.#ports.clock, givenUp: () => givenUpRun(signal) });
    const modelSteps = meta.modelSteps ?? (meta.error === undefined ? 1 : 0);
    const finished = stepEvents({ spanId, payloads, usage, error: meta.error, modelSteps, consumed, newCallId: () => `call_${this.#ports.ids.next()}` });
    await this.#append(finished.drafts);
    this.#modelSteps += 1;
    this.#calls = finished.calls;
    if (finished.text !== '') this.#lastText = finished.text;
    if (meta.error === undefined) this.#mustSpeak = false;
    else if (!signal.aborted) this.#failure = failureRecord(meta.error);
    return finished.calls.length > 0 ? 'call_tools' : 'fold';
  }

  async callTools(parent: AnyActorRef): Promise<void> {
    const agent = await this.#prepareAgent();
    await this.#ports.executor.runStep({
      calls: this.#calls,
      tools: agent.tools,
      context: { session: this.#journal.identity, workspaceDirectory: agent.workspaceDirectory, signal: this.#abort.signal },
      parent,
      onResult: ({ callId, name }, { outcome, output }) => this.#append([{ type: 'agent.tool_result', data: { callId, name, outcome, output } }]),
    });
  }

  /** Stores how the wake ended, unless somebody appended since the fold: that has to be seen first. */
  async commit(): Promise<CommitAnswer> {
    if (this.#end === undefined) throw new RuntimeError('WAKE_UNDECIDED', 'the wake was to be committed before it was decided', { category: 'crash' });
    try {
      await this.#appendEnd(this.#end, { onlyAtHead: true });
      return 'committed';
    } catch (error) {
      if (RuntimeError.is(error) && error.code === 'HEAD_MOVED') return 'moved';
      throw error;
    }
  }

  /** Ends the wake with the error that broke it. @throws when that cannot be stored either */
  async recordFailure(): Promise<void> {
    const state = await this.#journal.refresh();
    // Somebody else goes on from here, or the end is stored already.
    if (state.openWake?.wakeId !== this.#wakeId) throw this.error;
    this.#end = { outcome: 'failed', error: recordOf(this.error) };
    await this.#appendEnd(this.#end, { onlyAtHead: false });
  }

  /** Gives everything back. What is left to do afterwards is nobody's claim. */
  async release(): Promise<void> {
    if (this.#epoch !== undefined) await keepView(this.#ports.store, this.#journal.state);
    await this.#right?.release();
  }

  /** What the caller learns, once the wake is over. */
  outcome(): WakeOutcome {
    const { state } = this.#journal;
    const { sessionId, status, stopReason, head } = state;
    const where = { sessionId, status, ...(stopReason === undefined ? {} : { stopReason }), head, modelSteps: this.#modelSteps };
    const end = this.#end;
    if (this.#epoch !== undefined && end !== undefined) {
      const error = end.outcome === 'failed' ? { error: end.error } : {};
      return { ...where, outcome: end.outcome, wakeId: this.#wakeId, epoch: this.#epoch, summary: this.#summary, ...error };
    }
    const { signal } = this.#abort;
    if (signal.aborted) return { ...where, outcome: 'aborted', summary: `The wake was stopped before it began: ${messageOf(signal.reason)}.` };
    return { ...where, outcome: 'nothing_to_do', summary: 'Nothing is unread and nothing is due.' };
  }

  /** What of the dead process could not be ended, if anything. */
  async #endSurvivors(): Promise<string | undefined> {
    const { reconcile, clock, onListenerError } = this.#ports;
    try {
      await endSurvivors({ reconcile, clock, signal: this.#abort.signal });
      return undefined;
    } catch (error) {
      onListenerError(error, 'listener');
      return messageOf(error);
    }
  }

  async #appendEnd(end: WakeEnd, { onlyAtHead }: { readonly onlyAtHead: boolean }): Promise<void> {
    const { state } = this.#journal;
    const { openWake } = state;
    if (openWake?.wakeId !== this.#wakeId) throw new RuntimeError('WAKE_SUPERSEDED', `wake ${this.#wakeId} was superseded by another`, { category: 'conflict', hint: 'Leave the session to the other wake.' });
    const drafts = commitEvents({
      state,
      wake: openWake,
      end,
      modelSteps: this.#modelSteps,
      lastText: this.#lastText,
      nowMs: this.#ports.clock.now(),
      newId: () => this.#ports.ids.next(),
    });
    await this.#append(drafts, onlyAtHead);
    this.#summary = drafts.flatMap((draft) => (draft.type === 'wake.ended' ? [draft.data.summary] : [])).join('');
  }

  /** The agent is read once per wake: a file that is edited meanwhile counts from the next one on. */
  async #prepareAgent(): Promise<PreparedAgent> {
    if (this.#agent !== undefined) return this.#agent;
    const agent = await prepareAgent(this.#journal.identity, this.#ports);
    const skipped = agent.unavailableTools.map((name): SessionEventDraft => ({ type: 'tool.skipped', data: { name, reason: 'no tool of this name is available' } }));
    if (skipped.length > 0) await this.#append(skipped);
    return agent;
  }

  async #append(drafts: readonly SessionEventDraft[], onlyAtHead = false): Promise<void> {
    await this.#journal.append(drafts, { epoch: this.#epoch, onlyAtHead });
  }

  #assembled(): AssembledStep {
    if (this.#step !== undefined) return this.#step;
    throw new RuntimeError('WAKE_NOT_ASSEMBLED', 'a step was to run before it was assembled', { category: 'crash' });
  }

  #now(): string {
    return isoTimeOf(this.#ports.clock.now());
  }
}

/** A log that still says `running` belongs to a wake that died: it is put right even when nothing else is to do. */
function isStale({ openWake, openSpanId, status }: SessionState): boolean {
  return openWake !== undefined || openSpanId !== undefined || status === 'running';
}

function givenUpRun({ reason }: AbortSignal): AgentRunResult {
  return { payloads: [], meta: { error: { kind: 'aborted', message: `${messageOf(reason)} (the backend did not stop in time)` }, modelSteps: 0 } };
}

function failureRecord({ kind, message, retryAfterMs }: RunFailure): ErrorRecord {
  const wait = retryAfterMs === undefined ? '' : ` The provider asks to wait ${Math.ceil(retryAfterMs / 1000)} seconds.`;
  return {
    name: 'RuntimeError',
    code: 'RUN_FAILED',
    category: 'provider',
    message: `the model step failed (${kind}): ${message}`,
    recoverable: true,
    hint: `${adviceFor(kind)}${wait}`,
    details: { kind, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
  };
}

function recordOf(error: unknown): ErrorRecord {
  if (RuntimeError.is(error)) return error.toJSON();
  return new RuntimeError('WAKE_CRASHED', `the wake broke: ${messageOf(error)}`, { category: 'crash', hint: 'This is a defect; please report it.' }).toJSON();
}
