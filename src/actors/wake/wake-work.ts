/**
 * The work of one wake, part by part, as the wake chart asks for it. Between the parts everything that matters is in the log: another
 * process could go on from there.
 */
import type { AnyActorRef } from 'xstate';
import { modelsOf } from '../../machines/agent/agent-definition.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { ErrorRecord } from '../../machines/errors.ts';
import { humansOf } from '../../machines/permission/handed-down.ts';
import { isDue } from '../../machines/session/activation.ts';
import { DEFAULT_MAX_AUTONOMOUS_WAKES } from '../../machines/session/limits.ts';
import type { Allowance } from '../../machines/session/event-schemas.ts';
import type { SessionEvent, SessionEventDraft } from '../../machines/session/session-event.ts';
import { refusalError, terminated } from '../../machines/session/session-rules.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { ToolCallInput } from '../../machines/turn/tool-call-machine.ts';
import type { TranscriptRow } from '../../machines/turn/transcript-entries.ts';
import { ProgressMeter } from '../../machines/wake/progress-meter.ts';
import { commitEvents } from '../../machines/wake/wake-commit.ts';
import { decideNext, dueWakeIds, hasWork, readableIngress } from '../../machines/wake/wake-decision.ts';
import type { WakeDecision, WakeEnd, WakeLimits } from '../../machines/wake/wake-decision.ts';
import type { ClaimAnswer, CommitAnswer, FoldAnswer, StepAnswer } from '../../machines/wake/wake-machine.ts';
import type { WakeOutcome } from '../../machines/wake/wake-outcome.ts';
import { parked } from '../../machines/wake/wake-fuse.ts';
import { isPoison, lostWakeEvents } from '../../machines/wake/wake-repair.ts';
import { isoTimeOf } from '../clock/iso-time.ts';
import { keepView, wakeConflict } from '../session/event-store.ts';
import type { SessionIdentity, WakeRight } from '../session/event-store.ts';
import { ParentBounds, withEnvironmentsAbove } from '../session/parent-bounds.ts';
import { SessionJournal } from '../session/session-journal.ts';
import type { JournalAppendOptions } from '../session/session-journal.ts';
import { NO_SECRETS } from '../environment/session-secrets.ts';
import type { SessionSecrets } from '../environment/session-secrets.ts';
import { CallGate } from './call-gate.ts';
import { endClosedCalls } from './closed-calls.ts';
import { HeldDrafts } from './held-drafts.ts';
import { KnownEvents } from './known-events.ts';
import { Subflows } from './subflows.ts';
import { compactIfFull } from './wake-compaction.ts';
import { needOf, remainingOf, wakeLimits } from './wake-budget.ts';
import type { CompanionWake } from './wake-companion.ts';
import { WakeCompanions } from './wake-companions.ts';
import { assembleStep, maxContextTokens, prepareAgent, withCurrentTools } from './wake-context.ts';
import type { AssembledStep, PreparedAgent } from './wake-context.ts';
import { survivorsOf } from './end-survivors.ts';
import { runModel } from './model-run.ts';
import { ModelStep } from './model-step.ts';
import { requireAskingBackends, requireConfinedBackends } from './unasking-backends.ts';
import { WakeConversation } from './wake-conversation.ts';
import { WakeHand, hasMovingWorkspace } from './wake-hand.ts';
import { acquireRight, comesWithFirst } from './wake-right.ts';
import { WakeTime } from './wake-time.ts';
import { enteredEnvironment, failureRecord, isOvertaken, isStale, outcomeOfUnbegun, recordOf, superseded, triggerOf } from './wake-facts.ts';
import { runReadyCalls } from './wake-tools.ts';
import type { WakeOptions, WakePorts } from './wake-ports.ts';

/** How often the end of a wake that broke may be overtaken before it is appended wherever the log is. */
const MAX_END_ATTEMPTS = 32;

export class WakeWork {
  readonly #ports: WakePorts;
  readonly #options: WakeOptions;
  readonly #wakeId: string;
  readonly #identity: SessionIdentity;
  readonly #abort = new AbortController();
  /** Follows the log while the wake runs: an interruption or a termination cuts the work in hand short. */
  #unwatch: (() => void) | undefined;
  readonly #journal: SessionJournal;
  readonly #conversation: WakeConversation;
  /** An append has shown that the log ended where the journal has folded it to, and nothing was waited for since. */
  #isUpToDate = false;
  /** The record that ended the wake has kept the view and let go of the right. */
  #hasEnded = false;
  #right: WakeRight | undefined;
  #epoch: number | undefined;
  readonly #time: WakeTime;
  #agent: PreparedAgent | undefined;
  #step: AssembledStep | undefined;
  #calls: readonly ToolCallInput[] = [];
  #modelSteps = 0;
  #mustSpeak = false;
  #hasDriven = false;
  readonly #meter = new ProgressMeter();
  readonly #subflows: Subflows;
  readonly #companions: WakeCompanions;
  readonly #held = new HeldDrafts();
  readonly #hand: WakeHand;
  /** Taken out of everything that is stored. */
  #secrets: SessionSecrets = NO_SECRETS;
  #gate: CallGate | undefined;
  /** What the next step will use up at least. */
  #nextStep: Allowance = {};
  #lastText: string | undefined;
  #failure: ErrorRecord | undefined;
  #end: WakeEnd | undefined;
  /** Where the log ended when that was decided. */
  #decidedAtHead = 0;
  #summary = '';
  #wasParked = false;
  #wasUnparked = false;
  /** The error that the log cannot tell about. */
  error: unknown;

  /** @param state of the session, as it was looked at for this wake */
  constructor(state: SessionState, wakeId: string, ports: WakePorts, options: WakeOptions) {
    this.#identity = { sessionId: state.sessionId, agentId: state.agentId };
    this.#wakeId = wakeId;
    this.#ports = ports;
    this.#options = options;
    this.#time = new WakeTime(ports.clock);
    this.#conversation = new WakeConversation(new KnownEvents(ports.store, options.opening?.events));
    this.#journal = new SessionJournal(this.#identity, ports, { state, onEvent: (event) => this.#hear(event) });
    this.#companions = new WakeCompanions(ports);
    this.#hand = new WakeHand(ports.hands);
    this.#subflows = new Subflows({ ...ports, newId: () => ports.ids.next() });
  }

  /** Cuts the work in hand short. The first reason stays. */
  interrupt(reason: unknown): void {
    this.#abort.abort(reason);
  }

  /** Gets the right to write and says so in the log, with an end for whatever a dead wake left open. */
  async claim(parent: AnyActorRef): Promise<ClaimAnswer> {
    const known = this.#isWanted(this.#journal.state) ? this.#journal.state : await this.#journal.refresh();
    if (!this.#isWanted(known)) return 'nothing_to_do';
    let state = await this.#acquireRight(known, comesWithFirst(known, this.#ports, this.#now()));
    let left: { readonly survivors: string | undefined } | undefined;
    for (; this.#isWanted(state); state = await this.#journal.refresh()) {
      // That takes its time, and the session may have been terminated meanwhile.
      if (isStale(state) && left === undefined) {
        left = { survivors: await survivorsOf(this.#ports, this.#abort.signal) };
        continue;
      }
      const answer = await this.#take(state, left?.survivors);
      if (answer !== 'moved') {
        endClosedCalls({ executor: this.#ports.executor, before: state, after: this.#journal.state, parent });
        return answer;
      }
      // It did not come with the record: it is asked for first.
      if (this.#right?.comesWith === 'record' && this.#isWanted(await this.#journal.refresh())) await this.#acquireRight(this.#journal.state, false);
    }
    return 'nothing_to_do';
  }

  /** Reads what came since and decides. A message that arrived meanwhile is seen here, before the wake can end. */
  async fold(): Promise<FoldAnswer> {
    // What came since the append before is found when the end is appended, at the head only.
    const state = this.#isUpToDate ? this.#journal.state : await this.#journal.refresh();
    this.#isUpToDate = false;
    const decision = this.#decide(state);
    if (decision.act !== 'end') return decision.act;
    [this.#end, this.#decidedAtHead] = [decision.end, state.head];
    return 'end';
  }

  async assemble(): Promise<void> {
    // What servers of tools have announced meanwhile counts from this step on.
    const { agent, skipped } = await withCurrentTools((this.#agent ??= await this.#prepareAgent()), this.#journal.state, this.#ports, this.#abort.signal);
    this.#agent = agent;
    if (skipped.length > 0) await this.#append(skipped.map((data) => ({ type: 'tool.skipped', data })));
    await this.#conversation.load({ kept: this.#ports.conversations, state: () => this.#journal.state, maxTokens: maxContextTokens(this.#agent.definition) });
    const consumed = readableIngress(this.#journal.state).map(({ eventId }) => eventId);
    await this.#compact(this.#agent, this.#conversation.transcript.rows(consumed));
    const { state } = this.#journal;
    this.#step = assembleStep({
      ...{ agent: this.#agent, state },
      messages: this.#conversation.transcript.messages(consumed),
      consumed,
      runId: this.#ports.ids.next(),
      runConfig: this.#ports.runConfig,
      remaining: remainingOf(this.#limits(), state),
      prices: this.#ports.prices,
    });
    this.#nextStep = needOf(this.#step, this.#ports.prices);
    await this.#companions.beforeStep(this.#companionWake(this.#agent));
  }

  async #compact(agent: PreparedAgent, rows: readonly TranscriptRow[]): Promise<void> {
    if (this.#abort.signal.aborted) return;
    await compactIfFull({
      agent,
      rows,
      state: this.#journal.state,
      runId: this.#ports.ids.next(),
      runConfig: this.#ports.runConfig,
      remaining: remainingOf(this.#limits(), this.#journal.state),
      append: (drafts) => this.#append(drafts),
      run: (request) => runModel({ ports: this.#ports, request, models: modelsOf(agent.definition), signal: this.#abort.signal, force: this.#options.force, parent: undefined }),
    });
  }

  /** One model step: what is decided in it is stored before it is done, what came of it after, all at once. */
  async step(parent: AnyActorRef): Promise<StepAnswer> {
    const step = this.#step;
    if (step === undefined) throw new RuntimeError('WAKE_NOT_ASSEMBLED', 'a step was to run before it was assembled', { category: 'crash' });
    // What came in with an interruption is for the next wake: this one must not read it and be cut short over it.
    if (this.#isCutShort()) return 'fold';
    // Only now is it known how much the step would use up.
    if (this.#decide(this.#journal.state).act === 'end') return 'fold';
    const agent = (this.#agent ??= await this.#prepareAgent());
    const { calls, text, error, attempts, wasInterrupted } = await new ModelStep({
      ports: this.#ports,
      options: this.#options,
      identity: this.#identity,
      agent,
      step,
      gate: this.#gateOf(agent),
      remaining: remainingOf(this.#limits(), this.#journal.state),
      state: () => this.#journal.state,
      refresh: () => this.#journal.refresh(),
      append: (drafts) => this.#append(drafts),
      appendAtHead: (drafts) => this.#append(drafts, { onlyAtHead: true }),
      signal: this.#abort.signal,
      // Whoever sets a limit of time, or interrupts, does not want the same answered again.
      wasInterrupted: () => this.#isCutShort() && (this.#time.isUp || this.#journal.state.openWake?.interruption !== undefined),
      parent,
    }).take();
    this.#modelSteps += 1;
    this.#nextStep = {};
    this.#calls = calls;
    if (text !== '') this.#lastText = text;
    if (error === undefined) this.#mustSpeak = false;
    else if (!this.#abort.signal.aborted) this.#failure = failureRecord(error, attempts);
    return calls.length > 0 && !wasInterrupted ? 'call_tools' : 'fold';
  }

  /** Takes the open tool calls as far as they go. */
  async callTools(parent: AnyActorRef): Promise<void> {
    this.#agent ??= await this.#prepareAgent();
    await this.#companions.beforeCalls(this.#companionWake(this.#agent));
    await runReadyCalls({
      store: this.#ports.store,
      executor: this.#ports.executor,
      agent: this.#agent,
      gate: this.#gateOf(this.#agent),
      subflows: this.#subflows,
      outputs: this.#ports.outputs,
      calls: this.#calls,
      state: () => this.#journal.state,
      append: (drafts) => this.#append(drafts),
      wake: this.#companionWake(this.#agent),
      newId: () => this.#ports.ids.next(),
      now: this.#now(),
      signal: this.#abort.signal,
      force: this.#options.force,
      onProgress: this.#options.onToolProgress,
      parent,
    });
    await this.#driveChildren();
  }

  /** Children that calls wait for work while this wake waits, as long as they have something to do. */
  async #driveChildren(): Promise<void> {
    this.#hasDriven = true;
    this.#isUpToDate = false;
    const { signal } = this.#abort;
    const { force, humans, onRunEvent } = this.#options;
    const failures = await this.#subflows.drive(this.#journal.state, { signal, force, humans, onRunEvent }, () => this.#journal.refresh());
    for (const failure of failures) if (!signal.aborted) this.#ports.onListenerError(failure, 'listener');
  }

  /** Stores how the wake ended, unless somebody appended since the fold: that has to be seen first. */
  async commit(): Promise<CommitAnswer> {
    if (this.#end === undefined) throw new RuntimeError('WAKE_UNDECIDED', 'the wake was to be committed before it was decided', { category: 'crash' });
    await this.#hand.leave({ lost: this.#right?.lost, force: this.#options.force });
    // Whoever follows the log has folded what came since, and nobody has decided upon it yet.
    if (this.#journal.state.head !== this.#decidedAtHead) return 'moved';
    try {
      const isLast = this.#right?.lost.aborted === false && (this.#agent === undefined || !this.#companions.needRight(this.#companionWake(this.#agent)));
      await this.#appendEnd(this.#end, { onlyAtHead: true, ...(isLast ? { ends: this.#right } : {}) });
      return 'committed';
    } catch (error) {
      if (isOvertaken(error)) return 'moved';
      throw error;
    }
  }

  /** Ends the wake with the error that broke it. @throws when that cannot be stored either */
  async recordFailure(): Promise<void> {
    await this.#hand.leave({ lost: this.#right?.lost, force: this.#options.force });
    for (let attempt = 1; ; attempt += 1) {
      const state = await this.#journal.refresh();
      // Somebody else goes on from here, or the end is stored already.
      if (state.openWake?.wakeId !== this.#wakeId) throw this.error;
      this.#failure = recordOf(this.error);
      const decision = this.#decide(state);
      this.#end = decision.act === 'end' ? decision.end : { outcome: 'failed', error: this.#failure };
      try {
        return await this.#appendEnd(this.#end, { onlyAtHead: attempt < MAX_END_ATTEMPTS });
      } catch (error) {
        if (!isOvertaken(error)) throw error;
      }
    }
  }

  /** Gives everything back. What is left to do afterwards is nobody's claim. */
  async release(): Promise<void> {
    this.#unwatch?.();
    this.#time.end();
    try {
      await this.#endCompanions();
      this.#conversation.leave(this.#ports.conversations, this.#identity.sessionId, this.#step?.context);
      if (this.#epoch !== undefined && !this.#hasEnded) await keepView(this.#ports.store, this.#journal.state);
      await this.#ports.tellParent(this.#journal).catch((error: unknown) => this.#ports.onListenerError(error, 'listener'));
    } finally {
      await this.#right?.release();
    }
  }

  /** They may write as long as nobody has taken over. */
  async #endCompanions(): Promise<void> {
    if (this.#agent === undefined || this.#end === undefined || this.#right?.lost.aborted !== false) return;
    await this.#companions.ended(this.#companionWake(this.#agent), { hasRight: !this.#hasEnded });
  }

  #companionWake(agent: PreparedAgent): CompanionWake {
    return { state: () => this.#journal.state, agent, context: this.#step?.context, append: (drafts) => this.#append(drafts), signal: this.#abort.signal };
  }

  /** What the caller learns, once the wake is over. */
  outcome(): WakeOutcome {
    const { state } = this.#journal;
    const { sessionId, status, stopReason, head } = state;
    const where = { sessionId, status, ...(stopReason === undefined ? {} : { stopReason }), head, modelSteps: this.#modelSteps };
    const end = this.#end;
    if (this.#epoch !== undefined && end !== undefined) {
      const error = end.outcome === 'failed' ? { error: this.#secrets.json(end.error) } : {};
      return { ...where, outcome: end.outcome, wakeId: this.#wakeId, epoch: this.#epoch, summary: this.#summary, ...error };
    }
    return { ...where, ...outcomeOfUnbegun(state, { wasParked: this.#wasParked, wasUnparked: this.#wasUnparked, signal: this.#abort.signal }) };
  }

  /** Whether a wake is to go on. @throws RuntimeError SESSION_TERMINATED */
  #isWanted(state: SessionState): boolean {
    if (state.status === 'terminated') {
      // What it owes its parent is all that is left to do.
      if (state.owedToParent !== undefined) return false;
      throw refusalError(state.sessionId, 'wake.started', terminated(state));
    }
    if (this.#abort.signal.aborted) return false;
    if (isStale(state)) return true;
    // A hint that is out of date must not make a session go on that is parked, or that is to wait before it tries again.
    if (this.#options.isAutonomous === true) return hasWork(state, this.#now()) && isDue(state, this.#ports.clock.now());
    return state.parked !== undefined || hasWork(state, this.#now());
  }

  /** Whether the step at hand is not to be taken. An interruption that is in the log cuts the work in hand short, if nothing has yet. */
  #isCutShort(): boolean {
    const interruption = this.#journal.state.openWake?.interruption;
    if (interruption !== undefined) this.interrupt(interruption.reason ?? 'somebody interrupted it');
    return this.#abort.signal.aborted;
  }

  #decide(state: SessionState): WakeDecision {
    return decideNext(state, {
      modelSteps: this.#modelSteps,
      elapsedMs: this.#time.elapsedMs,
      limits: this.#limits(),
      hasDriven: this.#hasDriven,
      identicalCalls: this.#meter.identicalCalls,
      stepsWithoutProgress: this.#meter.stepsWithoutProgress,
      nextStep: this.#nextStep,
      now: this.#now(),
      mustSpeak: this.#mustSpeak,
      failure: this.#failure,
      abortReason: this.#abort.signal.aborted ? messageOf(this.#abort.signal.reason) : undefined,
    });
  }

  /** Gets the right to write after all that is in the log by then. */
  async #acquireRight(known: SessionState, withFirst: boolean): Promise<SessionState> {
    const state = await acquireRight({ store: this.#ports.store, known, withFirst, refresh: () => this.#journal.refresh(), onRight: (right) => (this.#right = right) });
    this.#right?.lost.addEventListener('abort', () => this.interrupt(this.#right?.lost.reason), { once: true });
    return state;
  }

  /**
   * Says in the log what becomes of the session. Only where the log still says what was decided upon: what a wake that dies leaves due was
   * made due for the state that it began in, and somebody may have taken back the very thing that it begins for.
   */
  async #take(state: SessionState, survivors: string | undefined): Promise<ClaimAnswer | 'moved'> {
    const epoch = this.#right?.epoch ?? state.epoch + 1;
    // Somebody who does not see our right was faster; the log has decided.
    if (state.epoch >= epoch) throw wakeConflict(state.sessionId);
    try {
      if (isPoison(state)) return await this.#park(state, epoch, survivors);
      if (isStale(state) || hasWork(state, this.#now())) return await this.#begin(state, epoch, survivors);
      // A parked session that has nothing to do now: what was held back is due again at its time.
      await this.#rest([{ type: 'session.unparked', data: { wakeId: this.#wakeId } }], epoch);
      this.#wasUnparked = true;
      return 'nothing_to_do';
    } catch (error) {
      if (isOvertaken(error)) return 'moved';
      throw RuntimeError.is(error) && error.code === 'EPOCH_SUPERSEDED' ? wakeConflict(state.sessionId) : error;
    }
  }

  async #begin(state: SessionState, epoch: number, survivors: string | undefined): Promise<'claimed'> {
    const due = dueWakeIds(state, this.#now());
    const arrival = await this.#hand.arrive(state, { epoch, signal: this.#abort.signal });
    const unparked: SessionEventDraft[] = state.parked === undefined ? [] : [{ type: 'session.unparked', data: { wakeId: this.#wakeId } }];
    const at = arrival === undefined ? {} : { host: arrival.host };
    const started = { wakeId: this.#wakeId, epoch, owner: this.#ports.owner, queuedWakeIds: due, trigger: triggerOf(state, due, this.#options), ...at };
    await this.#journal.append(
      [...lostWakeEvents(state, survivors), ...unparked, { type: 'wake.started', data: started }, { type: 'session.status_changed', data: { to: 'running' } }, ...(arrival?.notes ?? [])],
      { epoch, onlyAtHead: true, ...(this.#right?.comesWith === 'record' ? { begins: this.#right } : {}) },
    );
    this.#epoch = epoch;
    this.#isUpToDate = true;
    this.#time.begin();
    const leftCalls = state.openToolCalls.some(({ phase }) => phase === 'started' || phase === 'requested');
    // Whoever cut the dead wake short does not want its calls gone on with.
    this.#mustSpeak = due.length > 0 || (leftCalls && state.openWake?.interruption === undefined);
    this.#unwatch = this.#ports.store.watch(state.sessionId, (head) => void this.#notice(head));
    return 'claimed';
  }

  /** The wakes of this session kill their processes: it is left alone from now on, and says why. */
  async #park(state: SessionState, epoch: number, survivors: string | undefined): Promise<'nothing_to_do'> {
    const parking = parked('failures', `${state.failuresInARow + 1} wakes in a row died with their processes.`);
    const rest: SessionEventDraft = { type: 'session.status_changed', data: { to: 'idle', stopReason: 'idle' } };
    await this.#rest([...lostWakeEvents(state, survivors), rest, parking], epoch);
    this.#wasParked = true;
    return 'nothing_to_do';
  }

  async #rest(drafts: readonly SessionEventDraft[], epoch: number): Promise<void> {
    await this.#journal.append(drafts, { epoch, onlyAtHead: true });
    await keepView(this.#ports.store, this.#journal.state);
  }

  /** Something was appended: by this wake, which has folded it then, or by somebody else. */
  async #notice(head: number | undefined): Promise<void> {
    const { openWake, status } = (head ?? Infinity) <= this.#journal.state.head ? this.#journal.state : await this.#journal.refresh().catch(() => this.#journal.state);
    if (openWake?.wakeId === this.#wakeId && openWake.interruption !== undefined) this.interrupt(openWake.interruption.reason ?? 'somebody interrupted it');
    if (status === 'terminated') this.interrupt('the session was terminated');
  }

  #limits(): WakeLimits {
    return wakeLimits(this.#agent?.definition, this.#journal.state);
  }

  #gateOf(agent: PreparedAgent): CallGate {
    const { clock, readShell, policy, places, guard, humans, ids, onListenerError } = this.#ports;
    return (this.#gate ??= new CallGate({ clock, readShell, policy, places, guard, humans: humansOf(this.#journal.state) ?? this.#options.humans ?? humans, agent, session: this.#identity, moves: hasMovingWorkspace(this.#journal.state, this.#ports), newId: () => ids.next(), onTrouble: (error) => onListenerError(error, 'listener') }));
  }

  #hear(event: SessionEvent): void {
    this.#conversation.ingest(event);
    this.#meter.ingest(event);
    // Others write too, and so does a wake that has taken over: what was stored under our right is what we did.
    if (event.epoch !== undefined && event.epoch === this.#right?.epoch) this.#ports.telemetry?.take(event, this.#identity.agentId);
  }

  async #appendEnd(end: WakeEnd, options: Pick<JournalAppendOptions, 'onlyAtHead' | 'ends'>): Promise<void> {
    const { state } = this.#journal;
    if (state.openWake?.wakeId !== this.#wakeId) throw superseded(this.#wakeId);
    const drafts = commitEvents({
      state,
      wake: state.openWake,
      end,
      modelSteps: this.#modelSteps,
      maxAutonomousWakes: this.#agent?.definition.budget.maxAutonomousWakes ?? DEFAULT_MAX_AUTONOMOUS_WAKES,
      lastText: this.#lastText,
      nowMs: this.#ports.clock.now(),
      newId: () => this.#ports.ids.next(),
    });
    await this.#append([...this.#hand.endNotes, ...drafts], options);
    this.#summary = this.#secrets.text(drafts.flatMap((draft) => (draft.type === 'wake.ended' ? [draft.data.summary] : [])).join(''));
  }

  /** The agent is read once per wake: a file that is edited meanwhile counts from the next one on. */
  async #prepareAgent(): Promise<PreparedAgent> {
    if (this.#agent !== undefined) return this.#agent;
    const agent = await prepareAgent(await withEnvironmentsAbove(this.#journal.state, this.#ports), this.#ports, this.#abort.signal);
    requireConfinedBackends(agent, this.#ports);
    await requireAskingBackends(agent.definition, async () => (await ParentBounds.of(this.#journal.state, this.#ports, agent)).binding(this.#journal.state), this.#ports);
    this.#held.hold(enteredEnvironment(agent));
    this.#secrets = agent.environment?.secrets ?? NO_SECRETS;
    if (agent.skippedTools.length > 0) await this.#append(agent.skippedTools.map((data) => ({ type: 'tool.skipped', data })));
    this.#time.limit(agent.definition.budget.maxSecondsPerWake, () => this.interrupt('the time of the wake is up'));
    return agent;
  }

  async #append(drafts: readonly SessionEventDraft[], options: Pick<JournalAppendOptions, 'onlyAtHead' | 'ends'> = {}): Promise<void> {
    // What somebody who took over has closed is no longer ours to judge: that it is theirs is what has to be said.
    if (this.#epoch !== undefined && this.#journal.state.epoch > this.#epoch) throw superseded(this.#wakeId);
    await this.#held.store(drafts, async (all) => {
      const { hasEnded = false } = await this.#journal.append(this.#secrets.drafts(all), { epoch: this.#epoch, ...options });
      this.#hasEnded = hasEnded;
    });
    this.#isUpToDate = true;
  }

  #now(): string {
    return isoTimeOf(this.#ports.clock.now());
  }
}
