/**
 * The parts of one wake's work, as the wake chart asks for them. What one part makes and another takes is the chart's;
 * what is kept here is what they work with. Between the parts everything that matters is in the log: another process
 * could go on from there.
 */
import type { AnyActorRef } from 'xstate';
import { modelsOf } from '../../machines/agent/agent-definition.ts';
import type { AgentDefinition } from '../../machines/agent/agent-definition.ts';
import { messageOf } from '../../machines/errors.ts';
import { humansOf } from '../../machines/permission/handed-down.ts';
import { DEFAULT_MAX_AUTONOMOUS_WAKES } from '../../machines/session/limits.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { TranscriptBuilder } from '../../machines/turn/transcript.ts';
import { ProgressMeter } from '../../machines/wake/progress-meter.ts';
import { commitEvents } from '../../machines/wake/wake-commit.ts';
import { decideNext, readableIngress } from '../../machines/wake/wake-decision.ts';
import type { WakeCourse, WakeDecision, WakeEnd, WakeLimits } from '../../machines/wake/wake-decision.ts';
import type {
  CallsInput,
  ClaimAnswer,
  CommitAnswer,
  CommitInput,
  FailureInput,
  FoldAnswer,
  FoldInput,
  RecordedEnd,
  ReleaseInput,
  StepAnswer,
  StepInput,
  WakeOutput,
} from '../../machines/wake/wake-machine.ts';
import type { WakeOutcome } from '../../machines/wake/wake-outcome.ts';
import { isoTimeOf } from '../clock/iso-time.ts';
import { ParentBounds, withEnvironmentsAbove } from '../session/parent-bounds.ts';
import type { JournalAppendOptions } from '../session/session-journal.ts';
import { NO_SECRETS } from '../environment/session-secrets.ts';
import type { HookedWake, PreparedAgent } from '../turn/tool.ts';
import { loadAgent } from '../turn/agent-tools.ts';
import { CallGate } from './call-gate.ts';
import { Subflows } from './subflows.ts';
import { compactIfFull } from './wake-compaction.ts';
import { needOf, remainingOf, wakeLimits } from './wake-budget.ts';
import { WakeClaim } from './wake-claim.ts';
import { WakeHooks } from './wake-hooks.ts';
import { assembleStep, maxContextTokens, prepareAgent, withCurrentTools } from './wake-context.ts';
import type { AssembledStep } from './wake-context.ts';
import { runModel } from './model-run.ts';
import { ModelStep } from './model-step.ts';
import { requireAskingBackends, requireConfinedBackends } from './unasking-backends.ts';
import { KnownEvents, WakeConversation } from './wake-conversation.ts';
import { WakeWorkspaceCopy, hasMovingWorkspace } from './wake-workspace-copy.ts';
import { WakeJournal } from './wake-journal.ts';
import { WakeTime } from './wake-time.ts';
import {
  enteredEnvironment,
  failureRecord,
  isOvertaken,
  outcomeOfUnbegun,
  recordOf,
  superseded,
} from './wake-facts.ts';
import { runReadyCalls } from './wake-tools.ts';
import type { WakeOptions, WakePorts } from './wake-ports.ts';

/** How often the end of a wake that broke may be overtaken before it is appended wherever the log is. */
const MAX_END_ATTEMPTS = 32;

/** What a model is to be asked, and what that may use up. */
export type WakeModelStep = AssembledStep & { readonly need: WakeCourse['nextStep'] };

export class WakeWork {
  readonly #ports: WakePorts;
  readonly #options: WakeOptions;
  readonly #wakeId: string;
  readonly #abort = new AbortController();
  /** Follows the log while the wake runs: an interruption or a termination cuts the work in hand short. */
  #unwatch: (() => void) | undefined;
  readonly #journal: WakeJournal;
  readonly #conversation: WakeConversation;
  readonly #time: WakeTime;
  readonly #meter = new ProgressMeter();
  readonly #subflows: Subflows;
  readonly #hooks: WakeHooks;
  readonly #workspaceCopy: WakeWorkspaceCopy;
  /** Read once for a wake: a file that is edited meanwhile counts from the next one on. */
  #reading: Promise<AgentDefinition> | undefined;
  /** Whether its backends have to be told that permissions bind them. */
  #permissionsBind = false;
  #agent: PreparedAgent | undefined;
  #gate: CallGate | undefined;

  /** @param state of the session, as it was checked for this wake */
  constructor(state: SessionState, wakeId: string, ports: WakePorts, options: WakeOptions) {
    this.#wakeId = wakeId;
    this.#ports = ports;
    this.#options = options;
    this.#time = new WakeTime(ports.clock);
    this.#conversation = new WakeConversation(new KnownEvents(ports.store, options.opening?.events));
    this.#journal = new WakeJournal(ports, { wakeId, state, onEvent: (event) => this.#hear(event) });
    this.#hooks = new WakeHooks(ports);
    this.#workspaceCopy = new WakeWorkspaceCopy(ports.workspaceCopies);
    this.#subflows = new Subflows({ ...ports, newId: () => ports.ids.next() });
  }

  /** Cuts the work in hand short. The first reason stays. */
  interrupt(reason: unknown): void {
    this.#abort.abort(reason);
  }

  /** Gets the right to write and says so in the log, with an end for whatever a dead wake left open. */
  async claim(parent: AnyActorRef): Promise<ClaimAnswer> {
    const [ports, options, journal, workspaceCopy] = [this.#ports, this.#options, this.#journal, this.#workspaceCopy];
    const claim = new WakeClaim({
      wakeId: this.#wakeId,
      ports,
      options,
      journal,
      workspaceCopy,
      readAgent: () => this.#definition(),
      definition: async () =>
        this.#definition().then(
          (definition) => ports.marks.of(definition),
          () => undefined,
        ),
      signal: this.#abort.signal,
      interrupt: (reason) => this.interrupt(reason),
    });
    const answer = await claim.take(parent);
    if (answer.next === 'claimed') {
      this.#time.begin();
      this.#unwatch = journal.watch((head) => void this.#notice(head));
    }
    return answer;
  }

  /** Reads what came since and decides. A message that arrived meanwhile is seen here, before the wake can end. */
  async fold({ course }: FoldInput): Promise<FoldAnswer> {
    const state = await this.#journal.caughtUp();
    const decision = this.#decide(state, course);
    return decision.act === 'end'
      ? { next: 'end', decided: { end: decision.end, head: state.head } }
      : { next: decision.act };
  }

  async assemble(): Promise<WakeModelStep> {
    const journal = this.#journal;
    // What servers of tools have announced meanwhile counts from this step on.
    const { agent, skipped } = await withCurrentTools(
      await this.#prepareAgent(),
      journal.state,
      this.#ports,
      this.#abort.signal,
    );
    this.#agent = agent;
    if (skipped.length > 0) await journal.append(skipped.map((data) => ({ type: 'tool.skipped', data })));
    const transcript = await this.#conversation.load({
      kept: this.#ports.conversations,
      state: () => journal.state,
      maxTokens: maxContextTokens(agent.definition),
    });
    const consumed = readableIngress(journal.state).map(({ eventId }) => eventId);
    await this.#compact(agent, transcript, consumed);
    const { state } = journal;
    const step = assembleStep({
      ...{ agent, state },
      messages: transcript.messages(consumed),
      consumed,
      runId: this.#ports.ids.next(),
      runConfig: this.#ports.runConfig,
      remaining: remainingOf(this.#limits(), state),
      prices: this.#ports.prices,
    });
    await this.#hooks.beforeStep(this.#hookedWake(agent, step));
    return { ...step, need: needOf(step, this.#ports.prices) };
  }

  async #compact(agent: PreparedAgent, transcript: TranscriptBuilder, consumed: readonly string[]): Promise<void> {
    if (this.#abort.signal.aborted) return;
    await compactIfFull({
      agent,
      transcript,
      consumed,
      journal: this.#journal,
      runId: this.#ports.ids.next(),
      runConfig: this.#ports.runConfig,
      remaining: remainingOf(this.#limits(), this.#journal.state),
      run: (request) =>
        runModel({
          ports: this.#ports,
          request,
          models: modelsOf(agent.definition),
          signal: this.#abort.signal,
          force: this.#options.force,
          parent: undefined,
        }),
    });
  }

  /** One model step: what is decided in it is stored before it is done, what came of it after, all at once. */
  async step({ course, step }: StepInput<WakeModelStep>, parent: AnyActorRef): Promise<StepAnswer> {
    // What came in with an interruption is for the next wake: this one must not read it and be cut short over it.
    // And only now is it known how much the step would use up.
    if (this.#isCutShort() || this.#decide(this.#journal.state, course).act === 'end')
      return { next: 'fold', course, calls: [] };
    const agent = await this.#prepareAgent();
    const { calls, text, error, attempts, wasInterrupted } = await new ModelStep({
      ports: this.#ports,
      options: this.#options,
      agent,
      step,
      gate: this.#gateOf(agent),
      journal: this.#journal,
      remaining: remainingOf(this.#limits(), this.#journal.state),
      signal: this.#abort.signal,
      // A caller that sets a limit of time, or interrupts, does not want the same answered again.
      permissionsBind: this.#permissionsBind,
      wasInterrupted: () =>
        this.#isCutShort() && (this.#time.isUp || this.#journal.state.openWake?.interruption !== undefined),
      parent,
    }).take();
    const { failure, lastText, mustSpeak } = course;
    const taken: WakeCourse = {
      ...course,
      modelSteps: course.modelSteps + 1,
      nextStep: {},
      lastText: text === '' ? lastText : text,
      mustSpeak: error === undefined ? false : mustSpeak,
      failure: error !== undefined && !this.#abort.signal.aborted ? failureRecord(error, attempts) : failure,
    };
    return { next: calls.length > 0 && !wasInterrupted ? 'call_tools' : 'fold', course: taken, calls };
  }

  /** Takes the open tool calls as far as they go. */
  async callTools({ calls, step }: CallsInput<WakeModelStep>, parent: AnyActorRef): Promise<void> {
    const agent = await this.#prepareAgent();
    const wake = this.#hookedWake(agent, step);
    await this.#hooks.beforeCalls(wake);
    await runReadyCalls({
      store: this.#ports.store,
      executor: this.#ports.executor,
      agent,
      gate: this.#gateOf(agent),
      subflows: this.#subflows,
      outputs: this.#ports.outputs,
      calls,
      journal: this.#journal,
      wake,
      newId: () => this.#ports.ids.next(),
      now: this.#now(),
      signal: this.#abort.signal,
      force: this.#options.force,
      onProgress: (call, progress) => {
        this.#ports.live?.progress(this.#journal.identity.sessionId, call, progress);
        this.#options.onToolProgress?.(call, progress);
      },
      parent,
    });
    await this.#driveChildren();
  }

  /** Children that calls wait for work while this wake waits, as long as they have something to do. */
  async #driveChildren(): Promise<void> {
    const { signal } = this.#abort;
    const { force, humans, onRunEvent } = this.#options;
    this.#journal.expectOthers();
    const failures = await this.#subflows.drive(this.#journal.state, { signal, force, humans, onRunEvent }, () =>
      this.#journal.refresh(),
    );
    for (const failure of failures) if (!signal.aborted) this.#ports.onListenerError(failure, 'listener');
  }

  /** Stores how the wake ended, unless another process appended since the fold: that has to be seen first. */
  async commit({ course, decided: { end, head } }: CommitInput): Promise<CommitAnswer> {
    const journal = this.#journal;
    await this.#workspaceCopy.leave({ lost: journal.right?.lost, force: this.#options.force });
    // What follows the log has folded what came since, and nothing was decided upon it yet.
    if (journal.state.head !== head) return { next: 'moved' };
    try {
      const isLast =
        journal.mayWrite &&
        (this.#agent === undefined || !this.#hooks.needRight(this.#hookedWake(this.#agent, undefined)));
      return {
        next: 'committed',
        recorded: await this.#appendEnd(end, course, { onlyAtHead: true, ...(isLast ? { ends: journal.right } : {}) }),
      };
    } catch (error) {
      if (isOvertaken(error)) return { next: 'moved' };
      throw error;
    }
  }

  /** Ends the wake with the error that broke it. @throws when that cannot be stored either */
  async recordFailure({ course, error }: FailureInput): Promise<RecordedEnd> {
    const journal = this.#journal;
    await this.#workspaceCopy.leave({ lost: journal.right?.lost, force: this.#options.force });
    for (let attempt = 1; ; attempt += 1) {
      const state = await journal.refresh();
      // Another process goes on from here, or the end is stored already.
      if (state.openWake?.wakeId !== this.#wakeId) throw error;
      const failure = recordOf(error);
      const decision = this.#decide(state, { ...course, failure });
      const end: WakeEnd = decision.act === 'end' ? decision.end : { outcome: 'failed', error: failure };
      try {
        return await this.#appendEnd(end, course, { onlyAtHead: attempt < MAX_END_ATTEMPTS });
      } catch (overtaken) {
        if (!isOvertaken(overtaken)) throw overtaken;
      }
    }
  }

  /** Gives everything back. What is left to do afterwards no claim holds. */
  async release({ end, step }: ReleaseInput<WakeModelStep>): Promise<void> {
    const journal = this.#journal;
    this.#unwatch?.();
    this.#time.end();
    try {
      // They may write as long as no other process has taken over.
      if (this.#agent !== undefined && end !== undefined && journal.mayWrite)
        await this.#hooks.ended(this.#hookedWake(this.#agent, step), { hasRight: !journal.hasEnded });
      this.#conversation.leave(this.#ports.conversations, journal.identity.sessionId);
      await journal.keepView();
      await this.#ports
        .tellParent(journal.session)
        .catch((error: unknown) => this.#ports.onListenerError(error, 'listener'));
    } finally {
      await journal.right?.release();
    }
  }

  #hookedWake(agent: PreparedAgent, step: AssembledStep | undefined): HookedWake {
    const journal = this.#journal;
    return {
      state: () => journal.state,
      agent,
      context: step?.context,
      append: (drafts) => journal.append(drafts),
      appendDecided: (draftsFor) => journal.appendDecided(draftsFor),
      signal: this.#abort.signal,
    };
  }

  /** What the caller learns, once the wake is over. */
  outcome({ recorded, unbegun, modelSteps }: WakeOutput): WakeOutcome {
    const { state, epoch, secrets } = this.#journal;
    const { sessionId, status, stopReason, head } = state;
    const where = { sessionId, status, ...(stopReason === undefined ? {} : { stopReason }), head, modelSteps };
    if (epoch === undefined || recorded === undefined)
      return { ...where, ...outcomeOfUnbegun(state, { as: unbegun, signal: this.#abort.signal }) };
    const { end, summary } = recorded;
    const error = end.outcome === 'failed' ? { error: secrets.json(end.error) } : {};
    return { ...where, outcome: end.outcome, wakeId: this.#wakeId, epoch, summary, ...error };
  }

  /**
   * Whether the step at hand is not to be taken. An interruption that is in the log cuts the work in hand short, if
   * nothing has yet.
   */
  #isCutShort(): boolean {
    this.#heedInterruption();
    return this.#abort.signal.aborted;
  }

  #heedInterruption(): void {
    const { openWake } = this.#journal.state;
    if (openWake?.interruption !== undefined && openWake.wakeId === this.#wakeId)
      this.interrupt(openWake.interruption.reason ?? 'it was interrupted from outside');
  }

  #decide(state: SessionState, course: WakeCourse): WakeDecision {
    const { signal } = this.#abort;
    return decideNext(state, {
      ...course,
      elapsedMs: this.#time.elapsedMs,
      limits: this.#limits(),
      identicalCalls: this.#meter.identicalCalls,
      stepsWithoutProgress: this.#meter.stepsWithoutProgress,
      now: this.#now(),
      abortReason: signal.aborted ? messageOf(signal.reason) : undefined,
    });
  }

  /** Something was appended: by this wake, which has folded it then, or by another process. */
  async #notice(head: number | undefined): Promise<void> {
    const journal = this.#journal;
    if ((head ?? Infinity) > journal.state.head) await journal.refresh().catch(() => undefined);
    this.#heedInterruption();
    if (journal.state.status === 'terminated') this.interrupt('the session was terminated');
  }

  #limits(): WakeLimits {
    return wakeLimits(this.#agent?.definition, this.#journal.state);
  }

  #gateOf(agent: PreparedAgent): CallGate {
    const { clock, readShell, policy, places, guard, humans, ids, onListenerError } = this.#ports;
    const { state, identity: session } = this.#journal;
    return (this.#gate ??= new CallGate({
      ...{ clock, readShell, policy, places, guard, agent, session },
      humans: humansOf(state) ?? this.#options.humans ?? humans,
      moves: hasMovingWorkspace(state, this.#ports),
      newId: () => ids.next(),
      onTrouble: (error) => onListenerError(error, 'listener'),
    }));
  }

  #hear(event: SessionEvent): void {
    this.#conversation.ingest(event);
    this.#meter.ingest(event);
    const { right, identity } = this.#journal;
    // Others write too, and so does a wake that has taken over: what was stored under our right is what we did.
    if (event.epoch !== undefined && event.epoch === right?.epoch) this.#ports.telemetry.take(event, identity.agentId);
  }

  async #appendEnd(
    end: WakeEnd,
    course: WakeCourse,
    options: Pick<JournalAppendOptions, 'onlyAtHead' | 'ends'>,
  ): Promise<RecordedEnd> {
    const { state, secrets } = this.#journal;
    if (state.openWake?.wakeId !== this.#wakeId) throw superseded(this.#wakeId);
    const drafts = commitEvents({
      state,
      wake: state.openWake,
      end,
      modelSteps: course.modelSteps,
      maxAutonomousWakes: this.#agent?.definition.budget.maxAutonomousWakes ?? DEFAULT_MAX_AUTONOMOUS_WAKES,
      lastText: course.lastText,
      nowMs: this.#ports.clock.now(),
      newId: () => this.#ports.ids.next(),
    });
    await this.#journal.append([...this.#workspaceCopy.endNotes, ...drafts], options);
    return {
      end,
      summary: secrets.text(
        drafts.flatMap((draft) => (draft.type === 'wake.ended' ? [draft.data.summary] : [])).join(''),
      ),
    };
  }

  /** @throws RuntimeError AGENT_NOT_FOUND, AGENT_INVALID */
  #definition(): Promise<AgentDefinition> {
    return (this.#reading ??= loadAgent(this.#journal.state.agentId, this.#ports.agents));
  }

  async #prepareAgent(): Promise<PreparedAgent> {
    if (this.#agent !== undefined) return this.#agent;
    const journal = this.#journal;
    const agent = await prepareAgent(
      await withEnvironmentsAbove(journal.state, this.#ports),
      await this.#definition(),
      this.#ports,
      this.#abort.signal,
    );
    requireConfinedBackends(agent, this.#ports);
    this.#permissionsBind = await requireAskingBackends(
      agent.definition,
      async () => (await ParentBounds.of(journal.state, this.#ports, agent)).binding(journal.state),
      this.#ports,
    );
    journal.hold(enteredEnvironment(agent));
    journal.hide(agent.environment?.secrets ?? NO_SECRETS);
    if (agent.skippedTools.length > 0)
      await journal.append(agent.skippedTools.map((data) => ({ type: 'tool.skipped', data })));
    this.#time.limit(agent.definition.budget.maxSecondsPerWake, () => this.interrupt('the time of the wake is up'));
    return (this.#agent = agent);
  }

  #now(): string {
    return isoTimeOf(this.#ports.clock.now());
  }
}
