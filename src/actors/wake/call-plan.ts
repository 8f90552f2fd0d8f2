/** What becomes of each open tool call now: it runs, it waits for an answer, or it has its result. */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { PermissionSubject } from '../../machines/permission/permission-subject.ts';
import { MAX_TOOL_CALLS_PER_STEP } from '../../machines/session/limits.ts';
import type { AllowedBy } from '../../machines/session/event-parts.ts';
import { checkDraft } from '../../machines/session/session-event.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import type { OpenToolCall } from '../../machines/session/session-state.ts';
import type { ToolCallEvent, ToolCallInput, ToolCallResult } from '../../machines/turn/tool-call-machine.ts';
import { readToolInput } from '../../machines/turn/tool-schema.ts';
import { expiredCalls, readyCalls } from '../../machines/wake/wake-decision.ts';
import {
  ALLOWED_NO_MORE,
  NOT_ALLOWED_IN_TIME,
  deniedAfterAll,
  deniedBecause,
  deniedByPerson,
} from '../../machines/permission/denial-text.ts';
import type { EventStore } from '../session/event-store.ts';
import type { OutputStore } from '../turn/output-store.ts';
import { storable, unknownTool } from '../turn/tool-executor.ts';
import type { KnownCall } from '../turn/tool-executor.ts';
import type { PreparedAgent } from '../turn/tool.ts';
import type { CallGate, CheckedCall } from './call-gate.ts';
import { askedBefore } from './closed-calls.ts';
import type { Subflows } from './subflows.ts';
import type { WakeJournal } from './wake-journal.ts';

export interface CallPlanOptions {
  readonly store: EventStore;
  readonly agent: PreparedAgent;
  readonly gate: CallGate;
  readonly subflows: Subflows;
  readonly outputs: OutputStore | undefined;
  /** The calls of the last step, whose input need not be read again. */
  readonly calls: readonly ToolCallInput[];
  readonly journal: WakeJournal;
  readonly newId: () => string;
  /** ISO-8601. */
  readonly now: string;
}

/** A call that may run now. */
export interface RunningCall {
  readonly call: KnownCall;
  readonly open: OpenToolCall;
  readonly allowedBy: AllowedBy;
  /** What it may do. */
  readonly subject: PermissionSubject;
}

/**
 * A call that waits from now on, or has its result: what the log has to hold of it, and what that means in the chart of
 * a call.
 */
export interface SettledCall {
  readonly call: KnownCall;
  /** As it was decided upon. */
  readonly open: OpenToolCall;
  readonly next: ToolCallEvent;
  readonly drafts: readonly SessionEventDraft[];
}

const CANNOT_ASK =
  'No person can be asked now. Decide by yourself, or say what you would need to know and end your turn.';

type CallPlan = ({ readonly kind: 'run' } & RunningCall) | ({ readonly kind: 'settle' } & SettledCall);

export interface CallPlans {
  readonly running: readonly RunningCall[];
  readonly settled: readonly SettledCall[];
}

/** In the order the model asked. */
export async function planCalls(options: CallPlanOptions): Promise<CallPlans> {
  const { state } = options.journal;
  const running: RunningCall[] = [];
  const settled: SettledCall[] = [];
  for (const [index, open] of readyCalls(state).entries()) {
    const plan = await new CallPlanner(options, open).plan(index);
    if (plan.kind === 'run') running.push(plan);
    else settled.push(plan);
  }
  for (const open of expiredCalls(state, options.now)) settled.push(await new CallPlanner(options, open).expire());
  return { running, settled };
}

/**
 * The same call, judged once more right before it runs. Undefined when it may not run any more: it is planned anew
 * then.
 */
export async function confirmCall(options: CallPlanOptions, { open }: RunningCall): Promise<RunningCall | undefined> {
  options.gate.refresh();
  const plan = await new CallPlanner(options, open, { isFinal: true }).plan(0);
  return plan.kind === 'run' ? plan : undefined;
}

class CallPlanner {
  readonly #options: CallPlanOptions;
  readonly #open: OpenToolCall;

  /** Whether the call runs right after it was planned. */
  readonly #isFinal: boolean;

  constructor(options: CallPlanOptions, open: OpenToolCall, { isFinal = false } = {}) {
    this.#options = options;
    this.#open = open;
    this.#isFinal = isFinal;
  }

  async plan(index: number): Promise<CallPlan> {
    const call = await this.#call();
    const { answer } = this.#open;
    switch (answer?.kind) {
      case undefined:
        if (index >= MAX_TOOL_CALLS_PER_STEP)
          return this.#fail(
            call,
            `At most ${MAX_TOOL_CALLS_PER_STEP} tool calls are run in one step; this one was not run, nor any that came after it.`,
          );
        return this.#decide(call);
      case 'permission':
        return answer.allowed ? this.#redeem(call) : this.#deny(call, deniedByPerson(answer.note));
      case 'answer':
        return this.#answer(call, { outcome: 'completed', output: answer.response });
      case 'custom_tool':
        return this.#answer(call, await this.#customResult(call, answer.seq));
      case 'subflow':
        return this.#answer(call, await this.#options.subflows.resultOf(this.#open, this.#options.journal.state));
    }
  }

  /** No answer came in time. */
  async expire(): Promise<SettledCall> {
    const call = await this.#call();
    return this.#deny(call, NOT_ALLOWED_IN_TIME, 'expired');
  }

  async #decide(call: KnownCall): Promise<CallPlan> {
    const checked = this.#check(call);
    if ('reason' in checked) return this.#fail(call, checked.reason);
    const decision = await this.#options.gate.decide(checked, this.#options.journal.state);
    switch (decision.kind) {
      case 'run':
        return this.#proceed(checked, decision.allowedBy);
      case 'ask':
        return { kind: 'settle', call, open: this.#open, next: { type: 'ASK_PERMISSION' }, drafts: [decision.request] };
      case 'deny':
        return this.#deny(call, deniedBecause(decision.because));
    }
  }

  /** A person has allowed it. What they allowed must be what is about to happen, and not too long ago. */
  async #redeem(call: KnownCall): Promise<CallPlan> {
    const { gate } = this.#options;
    const checked = this.#check(call);
    if ('reason' in checked) return this.#fail(call, checked.reason);
    const redeemed = await gate.redeem(checked, this.#open, this.#options.journal.state);
    if (redeemed.kind === 'deny') return this.#deny(call, deniedAfterAll(redeemed.because));
    if (redeemed.kind === 'stale') return this.#askAgain(checked);
    if (redeemed.kind === 'void') return this.#deny(call, ALLOWED_NO_MORE, 'expired');
    const { request, answer } = this.#open;
    if (
      request?.kind === 'permission' &&
      answer?.kind === 'permission' &&
      answer.scope === 'always' &&
      (this.#isFinal || checked.tool.run === undefined)
    )
      await gate.keep(request.rules ?? [], request.requestId);
    return this.#proceed(checked, redeemed.allowedBy);
  }

  /** What was allowed is not what would happen now: it is decided as if no person had been asked yet. */
  async #askAgain(checked: CheckedCall): Promise<CallPlan> {
    const { call } = checked;
    const spent = resolved(this.#open, 'expired');
    const decision = await this.#options.gate.decide(checked, this.#options.journal.state);
    switch (decision.kind) {
      case 'run':
        return new CallPlanner(this.#options, withoutScope(this.#open), { isFinal: this.#isFinal }).#proceed(
          checked,
          decision.allowedBy,
        );
      case 'ask':
        // In its chart it is as it was before a person was asked.
        return {
          kind: 'settle',
          call: { ...call, history: [] },
          open: this.#open,
          next: { type: 'ASK_PERMISSION' },
          drafts: [spent, decision.request],
        };
      case 'deny':
        return this.#deny(
          call,
          `What was allowed does not count any more, since the session works in another environment now. ${decision.because}`,
          'expired',
        );
    }
  }

  async #proceed({ call, tool, subject, question, subflow }: CheckedCall, allowedBy: AllowedBy): Promise<CallPlan> {
    const granted = this.#open.answer === undefined ? [] : [resolved(this.#open)];
    const waits = (draft: SessionEventDraft): CallPlan => {
      const problem = problemOf(draft);
      if (problem !== undefined) return this.#fail(call, cannotBeCalled(call.name, problem));
      return { kind: 'settle', call, open: this.#open, next: { type: 'ASK_INPUT' }, drafts: [...granted, draft] };
    };
    const { subflows, newId } = this.#options;
    if (question !== undefined) {
      if (!this.#options.gate.canAsk) return this.#fail(call, CANNOT_ASK);
      const requestId = newId();
      return waits({
        id: requestId,
        type: 'agent.question_asked',
        data: { requestId, callId: call.callId, ...question },
      });
    }
    if (subflow !== undefined) {
      const started = await subflows.plan(
        this.#open,
        { ...subflow, agent: this.#options.agent },
        this.#options.journal.state,
      );
      return 'reason' in started ? this.#fail(call, started.reason) : waits(started.draft);
    }
    if (tool.run !== undefined) return { kind: 'run', call, open: this.#open, allowedBy, subject };
    const requestId = newId();
    return waits({
      id: requestId,
      type: 'agent.custom_tool_use',
      data: { requestId, callId: call.callId, name: call.name, input: call.input },
    });
  }

  #check(call: KnownCall): CheckedCall | { readonly reason: string } {
    const { agent, journal } = this.#options;
    const tool = agent.tools.get(call.name);
    if (tool === undefined) return { reason: unknownTool(call.name, agent.tools) };
    try {
      // A call that the tool would refuse is not worth a person's time.
      const reading = readToolInput(tool.definition, call.input);
      if (!reading.ok) return { reason: reading.reason };
      const { input } = reading;
      const { sessionId, agentId } = journal.state;
      const subject = tool.subject?.(input, {
        session: { sessionId, agentId },
        workspaceDirectory: agent.workspaceDirectory,
        environment: agent.environment,
      }) ?? { kind: 'tool' };
      return { call, tool, subject, question: tool.question?.(input), subflow: tool.subflow?.(input, agent) };
    } catch (error) {
      // What one tool cannot say about its call must not keep the session from everything else.
      return { reason: cannotBeCalled(call.name, messageOf(error)) };
    }
  }

  #fail(call: KnownCall, output: string): CallPlan {
    const granted = this.#open.answer?.kind === 'permission' ? [resolved(this.#open)] : [];
    // Nothing of it ran; in its chart it was taken back.
    return {
      kind: 'settle',
      call,
      open: this.#open,
      next: { type: 'CANCEL', reason: output },
      drafts: [...granted, resultDraft(call, { outcome: 'failed', output })],
    };
  }

  #deny(
    call: KnownCall,
    reason: string,
    decision: 'denied' | 'expired' = 'denied',
  ): SettledCall & { readonly kind: 'settle' } {
    const resolution = this.#open.request?.kind === 'permission' ? [resolved(this.#open, decision)] : [];
    return {
      kind: 'settle',
      call,
      open: this.#open,
      next: { type: 'DENY', reason },
      drafts: [...resolution, resultDraft(call, { outcome: 'denied', output: reason })],
    };
  }

  #answer(call: KnownCall, result: ToolCallResult): CallPlan {
    const { output } = result;
    return {
      kind: 'settle',
      call,
      open: this.#open,
      next: { type: 'ANSWER', outcome: result.outcome === 'completed' ? 'completed' : 'failed', output },
      drafts: [resultDraft(call, result)],
    };
  }

  async #customResult(call: ToolCallInput, seq: number): Promise<ToolCallResult> {
    const { store, journal, outputs } = this.#options;
    const session = journal.state;
    const [event] = await store.read(session.sessionId, { from: seq, limit: 1 });
    if (event?.type !== 'user.custom_tool_result') throw lost(call.callId, seq);
    return storable(event.data.output, { outputs, session, callId: call.callId });
  }

  async #call(): Promise<KnownCall> {
    const { calls, store, journal } = this.#options;
    const { callId, name, seq } = this.#open;
    const history = askedBefore(this.#open);
    const known = calls.find((call) => call.callId === callId);
    if (known !== undefined) return { ...known, history };
    const [event] = await store.read(journal.state.sessionId, { from: seq, limit: 1 });
    if (event?.type === 'agent.tool_use' && event.data.callId === callId)
      return { callId, name, input: event.data.input, history };
    throw lost(callId, seq);
  }
}

function cannotBeCalled(name: string, why: string): string {
  return `The tool "${name}" cannot be called like this: ${why}`;
}

/** Why the log could not hold it, such as a question without words. */
function problemOf(draft: SessionEventDraft): string | undefined {
  try {
    checkDraft(draft);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** What a person allowed for longer was meant for another environment. */
function withoutScope({ answer, ...open }: OpenToolCall): OpenToolCall {
  return answer?.kind === 'permission' ? { ...open, answer: { ...answer, scope: 'once' } } : { ...open, answer };
}

/** What was asked for, as acted upon. */
export function resolved({ callId, request, answer }: OpenToolCall, decided?: 'denied' | 'expired'): SessionEventDraft {
  const given = answer?.kind === 'permission' ? answer : undefined;
  const decision = decided ?? (given?.allowed === true ? 'allowed' : 'denied');
  const permission = request?.kind === 'permission' ? request : undefined;
  const isLasting = decision === 'allowed' && given?.scope !== undefined && given.scope !== 'once';
  return {
    type: 'permission.resolved',
    data: {
      requestId: permission?.requestId ?? callId,
      callId,
      decision,
      ...(given?.note === undefined ? {} : { note: given.note }),
      ...(given?.scope === undefined ? {} : { scope: given.scope }),
      ...(isLasting && permission?.rules !== undefined ? { rules: [...permission.rules] } : {}),
    },
  };
}

export function resultDraft(
  { callId, name }: ToolCallInput,
  { outcome, output, kept }: ToolCallResult,
): SessionEventDraft {
  return {
    type: 'agent.tool_result',
    data: { callId, name, outcome, output, ...(kept === undefined ? {} : { kept }) },
  };
}

function lost(callId: string, seq: number): RuntimeError {
  return new RuntimeError('TOOL_CALL_LOST', `expected tool call ${callId} at event ${seq}, it is not there`, {
    category: 'storage',
    hint: 'The log was damaged; interrupt the session to close the call.',
  });
}
